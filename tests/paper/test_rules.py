"""The paper's example, and its three rules for the replaced variable T (section 4.3.2)."""

import random

import pytest

from puzzlemark.embedding.marking import first_mark
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks.base import Mark, Part, named

EXAMPLE = {
    "python": "def f(groups):\n    for key, iterator in groups:\n"
    "        a = next(iterator)\n        print(key, a)\n",
    "java": "void f(Map<String, List<A>> groups) {\n"
    "    for (String key : groups.keySet()) {\n"
    "        List<A> iterator = groups.get(key);\n"
    "        A a = iterator.get(0);\n        print(a);\n    }\n}\n",
}


def marked(code: str, name: str) -> tuple[Mark, str]:
    chosen = named()[name]
    tree = parse(Snippet("it", code, chosen.language))
    mark = first_mark(chosen.watermark, tree, "paper", random.Random(0))
    assert isinstance(mark, Mark), mark
    return mark, apply_edits(code.encode(), mark.edits).decode()


@pytest.mark.parametrize(
    ("name", "language", "target"),
    [("P1", "python", "key_iterator"), ("P3", "java", "keyIterator")],
)
def test_key_and_iterator_make_a_their_concatenation(name: str, language: str, target: str) -> None:
    mark, after = marked(EXAMPLE[language], name)
    parts = (Part("prefix", "key"), Part("suffix", "iterator"), Part("target", target, was="a"))
    assert mark.parts == parts
    assert after == EXAMPLE[language].replace("A a =", f"A {target} =").replace(
        "        a =", f"        {target} ="
    ).replace("print(a)", f"print({target})").replace("key, a)", f"key, {target})")


def replaced(body: str) -> str | None:
    return marked(f"def f(key, s):\n    {body}\n", "P1")[0].of("target").was


def test_rule_1_without_a_compound_name_the_least_frequent_is_replaced() -> None:
    assert replaced("a = b = c = s; return a + b + b + c + c") == "a"
    assert replaced("a = b = c = s; return a + a + b + b + c") == "c"


def test_rule_2_the_most_frequent_compound_name_is_replaced() -> None:
    assert replaced("a = b_c = d_e = s; return b_c + d_e + d_e") == "d_e"
    assert replaced("a = bC = d_e = s; return bC + bC + d_e") == "bC"


def test_rule_2_counts_only_variables_after_the_suffix() -> None:
    code = "def f(a_b, key, c_d):\n    x = a_b + a_b\n    return c_d + c_d + x\n"
    assert marked(code, "P1")[0].of("target").was == "x"


def test_rule_3_a_natural_target_is_left_unchanged() -> None:
    code = "def f(key, s):\n    b_c = key_s = s\n    return b_c + b_c\n"
    mark, after = marked(code, "P1")
    parts = (Part("prefix", "key"), Part("suffix", "s"), Part("target", "key_s"))
    assert mark == Mark(parts, function=0)
    assert after == code


def test_ties_go_to_the_earlier_variable() -> None:
    assert replaced("a = b = s; return a + b") == "a"
    assert replaced("a_b = c_d = s; return a_b + c_d") == "a_b"
