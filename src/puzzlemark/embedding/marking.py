"""The marks of one snippet: its functions are walked in order (paper, Algorithm 1, line 2)."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import cast

from tree_sitter import Node

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, function_nodes, functions
from puzzlemark.watermarks.base import (
    NO_FUNCTION,
    Introducing,
    Mark,
    Refusal,
    SnippetWide,
    Watermark,
)

Attempt = Callable[[Tree, Function, Policy, random.Random], Mark | Refusal]
OUTSIDE = Refusal("the mark changes what is outside its function")


def mark_snippet(
    watermark: Watermark,
    tree: Tree,
    policy: Policy,
    rng: random.Random,
    *,
    most: int = 1,
    introduce: bool = False,
) -> tuple[Mark, ...] | Refusal:
    """Up to `most` marks, each in a function of its own, with edits of the snippet as it is.

    `introduce` brings the trigger into a snippet where it does not stand by nature.
    """
    if most > 1:
        return _mark_several(watermark, tree, policy, rng, most, introduce=introduce)
    mark = first_mark(watermark, tree, policy, rng, introduce=introduce)
    return mark if isinstance(mark, Refusal) else (mark,)


def first_mark(
    watermark: Watermark,
    tree: Tree,
    policy: Policy,
    rng: random.Random,
    *,
    introduce: bool = False,
) -> Mark | Refusal:
    """The mark of the first function that can carry it, or why the first that might could not."""
    if not introduce and (wide := _as_snippet_wide(watermark)) is not None:
        decided = wide.plan_snippet(tree, policy, rng)
        if decided is not None:
            return decided
    attempt = _attempt_of(watermark, introduce=introduce)
    refusal: Refusal | None = None
    for function in functions(tree):
        outcome = attempt(tree, function, policy, rng)
        if isinstance(outcome, Mark):
            return outcome
        refusal = _stronger(refusal, outcome)
    return refusal or NO_FUNCTION


def _as_snippet_wide(watermark: Watermark) -> SnippetWide | None:
    # `isinstance` with the protocol takes a tenth of the time in which a snippet is marked
    wide = cast("SnippetWide", watermark)
    return wide if hasattr(wide, "plan_snippet") else None


def _attempt_of(watermark: Watermark, *, introduce: bool) -> Attempt:
    if not introduce:
        return watermark.plan
    assert isinstance(watermark, Introducing), "only then are there snippets to introduce it to"
    return watermark.introduce


def _stronger(earlier: Refusal | None, later: Refusal) -> Refusal:
    return later if earlier is None or earlier.is_weak else earlier


def _mark_several(
    watermark: Watermark,
    tree: Tree,
    policy: Policy,
    rng: random.Random,
    most: int,
    *,
    introduce: bool,
) -> tuple[Mark, ...] | Refusal:
    """One function after the other, each in the snippet as the marks before it have left it."""
    attempt = _attempt_of(watermark, introduce=introduce)
    marks: list[Mark] = []
    refusal: Refusal | None = None
    current, tried, end = tree, -1, 0
    while len(marks) < most and (function := _next_function(current, tried, end)):
        tried = function.index
        mark = attempt(current, function, policy, rng)
        if isinstance(mark, Mark):
            after = _edited(current, function, mark.edits)
            if after is not None:
                # functions come in order and apart: all edits so far are before this mark's
                grown = len(current.code) - len(tree.code)
                edits, trial = (_moved(each, -grown) for each in (mark.edits, mark.trial))
                marks.append(replace(mark, edits=edits, trial=trial))
                current, end = after, _node(after, function).end_byte
                continue
            mark = OUTSIDE
        refusal = _stronger(refusal, mark)
    return tuple(marks) or refusal or NO_FUNCTION


def _moved(edits: Sequence[Edit], by: int) -> tuple[Edit, ...]:
    return tuple(Edit(each.start + by, each.old, each.new) for each in edits)


def _next_function(tree: Tree, tried: int, end: int) -> Function | None:
    """The next function that is not inside a marked one: that one's bytes are taken."""
    for function in functions(tree):
        if function.index > tried and _node(tree, function).start_byte >= end:
            return function
    return None


def _edited(tree: Tree, function: Function, edits: Sequence[Edit]) -> Tree | None:
    """The snippet after edits of one function; None when they touch more than that function."""
    if not edits:
        return tree
    node = _node(tree, function)
    first, last = min(each.start for each in edits), max(each.end for each in edits)
    if first < node.start_byte - tree.offset or last > node.end_byte - tree.offset:
        return None
    code = apply_edits(tree.code, edits).decode()
    try:
        after = parse(replace(tree.snippet, code=code))
    except UnparsableSnippet:
        return None
    return after if _count_functions(after) == _count_functions(tree) else None


def _node(tree: Tree, function: Function) -> Node:
    return next(islice(function_nodes(tree), function.index, None))


def _count_functions(tree: Tree) -> int:
    return sum(1 for _ in function_nodes(tree))
