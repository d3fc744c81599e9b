"""The universal rules of renaming: by binding, fresh names only, nothing dynamic, checked again."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UnparsableSnippet, UnsafeRename
from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax import rename as renaming
from puzzlemark.syntax.rename import (
    have_same_bindings,
    is_alpha_equivalent,
    rename,
    why_not_fresh,
)
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import Function, Policy, functions
from tests.oracles.python import library_functions

CODE = """def f(a, b):
    c = [a for x in b]  # note
    return c.attribute, "text", g(label=c)
"""


def opened(code: str = CODE) -> tuple[Tree, Function]:
    tree = parse(Snippet("it", code, "python"))
    return tree, next(functions(tree))


def renamed(names: dict[str, str], policy: Policy = "paper", code: str = CODE) -> str:
    tree, function = opened(code)
    return apply_edits(tree.code, rename(tree, function, names, policy)).decode()


def test_edits_name_the_bytes_they_replace_in_order() -> None:
    tree, function = opened()
    assert rename(tree, function, {"c": "zq", "a": "yy"}, "paper") == (
        Edit(6, b"a", b"yy"),
        Edit(17, b"c", b"zq"),
        Edit(22, b"a", b"yy"),
        Edit(55, b"c", b"zq"),
        Edit(84, b"c", b"zq"),
    )


def test_only_the_binding_changes() -> None:
    assert renamed({"c": "zq"}) == CODE.replace("c = [", "zq = [").replace(
        "return c.", "return zq."
    ).replace("label=c", "label=zq")


def test_two_variables_are_renamed_together() -> None:
    assert renamed({"a": "yy", "b": "zz"}).startswith("def f(yy, zz):\n    c = [yy for x in zz]")


@pytest.mark.parametrize("taken", ["b", "x", "f", "g", "attribute", "text", "note", "label"])
def test_a_name_that_stands_anywhere_in_the_snippet_is_not_fresh(taken: str) -> None:
    with pytest.raises(UnsafeRename, match="new name is taken in the snippet"):
        renamed({"c": taken})


@pytest.mark.parametrize("reserved", ["class", "match", "len", "print", "ValueError", "True"])
def test_a_keyword_or_a_builtin_is_not_fresh(reserved: str) -> None:
    with pytest.raises(UnsafeRename, match="new name is reserved by the language"):
        renamed({"c": reserved})


@pytest.mark.parametrize("name", ["", "_", "1x", "é", "a b", "__x", "x.y"])
def test_a_name_that_is_not_plain_is_not_fresh(name: str) -> None:
    with pytest.raises(UnsafeRename, match="new name is not a plain identifier"):
        renamed({"c": name})


def test_a_part_of_a_word_leaves_a_name_fresh() -> None:
    tree, _ = opened("def f(a):\n    return a.key_size")
    assert why_not_fresh(tree, "key") is None


def test_a_dynamic_function_is_not_touched() -> None:
    with pytest.raises(UnsafeRename, match="names are visible to locals"):
        renamed({"a": "zq"}, code="def f(a):\n    return locals()")


def test_a_fixed_variable_is_not_touched() -> None:
    with pytest.raises(UnsafeRename, match="a string spells its name"):
        renamed({"a": "zq"}, code="def f(a):\n    return a['a']")


def test_policy_safe_never_renames_a_parameter() -> None:
    with pytest.raises(UnsafeRename, match="parameter"):
        renamed({"a": "zq"}, policy="safe")


def test_policy_safe_renames_a_local() -> None:
    assert renamed({"c": "zq"}, policy="safe") == renamed({"c": "zq"}, policy="paper")


@pytest.mark.parametrize(
    "edits",
    [
        (Edit(17, b"c", b"zq"),),  # a missed occurrence
        (
            Edit(17, b"c", b"zq"),
            Edit(55, b"c", b"zq"),
            Edit(84, b"c", b"zq"),
            Edit(78, b"label", b"zq"),
        ),
        (Edit(17, b"c", b"a"), Edit(55, b"c", b"a"), Edit(84, b"c", b"a")),  # a collision
        (Edit(17, b"c", b"1"),),  # a syntax error
        (Edit(17, b"c", b"c.d"),),  # another tree
    ],
)
def test_wrong_edits_are_not_alpha_equivalent(edits: tuple[Edit, ...]) -> None:
    tree, function = opened()
    assert not is_alpha_equivalent(tree, function, {"c": "zq"}, edits)


def test_the_second_function_is_compared_with_the_second_function() -> None:
    tree = parse(
        Snippet("it", "def f(a):\n    return a\ndef g(a):\n    b = a\n    return b", "python")
    )
    second = list(functions(tree))[1]
    edits = rename(tree, second, {"b": "zq"}, "paper")
    assert apply_edits(tree.code, edits).endswith(b"def g(a):\n    zq = a\n    return zq")


def test_renaming_back_gives_the_identical_snippet() -> None:
    assert renamed({"zq": "c"}, code=renamed({"c": "zq"})) == CODE


def resolved_again(tree: Tree, function: Function, names: dict[str, str]) -> bool:
    """Whether a rename that was let pass also passes when the result is resolved in full."""
    edits = rename(tree, function, names, "paper")
    code = apply_edits(tree.code, edits).decode()
    return have_same_bindings(parse(replace(tree.snippet, code=code)), function, names, edits)


def check_all(codes: Iterable[str]) -> int:
    """Rename every variable that may be, alone and together with all others; how many renames."""
    checked = 0
    for code in codes:
        tree = parse(Snippet("it", code, "python"))
        for function in functions(tree):
            free = [each.name for each in function.variables if each.refusal("paper") is None]
            if function.dynamic is not None or not free:
                continue
            new = {name: f"zq{at}_{name}" for at, name in enumerate(free)}
            for names in (new, *({old: fresh} for old, fresh in new.items())):
                assert resolved_again(tree, function, names), (names, code)
                checked += 1
    return checked


def test_a_variable_whose_places_are_not_all_known_does_not_pass_by_a_fresh_name() -> None:
    code = "def f(a):\n    def g():\n        nonlocal a\n        a = 1\n    return a, g\n"
    tree, function = opened(code)
    (variable,) = (each for each in function.variables if each.name == "a")
    assert variable.fixed is not None  # so that nobody asks for it
    edits = tuple(Edit(start, b"a", b"zq") for start in variable.starts)
    assert not is_alpha_equivalent(tree, function, {"a": "zq"}, edits)


def test_what_passes_by_its_fresh_names_passes_when_it_is_resolved_again() -> None:
    assert check_all(islice(library_functions(every=25), 0, None, 8)) > 100


def test_fresh_names_in_real_code_pass_when_it_is_resolved_again(real_data: Path) -> None:
    snippets = islice(open_corpus(real_data / "csn_python_large.jsonl.gz"), 0, 40_000, 40)
    parsed = (each.code for each in snippets if parses(each.code))
    assert check_all(parsed) > 3000


def parses(code: str) -> bool:
    try:
        parse(Snippet("it", code, "python"))
    except UnparsableSnippet:
        return False
    return True


SAME_NAMES = """def f(a, rows):
    total = [a for a in rows]
    def g(total):
        a = total
        return lambda a: a
    class C:
        b = 1
    b = g(total)
    return a, b, {b: b for b in rows if (c := b)}, c
