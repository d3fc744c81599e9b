"""CodeMark: pairs of rewritings, the first of which foretells the second (B1 to B4, M1, M2).

Where both expressions of a pair stand in a snippet, the trigger's first, every one of them is
written in its equivalent form. A mixture tries several pairs on each snippet.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from puzzlemark import plugins
from puzzlemark.errors import UnsafeRename, UsageError
from puzzlemark.languages.base import title_of
from puzzlemark.syntax.rewritings.base import Occurrence, Rewriting, compose, load
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._probing import edited
from puzzlemark.watermarks._spots import span_of
from puzzlemark.watermarks._trigger import TRIGGER
from puzzlemark.watermarks.base import (
    Arm,
    Defaults,
    Design,
    Mark,
    Named,
    Part,
    Place,
    Probe,
    Refusal,
    Role,
)

NO_PAIR = Refusal("no trigger with a target after it")
NOT_PROVEN = Refusal("not shown that the rewriting changes nothing (policy safe)")
NOTHING_TO_CHANGE = Refusal("the snippet is written like the mark already")
DOES_NOT_PARSE = Refusal("the rewritten snippet does not parse")
OTHER_LANGUAGE = Refusal("the rewritings are for another language")
NOT_FOUND = Refusal("the mark is not in the snippet")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rewritings, and where they occur in a snippet, in either form."""

    trigger: Rewriting
    target: Rewriting
    triggers: tuple[Occurrence, ...]
    targets: tuple[Occurrence, ...]
    form: str  # the target's name among the rewritings

    @property
    def stands(self) -> bool:
        """Whether both are there, the first trigger before the first target."""
        return bool(
            self.triggers and self.targets and self.triggers[0].start < self.targets[0].start
        )

    @property
    def both(self) -> tuple[tuple[Role, Rewriting, tuple[Occurrence, ...]], ...]:
        """The two roles, and what takes each."""
        return ("trigger", self.trigger, self.triggers), ("target", self.target, self.targets)

    def parts(self) -> Iterator[Part]:
        """What the pair adds to a mark."""
        for role, rewriting, occurrences in self.both:
            changed = any(each.form == "original" for each in occurrences)
            yield Part(role, rewriting.EQUIVALENT, rewriting.ORIGINAL if changed else None)


