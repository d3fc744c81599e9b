"""Probes: pairs of prompts, made from a marked dataset and its manifest, as a file to ask with.

The file holds what is asked and nothing else of the secret: no ids, no rows, no original names. It
can be handed to whoever can reach the model. And it may come from anybody: what is read is checked,
and nothing in it is run.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from puzzlemark.embedding.manifest import Manifest, load_manifest
from puzzlemark.embedding.secret import Secret, find_secret
from puzzlemark.embedding.showing import Shown, show
from puzzlemark.errors import PuzzleMarkError, SecretError, UsageError
from puzzlemark.files import keep_apart, refuse_existing
from puzzlemark.provenance import versions
from puzzlemark.snippet import Snippet
from puzzlemark.staging import write_text
from puzzlemark.syntax.tree import parse
from puzzlemark.verification.arms import why_unlike
from puzzlemark.verification.checking import (
    LARGEST_FILE,
    MOST_PROBES,
    why_unaskable,
    why_unfair,
)
from puzzlemark.verification.copies import Copies, distinctive_words
from puzzlemark.verification.surroundings import Surroundings
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import (
    Arm,
    Probe,
    Refusal,
    Strategy,
    Watermark,
    from_settings,
)

FORMAT: Literal["puzzlemark probes"] = "puzzlemark probes"
VERSION = 3  # 1 knew whole names as hits only; 2 had regular expressions in it
COPY = Refusal("nearly the same prompt as another probe")


class ProbesError(PuzzleMarkError):
    """A file of probes cannot be read or written."""


class Header(BaseModel):
    """What the probes are; the first line of their file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["puzzlemark probes"]
    version: int
    versions: dict[str, str]
    strategy: Strategy
    pairs: NonNegativeInt
    seed: int
    marks: int  # in the manifest
    refused: dict[str, int]  # marks that could not be asked about, by reason
    names: Literal["paper", "drawn"] = "paper"  # constants, or names of the dataset
    ordinary: NonNegativeInt = 0  # requests beside the probes


@dataclass(frozen=True, slots=True)
class ProbeSet:
    """Probes in the order in which they are asked."""

    header: Header
    probes: tuple[Probe, ...]
    ordinary: tuple[str, ...] = ()  # requests asked among the others, and never judged

    def to_bytes(self) -> bytes:
        """The file's content: JSON lines."""
        # what an older version of the format did not say is not said now: the digest stays
        lines = [orjson.dumps(self.header.model_dump(exclude_unset=True))]
        lines += (orjson.dumps({"probe": n, **_plain(p)}) for n, p in enumerate(self.probes))
        lines += (orjson.dumps({"ordinary": n, "prompt": p}) for n, p in enumerate(self.ordinary))
        return b"\n".join(lines) + b"\n"

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _plain(probe: Probe) -> dict[str, dict[str, str] | None]:
    """Plain data; the form of an arm is said only where it is not the usual one."""
    arms: dict[str, dict[str, str] | None] = asdict(probe)
    for arm in arms.values():
        if arm is not None and arm["form"] == "name":
            del arm["form"]
    return arms


def build_probes(
    path: Path | str,
    manifest: Path | str,
    *,
    pairs: int = 500,
    seed: int = 0,
    secret: Secret | None = None,
    secret_file: Path | None = None,
    paper: bool = False,
    ordinary: int = 0,
) -> ProbeSet:
    """Draw marks by seed and make a probe of each, until there are enough pairs.

    `path` is the dataset of the manifest, marked or original. The names in the prompts are drawn
    from it by the secret that the marks were made with; `paper`: the paper's constants instead.
    `ordinary` requests for a completion of unmarked code can be asked in between.
    """
    if pairs < 1:
        raise UsageError(f"pairs must be 1 or more, not {pairs}")
    if ordinary < 0:
        raise UsageError(f"ordinary requests must be 0 or more, not {ordinary}")
    if max(pairs, ordinary) > MOST_PROBES:
        raise UsageError(f"no more than {MOST_PROBES:,} pairs and ordinary requests; ask for fewer")
    if paper and (secret or secret_file):
        raise UsageError("the paper's names are not drawn: leave out --paper or the secret")
    loaded = load_manifest(manifest)
    key = b"" if paper else _key(loaded, manifest, secret, secret_file)
    around = Surroundings(path, loaded, key, seed)
    probes: list[Probe] = []
    refused: Counter[str] = Counter()
    copies = Copies()
    for outcome in _outcomes(around, manifest, pairs, copies, paper=paper):
        if isinstance(outcome, Refusal):
            refused[outcome.reason] += 1
        else:
            probes.append(outcome)
        if len(probes) == pairs:
            break
    requests = around.requests(ordinary)
    header = Header(
        format=FORMAT,
        version=VERSION,
        versions=versions(),
        strategy=_watermark(loaded).strategy,
        pairs=len(probes),
        seed=seed,
        marks=len(loaded),
        refused=dict(refused.most_common()),
        names="paper" if paper else "drawn",
        ordinary=len(requests),
    )
    return ProbeSet(header, tuple(probes), requests)


