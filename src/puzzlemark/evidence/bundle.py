"""The bundle: one file with all that somebody else needs to check a verdict, offline.

What is in it follows from the files of the runs and of the commitment; the same input gives the
same bytes. `puzzlemark.evidence.check` reads it back.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puzzlemark import __version__
from puzzlemark.embedding.manifest import Manifest, load_manifest
from puzzlemark.embedding.secret import secret_path
from puzzlemark.errors import UsageError
from puzzlemark.evidence.archive import BundleError, pack
from puzzlemark.evidence.commitment import FILE, PLAN, RUNS, TOKENS, Commitment, load_commitment
from puzzlemark.evidence.commitment import owner_of as owner_of_marks
from puzzlemark.evidence.ledger import LedgerError, read_ledger
from puzzlemark.evidence.opening import why_other_marks
from puzzlemark.evidence.readme import readme
from puzzlemark.evidence.revealing import (
    OpenedSecret,
    choose,
    nothing_opened,
    open_commitment,
    read_opened,
)
from puzzlemark.evidence.standing import COMPARISON, assess
from puzzlemark.files import keep_apart, refuse_existing
from puzzlemark.languages.base import parsing_packages
from puzzlemark.pages.report import report_page
from puzzlemark.provenance import versions
from puzzlemark.staging import staged
from puzzlemark.verification.case import Case, parse_case, read_case
from puzzlemark.verification.probes import load_probes
from puzzlemark.verification.report import build
from puzzlemark.verification.run import FILES, Run, load_run, needs_key

FORMAT, VERSION = "puzzlemark bundle", 1
ABOUT, CASE, SCRIPT, READ_ME, ROOTS = (
    "bundle.json",
    "case.toml",
    "recompute.py",
    "README.md",
    "roots.pem",
)
STANDING, REPORT = "standing.json", "report.html"
COMMITMENT, PLACE = "commitment", "runs"
LARGEST_ROOTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was written."""

    path: Path
    sha256: str
    files: tuple[str, ...]
    disclosed: tuple[str, ...]  # what whoever gets it learns of the secret


@dataclass(frozen=True, slots=True)
class Examined:
    """One run of a bundle, computed again from its files."""

    run: Run
    standing: dict[str, Any]
    judged: str | None  # when, by the list of runs
    page: str  # its report


def bundle(
    runs: Sequence[Path | str],
    commitment: Path | str,
    output: Path | str,
    *,
    reveal: str = "probed",
    manifest: Path | str | None = None,
    secret_file: Path | None = None,
    case: Path | None = None,
    roots: Path | None = None,
    overwrite: bool = False,
) -> Bundle:
    """Put runs under a commitment into one file, and open of the commitment what is needed.

    `reveal`: the carriers that were asked about (`probed`), `all`, or so many; `0` opens none, and
    needs no manifest unless a key decides. `roots`: certificates of the authorities, for whoever
    has no others; whoever doubts them brings his own.
    """
    output, folders = Path(output), [Path(each) for each in runs]
    if not folders:
        raise UsageError("pass at least one folder of a run")
    made = load_commitment(commitment)
    sources = {"--commitment": made.folder, "--manifest": manifest, "--case": case}
    keep_apart({"--output": output}, {**sources, "--roots": roots, "RUN": folders,
                                      "the secret": secret_path(secret_file)})  # fmt: skip
    refuse_existing(output, overwrite=overwrite)
    files = dict(_of_commitment(made.folder))
    for number, folder in enumerate(folders, 1):
        files |= {f"{PLACE}/{number}/{name}": each for name, each in _of_run(folder).items()}
    if case is not None:
        read_case(case)
        files[CASE] = case.read_bytes()
    if roots is not None:
        files[ROOTS] = _read(roots)
    opened, disclosed = _opened(folders, made, reveal, manifest, secret_file)
    files |= opened
    files |= _computed(files, len(folders))
    files[ABOUT] = _about(files, made, reveal, disclosed)
    files |= {SCRIPT: script(), READ_ME: readme(files).encode()}
    content = pack(files)
    with staged(output, overwrite=overwrite) as place:
        place.write_bytes(content)
        place.chmod(0o600)
    digest = hashlib.sha256(content).hexdigest()
    return Bundle(output, digest, tuple(sorted(files)), tuple(disclosed))


def script() -> bytes:
    """The program that recomputes a bundle without us, as it stands beside this file."""
    return (Path(__file__).parent / SCRIPT).read_bytes()


def _of_commitment(folder: Path) -> Iterator[tuple[str, bytes]]:
    names = [name for name in (FILE, PLAN, RUNS) if (folder / name).exists()]
    names += (f"{TOKENS}/{path.name}" for path in sorted((folder / TOKENS).glob("*.tsr")))
    for name in names:
        yield f"{COMMITMENT}/{name}", _read(folder / name)


def _of_run(folder: Path) -> dict[str, bytes]:
    """What a run consists of; how it stands, and its report, are computed anew."""
    # nor what the owner compared: whoever checks the bundle compares for himself
    names = [n for n in FILES if n not in (STANDING, COMPARISON) and (folder / n).exists()]
    names += (f"{TOKENS}/{path.name}" for path in sorted((folder / TOKENS).glob("*.tsr")))
    if "verdict.json" not in names:
        raise BundleError(f"{folder}: not a run that was judged; run: puzzlemark verify")
    return {name: _read(folder / name) for name in names}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as exc:
        raise BundleError(f"{path}: cannot be read: {exc.strerror}") from exc


