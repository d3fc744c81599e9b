"""Renaming so that behaviour cannot change: fresh names only, checked by parsing again."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate

from puzzlemark.errors import UnparsableSnippet, UnsafeRename
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.syntax.naming import is_mangled, is_plain_identifier, mentions
from puzzlemark.syntax.tree import Tree, have_same_shape, parse
from puzzlemark.syntax.variables import Care, Function, functions, ignores_spelling


def rename(
    tree: Tree, function: Function, names: Mapping[str, str], policy: Care
) -> tuple[Edit, ...]:
    """Edits that rename variables of one function, `{"a": "key_iterator"}`.

    Raises UnsafeRename, with the reason, when behaviour could change.
    """
    if function.dynamic is not None:
        raise UnsafeRename(function.dynamic)
    by_name = {variable.name: variable for variable in function.variables}
    for old, new in names.items():
        reason = by_name[old].refusal(policy) or why_not_fresh(tree, new)
        if reason is not None:
            raise UnsafeRename(reason)
    planned = _every_place(function, names)
    if not is_alpha_equivalent(tree, function, names, planned):
        raise UnsafeRename("the renamed snippet is not alpha-equivalent")
    return planned


def _every_place(function: Function, names: Mapping[str, str]) -> tuple[Edit, ...]:
    """The edits that put the new names wherever the old ones mean these variables."""
    return tuple(
        sorted(
            Edit(start, each.name.encode(), names[each.name].encode())
            for each in function.variables
            if each.name in names
            for start in each.starts
        )
    )


def why_not_fresh(tree: Tree, name: str) -> str | None:
    """Why a name cannot be given to a variable of this snippet, or None when it can.

    Fresh means: the word stands nowhere in the snippet, be it in code, a string or a comment. So no
    binding, field, import or text can be captured, and renaming back gives the identical snippet.
    Of a snippet that lives in a file, the file must not have the word either.
    """
    if not is_plain_identifier(name) or name.startswith("__") or is_mangled(name):
        return "new name is not a plain identifier"
    if name in tree.language.reserved:
        return "new name is reserved by the language"
    if mentions(tree.code, name):
        return "new name is taken in the snippet"
    if mentions(tree.snippet.around.encode(), name):
        return "new name is taken in the file"
    return None


def is_alpha_equivalent(
    tree: Tree, function: Function, names: Mapping[str, str], edits: tuple[Edit, ...]
) -> bool:
    """Whether the edited snippet is the same tree, with the same bindings under the new names."""
    code = apply_edits(tree.code, edits).decode()
    try:
        after = parse(replace(tree.snippet, code=code))
    except UnparsableSnippet:
        return False
    if after.offset != tree.offset or not have_same_shape(after.root, tree.root):
        return False
    if _keeps_meaning(tree, function, names) and edits == _every_place(function, names):
        return _stand_where_expected(tree, after, edits)
    return have_same_bindings(after, function, names, edits)


def _keeps_meaning(tree: Tree, function: Function, names: Mapping[str, str]) -> bool:
    """Whether fresh names in the same places of the same tree can only mean what the old ones did.

    If every place that means the variable is edited, each finds the new name in the scope that
    bound the old one, as nothing else in the snippet has that name. Any other place with the old
    name found another scope before that one, or never looked there, and does so still. That is
    all, where a resolver asks of names only whether they are equal; docs/decisions/0062 goes
    through the resolver of Python. Two variables must not get one name, nor one a name that is
    left out by its spelling. Of a fixed variable not every place is known: `nonlocal x` is none.
    """
    if not ignores_spelling(tree.language.name):
        return False
    if any(each.fixed is not None for each in function.variables if each.name in names):
        return False
    new = set(names.values())
    is_apart = len(new) == len(names) and new.isdisjoint(tree.language.receivers)
    return is_apart and all(why_not_fresh(tree, name) is None for name in new)


def _stand_where_expected(tree: Tree, after: Tree, edits: tuple[Edit, ...]) -> bool:
    """Whether each edit made one name of one name, and of nothing around it."""
    moved = _Shifts(edits)
    for edit in edits:
        start, end = edit.start + tree.offset, edit.end + tree.offset
        before = tree.root.descendant_for_byte_range(start, end)
        at = moved.offset(edit.start) + after.offset
        now = after.root.descendant_for_byte_range(at, at + len(edit.new))
        if before is None or now is None or before.kind_id != now.kind_id:
            return False
        if before.byte_range != (start, end) or now.byte_range != (at, at + len(edit.new)):
            return False
    return True


def have_same_bindings(
    after: Tree, function: Function, names: Mapping[str, str], edits: tuple[Edit, ...]
) -> bool:
    """Whether the edited snippet, resolved anew, has the same variables under the new names."""
    renamed = next(each for each in functions(after) if each.index == function.index)
    moved = _Shifts(edits)
    expected = [
        (names.get(each.name, each.name), tuple(map(moved.offset, each.starts)))
        for each in function.variables
    ]
    return [(v.name, v.starts) for v in renamed.variables] == expected


class _Shifts:
    """Where offsets are after the edits."""

    def __init__(self, edits: tuple[Edit, ...]) -> None:
        self.starts = [edit.start for edit in edits]
        grown = (len(edit.new) - len(edit.old) for edit in edits)
        self.before = list(accumulate(grown, initial=0))

    def offset(self, start: int) -> int:
        return start + self.before[bisect_left(self.starts, start)]
