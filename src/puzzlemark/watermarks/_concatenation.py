"""The concatenation pattern (paper, Algorithm 1, EmbedWatermark), shared by both strategies."""

from collections.abc import Iterable, Sequence

from puzzlemark.errors import UnsafeRename
from puzzlemark.languages.base import Convention
from puzzlemark.syntax.naming import (
    Joining,
    concatenate,
    is_compound,
    is_plain_identifier,
    own_convention,
    why_displeasing,
)
from puzzlemark.syntax.rename import rename, why_not_fresh
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy, Variable, functions
from puzzlemark.watermarks.base import Mark, Part, Place, Refusal

# what the second round of a study tells participants (`puzzlemark study`)
DISCLOSURE = (
    "A local variable may have been renamed to the names of two other variables of the function, "
    "joined: `count` and `items` give `count_items` or `countItems`."
)
FEWEST_VARIABLES = 3  # prefix, suffix, and one to be replaced

NO_PREFIX = Refusal("no variable is named like the prefix", is_weak=True)
TOO_FEW = Refusal("fewer than two variables after the prefix")
TARGET_TAKEN = Refusal("the target's name stands elsewhere in the snippet")
NOTHING_TO_REPLACE = Refusal("no variable after the suffix may be renamed")
NOTHING_TO_INTRODUCE = Refusal("no variable may be renamed to the prefix")


def variables_of(function: Function) -> list[Variable]:
    """The variables that can take part in a mark: not `_`, nothing beyond ASCII."""
    return [each for each in function.variables if is_plain_identifier(each.name)]


def concatenation_mark(
    tree: Tree,
    function: Function,
    position: int,
    policy: Policy,
    introduced_as: str | None = None,
    joining: Joining = "literal",
) -> Mark | Refusal:
    """Mark a function whose prefix is its variable at `position`, or `introduced_as` for it."""
    if function.dynamic is not None:
        return Refusal(function.dynamic)
    variables = variables_of(function)
    after = variables[position + 1 :]  # Algorithm 1, line 4
    if len(after) <= 1:
        return TOO_FEW
    original = variables[position].name
    prefix, suffix, others = introduced_as or original, after[0].name, after[1:]
    target = concatenate(prefix, suffix, tree.language.convention)
    if joining == "own":
        target = concatenate(prefix, suffix, _convention(tree, variables, prefix, suffix))
        reason = why_displeasing(prefix, suffix, target)
        if reason is not None:
            return Refusal(reason)
    names = {} if introduced_as is None else {original: prefix}
    replaced: str | None = None
    if all(each.name != target for each in others):  # rule (iii): a natural target stays
        if why_not_fresh(tree, target) is not None:
            return TARGET_TAKEN
        replaced = select_replaced(others, policy)
        if replaced is None:
            return NOTHING_TO_REPLACE
        names[replaced] = target
    try:
        edits = rename(tree, function, names, policy) if names else ()
    except UnsafeRename as refusal:
        return Refusal(str(refusal))
    parts = (
        Part("prefix", prefix, original if introduced_as else None),
        Part("suffix", suffix),
        Part("target", target, replaced),
    )
    return Mark(parts, edits, function.index)


def _convention(tree: Tree, variables: Iterable[Variable], prefix: str, suffix: str) -> Convention:
    names = [each.name for each in variables]
    text = tree.snippet.around or tree.snippet.code
    return own_convention((prefix, suffix), names, text, tree.language.convention)


def joined_like(mark: Mark, default: Convention) -> Convention:
    """By which convention a mark was joined; another suffix has to be joined in the same way."""
    prefix, suffix = mark.of("prefix").text, mark.of("suffix").text
    conventions: tuple[Convention, ...] = (default, "snake", "camel")
    joined = (
        each for each in conventions if concatenate(prefix, suffix, each) == mark.of("target").text
    )
    return next(joined, default)


def select_replaced(others: Sequence[Variable], policy: Policy) -> str | None:
    """T (paper, section 4.3.2, rules i and ii), among the variables that may be renamed at all.

    No compound name among them: the least frequent. Otherwise: the most frequent compound name.
    Ties go to the earlier variable.
    """
    candidates = [each for each in others if each.refusal(policy) is None]
    compound = [each for each in candidates if is_compound(each.name)]
    if compound:
        return max(compound, key=lambda each: each.frequency).name
    return min(candidates, key=lambda each: each.frequency).name if candidates else None


def functions_of(tree: Tree, mark: Mark) -> Iterable[Function]:
    """The function that a mark names; all of them for a mark that names none."""
    found = functions(tree)
    return found if mark.function is None else (f for f in found if f.index == mark.function)


def variable_places(tree: Tree, mark: Mark) -> tuple[Place, ...]:
    """Where the variables named like the parts stand."""
    roles = {part.text: part.role for part in mark.parts}
    for function in functions_of(tree, mark):
        variables = {variable.name: variable for variable in function.variables}
        if roles.keys() <= variables.keys():
            places = (
                Place(start, start + len(name), role)
                for name, role in roles.items()
                for start in variables[name].starts
            )
            return tuple(sorted(places, key=lambda place: place.start))
    return ()
