"""New names are plausible: the dataset's own, of the same role."""

from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.attacks.rename_natural import role_of
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions
from tests.attacks.making import attack_codes, codes, mark

PYTHON = (
    "def f(a, *b, c=1):\n    d = g()\n    for e in a:\n        with h() as i:\n            d += e\n"
)
JAVA = "int f(int a) { String b = g(); for (long c : d()) { e(b, c); } return a; }"


@pytest.mark.parametrize(
    ("code", "language", "expected"),
    [
        (
            PYTHON,
            "python",
            {
                "a": ("parameters", ""),
                "b": ("list_splat_pattern", ""),
                "c": ("default_parameter", "integer"),
                "d": ("assignment", "call"),
                "e": ("for_statement", "identifier"),
                "i": ("as_pattern_target", ""),
            },
        ),
        (
            JAVA,
            "java",
            {
                "a": ("formal_parameter", "int"),
                "b": ("variable_declarator", "String"),
                "c": ("enhanced_for_statement", "long"),
            },
        ),
    ],
)
def test_a_role_is_how_a_variable_is_declared_and_with_what(
    code: str, language: str, expected: dict[str, tuple[str, str]]
) -> None:
    tree = parse(Snippet("x", code, language))
    (function,) = functions(tree)
    roles = {each.name: role_of(tree, each) for each in function.variables}
    assert roles == {name: (language, *role) for name, role in expected.items()}


def test_loop_variables_get_the_names_of_loop_variables(tmp_path: Path) -> None:
    loops = [
        f"def f{n}(rows):\n    total = 0\n    for {name} in rows:\n        total += {name}\n"
        f"    return total\n"
        for n, name in enumerate(["row", "item", "line"] * 10)
    ]
    after, attacked = attack_codes(tmp_path, "rename_natural", loops)
    assert attacked.changed == 30
    for before, now in zip(loops, after, strict=True):
        name = now.split("for ")[1].split(" in")[0]
        assert name in {"row", "item", "line"}
        assert f"for {name} in" not in before  # another than it was
        assert now.startswith(before.partition("\n")[0])  # parameters keep theirs
        assert now.count(name) >= 2


def test_frequent_names_are_drawn_often(tmp_path: Path) -> None:
    names = ["row"] * 90 + ["item"] * 10
    loops = [f"def f{n}(x):\n    for {a} in x:\n        print({a})\n" for n, a in enumerate(names)]
    loops += [f"def g{n}(x):\n    for odd{n} in x:\n        print(odd{n})\n" for n in range(40)]
    after, _ = attack_codes(tmp_path, "rename_natural", loops)
    drawn = [code.split("for ")[1].split(" in")[0] for code in after[100:]]
    assert drawn.count("row") > 15 > drawn.count("item")


def test_another_seed_draws_other_names_and_no_mark_survives(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.1, min_rate=0.1)
    one = pm.attack(marked, tmp_path / "one.jsonl", attack="rename_natural")
    two = pm.attack(marked, tmp_path / "two.jsonl", attack="rename_natural:seed=1")
    assert one.output_digest != two.output_digest
    assert one.changed_rows.tolist() == two.changed_rows.tolist()
    damage = pm.count_damage(one, manifest)
    assert damage.survived == 0
    assert damage.broken == damage.marks > 20
    assert codes(tmp_path / "one.jsonl") != codes(marked)