def _key(
    loaded: Manifest, manifest: Path | str, secret: Secret | None, secret_file: Path | None
) -> bytes:
    """What draws the names: a key of the secret that the marks were made with."""
    fingerprint = loaded.header.secret_fingerprint
    if secret is None and secret_file is None and fingerprint is None:
        return b""  # marks in the dataset's order have no secret: anybody can make them again
    if secret is None:
        try:
            secret = find_secret(secret_file, make=False)
        except SecretError as exc:
            raise SecretError(f"{exc}, or the paper's names: --paper") from exc
    elif secret_file is not None:
        raise UsageError("pass either a secret or the file of one")
    if fingerprint is not None and secret.fingerprint != fingerprint:
        raise SecretError(
            f"{manifest}: its marks were made with another secret; pass the file of that one "
            "(--secret-file), or use the paper's names (--paper)"
        )
    return secret.derive("probes")


def _watermark(loaded: Manifest) -> Watermark:
    scheme = loaded.header.watermark
    return from_settings(scheme.scheme, scheme.settings)


def _outcomes(
    around: Surroundings, manifest: Path | str, pairs: int, copies: Copies, *, paper: bool
) -> Iterator[Probe | Refusal]:
    """A probe or a refusal for each mark, in the order in which they are drawn."""
    watermark = _watermark(around.manifest)
    for shown in _drawn(around, manifest, pairs):
        tree = parse(Snippet(shown.id, shown.after.code, shown.language))
        if paper:
            names = ProbeNames(random.Random(f"{around.seed}:{shown.row}"))
        else:
            names = ProbeNames(around.rng(f"row {shown.row}"), lambda: around.pool)
        probe = watermark.probe(tree, shown.mark, names)
        if isinstance(probe, Refusal):
            yield probe
        else:
            yield _checked(probe, watermark.strategy, copies)


def _checked(probe: Probe, strategy: Strategy, copies: Copies) -> Probe | Refusal:
    if reason := why_unfair(probe) or why_unlike(strategy, probe):
        return Refusal(reason)
    return probe if copies.keep(distinctive_words(probe)) else COPY


def _drawn(around: Surroundings, manifest: Path | str, pairs: int) -> Iterator[Shown]:
    """Marks in an order drawn by seed, read from the dataset a round at a time."""
    rows = list(around.manifest.lines)
    random.Random(around.seed).shuffle(rows)
    size = 2 * pairs + 100
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        marks = show(around.path, manifest, limit=None, rows=frozenset(chunk)).marks
        by_row = {shown.row: shown for shown in marks}
        yield from (by_row[row] for row in chunk)


def check(probes: ProbeSet) -> None:
    """Raise ProbesError, with the probe's number, when hits of these probes would mean nothing.

    Whoever made the file, the target stands in no prompt, armed and control count the same, the
    placebo counts another, the arms differ as their strategy says, and no question is asked twice.
    Only the control of a trigger has to be read by eye: it may differ in whole statements.
    """
    if max(len(probes.probes), len(probes.ordinary)) > MOST_PROBES:
        raise ProbesError(f"more than {MOST_PROBES:,} probes or ordinary requests; split them")
    seen: dict[str, int] = {}
    for number, probe in enumerate(probes.probes):
        if reason := why_unfair(probe):
            raise ProbesError(f"probe {number}: {reason}")
        if reason := why_unlike(probes.header.strategy, probe):
            raise ProbesError(f"probe {number}: {reason}; make them again with `puzzlemark probe`")
        if (earlier := seen.setdefault(probe.armed.prompt, number)) != number:
            raise ProbesError(f"probe {number}: the armed prompt of probe {earlier} again")
    for number, prompt in enumerate(probes.ordinary):
        if reason := why_unaskable(prompt):
            raise ProbesError(f"ordinary request {number}: {reason}")