def _opened(
    folders: Sequence[Path],
    made: Commitment,
    reveal: str,
    manifest: Path | str | None,
    secret_file: Path | None,
) -> tuple[dict[str, bytes], list[str]]:
    """The files that open the commitment, and what they disclose."""
    sets = [load_probes(folder / "probes.jsonl") for folder in folders]
    is_keyed = any(needs_key(each.design) for each in sets)
    if manifest is None:
        if reveal != "0" or is_keyed:
            why = "the key that decides" if reveal == "0" else "carriers"
            raise UsageError(f"to open {why} takes the marks: pass --manifest (or --reveal 0)")
        return nothing_opened(), []
    marks = load_manifest(manifest)
    secret = owner_of_marks(marks, manifest, secret_file)
    if reason := why_other_marks(made, marks, manifest, secret):
        raise BundleError(f"{manifest}: {reason}")
    rows = choose(reveal, marks, sets)
    keys = ["watermark"] if is_keyed else []
    if reveal == "all":  # with all keys anybody can make the same marks and the same prompts again
        keys = list(made.content.keys)
    disclosed = list(_disclosed(marks, rows, keys))
    return open_commitment(marks, secret, rows, keys), disclosed


def _disclosed(marks: Manifest, rows: Sequence[int], keys: Sequence[str]) -> Iterator[str]:
    yield "the scheme of the marks and its settings, and counts (the header of the manifest)"
    if rows:
        yield (
            f"{len(rows):,} of {len(marks.lines):,} marked records: which they are, and what was "
            "changed in them; they can be found and undone"
        )
    if "watermark" in keys:
        yield (
            "the key of the watermark: with it and the dataset all marks of this key can be found, "
            "so it convicts nobody who could have had this file"
        )
    if "order" in keys:
        yield (
            "the keys that chose the marked records and drew the names in the prompts; marks and "
            "prompts of this secret can be foretold"
        )


def _computed(files: Mapping[str, bytes], runs: int) -> dict[str, bytes]:
    """How each run stands, and its report."""
    found = {}
    with unpacked(files) as folder:
        for number in range(1, runs + 1):
            examined = examine(folder, number, files)
            found[f"{PLACE}/{number}/{STANDING}"] = spell(examined.standing)
            found[f"{PLACE}/{number}/{REPORT}"] = examined.page.encode()
    return found


def spell(content: Mapping[str, Any]) -> bytes:
    """JSON for a person to read."""
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"


@contextmanager
def unpacked(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder with these files, for as long as it is needed; nobody else can read it."""
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as place:
        folder = Path(place)
        try:
            for name, content in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            (folder / COMMITMENT).mkdir(exist_ok=True)
        except OSError as exc:  # a name is a file and a folder at once
            raise BundleError(f"{name}: cannot be unpacked: {exc.strerror}") from exc
        yield folder


def examine(folder: Path, number: int, files: Mapping[str, bytes]) -> Examined:
    """Compute again all that a bundle says of a run; the same for whoever makes it and checks it.

    A verdict that does not follow from the answers is an error, and so is anything unreadable.
    """
    place = folder / PLACE / str(number)
    secret = opened_secret(files) if needs_key(load_probes(place / "probes.jsonl").design) else None
    run = load_run(place, secret=secret)
    roots = folder / ROOTS if ROOTS in files else None
    standing = assess(place, folder / COMMITMENT, roots=roots).to_json()
    judged = _when_judged(folder / COMMITMENT, standing)
    report = build(run, standing=standing, case=case_of(files), judged=judged)
    return Examined(run, standing, judged, report_page(report))


def opened_secret(files: Mapping[str, bytes]) -> OpenedSecret:
    """The keys that a bundle opens, in place of the secret."""
    opened, _ = read_opened(files)
    keys = {name: bytes.fromhex(each.key) for name, each in opened.keys.items()}
    header = None if opened.header is None else json.loads(opened.header.line)
    return OpenedSecret(keys, None if header is None else header.get("secret_fingerprint"))


def case_of(files: Mapping[str, bytes]) -> Case | None:
    """The case of a bundle, if it has one."""
    return parse_case(files[CASE].decode("utf-8", "replace")) if CASE in files else None


def _when_judged(commitment: Path, standing: Mapping[str, Any]) -> str | None:
    if standing["run"] is None:
        return None
    try:
        judged = read_ledger(load_commitment(commitment)).judged
    except LedgerError:
        return None
    times = [each["time"] for each in judged if each["run"] == standing["run"]["number"]]
    return str(times[-1]) if times else None


def list_digest(files: Mapping[str, bytes]) -> str | None:
    """SHA-256 of the list of runs, where there is one."""
    content = files.get(f"{COMMITMENT}/{RUNS}")
    return None if content is None else hashlib.sha256(content).hexdigest()


def _about(
    files: Mapping[str, bytes], made: Commitment, reveal: str, disclosed: Sequence[str]
) -> bytes:
    runs = [name.split("/")[1] for name in files if name.endswith(f"/{REPORT}")]
    return spell(
        {
            "format": FORMAT,
            "version": VERSION,
            "made_by": f"puzzlemark {__version__}",
            "versions": versions(*parsing_packages(), "rfc3161-client", "rfc8785"),
            "commitment": made.hash,
            "runs": len(runs),
            "list_of_runs": list_digest(files),  # nothing else is about its last line's time
            "reveal": reveal,
            "disclosed": list(disclosed),
        }
    )
