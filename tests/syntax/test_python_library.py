"""The running Python's own standard library: every rename that we allow, the oracle allows."""

import symtable
import warnings
from functools import cache
from itertools import islice

from puzzlemark.snippet import Snippet, apply_edits, invert_edits
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, functions
from tests.oracles.python import difference, library_functions

COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}


@cache
def sample() -> tuple[str, ...]:
    return tuple(islice(library_functions(every=25), 0, None, 4))


def trees() -> list[Tree]:
    return [parse(Snippet("it", code, "python")) for code in sample()]


def free_names(function: Function) -> list[str]:
    return [each.name for each in function.variables if each.refusal("paper") is None]


def check(tree: Tree, function: Function, names: dict[str, str]) -> None:
    edits = rename(tree, function, names, "paper")
    after = apply_edits(tree.code, edits)
    assert difference(tree.snippet.code, after.decode()) is None, (names, tree.snippet.code)
    assert apply_edits(after, invert_edits(edits)) == tree.code


def test_all_variables_of_a_function_are_renamed_at_once() -> None:
    checked = 0
    for tree in trees():
        for function in functions(tree):
            if function.dynamic is None and (free := free_names(function)):
                check(tree, function, {name: f"zq{at}_{name}" for at, name in enumerate(free)})
                checked += 1
    assert checked > 50


def test_each_variable_of_a_function_is_renamed_alone() -> None:
    checked = 0
    for tree in trees()[::6]:
        for function in functions(tree):
            for name in free_names(function) if function.dynamic is None else ():
                check(tree, function, {name: f"aa_{name}"})  # sorts before the others
                checked += 1
    assert checked > 50


def test_the_variables_of_a_function_are_those_of_the_symbol_table() -> None:
    checked = 0
    for tree in trees():
        ours = next(functions(tree))
        if ours.dynamic == "type parameters":
            continue  # symtable puts a scope of its own around these
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = symtable.symtable(tree.snippet.code, "<it>", "exec")
        table = next(t for t in module.get_children() if t.get_name() == ours.name)
        receivers = tree.language.receivers
        assert {each.name for each in ours.variables} == variables_of(table) - receivers
        checked += 1
    assert checked > 50


def variables_of(table: symtable.SymbolTable) -> set[str]:
    """Local names of a function and its comprehensions, but for what def, class, import bind."""
    bound: set[str] = set()
    others: set[str] = set()
    tables = [table]
    while tables:
        each = tables.pop()
        for symbol in each.get_symbols():
            if symbol.is_local() and not symbol.is_free() and "." not in symbol.get_name():
                other = symbol.is_imported() or _names_a_block(symbol)
                (others if other else bound).add(symbol.get_name())
        tables += [child for child in each.get_children() if child.get_name() in COMPREHENSIONS]
    return bound - others


def _names_a_block(symbol: symtable.Symbol) -> bool:
    return any(each.get_name() not in COMPREHENSIONS for each in symbol.get_namespaces())
