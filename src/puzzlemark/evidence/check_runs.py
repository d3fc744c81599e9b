"""Checking the runs of a bundle: what each says is computed again, from its files alone."""

import hashlib
import math
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from puzzlemark.embedding.redrawing import draws_anything
from puzzlemark.embedding.survey import parse_entry
from puzzlemark.evidence.bundle import (
    COMMITMENT,
    PLACE,
    REPORT,
    STANDING,
    Examined,
    case_of,
    examine,
    opened_secret,
    spell,
)
from puzzlemark.evidence.check_marks import originals
from puzzlemark.evidence.claims import (
    ODD,
    CheckedRun,
    Checking,
    Status,
    in_words,
    numbers_of,
    parse_object,
    shorter,
)
from puzzlemark.evidence.commitment import Commitment
from puzzlemark.evidence.standing import assess
from puzzlemark.verification.front import events, lead, quote_power
from puzzlemark.verification.making import build_probes
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.verification.run import needs_key
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import Probe, Refusal, from_settings

# what takes hours to compute is no honest run: the largest design asks some thousands
MOST_PAIRS, MOST_REQUESTS, LARGEST_RATIO = 20_000, 400_000, 1_000.0
SHOPPED = (
    "That key, seeds and plan were not chosen among many: whoever tried N of them on this model "
    "before he committed gains a factor of up to N. The evidence leaves a factor of {left} before "
    "it falls below the limit."
)
SUPPLIED = (
    "Anything about a model: the answers of run {number} were supplied by the owner, and none was "
    "asked."
)


def check_runs(found: Checking) -> Iterator[CheckedRun]:
    """Every run, from its own files and those of the commitment."""
    numbers = numbers_of(found.files)
    if not numbers:
        found.say("runs", "There is a run", "failed", "there is none")
    for number in numbers:
        about = f"run {number}"
        if reason := _why_too_much(found.files, number):
            found.say(about, "Its verdict follows from its answers", "failed", reason)
            continue
        try:
            examined = examine(found.folder, number, found.files)
        except ODD as exc:
            why = shorter(in_words(exc), found)
            found.say(about, "Its verdict follows from its answers", "failed", why)
            continue
        terms = examined.run.verdict.terms
        found.say(
            about,
            "Its verdict follows from its answers",
            "ok",
            f"{examined.run.verdict.word}, with alpha {terms.alpha:g}",
        )
        _check_run(found, number, examined)
        if examined.standing["run"] is not None:
            entered = int(examined.standing["run"]["number"])
            found.links[entered] = _links(found.files, number)
            found.verdicts[entered] = {
                "word": examined.run.verdict.word,
                "transcript": examined.standing["transcript"],
                "chain": (examined.standing["chain"] or {}).get("head"),
                "verdict": examined.standing["verdict"],
            }
        yield _summary(found, number, examined)


def _links(files: Mapping[str, bytes], number: int) -> set[str]:
    """Of every line of a transcript; that of the first is its own digest."""
    first, *lines = files[f"{PLACE}/{number}/transcript.jsonl"].splitlines()
    links = {str(parse_object(line).get("link")) for line in lines}
    return links | {hashlib.sha256(first).hexdigest()}


def _check_spelling(found: Checking, number: int) -> str | None:
    """Whether every line can be read in one way only."""
    for name in ("probes", "transcript", "reference", "chain"):
        lines = found.files.get(f"{PLACE}/{number}/{name}.jsonl", b"").splitlines()
        for place, line in enumerate(lines, 1):
            try:
                parse_object(line)
            except ODD as exc:
                return f"{name}.jsonl:{place}: {in_words(exc)}"
    return None


def _why_times(found: Checking, number: int) -> tuple[Status, str] | None:
    """What speaks against the times of a chain: they fall, lie ahead of us, or are missing."""
    lines = found.files.get(f"{PLACE}/{number}/chain.jsonl", b"").splitlines()
    events = [parse_object(line) for line in lines]
    times = [datetime.fromisoformat(str(each["time"])) for each in events]
    slack = timedelta(minutes=1)  # a clock may be set while a model is asked
    if any(later < earlier - slack for earlier, later in pairwise(times)):
        return "failed", "a time is earlier than that of the line before it"
    if times and times[-1] > datetime.now(UTC) + timedelta(days=1):
        return "failed", f"{times[-1]:%Y-%m-%d} is still to come"
    late = sum(each.get("event") == "late" for each in events)
    return ("unknown", f"{late:,} answers have no time of their own") if late else None


