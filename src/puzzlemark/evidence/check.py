"""Checking a bundle, offline: what holds, what does not, and what cannot be said, item by item.

A bundle comes from somebody who wants to be believed. So nothing in it is run, everything that it
says is computed again, and what only the owner could know is called that.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from puzzlemark import __version__
from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.evidence.archive import read_archive, why_changed
from puzzlemark.evidence.bundle import (
    ABOUT,
    COMMITMENT,
    FORMAT,
    READ_ME,
    SCRIPT,
    case_of,
    list_digest,
    script,
    unpacked,
)
from puzzlemark.evidence.check_marks import check_dataset, check_marks
from puzzlemark.evidence.check_runs import check_runs
from puzzlemark.evidence.claims import (
    ODD,
    Checked,
    CheckedRun,
    Checking,
    in_words,
    numbers_of,
    parse_object,
    shorter,
)
from puzzlemark.evidence.commitment import FILE, PLAN, TOKENS, Commitment, load_commitment
from puzzlemark.evidence.ledger import Ledger, read_ledger
from puzzlemark.evidence.readme import readme
from puzzlemark.evidence.stamping import certificates_of, read_token


def check(
    path: Path | str,
    *,
    dataset: str | None = None,
    roots: Path | None = None,
    hash_: str | None = None,
) -> Checked:
    """Check a bundle; only a file that is none at all is an error.

    `dataset`: as it was published; `roots`: certificates of authorities that the reader trusts;
    `hash_`: of the commitment, as the reader found it published.
    """
    path = Path(path)
    _refuse_unreadable(dataset, roots)
    files, is_ours = read_archive(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with unpacked(files) as folder:
        found = Checking(files, folder, dataset, roots, hash_)
        runs: list[CheckedRun] = []
        _part(found, "file", lambda: _check_file(found, is_ours=is_ours))
        _part(found, "commitment", lambda: _check_commitment(found))
        if found.made is not None:
            _part(found, "marks", lambda: check_marks(found))
            _part(found, "dataset", lambda: check_dataset(found))
            _part(found, "runs", lambda: runs.extend(check_runs(found)))
            _part(found, "list of runs", lambda: _check_ledger(found))
        commitment = None if found.made is None else found.made.hash
        limits = (*dict.fromkeys(found.limits), *LIMITS)
        return Checked(
            path, digest, commitment, tuple(found.claims), tuple(runs), limits, _title(files)
        )


def _refuse_unreadable(dataset: str | None, roots: Path | None) -> None:
    """What the reader brings himself is his own mistake, not the bundle's."""
    if roots is not None:
        certificates_of(roots)
    if dataset is not None and not (Path(dataset).exists() or "*" in dataset):
        raise UsageError(f"--dataset {dataset}: there is nothing")


def _part(found: Checking, about: str, work: Callable[[], None]) -> None:
    """Whatever a stranger has put into a bundle, the other parts are checked as well."""
    try:
        work()
    except ODD as exc:
        found.say(about, "It can be read", "failed", shorter(in_words(exc), found))


LIMITS = (
    (
        "Which model answered. Answers, links and times can be written by whoever holds the files; "
        "a transcript of another model cannot be told from a true one, unless an authority stamped "
        "its chain while it grew. Have the questions asked again by somebody whom you trust."
    ),
    (
        "That there was no other run. The list of runs has those that were entered and judged; one "
        "on a copy of the commitment's folder, or of a run's folder, is not among them."
    ),
    (
        "That there was no other commitment: many can be stamped and one opened. A hash that was "
        "published with the dataset excludes that; pass it with --hash."
    ),
    "That an authority's clock was right, and that it is honest. Two are better than one.",
    "That the model is younger than the marks: compare its date with that of the timestamp.",
    "Whose the code is, and what is lawful.",
)


def _title(files: Mapping[str, bytes]) -> str:
    try:
        case = case_of(files)
    except PuzzleMarkError:
        return ""
    return "" if case is None else case.title


# --- the file ----------------------------------------------------------------------------------


def _check_file(found: Checking, *, is_ours: bool) -> None:
    files, about = found.files, "file"
    found.say(
        about,
        "It is laid out as PuzzleMark lays it out, with nothing hidden in it",
        "ok" if is_ours else "failed",
        ""
        if is_ours
        else "its bytes are not those of its files: it was changed, or made otherwise",
    )
    found.test(about, "No file is in it that does not belong there", lambda: _strange(files))
    found.test(about, "No file in it was changed since it was bundled", lambda: _changed(files))
    same = found.test(
        about,
        "It says what it is",
        lambda: _described(found),
        "the versions in it are the owner's word",
    )
    made_by = str(parse_object(files[ABOUT]).get("made_by")) if same else "something else"
    ours = {SCRIPT: script(), READ_ME: None if not same else readme_of(files)}
    for name, expected in ours.items():
        is_same = expected is not None and files.get(name) == expected
        is_other = made_by != f"puzzlemark {__version__}"
        claim = f"{name} is the one that PuzzleMark puts there"
        if is_same or not is_other:
            found.say(
                about,
                claim,
                "ok" if is_same else "failed",
                "" if is_same else "it is another text: do not run or believe it",
            )
        else:
            found.say(about, claim, "unknown", f"made by {made_by}, and this is {__version__}")


# All that a bundle may hold. A file beside the script could be imported by it, and be run.
BELONGS = re.compile(
    r"SHA256SUMS|bundle\.json|README\.md|recompute\.py|case\.toml|roots\.pem"
    r"|reveal/(carriers\.jsonl|opened\.json)"
    r"|commitment/(commitment\.json|plan\.toml|runs\.jsonl|tokens/[\w.-]+\.tsr)"
    r"|runs/[1-9][0-9]*/([a-z-]+\.(jsonl|json)|report\.html|tokens/[\w.-]+\.tsr)"
)


