"""The quiet channel: a choice among names that people use anyway, drawn by a key.

A local variable that is called `result` might as well be `res`, `ret` or `out`. The key draws one
of them for each carrier, with the chances that each has there by nature. A model that was trained
on the dataset remembers these choices; one that was not cannot know them. The proof is in
docs/watermarks/synonyms.md, and docs/decisions/0016 and 0050 say why it is as it is.

Everything but the drawn name is decided without the key: who carries, which variable, how likely
each name is. In particular *every* name of the set must be one that the variable could get; if only
the drawn one were tried, the draw would decide who carries, and the error rate were not exact.
"""

import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Literal

from tree_sitter import Node

from puzzlemark.errors import UnsafeRename, UsageError
from puzzlemark.habits.seen import Spot
from puzzlemark.languages.base import every_language, find
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.naming import mentions
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.surroundings import Reading
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy, Variable, function_nodes, functions
from puzzlemark.watermarks._concatenation import variable_places
from puzzlemark.watermarks._counting import Counts, Sighting
from puzzlemark.watermarks._design import Arm, ArmWords, Decision, Design, Probe, Sampling
from puzzlemark.watermarks._draws import Draw, entropy
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import Defaults, Mark, Part, Place, Refusal

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CLASS = re.compile(r"[0-9a-f]{32}")

NO_SYNONYM = Refusal("no local variable has a name of a set of synonyms", is_weak=True)
NO_CARRIER = Refusal("no variable could get every name of its set of synonyms")
NO_CHOICE = Refusal("its set of synonyms is hardly a choice here: the prior has too little entropy")
NOT_THERE = Refusal("the variable is not where the manifest says")


def why_not_drawn(probe: Probe) -> str | None:
    """Why a probe is not one about a drawn name, or None."""
    if probe.draw is None:
        return "it does not say what its name was drawn from"
    names = [name for name, _ in probe.draw.weights]
    if dict(probe.armed.targets) != {name: name for name in names}:
        return "its targets are not the names that were drawn from"
    if probe.armed.form != "first":
        return "its answer is not the first name"
    return why_no_draw(probe.draw)


def why_no_draw(draw: Draw) -> str | None:
    """Why a draw is not among the names of the public table, or None; nobody's word is needed."""
    language_name, _, rest = draw.group.partition("/")
    version, _, first = rest.partition("/")
    language = find(language_name)
    if language is None or not language.synonyms:
        return (
            f"its set {draw.group!r} is of no language that is known here; install the package "
            "that brings it"
        )
    if language.name != language_name:  # each spelling is another draw of the same key
        return f"its set {draw.group!r} is spelled otherwise than {language.name}/{rest}"
    if version != str(language.synonyms_version):
        return (
            f"its set {draw.group!r} is of another version of the table than the one here, which "
            f"is {language.synonyms_version}; use the PuzzleMark that made it"
        )
    names = tuple(name for name, _ in draw.weights)
    if names not in language.synonyms or names[0] != first:
        return f"its names are not those of the set {draw.group!r} of the public table"
    if not _CLASS.fullmatch(draw.unit):
        return "its class is none: 32 hexadecimal digits"
    if draw.beacon is not None and not _DIGEST.fullmatch(draw.beacon):
        return "its beacon is no SHA-256"
    return None


def why_several_beacons(probes: Sequence[Probe]) -> str | None:
    """Why probes are not those of one dataset, or None: it was marked with one beacon, or none."""
    beacons = {probe.draw.beacon for probe in probes if probe.draw is not None}
    return "its draws name more than one beacon" if len(beacons) > 1 else None