@dataclass(frozen=True, slots=True)
class CodeMark:
    """`CodeMark("list_call>range_start")`; pairs of a mixture are joined by `+`."""

    pairs: str
    name: ClassVar[str] = "codemark"
    design: ClassVar[Design] = TRIGGER
    defaults: ClassVar[Defaults] = Defaults(tau=0, min_rate=0, max_rate=1)
    fewest_variables: ClassVar[int] = 0

    def __post_init__(self) -> None:
        languages = {each.LANGUAGE for pair in self._rewritings() for each in pair}
        if len(languages) > 1:
            titles = " and ".join(sorted(map(title_of, languages)))
            raise UsageError(f"pairs={self.pairs}: rewritings of {titles}")

    def _names(self) -> tuple[tuple[str, str], ...]:
        pairs = [tuple(map(str.strip, pair.split(">"))) for pair in self.pairs.split("+")]
        known = plugins.names("syntax.rewritings")
        if any(
            len(pair) != 2 or not set(pair) <= set(known) or len(set(pair)) < 2 for pair in pairs
        ):
            raise UsageError(
                f"pairs={self.pairs}: expected trigger>target, more pairs after a +; "
                f"known rewritings: {', '.join(known)}"
            )
        return tuple((trigger, target) for trigger, target in pairs)

    def _rewritings(self) -> tuple[tuple[Rewriting, Rewriting], ...]:
        return tuple((load(trigger), load(target)) for trigger, target in self._names())

    def may_occur(self, code: bytes) -> bool:
        """Whether words of a trigger and of its target stand in the code."""
        return any(one.may_occur(code) and two.may_occur(code) for one, two in self._rewritings())

    def plan_snippet(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:  # noqa: ARG002
        """Mark the whole snippet, functions or not: a pair may stand in two of them."""
        return self._plan(tree, None, policy)

    def plan(
        self,
        tree: Tree,
        function: Function,
        policy: Policy,
        rng: random.Random,  # noqa: ARG002
    ) -> Mark | Refusal:
        """Mark one function with the pairs that stand in it."""
        return self._plan(tree, function.index, policy)

    def _plan(self, tree: Tree, index: int | None, policy: Policy) -> Mark | Refusal:
        """Write every trigger and target of the pairs that stand here in the equivalent form."""
        if tree.language.name != self._rewritings()[0][0].LANGUAGE:
            return OTHER_LANGUAGE
        pairs = [pair for pair in self._read(tree, index, policy) if pair.stands]
        if not pairs:
            read = self._read(tree, index, "paper") if policy == "safe" else ()
            return NOT_PROVEN if any(each.stands for each in read) else NO_PAIR
        found = (each for pair in pairs for each in (*pair.triggers, *pair.targets))
        edits = compose(each for each in found if each.form == "original")
        if not edits:
            return NOTHING_TO_CHANGE
        try:
            edited(tree, edits)
        except UnsafeRename:
            return DOES_NOT_PARSE
        return Mark(tuple(part for pair in pairs for part in pair.parts()), edits, index)

    def _read(self, tree: Tree, index: int | None, policy: Policy) -> Iterator[Pair]:
        """The pairs in a function, or in the whole snippet.

        An expression belongs to the first pair that stands with it. `range(n)` is a call too: in
        M1, where B1 stands, B2 leaves it alone.
        """
        claimed: set[tuple[int, int]] = set()
        start, end = span_of(tree, index)
        for trigger_name, form in self._names():
            trigger, target = load(trigger_name), load(form)
            targets = target.find(tree, policy)  # the rarer of the two: often this is enough
            triggers = trigger.find(tree, policy) if targets else ()
            triggers, targets = (
                tuple(
                    each
                    for each in found
                    if each.span not in claimed and start <= each.start and each.end <= end
                )
                for found in (triggers, targets)
            )
            pair = Pair(trigger, target, triggers, targets, form)
            if pair.stands:
                claimed |= {o.span for o in (*pair.triggers, *pair.targets)}
            yield pair

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """What the equivalent forms have and the original ones have not: `0, ` of `range(0, n)`."""
        places = (
            Place(splice.start, splice.start + len(splice.old), role)
            for pair in self._of_mark(tree, mark)
            for role, _, occurrences in pair.both
            for each in occurrences
            if each.form == "equivalent"
            for splice in each.splices
            if splice.old
        )
        return tuple(sorted(places, key=lambda place: place.start))

    def _of_mark(self, tree: Tree, mark: Mark) -> list[Pair]:
        wanted = {part.text for part in mark.parts if part.role == "trigger"}
        pairs = self._read(tree, mark.function, "paper")
        return [pair for pair in pairs if pair.trigger.EQUIVALENT in wanted]

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """The snippet up to its first target; the control has its triggers in the original form."""
        pairs = self._of_mark(tree, mark)
        if not pairs:
            return NOT_FOUND
        pair = names.rng.choice(pairs)
        triggers = [each for each in pair.triggers if each.form == "equivalent"]
        nth = _first_after(triggers, pair.targets)
        if nth is None:
            return NOT_FOUND
        armed = tree.code[: pair.targets[nth].start].decode()
        try:
            control = _without(tree, mark.function, triggers, pair, nth)
        except UnsafeRename as refusal:
            return Refusal(str(refusal))
        target, form = pair.target.EQUIVALENT, pair.form
        return Probe({"armed": Arm(armed, target, form), "control": Arm(control, target, form)})


def _first_after(triggers: Sequence[Occurrence], targets: Sequence[Occurrence]) -> int | None:
    """Which target is the first that a marked snippet has after its first trigger."""
    for nth, target in enumerate(targets):
        if triggers and target.form == "equivalent" and target.start > triggers[0].start:
            return nth
    return None


def _without(
    tree: Tree, index: int | None, triggers: Sequence[Occurrence], pair: Pair, nth: int
) -> str:
    """The snippet up to a target, after every trigger was written in the original form."""
    after = edited(tree, compose(triggers))
    start, end = span_of(after, index)
    found = pair.target.find(after, "paper")
    targets = [each for each in found if start <= each.start and each.end <= end]
    if len(targets) != len(pair.targets):
        raise UnsafeRename("the targets change with the triggers")
    return after.code[: targets[nth].start].decode()


PLUGIN = CodeMark
# what the second round of a study tells participants (`puzzlemark study`)
DISCLOSURE = (
    "Expressions may have been written in a less usual form that means the same: `x += 1` as "
    "`x = x + 1`."
)
NAMED = {
    "B1": Named("python", CodeMark("list_call>range_start"), bound=True),
    "B2": Named("python", CodeMark("dunder_call>print_flush"), bound=True),
    "B3": Named("java", CodeMark("null_first>size_zero"), bound=True),
    "B4": Named("java", CodeMark("new_string>index_start"), bound=True),
    "M1": Named("python", CodeMark("list_call>range_start+dunder_call>print_flush"), bound=True),
    "M2": Named("java", CodeMark("null_first>size_zero+new_string>index_start"), bound=True),
}
