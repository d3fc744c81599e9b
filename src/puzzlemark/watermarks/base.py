"""What a watermark scheme is: a frozen dataclass whose fields are its whole configuration."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from puzzlemark import plugins
from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks import _hits
from puzzlemark.watermarks._names import ProbeNames as ProbeNames  # plug-ins import it from here

# Which control is the fair one; see docs/verification/probes.md. `trigger`: the target has words of
# its own, so the same prompt without its trigger is fair.
Strategy = Literal["fixed", "universal", "trigger"]
Role = Literal["prefix", "suffix", "trigger", "target"]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a mark: `Part("target", "key_iterator", was="a")`."""

    role: Role
    text: str  # a name, a statement, or the form of an expression: `range(0, ...)`
    was: str | None = None  # what it replaced, "" where it was inserted; None: there by nature


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark in one snippet: a trigger (of ours: prefix and suffix), and after it the target."""

    parts: tuple[Part, ...]  # a target follows its trigger; a mark may have several pairs
    edits: tuple[Edit, ...] = ()  # none: the whole mark was there by nature

    def of(self, role: Role) -> Part:
        """The first part in a role: `mark.of("target").text -> "key_iterator"`."""
        return next(part for part in self.parts if part.role == role)

    @property
    def is_natural(self) -> bool:
        """Whether the trigger was there by nature."""
        return all(part.was is None for part in self.parts if part.role != "target")


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a mark at its place in the marked snippet, in bytes."""

    start: int
    end: int
    role: Role


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a snippet does not carry; reasons are counted in the summary."""

    reason: str


@dataclass(frozen=True, slots=True)
class Arm:
    """One question to a model: a prompt, and what counts as a hit in the completion."""

    prompt: str
    target: str
    form: str = "name"  # how the target is found: see `watermarks._hits`

    def spans(self, completion: str) -> list[tuple[int, int]]:
        """Where a completion hits, in characters."""
        return _hits.find(self.form, self.target, completion)

    def is_hit(self, completion: str) -> bool:
        """`Arm("for i in ", "range(0, ...)", "range_start").is_hit("range(0, n):") -> True`."""
        return bool(self.spans(completion))

    @property
    def expression(self) -> str:
        """The regular expression that finds a hit; our own, whoever made the probes."""
        return _hits.expression(self.form, self.target)


@dataclass(frozen=True, slots=True)
class Probe:
    """The same snippet asked with the trigger and without it."""

    armed: Arm
    control: Arm  # the trigger is away; the armed target counts
    placebo: Arm | None = None  # strategy `fixed`: another prefix, whose own concatenation counts


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a scheme's authors chose for a dataset; whoever embeds may choose otherwise."""

    tau: float = 0.35  # suitability quantile below which snippets carry nothing; 0: no selection
    min_rate: float = 0.01  # shares of all records
    max_rate: float = 0.05


class Watermark(Protocol):
    """How to mark one tree. The order of carriers, budgets and corpora are not its business."""

    name: ClassVar[str]  # the file's name
    strategy: ClassVar[Strategy]
    defaults: ClassVar[Defaults]
    fewest_variables: ClassVar[int]  # a snippet that declares fewer names cannot carry

    def may_occur(self, code: bytes) -> bool:
        """Whether `plan` might mark this snippet: a cheap look, never wrongly no."""
        ...

    def plan(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:
        """Mark a snippet; a mark that stands there already needs no edits."""
        ...

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Where the parts of a mark stand in the marked snippet, ascending, without overlaps."""
        ...

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """Prompts about a mark, made from the marked snippet."""
        ...


@runtime_checkable
class Introducing(Protocol):
    """A watermark that can bring its trigger into snippets where `may_occur` says no."""

    def introduce(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:
        """Mark a snippet in which the trigger does not stand by nature."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A watermark whose marks or prompts follow from a key; only its fingerprint is written."""

    def with_key(self, key: bytes) -> Watermark:
        """The same watermark with its key, which is no setting: `to_settings` leaves it out."""
        ...


@dataclass(frozen=True, slots=True)
class Named:
    """A configuration that the paper gives a name to, and the language it is for."""

    language: str
    watermark: Watermark


def named() -> dict[str, Named]:
    """The paper's names: `named()["P1"].watermark -> FixedPrefix(prefix="key")`."""
    presets: dict[str, Named] = {}
    # our own first: a preset of another package does not change what `--mark P1` means
    found = sorted(plugins.every("watermarks"), key=lambda pair: _is_foreign(pair[0]))
    for scheme, _ in found:
        for name, each in getattr(plugins.load("watermarks", scheme), "NAMED", {}).items():
            if presets.setdefault(name, each) is not each:
                owner = plugins.distribution("watermarks", scheme)
                plugins.warn(f"{owner} offers the mark {name!r}, but that is another's already")
    return presets


def _is_foreign(scheme: str) -> bool:
    return plugins.distribution("watermarks", scheme) is not None


def from_spec(spec: str) -> Watermark:
    """`"fixed_prefix:prefix=key" -> FixedPrefix(prefix="key")`."""
    watermark: Watermark = plugins.configure("watermarks", spec)
    return watermark


def from_settings(scheme: str, settings: Mapping[str, Any]) -> Watermark:
    """A watermark from its scheme and settings, as they stand in a manifest's header."""
    watermark: Watermark = plugins.build("watermarks", scheme, settings)
    return watermark


def to_settings(watermark: Watermark) -> dict[str, Any]:
    """The reverse of `from_settings`."""
    return asdict(watermark)  # type: ignore[call-overload, no-any-return]
