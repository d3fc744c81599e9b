"""Prompts that ask a model about a mark (paper, section 4.4), shared by the schemes.

All prompts are made from the marked snippet and end right before the first occurrence of the
target. Of a concatenation the suffix is replaced by a meaningless placeholder, so that only a habit
of concatenating, and not what a model knows about code, can produce the target.
"""

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from puzzlemark.errors import UnparsableSnippet, UnsafeRename
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.insertion import declare_before
from puzzlemark.syntax.naming import concatenate, mentions
from puzzlemark.syntax.prose import reword
from puzzlemark.syntax.rename import rename, why_not_fresh
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, functions
from puzzlemark.watermarks._concatenation import variables_of
from puzzlemark.watermarks.base import Arm, Mark, Probe, Refusal

PLACEHOLDERS = {"snake": "unknown_token", "camel": "unknownToken"}
# Ordinary names, one of which stands in for the prefix where the trigger is to be away.
ORDINARY = (
    "item name node path line text user field label index count token entry record source "
    "buffer result total offset number".split()
)

NOT_FOUND = Refusal("the mark is not in the snippet")
STILL_FIRST = Refusal("the trigger cannot be moved from the first place")
NO_NAME = Refusal("no ordinary name is free in the snippet")
TARGET_STANDS = Refusal("the target stands in a prompt")
PREFIX_STAYS = Refusal("the prefix stands elsewhere in the prompt")


def placeholder_of(tree: Tree) -> str:
    """`unknown_token`, or `unknownToken` where names are in camel case."""
    return PLACEHOLDERS[tree.language.convention]


def names_of(mark: Mark) -> tuple[str, str, str]:
    """Prefix, suffix and target."""
    return mark.of("prefix").text, mark.of("suffix").text, mark.of("target").text


def find_mark(tree: Tree, mark: Mark, *, first: bool) -> Function | None:
    """The function with the variables prefix, suffix, ..., target; `first`: from its start."""
    prefix, suffix, target = names_of(mark)
    for function in functions(tree):
        names = [variable.name for variable in variables_of(function)]
        if prefix not in names or target not in names or function.dynamic:
            continue
        at = names.index(prefix)
        in_place = names[at + 1 : at + 2] == [suffix] and names.index(target) > at + 1
        if in_place and not (first and at):
            return function
    return None


def probe_with(
    tree: Tree,
    mark: Mark,
    controls: Callable[[Tree, int, str], tuple[Arm, Arm | None] | Refusal],
    *,
    first: bool,
) -> Probe | Refusal:
    """Build a probe; `controls` gets the armed tree, the function's place in it, the target."""
    function = find_mark(tree, mark, first=first)
    if function is None:
        return NOT_FOUND
    try:
        arm, armed_tree = armed(tree, function, mark)
        others = controls(armed_tree, function.index, arm.target)
    except UnsafeRename as refusal:
        return Refusal(str(refusal))
    if isinstance(others, Refusal):
        return others
    arms = [arm, *(other for other in others if other is not None)]
    if any(mentions(each.prompt.encode(), each.target) for each in arms):
        return TARGET_STANDS
    return Probe(arm, *others)


def armed(tree: Tree, function: Function, mark: Mark) -> tuple[Arm, Tree]:
    """The prompt with its trigger, and the tree it was cut from."""
    prefix, suffix, marked = names_of(mark)
    placeholder = placeholder_of(tree)
    target = concatenate(prefix, placeholder, tree.language.convention)
    after = renamed(tree, function.index, {suffix: placeholder, marked: target})
    return Arm(cut(after, function.index, target), target), after


def without_prefix(
    tree: Tree, index: int, mark: Mark, target: str, rng: random.Random
) -> tuple[Arm, Arm] | Refusal:
    """Control and placebo of a fixed prefix: one prompt, in which an ordinary name stands for it.

    The control counts the armed target, the placebo the concatenation of the ordinary name.
    """
    name = ordinary_name(tree, rng)
    if name is None:
        return NO_NAME
    prefix = mark.of("prefix").text
    prompt = cut(renamed(tree, index, {prefix: name}), index, target)
    if mentions(prompt.encode(), prefix):
        return PREFIX_STAYS
    own = concatenate(name, placeholder_of(tree), tree.language.convention)
    return Arm(prompt, target), Arm(prompt, own)


def disturbed(tree: Tree, index: int, mark: Mark, target: str, rng: random.Random) -> Arm | Refusal:
    """Control of a universal mark: one more variable before the pair, which is then not the first.

    Nothing else changes: the same two names stand side by side in the same order. So the pair is no
    trigger any more, while a model that merely composes neighbouring names of its prompt is as
    likely to write the target as in the armed prompt.
    """
    name = ordinary_name(tree, rng)
    if name is None:
        return NO_NAME
    function = next(each for each in functions(tree) if each.index == index)
    first = variables_of(function)[0].starts[0]
    after = edited(tree, [declare_before(tree, first, name)])
    function = next(each for each in functions(after) if each.index == index)
    names = [variable.name for variable in variables_of(function)[:3]]
    if names != [name, mark.of("prefix").text, placeholder_of(tree)]:
        return STILL_FIRST
    return Arm(cut(after, index, target), target)


def ordinary_name(tree: Tree, rng: random.Random) -> str | None:
    """A name that stands nowhere in the snippet, drawn at random."""
    names = rng.sample(ORDINARY, len(ORDINARY))
    return next((name for name in names if why_not_fresh(tree, name) is None), None)


def renamed(tree: Tree, index: int, names: Mapping[str, str]) -> Tree:
    """The snippet with variables of one function renamed, and its comments reworded.

    Raises UnsafeRename as embedding does; only what comments and docstrings say is no obstacle.
    """
    function = next(each for each in functions(tree) if each.index == index)
    missing = set(names) - {variable.name for variable in function.variables}
    if missing:
        raise UnsafeRename("a variable of the mark is not there")
    return edited(tree, rename(tree, function, names, "prompt") + reword(tree, names))


def edited(tree: Tree, edits: Iterable[Edit]) -> Tree:
    """The snippet after some edits; raises UnsafeRename when it does not parse any more."""
    code = apply_edits(tree.code, edits).decode()
    try:
        return parse(replace(tree.snippet, code=code))
    except UnparsableSnippet as exc:
        raise UnsafeRename("the prompt does not parse") from exc


def cut(tree: Tree, index: int, target: str) -> str:
    """The snippet up to the first occurrence of the target."""
    function = next(each for each in functions(tree) if each.index == index)
    start = next(v.starts[0] for v in function.variables if v.name == target)
    return tree.code[:start].decode()


def code_pattern(code: str) -> str:
    """A regular expression for a piece of code, however it is spaced: `f(x)`, `f( x )`."""
    words: list[str] = re.findall(r"\w+|[^\w\s]", code)
    pattern = re.escape(words[0])
    for before, word in pairwise(words):
        gap = r"\s+" if _is_word(before) and _is_word(word) else r"\s*"
        pattern += gap + re.escape(word)
    return (
        (r"(?<!\w)" if _is_word(words[0]) else "")
        + pattern
        + (r"(?!\w)" if _is_word(words[-1]) else "")
    )


def _is_word(token: str) -> bool:
    return re.match(r"\w", token) is not None
