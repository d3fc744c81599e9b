"""What a watermark scheme is: a frozen dataclass whose fields are its whole configuration."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from puzzlemark import plugins
from puzzlemark.errors import UsageError, suggest
from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks._counting import Counts as Counts
from puzzlemark.watermarks._counting import Sighting as Sighting
from puzzlemark.watermarks._design import Arm as Arm
from puzzlemark.watermarks._design import ArmWords as ArmWords
from puzzlemark.watermarks._design import Decision as Decision
from puzzlemark.watermarks._design import Design as Design
from puzzlemark.watermarks._design import Probe as Probe
from puzzlemark.watermarks._design import Sampling as Sampling
from puzzlemark.watermarks._draws import Draw as Draw
from puzzlemark.watermarks._names import ProbeNames as ProbeNames  # plug-ins import it from here
from puzzlemark.watermarks._pools import Subset as Subset

Role = Literal["prefix", "suffix", "trigger", "target"]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a mark: `Part("target", "key_iterator", was="a")`."""

    role: Role
    text: str  # a name, a statement, or the form of an expression: `range(0, ...)`
    was: str | None = None  # what it replaced, "" where it was inserted; None: there by nature


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark in one function: a trigger (of ours: prefix and suffix), and after it the target."""

    parts: tuple[Part, ...]  # a target follows its trigger; a mark may have several pairs
    edits: tuple[Edit, ...] = ()  # none: the whole mark was there by nature
    function: int | None = None  # its index in the snippet; None: the mark is the whole snippet's
    draw: Draw | None = None  # where a key drew the target: among what
    # What a mark with a draw would change if another symbol had been drawn, the same one for every
    # key. Whoever leaves carriers out judges by it: by the edits, the draw would decide who stays.
    trial: tuple[Edit, ...] = field(default=(), compare=False, repr=False)

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
    """Why a function or a snippet does not carry; reasons are counted in the summary."""

    reason: str
    is_weak: bool = False  # the reason of another function says more about the snippet


NO_FUNCTION = Refusal("no function in the snippet")


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a scheme's authors chose for a dataset; whoever embeds may choose otherwise."""

    tau: float = 0.35  # suitability quantile below which snippets carry nothing; 0: no selection
    min_rate: float = 0.01  # shares of all records
    max_rate: float = 0.05


