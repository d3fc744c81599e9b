"""New names for the variables of a snippet, such that it behaves as before."""

from collections.abc import Callable
from itertools import count
from typing import TypeAlias

from puzzlemark.attacks._editing import Edited
from puzzlemark.errors import UnsafeRename
from puzzlemark.snippet import Edit, Snippet
from puzzlemark.syntax.rename import rename, why_not_fresh
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, Variable, functions

Chooses: TypeAlias = Callable[[Variable], bool]  # which variables are to be renamed
# A new name for a variable that `is_free` accepts; None: there is none.
Naming: TypeAlias = Callable[[Function, Variable, Callable[[str], bool]], str | None]

NO_VARIABLE = "no local variable to be renamed"


def rename_variables(snippet: Snippet, chooses: Chooses, naming: Naming, policy: Policy) -> Edited:
    """Rename every chosen variable that may be renamed; `spared` says why others were not."""
    tree = parse(snippet)
    given: set[str] = set()  # a name is given once in a snippet: functions may lie in each other
    edits: list[Edit] = []
    renamed = 0
    spared: str | None = None
    is_chosen = False
    for function in functions(tree):
        # the variables of a closure in JavaScript are those of the function around it as well
        taken = {edit.start for edit in edits}
        own = (each for each in function.variables if taken.isdisjoint(each.starts))
        chosen = [each for each in own if chooses(each)]
        is_chosen |= bool(chosen)
        try:
            names, refusal = _new_names(tree, function, chosen, naming, policy, given)
            edits += rename(tree, function, names, policy) if names else ()
            renamed += len(names)
        except UnsafeRename as exc:
            refusal = str(exc)
        spared = spared or refusal
    if not is_chosen:
        spared = NO_VARIABLE
    counts = {"variables renamed": renamed} if renamed else {}
    return Edited(tuple(sorted(edits)), counts, spared)


def _new_names(
    tree: Tree,
    function: Function,
    chosen: list[Variable],
    naming: Naming,
    policy: Policy,
    given: set[str],
) -> tuple[dict[str, str], str | None]:
    """New names by old ones, and why a variable keeps its own, if one does."""
    if chosen and function.dynamic is not None:
        return {}, function.dynamic
    names: dict[str, str] = {}
    reason: str | None = None
    for variable in chosen:
        refusal = variable.refusal(policy)
        new = None
        if refusal is None:
            new = naming(
                function,
                variable,
                lambda name: name not in given and why_not_fresh(tree, name) is None,
            )
            refusal = None if new is not None else "no new name is free"
        if new is None:
            reason = reason or refusal
        else:
            given.add(new)
            names[variable.name] = new
    return names, reason


def canonical() -> Naming:
    """`v0`, `v1`, ... in the order of the variables; numbers that a snippet uses are left out."""
    numbers = count()

    def name(_function: Function, _variable: Variable, is_free: Callable[[str], bool]) -> str:
        return next(each for number in numbers if is_free(each := f"v{number}"))

    return name