def _strange(files: Mapping[str, bytes]) -> str | None:
    names = [name for name in sorted(files) if not BELONGS.fullmatch(name)]
    return f"do not run or open: {', '.join(names[:5])}" if names else None


def readme_of(files: Mapping[str, bytes]) -> bytes | None:
    """What README.md must be; None where that cannot be told."""
    try:
        return readme(files).encode()
    except ODD:
        return None


def _changed(files: Mapping[str, bytes]) -> str | None:
    names = why_changed(files)
    return f"not as SHA256SUMS has it: {', '.join(names[:5])}" if names else None


def _described(found: Checking) -> str | None:
    about = parse_object(found.files[ABOUT])
    if about.get("format") != FORMAT or about.get("version") != 1:
        return "not a bundle, or one of a later version"
    runs = numbers_of(found.files)
    if about.get("runs") != len(runs) or runs != list(range(1, len(runs) + 1)):
        return "it has other runs than it says"
    if about.get("list_of_runs") != list_digest(found.files):
        return "it has another list of runs than it says"
    commitment = hashlib.sha256(found.files[f"{COMMITMENT}/{FILE}"]).hexdigest()
    return None if about.get("commitment") == commitment else "it names another commitment"


# --- the commitment ----------------------------------------------------------------------------


def _check_commitment(found: Checking) -> None:
    about = "commitment"
    try:
        found.made = load_commitment(found.folder / COMMITMENT)
    except ODD as exc:
        found.say(about, "It is a commitment", "failed", shorter(in_words(exc), found))
        return
    made = found.made
    found.say(about, "It is a commitment", "ok", f"its hash is {made.hash}")
    plan = found.files.get(f"{COMMITMENT}/{PLAN}")
    found.test(
        about,
        "plan.toml says what was committed to",
        lambda: None if plan == made.plan.to_toml().encode() else "it says otherwise",
    )
    if found.hash is None:
        found.say(
            about,
            "Its hash was published",
            "unknown",
            "pass the hash as you found it published: --hash",
        )
    else:
        is_same = found.hash.strip().lower() == made.hash
        found.say(
            about,
            "Its hash was published",
            "ok" if is_same else "failed",
            "" if is_same else f"published was {found.hash[:80]}, this is {made.hash}",
        )
    _check_tokens(found, made)


def _check_tokens(found: Checking, made: Commitment) -> None:
    names = sorted(n for n in found.files if n.startswith(f"{COMMITMENT}/{TOKENS}/"))
    if not names:
        found.say(
            "commitment",
            "An authority says when it was there",
            "unknown",
            "there is no timestamp: it may have been made on any day",
        )
    for name in names:
        claim = f"{Path(name).name} is a timestamp of it"
        try:
            stamp = read_token(found.files[name], made, found.roots, Path(name))
        except ODD as exc:
            found.say("commitment", claim, "failed", shorter(in_words(exc), found))
            continue
        found.stamps.append(stamp)
        says = f"{stamp.time:%Y-%m-%d %H:%M:%S} UTC, says {stamp.authority or 'an unnamed one'}"
        found.say("commitment", claim, "ok", says)
        claim = f"{Path(name).name} is signed by an authority that you trust"
        if found.roots is None:
            found.say(
                "commitment",
                claim,
                "unknown",
                "pass the certificates of the authorities that you trust: --roots",
            )
        else:
            found.say("commitment", claim, "ok", f"by the certificates in {found.roots}")


# --- the list of runs ----------------------------------------------------------------------------


def _check_ledger(found: Checking) -> None:
    made, about = found.made, "list of runs"
    assert made is not None, "checked before"
    try:
        ledger = read_ledger(made)
    except ODD as exc:
        found.say(about, "It was not changed", "failed", shorter(in_words(exc), found))
        return
    if not ledger.runs:
        found.say(
            about,
            "Every run that was entered is in the bundle",
            "unknown",
            "there is no list: how often models were asked is the owner's word",
        )
        return
    found.say(
        about,
        "It was not changed",
        "ok",
        "1 run was entered" if len(ledger.runs) == 1 else f"{len(ledger.runs):,} runs were entered",
    )
    _check_attempts(found, ledger)
    last = {int(event["run"]): event for event in ledger.judged}
    here = {
        run
        for run, verdict in found.verdicts.items()
        if run in last and verdict.items() <= last[run].items()
    }
    missing = sorted({each.run for each in ledger.runs} - here)
    listed = ", ".join(map(str, missing[:20]))
    found.say(
        about,
        "Every run that was entered is in the bundle, with the verdict that was entered",
        "failed" if missing else "ok",
        f"not here, or with another verdict: run {listed}" if missing else "",
    )


def _check_attempts(found: Checking, ledger: Ledger) -> None:
    """Each verdict that was entered is about answers that this run has, not about others.

    A run that went on is judged again, and the earlier verdict ended at an answer of it.
    """
    others = sorted(
        {
            int(event["run"])
            for event in ledger.judged
            if int(event["run"]) in found.links
            and event.get("transcript") not in found.links[int(event["run"])]
        }
    )
    found.say(
        "list of runs",
        "No run was judged by other answers before",
        "failed" if others else "ok",
        f"asked anew under the same entry: run {', '.join(map(str, others[:20]))}"
        if others
        else "",
    )