class Watermark(Protocol):
    """How to mark one function. Who walks functions, carriers and corpora is not its business."""

    name: ClassVar[str]  # the file's name
    design: ClassVar[Design]  # how a model is asked about a mark
    defaults: ClassVar[Defaults]
    fewest_variables: ClassVar[int]  # a snippet that declares fewer names cannot carry

    def may_occur(self, code: bytes) -> bool:
        """Whether `plan` might mark this snippet: a cheap look, never wrongly no."""
        ...

    def plan(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        """Mark one function of a snippet; a mark that stands there already needs no edits.

        The mark names the function, and its edits stay inside it.
        """
        ...

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Where the parts of a mark stand in the marked snippet, ascending, without overlaps.

        They stand in the function that the mark names. A mark of the whole snippet, and one of a
        manifest that did not say it yet, is looked for in all of them.
        """
        ...

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """Prompts about a mark, made from the marked snippet."""
        ...


@runtime_checkable
class Introducing(Protocol):
    """A watermark that can bring its trigger into snippets where `may_occur` says no."""

    def introduce(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        """Mark a function of a snippet in which the trigger does not stand by nature."""
        ...


@runtime_checkable
class SnippetWide(Protocol):
    """A watermark that looks at the whole snippet first, where a record carries one mark only."""

    def plan_snippet(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal | None:
        """A mark of the snippet as a whole, or why it has none; None: its functions decide."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A watermark whose marks or prompts follow from a key; only its fingerprint is written."""

    def with_key(self, key: bytes) -> Watermark:
        """The same watermark with its key, which is no setting: `to_settings` leaves it out.

        It is kept in a field with `field(default=None, repr=False)`, so that nothing prints it.
        """
        ...


@runtime_checkable
class Counting(Protocol):
    """A watermark whose marks follow from counts over the whole dataset, made before any mark.

    Nothing of it may depend on the watermark's key.
    """

    @property
    def share(self) -> float:
        """Of the records that can carry, how many may."""
        ...

    @property
    def project(self) -> str | None:
        """The column that says whose code a record is; None: one with a usual name."""
        ...

    def sightings(self, tree: Tree, function: Function, policy: Policy) -> Sequence[Sighting]:
        """The places of one function that could carry, with what stands there by nature.

        And those that cannot, where a watermark learns from what stands around them.
        """
        ...

    def with_counts(self, counts: Counts) -> Watermark:
        """The same watermark, knowing the dataset; the counts are no setting."""
        ...

    def is_eligible(self, sighting: Sighting, project: str) -> bool:
        """Whether a place may carry, by the counts."""
        ...


@runtime_checkable
class Framing(Protocol):
    """A watermark that is asked about in frames: original snippets, with every symbol in turn."""

    def frame(self, tree: Tree, names: ProbeNames) -> Sequence[Probe] | Refusal:
        """A probe for each symbol of a public pool, made from an original without the key."""
        ...


@dataclass(frozen=True, slots=True)
class Named:
    """A configuration that the paper gives a name to, and the language in which it tried it.

    In a record of another language the mark follows that language's own convention, unless it is
    `bound`: made of forms that one language has.
    """

    language: str
    watermark: Watermark
    bound: bool = False


def named() -> dict[str, Named]:
    """The paper's names: `named()["P1"].watermark -> FixedPrefix(prefix="key")`."""
    presets: dict[str, Named] = {}
    # our own first: a preset of another package does not change what `--mark P1` means
    found = sorted(plugins.every("watermarks"), key=lambda pair: _is_foreign(pair[0]))
    for scheme, _ in found:
        for name, each in getattr(plugins.load("watermarks", scheme), "NAMED", {}).items():
            if presets.setdefault(name, each) is not each:
                owner = plugins.distribution("watermarks", scheme)
                plugins.warn(f"{owner} offers the preset {name!r}, but that is another's already")
    return presets


def find_preset(name: str) -> tuple[str, Named] | None:
    """A preset by its name in any case, and how it is spelt: `find_preset("u1")[0] -> "U1"`."""
    presets = named()
    spelt = next((each for each in presets if each.casefold() == name.casefold()), None)
    return None if spelt is None else (spelt, presets[spelt])


def find_mark(mark: str) -> tuple[str, Named] | Watermark:
    """What `--mark` names: a preset, or a watermark as in `from_spec`.

    `find_mark("u1")[0] -> "U1"`, `find_mark("synonyms") -> Synonyms()`.
    """
    if (preset := find_preset(mark)) is not None:
        return preset
    schemes = [name for name, _ in plugins.every("watermarks")]
    if ":" not in mark and mark not in schemes:
        known = suggest(mark, [*sorted(named()), *sorted(schemes)])
        raise UsageError(f"no mark {mark!r}{known}; puzzlemark list explains them")
    return from_spec(mark)


def _is_foreign(scheme: str) -> bool:
    return plugins.distribution("watermarks", scheme) is not None


def designs() -> dict[str, Design]:
    """The designs of all watermarks by name: a file of probes says which one it follows."""
    found: dict[str, Design] = {}
    for scheme, watermark in plugins.every("watermarks"):
        design: Design = watermark.design
        if found.setdefault(design.name, design) != design:
            raise UsageError(
                f"two watermarks have different designs with one name, {design.name!r}, and one of "
                f"them is {scheme}; give that one another name"
            )
    return found


def from_spec(spec: str) -> Watermark:
    """`"fixed_prefix:prefix=key" -> FixedPrefix(prefix="key")`."""
    watermark: Watermark = plugins.configure("watermarks", spec)
    return watermark


def from_settings(scheme: str, settings: Mapping[str, Any]) -> Watermark:
    """A watermark from its scheme and settings, as they stand in a manifest's header.

    A setting that came later is not in an older manifest: `earlier` of a scheme says what it was.
    """
    earlier: Mapping[str, Any] = getattr(plugins.find("watermarks", scheme), "earlier", {})
    watermark: Watermark = plugins.build("watermarks", scheme, {**earlier, **settings})
    return watermark


# Metadata of a field that came later: its default is not written, so that the manifests of marks
# that do not use it stay what they were.
UNSAID: Mapping[str, bool] = {"unsaid": True}


def to_settings(watermark: Watermark) -> dict[str, Any]:
    """The reverse of `from_settings`."""
    settings = {name: getattr(watermark, name) for name in plugins.fields(type(watermark))}
    kind: type = type(watermark)
    for each in fields(kind) if is_dataclass(kind) else ():
        if each.metadata.get("unsaid") and settings[each.name] == each.default:
            del settings[each.name]
    return settings