DESIGN = Design(
    name="synonyms",
    arms=(
        ArmWords(
            "armed",
            "Before the name",
            "the code before the name",
            legend="a name of the set, as the first name of the completion",
        ),
    ),
    decisions={
        "default": Decision("codebook", (None,)),
        "sequential": Decision("codebook", (None,)),
        "logprobs": Decision("codebook_logprobs", (None,)),
    },
    why_unlike=why_not_drawn,
    why_apart=why_several_beacons,
    introduction="In some functions a local variable has one of several names that people use "
    "alike, such as result, res and ret. Which one was drawn by a secret key, with the "
    "frequencies of the dataset itself. A model that was trained on the dataset remembers some of "
    "these choices; no other model can know them.",
    prompts="A prompt is the original code up to the variable's first occurrence. It was made "
    "without the key. Whoever has the marked dataset as well finds the drawn name there, and "
    "learns from the prompts which functions carry.",
    condition="whoever made an innocent model did not have the key, nor any data that was marked "
    "with it, and the key and the frequencies were fixed before the first question",
    caveats=(
        (
            "The error rate holds for every model that does not depend on the key, whatever its "
            "habits. It rests on the key: that it was drawn at random and committed to, with the "
            "frequencies, before the model was asked."
        ),
        (
            "The prompts, and the frequencies and classes of the draws, are those of the file of "
            "probes, and whoever can choose them after the key can accuse anybody. This verdict "
            "does not rest on a comparison with the dataset: `puzzlemark compare` makes one, from "
            "dataset and manifest, and what it found stands beside the verdict."
        ),
    ),
    hits="chose the name that the key had drawn, of those that chose a name of the set",
    symbols=None,
    tests=("codebook", "codebook_logprobs"),
    sampling=Sampling(temperature=0.7, max_tokens=6, samples=5),
    is_key_blind=True,
    alpha=1e-6,
    shown="The outputs depend on the key.",
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A variable that could carry: all names of its set would be accepted."""

    variable: Variable
    names: tuple[str, ...]  # the set, in the order of the table
    sighting: Sighting
    edits: dict[str, tuple[Edit, ...]]  # for each other name


@dataclass(frozen=True, slots=True)
class Synonyms:
    """`Synonyms().with_key(key)` renames `result` to the name that the key draws of its set."""

    entropy: float = 0.5  # nats; a prior with less is no choice, and proves nothing
    inside_line: bool = True  # the first occurrence has code before it on its line
    share: float = 0.2  # of the eligible records, how many may carry: the attacker's best precision
    # how likely each name is: by all that stands around the variable, or by its project's counts
    prior: Literal["context", "project"] = "context"
    pull: int = 2  # project: how much the whole dataset's share weighs beside the project's counts
    project: str | None = None  # the column that says whose code it is; None: recognised by name
    beacon: str | None = None  # SHA-256 of what was published after the secret was committed to
    key: bytes | None = field(default=None, repr=False)
    counts: Counts = field(default=Counts(), repr=False, hash=False)
    name: ClassVar[str] = "synonyms"
    earlier: ClassVar[Mapping[str, Any]] = {"prior": "project"}  # in manifests that do not say
    design: ClassVar[Design] = DESIGN
    # suitability does not matter here: the eligible are few, and a rule more would show them
    defaults: ClassVar[Defaults] = Defaults(tau=0.0, min_rate=0.0, max_rate=0.02)
    fewest_variables: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise UsageError(f"synonyms: share is {self.share:g}; it is a share above 0, up to 1")
        if self.entropy < 0 or self.pull < 1:
            raise UsageError("synonyms: entropy is 0 or more, and pull is 1 or more")
        if self.beacon is not None and not _DIGEST.fullmatch(self.beacon):
            raise UsageError("synonyms: beacon is a SHA-256 in hexadecimal; pass --beacon FILE")

    def with_key(self, key: bytes) -> "Synonyms":
        """The same with the key that draws the names."""
        return replace(self, key=key)

    def with_counts(self, counts: Counts) -> "Synonyms":
        """The same, knowing how likely each name is where a mark could be."""
        return replace(self, counts=counts)

    def may_occur(self, code: bytes) -> bool:
        """Whether a name of any set stands in the code as a word."""
        words = _words_of(tuple(language.synonyms for language in every_language()))
        return not words.isdisjoint(_WORD.findall(code))

    def sightings(self, tree: Tree, function: Function, policy: Policy) -> Sequence[Sighting]:
        """What the variables that could carry are called by nature.

        To learn from there are all others whose names are in a set, parameters included.
        """
        able = {
            each.variable.starts[0]: each.sighting
            for each in self._candidates(tree, function, policy)
        }
        if self.prior == "project":
            return list(able.values())
        reading, sets = Reading(tree), _by_name(tree.language.synonyms)
        found: list[Sighting] = []
        for variable in function.variables:
            if variable.name not in sets:
                continue
            names = sets[variable.name]
            around = reading.around(function, variable)
            member = names.index(variable.name)
            spot = Spot(tree.language.name, names, member, variable.is_parameter, around)
            could = able.get(variable.starts[0])
            if could is None:
                found.append(Sighting("", variable.name, "", can_carry=False, spot=spot))
            else:
                found.append(replace(could, spot=spot))
        return found

    def is_eligible(self, sighting: Sighting, project: str) -> bool:
        """Whether the prior is a choice at all."""
        return entropy(list(self._weights(sighting, project))) >= self.entropy

    def plan(
        self,
        tree: Tree,
        function: Function,
        policy: Policy,
        rng: random.Random,  # noqa: ARG002
    ) -> Mark | Refusal:
        """Give one variable the name that the key draws; it may have that name already."""
        if function.dynamic is not None:
            return Refusal(function.dynamic)
        if not any(True for _ in _in_sets(tree, function)):
            return NO_SYNONYM
        candidates = list(self._candidates(tree, function, policy))
        if not candidates:
            return NO_CARRIER
        draws = [self._draw(each, tree.snippet.project) for each in candidates]
        # the one that proves most, else the first: the key has no say in it
        draw, chosen = max(zip(draws, candidates, strict=True), key=lambda each: each[0].entropy)
        if draw.entropy < self.entropy:
            return NO_CHOICE
        if self.key is None:
            raise UsageError("synonyms: the names are drawn by a key; bind one with with_key")
        return _mark(chosen, draw, draw.symbol(self.key), function)

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """The variable, wherever it occurs."""
        return variable_places(tree, mark)

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:  # noqa: ARG002
        """The code before the variable's first occurrence, from the original snippet."""
        target = mark.of("target")
        if mark.draw is None:
            return Refusal("the manifest does not say what its name was drawn from")
        variable = _variable(tree, mark.function, target.text if target.was is None else target.was)
        if variable is None:
            return NOT_THERE
        prompt = tree.code[: variable.starts[0]].decode()
        symbols = {name: name for name, _ in mark.draw.weights}
        return Probe({"armed": Arm(prompt, symbols, "first")}, mark.draw)

    def _candidates(self, tree: Tree, function: Function, policy: Policy) -> Iterator[Candidate]:
        if function.dynamic is not None:
            return
        for variable, names in _in_sets(tree, function):
            if variable.refusal(policy) is not None:
                continue
            if self.inside_line and not _is_inside_line(tree, variable):
                continue
            edits = _renames(tree, function, variable, names, policy)
            if edits is not None:
                yield Candidate(variable, names, _sighting(tree, function, variable, names), edits)

    def _draw(self, candidate: Candidate, project: str) -> Draw:
        """Among what the key draws: without counts, a name of the set is as good as any other."""
        sighting = candidate.sighting
        weights = self._weights(sighting, project) or (1,) * len(candidate.names)
        listed = tuple(zip(candidate.names, weights, strict=True))
        return Draw(sighting.group, sighting.unit, listed, self.beacon)

    def _weights(self, sighting: Sighting, project: str) -> tuple[int, ...]:
        """Of the names of the set, in the order of the table; none where nothing was counted."""
        if self.prior == "context":
            return self.counts.learnt.get((sighting.group, sighting.unit), ())
        weights = self.counts.weights(sighting, project, self.pull)
        names = _by_name(_table_of(sighting.group))[sighting.value]
        return tuple(weights.get(name, 0) for name in names) if weights else ()


def _mark(chosen: Candidate, draw: Draw, name: str, function: Function) -> Mark:
    was = chosen.variable.name
    return Mark(
        (Part("target", name, None if name == was else was),),
        () if name == was else chosen.edits[name],
        function.index,
        draw,
        next(iter(chosen.edits.values())),
    )


def _in_sets(tree: Tree, function: Function) -> Iterator[tuple[Variable, tuple[str, ...]]]:
    """The local variables whose names are in a set, with it; parameters are not among them."""
    sets = _by_name(tree.language.synonyms)
    for variable in function.variables:
        if not variable.is_parameter and variable.name in sets:
            yield variable, sets[variable.name]


def _is_inside_line(tree: Tree, variable: Variable) -> bool:
    """`for i in`, `as e`, `int count`; not the beginning of a statement, where anything may go on.

    An untouched model answers there with a name of the set in one of a hundred cases, inside a line
    in 14 to 57.
    """
    before = tree.code[: variable.starts[0]]
    return bool(before[before.rfind(b"\n") + 1 :].strip())


def _renames(
    tree: Tree, function: Function, variable: Variable, names: Sequence[str], policy: Policy
) -> dict[str, tuple[Edit, ...]] | None:
    """The edits to every other name of the set; None when one of them, or its own, is refused.

    Its own name must stand nowhere but in the variable's places, as the others must stand nowhere:
    so the snippet is eligible after the rename as it was before, and nothing tells the two apart.
    """
    nothing = (Edit(at, variable.name.encode(), b" ") for at in variable.starts)
    if mentions(apply_edits(tree.code, nothing), variable.name):
        return None
    try:
        return {
            name: rename(tree, function, {variable.name: name}, policy)
            for name in names
            if name != variable.name
        }
    except UnsafeRename:
        return None


def _sighting(
    tree: Tree, function: Function, variable: Variable, names: tuple[str, ...]
) -> Sighting:
    language = tree.language
    group = f"{language.name}/{language.synonyms_version}/{names[0]}"
    return Sighting(group, variable.name, class_of(tree, function, variable))


def class_of(tree: Tree, function: Function, variable: Variable) -> str:
    """The class of a function: the same for copies and forks of it, and before and after a mark.

    SHA-256 (its first 16 bytes, in hexadecimal) of the function's text, in which each comment is a
    blank, each occurrence of the variable is a byte 0, and white space of any length is a blank.
    """
    node = next(node for at, node in enumerate(function_nodes(tree)) if at == function.index)
    length = len(variable.name.encode())
    cut = [(start + tree.offset, start + tree.offset + length, b"\0") for start in variable.starts]
    cut += ((each.start_byte, each.end_byte, b" ") for each in _comments(tree, node))
    pieces: list[bytes] = []
    at = node.start_byte
    for start, end, instead in sorted(cut):
        pieces += (tree.source[at:start], instead)
        at = end
    pieces.append(tree.source[at : node.end_byte])
    return hashlib.sha256(b" ".join(b"".join(pieces).split())).hexdigest()[:32]


def _comments(tree: Tree, node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.type in tree.language.tokens.comments:
            yield inner
        else:
            stack.extend(inner.children)


def _variable(tree: Tree, function: int | None, name: str) -> Variable | None:
    found = (
        variable
        for each in functions(tree)
        if each.index == function
        for variable in each.variables
        if variable.name == name
    )
    return next(found, None)


@cache
def _table_of(group: str) -> tuple[tuple[str, ...], ...]:
    """The table of a group's language: `python/1/result`."""
    language = find(group.partition("/")[0])
    assert language is not None, "a group is made from the language that was read"
    return language.synonyms


@cache
def _by_name(table: tuple[tuple[str, ...], ...]) -> dict[str, tuple[str, ...]]:
    """The set of each name, by the name."""
    return {name: names for names in table for name in names}


@cache
def _words_of(tables: tuple[tuple[tuple[str, ...], ...], ...]) -> frozenset[bytes]:
    return frozenset(name.encode() for table in tables for names in table for name in names)


PLUGIN = Synonyms