def _why_too_much(files: Mapping[str, bytes], number: int) -> str | None:
    """What would take hours or all memory is refused before it is begun."""
    try:
        place = f"{PLACE}/{number}"
        probes = files[f"{place}/probes.jsonl"].splitlines()
        terms = parse_object(files[f"{place}/transcript.jsonl"].splitlines()[0])["settings"]
        requests = len(probes) * int(terms.get("samples", 1)) * 3
        ratio = float(terms.get("ratio") or 1)
    except ODD as exc:
        return in_words(exc)
    if len(probes) > MOST_PAIRS or requests > MOST_REQUESTS or not ratio <= LARGEST_RATIO:
        return (
            f"more than {MOST_PAIRS:,} probes, {MOST_REQUESTS:,} requests or a null ratio above "
            f"{LARGEST_RATIO:g}: no run of ours is so large"
        )
    return None


def _check_run(found: Checking, number: int, examined: Examined) -> None:
    about, files, made = f"run {number}", found.files, found.made
    assert made is not None, "checked before"
    probes = examined.run.probes
    _check_questions(found, about, probes, made)
    standing = files.get(f"{PLACE}/{number}/{STANDING}")
    word = examined.standing["standing"]
    found.test(
        about,
        "It is said to stand as it does",
        lambda: None if standing == spell(examined.standing) else f"it stands otherwise: {word}",
        word,
    )
    page = files.get(f"{PLACE}/{number}/{REPORT}")
    found.test(
        about,
        "Its report says what follows, and nothing else",
        lambda: None if page == examined.page.encode() else "it is another page",
    )
    found.test(
        about, "Every line can be read in one way only", lambda: _check_spelling(found, number)
    )
    _check_times(found, about, number, examined.standing)
    _check_key(found, about, examined)
    if examined.run.model.get("supplied"):
        found.limits.append(SUPPLIED.format(number=number))


def _check_questions(found: Checking, about: str, probes: ProbeSet, made: Commitment) -> None:
    committed = made.content.questions
    claim = "Its questions are those that were committed to"
    if committed is None:
        found.say(about, claim, "unknown", "the commitment is of a version that fixed none")
    else:
        is_same = committed == probes.questions
        found.say(about, claim, "ok" if is_same else "failed", "" if is_same else "they are others")
    _check_opened_questions(found, about, probes)
    claim = "Its questions follow from the marks and the dataset"
    if found.manifest is None or found.corpus is None or found.dataset is None:
        found.say(
            about,
            claim,
            "unknown",
            "that takes all marked records (bundle --reveal all) and the dataset (--dataset)",
        )
        return
    if _needs_secret(found, probes) and "probes" not in opened_keys(found):
        found.say(about, claim, "unknown", "the key that drew the names in them was not opened")
        return
    found.test(about, claim, lambda: _other_questions(found, probes))


def _check_opened_questions(found: Checking, about: str, probes: ProbeSet) -> None:
    """Of drawn names each question follows from its own record: the others need not be opened."""
    header = found.header
    is_drawn = header is not None and draws_anything(header) and probes.design.is_key_blind
    if not is_drawn or found.manifest is not None or found.corpus is None or not found.leaves:
        return  # nothing to be said, or all of it below
    claim = "Its questions follow from the opened records"
    try:
        made = _made_of_opened(found)
    except ODD as exc:
        found.say(about, claim, "failed", shorter(in_words(exc), found))
        return
    wrong = [
        number
        for number, probe in enumerate(probes.probes)
        if made.get(probe.armed.prompt, probe) != probe
    ]
    unseen = sum(probe.armed.prompt not in made for probe in probes.probes)
    if wrong:
        why = f"{len(wrong):,} of them do not, the first of them probe {wrong[0]}"
        found.say(about, claim, "failed", why)
    elif unseen:
        why = f"{unseen:,} of them are about records that were not opened (bundle --reveal probed)"
        found.say(about, claim, "unknown", why)
    else:
        found.say(about, claim, "ok", f"{len(probes.probes):,} of them")


def _made_of_opened(found: Checking) -> dict[str, Probe]:
    """The questions about the opened records, by their prompts."""
    assert found.header is not None, "opened"
    scheme = found.header.watermark
    watermark = from_settings(scheme.scheme, scheme.settings)
    names = ProbeNames(random.Random(0))  # prompts that need no key need no names either
    made: dict[str, Probe] = {}
    for carrier, entry in originals(found):
        tree = parse_entry(entry, None)
        for mark in carrier.marks:
            probe = watermark.probe(tree, mark, names)
            if not isinstance(probe, Refusal):
                made[probe.armed.prompt] = probe
    return made


