"""Probes: pairs of prompts, made from a marked dataset and its manifest, as a file to ask with.

The file holds what is asked and nothing else of the secret: no ids, no rows, no original names. It
can be handed to whoever can reach the model.
"""

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.showing import Shown, show
from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.pages.files import write_text
from puzzlemark.provenance import versions
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks.base import (
    Arm,
    Probe,
    Refusal,
    Strategy,
    Watermark,
    from_settings,
)

FORMAT: Literal["puzzlemark probes"] = "puzzlemark probes"
VERSION = 2  # 1 knew whole names as hits only
DUPLICATE = "the same prompt as another probe"


class ProbesError(PuzzleMarkError):
    """A file of probes cannot be read or written."""


class Header(BaseModel):
    """What the probes are; the first line of their file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["puzzlemark probes"]
    version: int
    versions: dict[str, str]
    strategy: Strategy
    pairs: int
    seed: int
    marks: int  # in the manifest
    refused: dict[str, int]  # marks that could not be asked about, by reason


@dataclass(frozen=True, slots=True)
class ProbeSet:
    """Probes in the order in which they are asked."""

    header: Header
    probes: tuple[Probe, ...]

    def to_bytes(self) -> bytes:
        """The file's content: JSON lines."""
        lines = [orjson.dumps(self.header.model_dump())]
        lines += (orjson.dumps({"probe": n, **_plain(p)}) for n, p in enumerate(self.probes))
        return b"\n".join(lines) + b"\n"

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()


def _plain(probe: Probe) -> dict[str, dict[str, str] | None]:
    """Plain data, without the patterns that an arm does not have: the first version has none."""
    arms = asdict(probe)
    return {
        name: None if arm is None else {key: text for key, text in arm.items() if text is not None}
        for name, arm in arms.items()
    }


def build_probes(
    path: Path | str, manifest: Path | str, *, pairs: int = 500, seed: int = 0
) -> ProbeSet:
    """Draw marks by seed and make a probe of each, until there are enough pairs.

    `path` is the dataset of the manifest, marked or original.
    """
    if pairs < 1:
        raise UsageError(f"pairs must be 1 or more, not {pairs}")
    loaded = load_manifest(manifest)
    scheme = loaded.header.watermark
    watermark = from_settings(scheme.scheme, scheme.settings)
    probes: dict[str, Probe] = {}
    refused: Counter[str] = Counter()
    for shown in _drawn(path, manifest, list(loaded.lines), pairs, seed):
        if len(probes) == pairs:
            break
        probe = _probe(watermark, shown, seed)
        if isinstance(probe, Refusal):
            refused[probe.reason] += 1
        elif probe.armed.prompt in probes:
            refused[DUPLICATE] += 1
        else:
            probes[probe.armed.prompt] = probe
    header = Header(
        format=FORMAT,
        version=VERSION,
        versions=versions(),
        strategy=watermark.strategy,
        pairs=len(probes),
        seed=seed,
        marks=len(loaded),
        refused=dict(refused.most_common()),
    )
    return ProbeSet(header, tuple(probes.values()))


def _drawn(
    path: Path | str, manifest: Path | str, rows: list[int], pairs: int, seed: int
) -> Iterator[Shown]:
    """Marks in an order drawn by seed, read from the dataset a round at a time."""
    random.Random(seed).shuffle(rows)
    size = 2 * pairs + 100
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        marks = show(path, manifest, limit=None, rows=frozenset(chunk)).marks
        by_row = {shown.row: shown for shown in marks}
        yield from (by_row[row] for row in chunk)


def _probe(watermark: Watermark, shown: Shown, seed: int) -> Probe | Refusal:
    tree = parse(Snippet(shown.id, shown.after.code, shown.language))
    return watermark.probe(tree, shown.mark, random.Random(f"{seed}:{shown.row}"))


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
    if path.exists() and not overwrite:
        raise UsageError(f"{path}: exists already; pass --force to replace it")
    write_text(path, probes.to_bytes().decode(), private=True)


def load_probes(path: Path | str) -> ProbeSet:
    """Read a file of probes."""
    path = Path(path)
    try:
        first, *lines = path.read_bytes().splitlines() or [b""]
    except OSError as exc:
        raise ProbesError(f"{path}: cannot read the probes: {exc.strerror}") from exc
    try:
        header = Header.model_validate_json(first)
    except ValidationError as exc:
        raise ProbesError(f"{path}: not a file of probes made by `puzzlemark probe`") from exc
    if header.version > VERSION:
        raise ProbesError(f"{path}: made by a newer version of PuzzleMark; upgrade")
    probes = tuple(_read_line(path, number, line) for number, line in enumerate(lines, start=2))
    if len(probes) != header.pairs:
        raise ProbesError(f"{path}: {len(probes)} probes, not {header.pairs}; it is cut short")
    return ProbeSet(header, probes)


def _read_line(path: Path, number: int, line: bytes) -> Probe:
    try:
        fields = orjson.loads(line)
        placebo = fields["placebo"]
        return Probe(
            _read_arm(fields["armed"]),
            _read_arm(fields["control"]),
            None if placebo is None else _read_arm(placebo),
        )
    except (ValueError, KeyError, TypeError, re.error) as exc:
        raise ProbesError(f"{path}:{number}: not a probe: {exc}") from exc


def _read_arm(fields: dict[str, str]) -> Arm:
    arm = Arm(**fields)
    re.compile(arm.pattern or "")  # better refused now than when everything has been asked
    return arm