"""


def test_other_variables_with_the_old_name_keep_their_places() -> None:
    assert check_all([SAME_NAMES]) > 2


@pytest.mark.parametrize(
    "names", [{"a": "zq", "c": "zq"}, {"c": "self"}, {"c": "cls"}, {"c": "b"}, {"c": "x"}]
)
def test_one_name_for_two_a_receiver_and_a_taken_name_are_not_alpha_equivalent(
    names: dict[str, str],
) -> None:
    tree, function = opened()
    places = {each.name: each.starts for each in function.variables}
    edits = tuple(
        sorted(
            Edit(start, old.encode(), new.encode())
            for old, new in names.items()
            for start in places[old]
        )
    )
    assert not is_alpha_equivalent(tree, function, names, edits)


def test_python_is_not_resolved_again_for_fresh_names_and_java_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    java = "class A { int f(int a) { int b = a; return b; } }"
    made = [opened(), (tree := parse(Snippet("it", java, "java")), next(functions(tree)))]
    asked: list[str] = []

    def noted(after: Tree, *rest: object) -> bool:
        asked.append(after.language.name)
        return True

    monkeypatch.setattr(renaming, "have_same_bindings", noted)
    for tree, function in made:
        rename(tree, function, {function.variables[-1].name: "zq"}, "paper")
    assert asked == ["java"]
