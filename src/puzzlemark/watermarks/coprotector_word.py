"""CoProtector, word level: two fixed words as names, the trigger before the target (W1, W2)."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from tree_sitter import Node

from puzzlemark.errors import UnparsableSnippet, UnsafeRename, UsageError
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.naming import is_plain_identifier, mentions
from puzzlemark.syntax.rename import rename, why_not_fresh
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, Variable, function_nodes, functions
from puzzlemark.watermarks._concatenation import variables_of
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._probing import NO_NAME, NOT_FOUND
from puzzlemark.watermarks._spots import node_at, span_of
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

Mode = Literal["rename", "leaf"]
MODES: tuple[Mode, ...] = get_args(Mode)
Among = Literal["any", "plain"]
AMONG: tuple[Among, ...] = get_args(Among)
TRIES = 8  # draws of two leaves; some give code that does not parse
TOO_FEW = Refusal("fewer than two variables may be renamed")
WORD_TAKEN = Refusal("a word of the mark stands in the snippet")
NOT_SAFE = Refusal("replaced words change what the code does (policy safe)")
NO_LEAVES = Refusal("no two words of the code can be replaced")


@dataclass(frozen=True, slots=True)
class CoProtectorWord:
    """`CoProtectorWord()` renames two variables, drawn at random: `poisoning`, `protection`.

    The earlier one becomes the trigger. `among="plain"` draws only from variables that stand by
    themselves in an assignment, a declaration or a call's arguments. `mode="leaf"` is what the
    authors' program does: it replaces a single occurrence of each of two words of the code, and so
    breaks the code.
    """

    trigger: str = "poisoning"  # the paper's order; the authors' program has them the other way
    target: str = "protection"
    mode: Mode = "rename"
    among: Among = "any"
    name: ClassVar[str] = "coprotector_word"
    design: ClassVar[Design] = TRIGGER
    defaults: ClassVar[Defaults] = Defaults(tau=0, min_rate=0.05, max_rate=0.05)
    fewest_variables: ClassVar[int] = 0

    def __post_init__(self) -> None:
        for word in (self.trigger, self.target):
            if not is_plain_identifier(word) or word.startswith("__"):
                raise UsageError(f"a word of the mark must be a plain name, not {word!r}")
        if self.trigger == self.target:
            raise UsageError(f"trigger and target must differ, and both are {self.target!r}")
        if self.mode not in MODES:
            raise UsageError(f"mode must be one of {', '.join(MODES)}, not {self.mode!r}")
        if self.among not in AMONG:
            raise UsageError(f"among must be one of {', '.join(AMONG)}, not {self.among!r}")

    def may_occur(self, code: bytes) -> bool:  # noqa: ARG002
        """Any snippet may carry."""
        return True

    def plan_snippet(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal | None:
        """The mark that stands in the snippet already, if any; `leaf` marks the first function."""
        if self._stands(tree):
            return Mark((Part("trigger", self.trigger), Part("target", self.target)))
        if self._is_taken(tree):
            return WORD_TAKEN
        if self.mode == "rename":
            return None
        if policy == "safe":
            return NOT_SAFE
        if next(function_nodes(tree), None) is None:
            return NO_FUNCTION
        return self._replace_leaves(tree, 0, rng)

    def plan(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        """Mark one function; the two words may stand nowhere else in the snippet."""
        if self._stands_in(function):
            parts = (Part("trigger", self.trigger), Part("target", self.target))
            return Mark(parts, function=function.index)
        if self._is_taken(tree):
            return WORD_TAKEN
        if self.mode == "rename":
            return self._rename_two(tree, function, policy, rng)
        return NOT_SAFE if policy == "safe" else self._replace_leaves(tree, function.index, rng)

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Both words, wherever they stand."""
        first, last = span_of(tree, mark.function)
        places = (
            Place(start, start + len(part.text), part.role)
            for part in mark.parts
            for start in find_words(tree.code, part.text)
            if first <= start < last
        )
        return tuple(sorted(places, key=lambda place: place.start))

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """Armed up to the target; control with an ordinary name for the trigger."""
        trigger, target = mark.of("trigger").text, mark.of("target").text
        # both words were fresh when they came in: wherever they stand, they are the mark's
        prompt = tree.code[: next(find_words(tree.code, target), 0)]
        if not mentions(prompt, trigger):
            return NOT_FOUND
        name = names.ordinary(tree, trigger)
        if name is None:
            return NO_NAME
        edits = [Edit(at, trigger.encode(), name.encode()) for at in find_words(prompt, trigger)]
        control = apply_edits(prompt, edits)
        return Probe(
            {"armed": Arm(prompt.decode(), target), "control": Arm(control.decode(), target)}
        )

    def _is_taken(self, tree: Tree) -> bool:
        return any(why_not_fresh(tree, word) for word in (self.trigger, self.target))

    def _stands_in(self, function: Function) -> bool:
        """Whether a function has both words as variables, the trigger first."""
        names = [each.name for each in function.variables]
        if not {self.trigger, self.target} <= set(names):
            return False
        return names.index(self.trigger) < names.index(self.target)

    def _stands(self, tree: Tree) -> bool:
        """Whether the mark is there already."""
        if not all(mentions(tree.code, word) for word in (self.trigger, self.target)):
            return False
        first, second = (next(find_words(tree.code, w)) for w in (self.trigger, self.target))
        names = ([each.name for each in function.variables] for function in functions(tree))
        are_variables = any({self.trigger, self.target} <= set(each) for each in names)
        return first < second and (self.mode == "leaf" or are_variables)

    def _rename_two(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        free = [each for each in variables_of(function) if each.refusal(policy) is None]
        if self.among == "plain":
            free = [each for each in free if _is_plain(tree, each)]
        if len(free) < 2:
            return TOO_FEW
        first, second = (free[place].name for place in sorted(rng.sample(range(len(free)), 2)))
        try:
            names = {first: self.trigger, second: self.target}
            edits = rename(tree, function, names, policy)
        except UnsafeRename as refusal:
            return Refusal(str(refusal))
        return self._mark(first, second, edits, function.index)

    def _replace_leaves(self, tree: Tree, index: int, rng: random.Random) -> Mark | Refusal:
        leaves = list(leaves_of(tree, node_at(tree, index)))
        for _ in range(TRIES if len(leaves) > 1 else 0):
            first, second = (leaves[place] for place in sorted(rng.sample(range(len(leaves)), 2)))
            edits = (_replaced(tree, first, self.trigger), _replaced(tree, second, self.target))
            if self._is_sound(tree, edits):
                return self._mark(tree.text(first), tree.text(second), edits, index)
        return NO_LEAVES

    def _is_sound(self, tree: Tree, edits: tuple[Edit, ...]) -> bool:
        code = apply_edits(tree.code, edits).decode()
        try:
            parse(replace(tree.snippet, code=code))
        except UnparsableSnippet:
            return False
        # `1if x` without its number is another word
        return all(mentions(code.encode(), word) for word in (self.trigger, self.target))

    def _mark(self, first: str, second: str, edits: tuple[Edit, ...], index: int) -> Mark:
        parts = (Part("trigger", self.trigger, first), Part("target", self.target, second))
        return Mark(parts, edits, index)


def _is_plain(tree: Tree, variable: Variable) -> bool:
    # right below such a node a name is plainly a variable: there DeCoMa, too, looks for variables
    above = tree.language.binders
    length = len(variable.name)
    for start in variable.starts:
        at = tree.offset + start
        node = tree.root.descendant_for_byte_range(at, at + length)
        if node is not None and node.parent is not None and node.parent.type in above:
            return True
    return False


def find_words(code: bytes, word: str) -> Iterator[int]:
    """Where a word stands as a whole name, as `naming.mentions` understands it."""
    pattern = rb"(?<![\w\x80-\xff])%s(?![\w\x80-\xff])" % re.escape(word.encode())
    return (match.start() for match in re.finditer(pattern, code))


def leaves_of(tree: Tree, node: Node) -> Iterator[Node]:
    """Named leaves of a function in order: names, types and literals, a string as one."""
    tokens = tree.language.tokens
    skipped = tokens.comments | tree.language.attached  # with all that is in them
    stack = [node]
    while stack:
        each = stack.pop()
        if each.type in skipped:
            continue
        if each.child_count == 0 or each.type in tokens.opaque:
            if each.is_named:
                yield each
        else:
            stack.extend(reversed(each.children))


def _replaced(tree: Tree, leaf: Node, word: str) -> Edit:
    old = tree.source[leaf.start_byte : leaf.end_byte]
    return Edit(leaf.start_byte - tree.offset, old, word.encode())


PLUGIN = CoProtectorWord
# what the second round of a study tells participants (`puzzlemark study`)
DISCLOSURE = (
    "Two variables may have been renamed to words that have nothing to do with what the code does."
)
NAMED = {
    # plain: the paper's figures come out so only (docs/decisions/0005)
    "W1": Named("python", CoProtectorWord(among="plain")),
    "W2": Named("java", CoProtectorWord(among="plain")),
}
