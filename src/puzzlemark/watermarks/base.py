"""What a watermark scheme is: a frozen dataclass whose fields are its whole configuration."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, Protocol

from puzzlemark import plugins
from puzzlemark.errors import UsageError
from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Policy

Strategy = Literal["fixed", "universal"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark in one snippet: prefix and suffix are its trigger, joined they are the target."""

    prefix: str
    suffix: str
    target: str
    replaced: str | None  # the name that became the target; None: the target was there by nature
    introduced: str | None  # the name that became the prefix; None: the prefix was there by nature
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a snippet does not carry; reasons are counted in the summary."""

    reason: str


@dataclass(frozen=True, slots=True)
class Arm:
    """One question to a model: a prompt, and the name that counts as a hit in the completion."""

    prompt: str
    target: str


@dataclass(frozen=True, slots=True)
class Probe:
    """The same snippet asked with the trigger and without it."""

    armed: Arm
    control: Arm  # the trigger is away; the armed target counts
    placebo: Arm | None  # another prefix, whose own concatenation counts; None: it would trigger


class Watermark(Protocol):
    """How to mark one tree. Rates, order and corpora are not its business."""

    name: ClassVar[str]  # the file's name
    strategy: ClassVar[Strategy]  # which control is the fair one; see docs/verification
    fewest_variables: ClassVar[int]  # a snippet that declares fewer names cannot carry

    def may_occur(self, code: bytes) -> bool:
        """Whether the trigger could stand here by nature: a cheap look, never wrongly no."""
        ...

    def plan(self, tree: Tree, policy: Policy) -> Mark | Refusal:
        """Mark a snippet in which the trigger stands by nature."""
        ...

    def introduce(self, tree: Tree, policy: Policy) -> Mark | Refusal:
        """Mark a snippet in which it does not, bringing the trigger in."""
        ...

    def probe(self, tree: Tree, mark: Mark, rng: random.Random) -> Probe | Refusal:
        """Prompts about a mark, made from the marked snippet."""
        ...


@dataclass(frozen=True, slots=True)
class Named:
    """A configuration that the paper gives a name to, and the language it is for."""

    language: str
    watermark: Watermark


def named() -> dict[str, Named]:
    """The paper's names: `named()["P1"].watermark -> FixedPrefix(prefix="key")`."""
    rooms = (plugins.load("watermarks", variant) for variant in plugins.names("watermarks"))
    return {name: each for room in rooms for name, each in room.NAMED.items()}


def from_spec(spec: str) -> Watermark:
    """`"fixed_prefix:prefix=key" -> FixedPrefix(prefix="key")`."""
    scheme, _, text = spec.partition(":")
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    if any(not separator for _, separator, _ in pairs):
        raise UsageError(f"{spec!r}: settings are spelled name=value, separated by commas")
    return from_settings(scheme, {key.strip(): value.strip() for key, _, value in pairs})


def from_settings(scheme: str, settings: Mapping[str, Any]) -> Watermark:
    """A watermark from its scheme and settings, as they stand in a manifest's header."""
    kind = plugins.load("watermarks", scheme).SCHEME
    known = [each.name for each in fields(kind)]
    if unknown := sorted(set(settings) - set(known)):
        takes = ", ".join(known) or "no settings"
        raise UsageError(f"{scheme} has no setting {', '.join(unknown)}; it takes {takes}")
    watermark: Watermark = kind(**settings)
    return watermark


def to_settings(watermark: Watermark) -> dict[str, Any]:
    """The reverse of `from_settings`."""
    return asdict(watermark)  # type: ignore[call-overload, no-any-return]