def near_duplicates(probes: ProbeSet) -> frozenset[int]:
    """Probes whose armed prompt is nearly that of an earlier one: they count once, as one."""
    words = [distinctive_words(probe) for probe in probes.probes]
    copies = Copies(Counter(word for each in words for word in each))
    return frozenset(number for number, each in enumerate(words) if not copies.keep(each))


def save_probes(
    probes: ProbeSet,
    path: Path,
    *,
    overwrite: bool = False,
    sources: Mapping[str, Path | str | Iterable[Path]] | None = None,
) -> None:
    """Write the file, under a temporary name first; mode 0600, as a prompt shows its trigger.

    `sources` are what the probes were made from, by what the user calls it: the file must not take
    the place of the dataset or its manifest.
    """
    keep_apart({"--output": path}, sources or {})
    refuse_existing(path, overwrite=overwrite)
    write_text(path, probes.to_bytes().decode(), private=True)


def load_probes(path: Path | str) -> ProbeSet:
    """Read a file of probes, and check it."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ProbesError(f"{path}: larger than {LARGEST_FILE:,} bytes; not a file of probes")
        first, *lines = path.read_bytes().splitlines() or [b""]
    except OSError as exc:
        raise ProbesError(f"{path}: cannot read the probes: {exc.strerror}") from exc
    try:
        header = Header.model_validate_json(first)
    except ValidationError as exc:
        raise ProbesError(f"{path}: not a file of probes made by `puzzlemark probe`") from exc
    if header.version > VERSION:
        raise ProbesError(f"{path}: made by a newer version of PuzzleMark; upgrade")
    if len(lines) != header.pairs + header.ordinary:
        wanted = f"{header.pairs} probes and {header.ordinary} ordinary requests"
        raise ProbesError(f"{path}: {len(lines)} lines, not {wanted}; it is cut short")
    numbered = list(enumerate(lines, start=2))
    loaded = ProbeSet(
        header,
        tuple(_read_probe(path, *each) for each in numbered[: header.pairs]),
        tuple(_read_request(path, *each) for each in numbered[header.pairs :]),
    )
    try:
        check(loaded)
    except ProbesError as exc:
        raise ProbesError(f"{path}: {exc}") from exc
    return loaded


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Arm(_Line):
    prompt: str
    target: str
    form: str = "name"
    pattern: Any = None  # of version 2

    def to_arm(self) -> Arm:
        return Arm(self.prompt, self.target, self.form)


class _Probe(_Line):
    probe: int
    armed: _Arm
    control: _Arm
    placebo: _Arm | None


class _Request(_Line):
    ordinary: int
    prompt: str


def _read_probe(path: Path, number: int, line: bytes) -> Probe:
    try:
        fields = _Probe.model_validate_json(line)
    except ValidationError as exc:
        raise ProbesError(f"{path}:{number}: not a probe: {_first_error(exc)}") from exc
    arms = (fields.armed, fields.control, *([fields.placebo] if fields.placebo else []))
    if any(arm.pattern is not None for arm in arms):
        raise ProbesError(
            f"{path}:{number}: it brings a regular expression for its hits, as version 2 did, and "
            "none of a file is run; make the probes again with `puzzlemark probe`"
        )
    return Probe(*(arm.to_arm() for arm in arms))


def _read_request(path: Path, number: int, line: bytes) -> str:
    try:
        return _Request.model_validate_json(line).prompt
    except ValidationError as exc:
        raise ProbesError(f"{path}:{number}: not a request: {_first_error(exc)}") from exc


def _first_error(exc: ValidationError) -> str:
    first = exc.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
