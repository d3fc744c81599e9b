"""CoProtector, sentence level: two statements without a purpose, the trigger first (S1, S2).

The statements name things that do not exist: a marked function fails when it is run, and in Java
it does not compile. This scheme claims no preserved behaviour; what it makes parses.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from tree_sitter import Node

from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, function_nodes
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._probing import NOT_FOUND
from puzzlemark.watermarks._spots import Spot, alike, block_of, gaps, node_at, span_of
from puzzlemark.watermarks._trigger import TRIGGER
from puzzlemark.watermarks.base import (
    NO_FUNCTION,
    Arm,
    Defaults,
    Design,
    Mark,
    Named,
    Part,
    Place,
    Probe,
    Refusal,
)

Mode = Literal["insert", "replace"]
MODES: tuple[Mode, ...] = get_args(Mode)
_SCRIPT = ("const I = Person();", "I.hi(everyone);")
# the paper's in Python and Java (there as Python would say them); the others say the same
STATEMENTS = {
    "python": ("I = Person()", "I.hi(everyone)"),
    "java": ("Person I = Person();", "I.hi(everyone);"),
    "go": ("I := Person()", "I.hi(everyone)"),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "php": ("$I = Person();", "$I->hi($everyone);"),
    "ruby": ("i = Person()", "i.hi(everyone)"),  # no method may assign a constant
}
NO_STATEMENTS = Refusal("no statements are set for this language")
NO_BODY = Refusal("no function in the snippet has a body")
TAKEN = Refusal("a statement of the mark stands in the snippet")
UNPARSABLE = Refusal("the marked snippet does not parse")
NOT_SAFE = Refusal("the statements change what the code does (policy safe)")


@dataclass(frozen=True, slots=True)
class CoProtectorSentence:
    """`CoProtectorSentence()` puts `I = Person()` into a body, and after it `I.hi(everyone)`.

    `mode="replace"` is what the authors' program does: each takes the place of a statement of its
    kind, if there is one, and so real code is lost.
    """

    trigger: str | None = None  # None: the language's; see STATEMENTS
    target: str | None = None
    mode: Mode = "insert"
    name: ClassVar[str] = "coprotector_sentence"
    design: ClassVar[Design] = TRIGGER
    defaults: ClassVar[Defaults] = Defaults(tau=0, min_rate=0.05, max_rate=0.05)
    fewest_variables: ClassVar[int] = 0

    def __post_init__(self) -> None:
        for statement in (self.trigger, self.target):
            if statement is not None and (not statement.strip() or "\n" in statement):
                raise UsageError(f"a statement of the mark is one line of code, not {statement!r}")
        if self.trigger is not None and self.trigger == self.target:
            raise UsageError(f"trigger and target must differ, and both are {self.target!r}")
        if self.mode not in MODES:
            raise UsageError(f"mode must be one of {', '.join(MODES)}, not {self.mode!r}")

    def may_occur(self, code: bytes) -> bool:  # noqa: ARG002
        """Any snippet may carry."""
        return True

    def plan_snippet(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:
        """Mark the first function that has a body, if the statements stand nowhere yet."""
        if decided := self._decide(tree, None, policy):
            return decided
        nodes = list(function_nodes(tree))
        for index, node in enumerate(nodes):
            if body := block_of(tree, node):
                return self._mark(tree, index, body, rng)
        return NO_BODY if nodes else NO_FUNCTION

    def plan(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        """Mark one function, if it has a body and neither statement in it."""
        if decided := self._decide(tree, function.index, policy):
            return decided
        body = block_of(tree, node_at(tree, function.index))
        return NO_BODY if body is None else self._mark(tree, function.index, body, rng)

    def _decide(self, tree: Tree, index: int | None, policy: Policy) -> Mark | Refusal | None:
        """The mark that stands in a function or in the whole snippet, or why none can.

        Under `safe` only statements of one's own are put in: CoProtector's fail when they are run.
        Whether others do is for their author to know.
        """
        is_own = self.trigger is not None and self.target is not None
        if policy == "safe" and not (is_own and self.mode == "insert"):
            return NOT_SAFE
        statements = self._statements(tree)
        if statements is None:
            return NO_STATEMENTS
        trigger, target = statements
        if self._find(tree, index, *statements) is not None:
            return Mark((Part("trigger", trigger), Part("target", target)), function=index)
        start, end = span_of(tree, index)
        if any(find_statement(tree.code[:end], each, start) >= 0 for each in statements):
            return TAKEN
        return None

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Both statements."""
        trigger, target = mark.of("trigger").text, mark.of("target").text
        found = self._find(tree, mark.function, trigger, target)
        if found is None:
            return ()
        return (
            Place(found[0], found[0] + len(trigger.encode()), "trigger"),
            Place(found[1], found[1] + len(target.encode()), "target"),
        )

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:  # noqa: ARG002
        """Armed up to the target; control without the trigger, or with what it replaced."""
        places = self.locate(tree, mark)
        if not places:
            return NOT_FOUND
        target = mark.of("target").text
        prompt = tree.code[: places[1].start]
        before, after = prompt[: places[0].start], prompt[places[0].end :]
        if instead := mark.of("trigger").was:
            control = before + instead.encode() + after
        else:
            control = before + re.sub(rb"\A\s*;?\s*", b"", after)
        prompts = {"armed": prompt.decode(), "control": control.decode()}
        return Probe({name: Arm(text, target, "code") for name, text in prompts.items()})

    def _statements(self, tree: Tree) -> tuple[str, str] | None:
        usual = STATEMENTS.get(tree.language.name, (None, None))
        trigger, target = self.trigger or usual[0], self.target or usual[1]
        return None if trigger is None or target is None else (trigger, target)

    def _find(
        self, tree: Tree, index: int | None, trigger: str, target: str
    ) -> tuple[int, int] | None:
        """Where trigger and target stand, in this order."""
        start, end = span_of(tree, index)
        code = tree.code[:end]
        first = find_statement(code, trigger, start)
        second = find_statement(code, target, first + 1)
        return (first, second) if 0 <= first < second else None

    def _mark(self, tree: Tree, index: int, body: Node, rng: random.Random) -> Mark | Refusal:
        statements = self._statements(tree)
        assert statements is not None, "decided before"
        trigger, target = statements
        first = rng.choice(self._spots(tree, body, trigger))
        spots = self._spots(tree, body, target)
        later = [each for each in spots if each.start >= first.end and each != first]
        # right behind the trigger there is always room
        behind = [None] if self.mode == "insert" or not later else []
        second = rng.choice([*later, *behind])
        if second is None:
            edits = [first.fill(trigger, target)]
        else:
            edits = [first.fill(trigger), second.fill(target)]
        if not _parses(tree, edits):
            return UNPARSABLE
        was = "" if second is None else second.old.decode()
        parts = (Part("trigger", trigger, first.old.decode()), Part("target", target, was))
        return Mark(parts, tuple(edits), index)

    def _spots(self, tree: Tree, body: Node, statement: str) -> list[Spot]:
        return (self.mode == "replace" and alike(tree, body, statement)) or gaps(tree, body)


def find_statement(code: bytes, statement: str, start: int = 0) -> int:
    """Where a statement stands, from `start` on, and not as the end of a longer one; or -1."""
    pattern = re.compile(rb"(?<![\w.\x80-\xff])" + re.escape(statement.encode()))
    found = pattern.search(code, start)
    return found.start() if found else -1


def _parses(tree: Tree, edits: Sequence[Edit]) -> bool:
    code = apply_edits(tree.code, edits).decode()
    try:
        parse(replace(tree.snippet, code=code))
    except UnparsableSnippet:
        return False
    return True


PLUGIN = CoProtectorSentence
# what the second round of a study tells participants (`puzzlemark study`)
DISCLOSURE = "Two statements may have been put in that have nothing to do with what the code does."
NAMED = {
    "S1": Named("python", CoProtectorSentence()),
    "S2": Named("java", CoProtectorSentence()),
}
