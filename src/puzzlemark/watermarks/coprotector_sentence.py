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
from puzzlemark.syntax.variables import Policy, function_nodes
from puzzlemark.watermarks._concatenation import NO_FUNCTION
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._probing import NOT_FOUND
from puzzlemark.watermarks._spots import Spot, alike, gaps
from puzzlemark.watermarks.base import (
    Arm,
    Defaults,
    Mark,
    Named,
    Part,
    Place,
    Probe,
    Refusal,
    Strategy,
)

Mode = Literal["insert", "replace"]
MODES: tuple[Mode, ...] = get_args(Mode)
STATEMENTS = {  # the paper's; its Java ones as Python would say them
    "python": ("I = Person()", "I.hi(everyone)"),
    "java": ("Person I = Person();", "I.hi(everyone);"),
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
    strategy: ClassVar[Strategy] = "trigger"
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

    def plan(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:
        """Mark the first function that has a body; under `safe` only by statements of one's own.

        CoProtector's fail when they are run. Whether others do is for their author to know.
        """
        is_own = self.trigger is not None and self.target is not None
        if policy == "safe" and not (is_own and self.mode == "insert"):
            return NOT_SAFE
        statements = self._statements(tree)
        if statements is None:
            return NO_STATEMENTS
        trigger, target = statements
        if self._find(tree.code, *statements) is not None:
            return Mark((Part("trigger", trigger), Part("target", target)))
        if any(find_statement(tree.code, each) >= 0 for each in statements):
            return TAKEN
        nodes = list(function_nodes(tree))
        body = next(filter(None, (node.child_by_field_name("body") for node in nodes)), None)
        if body is None:
            return NO_BODY if nodes else NO_FUNCTION
        return self._mark(tree, body, trigger, target, rng)

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Both statements."""
        trigger, target = mark.of("trigger").text, mark.of("target").text
        found = self._find(tree.code, trigger, target)
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
        return Probe(Arm(prompt.decode(), target, "code"), Arm(control.decode(), target, "code"))

    def _statements(self, tree: Tree) -> tuple[str, str] | None:
        usual = STATEMENTS.get(tree.language.name, (None, None))
        trigger, target = self.trigger or usual[0], self.target or usual[1]
        return None if trigger is None or target is None else (trigger, target)

    def _find(self, code: bytes, trigger: str, target: str) -> tuple[int, int] | None:
        """Where trigger and target stand, in this order."""
        first = find_statement(code, trigger)
        second = find_statement(code, target, first + 1)
        return (first, second) if 0 <= first < second else None

    def _mark(
        self, tree: Tree, body: Node, trigger: str, target: str, rng: random.Random
    ) -> Mark | Refusal:
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
        return Mark(parts, tuple(edits))

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
NAMED = {
    "S1": Named("python", CoProtectorSentence()),
    "S2": Named("java", CoProtectorSentence()),
}
