"""Probes: snippets asked with a trigger and without it, as a file to ask with.

The file holds what is asked and nothing else of the secret: no ids, no rows, no original names. It
can be handed to whoever can reach the model. And it may come from anybody: what is read is checked,
and nothing in it is run.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from puzzlemark.files import Name, keep_apart, refuse_existing
from puzzlemark.staging import write_text
from puzzlemark.verification.checking import LARGEST_FILE, ProbesError, check_probes
from puzzlemark.watermarks._design import Arm, Design, Probe
from puzzlemark.watermarks._draws import Draw
from puzzlemark.watermarks._pools import Subset
from puzzlemark.watermarks.base import designs

FORMAT: Literal["puzzlemark probes"] = "puzzlemark probes"
VERSION = 4  # 1 knew whole names as hits only; 2 had regular expressions in it; 3 no source
DRAW, SUBSET = "draw", "subset"  # no names of arms
ALWAYS = ("armed", "control", "placebo")  # arms that each line names, null where there is none


class KeyOf(BaseModel):
    """Which key the prompts follow from: whose it is, and its fingerprint, never the key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    watermark: str
    fingerprint: str


Whole = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)]  # what every reader of JSON can hold
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]  # SHA-256, or a salt as long


class Source(BaseModel):
    """What the probes were made from, by digests: see docs/verification/run-folder.md."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    dataset: Digest  # of the records of the marked dataset
    manifest: Digest  # of its text
    commitment: Digest | None = None  # where the probes follow the plan of one
    salt: Digest | None = None  # opens the manifest's digest in the commitment

    def to_json(self) -> dict[str, str]:
        """Plain values, without what is not there."""
        return self.model_dump(exclude_none=True)


class Header(BaseModel):
    """What the probes are; the first line of their file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["puzzlemark probes"]
    version: int
    versions: dict[str, str]
    strategy: str  # the name of the design
    pairs: NonNegativeInt
    seed: Whole
    marks: Whole  # in the manifest
    refused: dict[str, Whole]  # marks that could not be asked about, by reason
    names: Literal["paper", "drawn"] = "paper"  # constants, or names of the dataset
    ordinary: NonNegativeInt = 0  # requests beside the probes
    key: KeyOf | None = None  # of a watermark that has one
    source: Source | None = None  # files of earlier versions do not say


@dataclass(frozen=True, slots=True)
class ProbeSet:
    """Probes in the order in which they are asked."""

    header: Header
    probes: tuple[Probe, ...]
    ordinary: tuple[str, ...] = ()  # requests asked among the others, and never judged

    @property
    def design(self) -> Design:
        """The design that the probes follow, of whichever watermark has it."""
        known = designs()
        if self.header.strategy not in known:
            raise ProbesError(
                f"their design {self.header.strategy!r} is not known here (known: "
                f"{', '.join(sorted(known))}); install the package that brings their watermark"
            )
        return known[self.header.strategy]

    def to_bytes(self) -> bytes:
        """The file's content: JSON lines."""
        # what an older version of the format did not say is not said now: the digest stays
        first = orjson.dumps(self.header.model_dump(exclude_unset=True))
        return first + b"\n" + self._lines()

    def _lines(self) -> bytes:
        lines = [orjson.dumps({"probe": n, **_plain(p)}) for n, p in enumerate(self.probes)]
        lines += (orjson.dumps({"ordinary": n, "prompt": p}) for n, p in enumerate(self.ordinary))
        return b"".join(line + b"\n" for line in lines)

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @property
    def questions(self) -> str:
        """SHA-256 of the file without its first line: of what is asked, and nothing else."""
        return hashlib.sha256(self._lines()).hexdigest()

    @property
    def judge(self) -> str | None:
        """SHA-256 of which key judges the answers to these questions; None where none does.

        The questions are in it, so that two datasets of one owner cannot be told by their key.
        """
        key = self.header.key
        if key is None:
            return None
        text = f"{self.questions}\n{key.watermark}\n{key.fingerprint}\n"
        return hashlib.sha256(text.encode()).hexdigest()


def _plain(probe: Probe) -> dict[str, dict[str, Any] | None]:
    """Plain data; the form of an arm, and a draw, are said only where there is one to say."""
    plain: dict[str, dict[str, Any] | None] = dict.fromkeys(ALWAYS)
    for name, arm in probe.arms.items():
        form = {} if arm.form == "name" else {"form": arm.form}
        plain[name] = {"prompt": arm.prompt, "target": arm.target, **form}
    drawn = {DRAW: probe.draw, SUBSET: probe.subset}
    return {**plain, **{name: asdict(each) for name, each in drawn.items() if each is not None}}


def check(probes: ProbeSet) -> None:
    """Raise ProbesError, with the probe's number, when hits of these probes would mean nothing."""
    check_probes(probes.design, probes.probes, probes.ordinary)


def save_probes(
    probes: ProbeSet,
    path: Path,
    *,
    overwrite: bool = False,
    sources: Mapping[str, Name | Iterable[Name]] | None = None,
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
    target: str | dict[str, str]
    form: str = "name"
    pattern: Any = None  # of version 2

    def to_arm(self) -> Arm:
        return Arm(self.prompt, self.target, self.form)


class _Probe(_Line):
    model_config = ConfigDict(frozen=True, extra="allow", strict=True)
    __pydantic_extra__: dict[str, _Arm | None]  # other arms, by their names

    probe: int
    armed: _Arm
    draw: Draw | None = None
    subset: Subset | None = None

    def arms(self) -> dict[str, _Arm]:
        others = {name: arm for name, arm in (self.__pydantic_extra__ or {}).items() if arm}
        return {"armed": self.armed, **others}


class _Request(_Line):
    ordinary: int
    prompt: str


def _read_probe(path: Path, number: int, line: bytes) -> Probe:
    try:
        fields = _Probe.model_validate_json(line)
    except ValidationError as exc:
        raise ProbesError(f"{path}:{number}: not a probe: {_first_error(exc)}") from exc
    arms = fields.arms()
    if any(arm.pattern is not None for arm in arms.values()):
        raise ProbesError(
            f"{path}:{number}: it brings a regular expression for its hits, as version 2 did, and "
            "none of a file is run; make the probes again with `puzzlemark probe`"
        )
    return Probe({n: arm.to_arm() for n, arm in arms.items()}, fields.draw, fields.subset)


def _read_request(path: Path, number: int, line: bytes) -> str:
    try:
        return _Request.model_validate_json(line).prompt
    except ValidationError as exc:
        raise ProbesError(f"{path}:{number}: not a request: {_first_error(exc)}") from exc


def _first_error(exc: ValidationError) -> str:
    first = exc.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