def opened_keys(found: Checking) -> set[str]:
    """The names of the keys that the bundle opens."""
    return set() if found.opened is None else set(found.opened.keys)


def _needs_secret(found: Checking, probes: ProbeSet) -> bool:
    """Whether a key drew names in the prompts; marks in the dataset's order have none."""
    has_secret = found.header is not None and found.header.secret_fingerprint is not None
    return has_secret and probes.header.names == "drawn" and not probes.design.is_key_blind


def _other_questions(found: Checking, probes: ProbeSet) -> str | None:
    """Make the probes again, from what was opened, and compare."""
    assert found.manifest is not None, "opened"
    assert found.dataset is not None, "passed"
    header = probes.header
    again = build_probes(
        found.dataset,
        found.manifest,
        pairs=max(1, header.pairs),
        seed=header.seed,
        secret=opened_secret(found.files) if _needs_secret(found, probes) else None,
        paper=header.names != "drawn",
        ordinary=header.ordinary,
    )
    if again.questions == probes.questions:
        return None
    pairs = zip(probes.probes, again.probes, strict=False)
    differing = [n for n, (one, other) in enumerate(pairs) if one != other]
    return (
        f"made again they differ, first in probe {differing[0] if differing else len(again.probes)}"
    )


def _check_times(found: Checking, about: str, number: int, standing: Mapping[str, Any]) -> None:
    claim = "The commitment was stamped before its first question, by the owner's clock"
    chain = standing["chain"] or {}
    if chain.get("broken") or not chain.get("first"):
        why = chain.get("broken") or "no times were recorded"
        found.say(
            about,
            "Its times fit its answers",
            "failed" if chain else "unknown",
            shorter(str(why), found),
        )
        found.say(about, claim, "unknown", "no times were recorded that can be relied on")
        return
    status, why = _why_times(found, number) or (
        "ok",
        f"{chain['first']} to {chain['last']}, by the clock of the machine that asked",
    )
    found.say(about, "Its times fit its answers", status, why)
    earliest = min((stamp.time for stamp in found.stamps), default=None)
    if earliest is None:
        found.say(about, claim, "unknown", "nobody stamped it")
    else:
        is_before = earliest <= datetime.fromisoformat(chain["first"])
        found.say(
            about,
            claim,
            "ok" if is_before else "failed",
            f"stamped {earliest:%Y-%m-%d %H:%M:%S} UTC, asked {chain['first']}",
        )


def _check_key(found: Checking, about: str, examined: Examined) -> None:
    """The key must be committed to: one that is chosen after the answers convicts anybody."""
    verdict = examined.run.verdict
    beacon = None if found.header is None else found.header.watermark.settings.get("beacon")
    if verdict.word == "detected" and verdict.log10_p is not None and not beacon:
        left = math.log10(verdict.terms.alpha) - verdict.log10_p
        found.limits.append(
            SHOPPED.format(left=f"{10**left:.3g}" if left < 3 else quote_power(left))
        )
    if not needs_key(examined.run.probes.design):
        return
    assert found.opened is not None, "the verdict was computed with it"
    assert found.made is not None, "checked before"
    key, made = found.opened.keys.get("watermark"), found.made
    is_same = key is not None and key.hash == made.content.keys.get("watermark")
    found.say(
        about,
        "It was judged by the key that was committed to",
        "ok" if is_same else "failed",
        "" if is_same else "it was judged by another key",
    )


def _summary(found: Checking, number: int, examined: Examined) -> CheckedRun:
    """For people: by the reader's own certificates, not by those of the bundle."""
    standing = assess(
        found.folder / PLACE / str(number), found.folder / COMMITMENT, roots=found.roots
    ).to_json()
    verdict, model = examined.run.verdict, examined.run.model
    is_supplied = bool(model.get("supplied"))
    names = (model.get(name) for name in ("pretrained", "model", "name", "file"))
    return CheckedRun(
        number,
        verdict.word,
        standing["standing"],
        any(each["verified"] for each in standing["commitment"]["stamps"]),
        lead(verdict, is_keyed=needs_key(verdict.design), is_supplied=is_supplied),
        str(next((name for name in names if name), "unnamed"))[:200],
        tuple(events(standing, case_of(found.files), examined.judged)),
        tuple(shorter(each["sentence"], found) for each in standing["deviations"]),
    )
