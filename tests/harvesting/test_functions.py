"""What a record of each language holds."""

import ast
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.harvesting.functions import FIELDS, Collected, Origin, Wanted, collect
from puzzlemark.languages.python import PLUGIN

PYTHON = '''\
"""A module."""
import os


class Shelf:
    """Not a function."""

    limit = 3

    @property
    def size(self):
        """How many.

        Counted each time.
        """
        # all of them
        return len(self.books)

    class Book:
        async def read(self, page: int = 1) -> str:
            return f"page {page}"


def outer(a, *rest):
    def inner():
        return a
    return inner


if os.name == "posix":
    def only_here(): "One line."; return 1
'''

JAVA = """\
package shelf;

public class Shelf<T> {
    private int limit = 3;

    public Shelf(int limit) { this.limit = limit; }

    /**
     * Counts the books.
     *
     * @param deep whether to look inside
     */
    // checked
    @Override
    public int size(boolean deep) {
        Runnable r = new Runnable() { public void run() { } };
        return limit; // three
    }

    /* plain comment */
    abstract void nothing();

    interface Reader {
        /** Reads. */
        default String read(int page) { return "page " + page; }
    }
}
"""


def reaped(text: str | bytes, language: str, **options: Any) -> Collected:
    collected = Collected()
    content = text.encode() if isinstance(text, str) else text
    collect("a/b.src", content, Wanted(language, **options), Origin("shelf", "c0ffee"), collected)
    return collected


def by_name(collected: Collected) -> dict[str, dict[str, Any]]:
    return {record["func_name"]: record for record in collected.records}


def test_python_functions_are_qualified_by_their_classes_and_in_order() -> None:
    names = [record["func_name"] for record in reaped(PYTHON, "python").records]
    assert names == ["Shelf.size", "Shelf.Book.read", "outer", "only_here"]


def test_a_record_has_the_fields_of_codesearchnet_in_its_order() -> None:
    record = reaped(PYTHON, "python").records[0]
    assert tuple(record) == FIELDS
    assert record == {
        "repo": "shelf",
        "path": "a/b.src",
        "func_name": "Shelf.size",
        "original_string": record["code"],
        "language": "python",
        "code": 'def size(self):\n        """How many.\n\n        Counted each time.\n'
        '        """\n        # all of them\n        return len(self.books)',
        "code_tokens": "def size ( self ) : return len ( self . books )".split(),
        "docstring": "How many.\n\n        Counted each time.",
        "docstring_tokens": ["How", "many", ".", "Counted", "each", "time", "."],
        "sha": "c0ffee",
        "url": "a/b.src::Shelf.size",
        "partition": "train",
    }


def test_a_function_inside_a_function_is_part_of_it() -> None:
    outer = by_name(reaped(PYTHON, "python"))["outer"]
    assert "def inner" in outer["code"]


def test_a_string_is_one_token() -> None:
    read = by_name(reaped(PYTHON, "python"))["Shelf.Book.read"]
    assert read["code_tokens"] == [
        *"async def read ( self , page : int = 1 ) -> str : return".split(),
        'f"page {page}"',
    ]
    assert read["docstring"] == ""


def test_a_docstring_on_the_line_of_its_function_is_found() -> None:
    only = by_name(reaped(PYTHON, "python"))["only_here"]
    assert only["docstring"] == "One line."
    assert '"One line."' not in only["code_tokens"]


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"""a"""', "a"),
        ("'b'", "b"),
        ('r"""c\\d"""', "c\\d"),
        ('f"{e}"', ""),
        ('b"f"', ""),
        ('"g" "h"', ""),
        ('x = "i"', ""),
        ('"""j""".strip()', ""),
    ],
)
def test_only_a_plain_literal_is_a_docstring(literal: str, text: str) -> None:
    (record,) = reaped(f"def f():\n    {literal}\n    return 1\n", "python").records
    assert record["docstring"] == text


def test_functions_of_one_name_are_counted_in_their_ids() -> None:
    code = "class A:\n    def f(self): return 1\n    def f(self): return 2\ndef f(): return 3\n"
    before, after = (
        [record["url"] for record in reaped(text, "python").records]
        for text in (code, "# a new header line\n\n" + code)
    )
    assert before == ["a/b.src::A.f", "a/b.src::A.f#2", "a/b.src::f"]
    assert after == before


def test_java_methods_and_constructors_become_records_without_their_javadoc() -> None:
    records = by_name(reaped(JAVA, "java"))
    assert list(records) == ["Shelf.Shelf", "Shelf.size", "Shelf.Reader.read"]
    size = records["Shelf.size"]
    assert size["code"].startswith("@Override\n    public int size(boolean deep) {\n        Runn")
    assert size["docstring"] == "Counts the books.\n\n@param deep whether to look inside"
    assert size["url"] == "a/b.src::Shelf.size"
    assert size["code_tokens"][:6] == "@ Override public int size (".split()
    assert "// three" not in size["code_tokens"]
    assert records["Shelf.Reader.read"]["docstring"] == "Reads."
    assert records["Shelf.Shelf"]["docstring"] == ""


def test_a_method_without_a_body_is_counted_and_left_out() -> None:
    assert reaped(JAVA, "java").skipped_functions == {"no body": 1}


def test_a_function_without_a_name_is_counted_and_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lambdas = replace(PLUGIN, functions=frozenset({"lambda"}))
    monkeypatch.setattr("puzzlemark.syntax.tree.find", lambda _name: lambdas)
    collected = reaped("x = lambda a: a\n", "python")
    assert not collected.records
    assert collected.skipped_functions == {"no name": 1}


def test_a_file_that_is_one_bare_method_has_no_class_in_its_name() -> None:
    (record,) = reaped("Shelf(int a) { this.a = a; }", "java").records
    assert record["func_name"] == "Shelf"
    assert record["url"] == "a/b.src::Shelf"


def test_functions_below_the_wanted_length_are_counted() -> None:
    collected = reaped(PYTHON, "python", min_lines=3)
    assert list(by_name(collected)) == ["Shelf.size", "outer"]
    assert collected.skipped_functions == {"fewer than 3 lines": 2}


def test_documented_only_leaves_out_the_others() -> None:
    collected = reaped(PYTHON, "python", documented_only=True)
    assert list(by_name(collected)) == ["Shelf.size", "only_here"]
    assert collected.skipped_functions == {"no documentation": 2}


def test_a_cookie_decides_the_encoding() -> None:
    text = '# -*- coding: latin-1 -*-\ndef f():\n    return "caf\xe9"\n'
    (record,) = reaped(text.encode("latin-1"), "python").records
    assert record["code"].endswith('"caf\xe9"')


@pytest.mark.parametrize("language", ["python", "java"])
def test_a_byte_order_mark_is_not_part_of_the_code(language: str) -> None:
    text = {"python": "def f():\n    return 1\n", "java": "class A { int f() { return 1; } }"}
    (record,) = reaped(b"\xef\xbb\xbf" + text[language].encode(), language).records
    assert "\ufeff" not in record["code"]


def test_line_endings_stay_as_they_are() -> None:
    (record,) = reaped(b"class A:\r\n    def f(self):\r\n        return 1\r\n", "python").records
    assert record["code"] == "def f(self):\r\n        return 1"


@pytest.mark.parametrize(
    ("content", "language", "reason"),
    [
        (b"def f(:\n", "python", "syntax errors"),
        (b"", "python", "empty code"),
        (b"\n\n", "java", "empty code"),
        (b"def f(): return '\xff'\n", "python", "unknown or contradictory encoding"),
        (b"# coding: latin-1\ndef f(): '\xff'\n# coding", "java", "not valid utf-8"),
        (b"# coding: no-such\ndef f(): 1\n", "python", "unknown or contradictory encoding"),
        (b"# coding: rot13\nqrs s(): 1\n", "python", "unknown or contradictory encoding"),
        (b"# coding: ascii\ndef f(): '\xe9'\n", "python", "not valid ascii"),
        (b"class A { int f( }", "java", "syntax errors"),
    ],
)
def test_a_file_that_cannot_be_used_is_counted_with_its_reason(
    content: bytes, language: str, reason: str
) -> None:
    collected = reaped(content, language)
    assert collected.records == []
    assert collected.skipped_files == {reason: 1}


def test_a_huge_line_and_deep_nesting_are_no_problem() -> None:
    wide = "def f():\n    return [" + "1, " * 100_000 + "]\n"
    deep = "def g():\n    return " + "(" * 500 + "1" + ")" * 500 + "\n"
    collected = reaped(wide + deep, "python")
    assert len(by_name(collected)["f"]["code_tokens"]) == 200_000 + 8
    assert len(by_name(collected)["g"]["code_tokens"]) == 6 + 1001


@pytest.mark.parametrize("module", ["argparse", "ast", "mailbox", "typing", "zipfile"])
def test_python_itself_finds_the_same_functions(module: str) -> None:
    path = Path(sysconfig.get_path("stdlib"), f"{module}.py")
    if not path.exists():  # a package in later versions
        path = path.with_suffix("") / "__init__.py"
    text = path.read_text(encoding="utf-8")
    expected = list(outermost(ast.parse(text), text, ""))
    records = reaped(text, "python").records
    assert [record["func_name"] for record in records] == [name for name, _, _ in expected]
    for record, (_, code, documentation) in zip(records, expected, strict=True):
        assert record["docstring"].split() == documentation
        assert record["code"].startswith(code)
        # comments at the end of a body belong to it; to Python's own parser they do not exist
        rest = record["code"].removeprefix(code).splitlines()
        assert all(line.strip().startswith("#") for line in rest if line.strip())
    assert len(records) > 40


def outermost(node: ast.AST, text: str, prefix: str) -> Iterator[tuple[str, str, list[str]]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            code = ast.get_source_segment(text, child)
            assert code is not None
            yield prefix + child.name, code, spelled_docstring(child, text)
        else:
            deeper = f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
            yield from outermost(child, text, deeper)


def spelled_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> list[str]:
    if ast.get_docstring(node) is None:
        return []
    spelled = ast.get_source_segment(text, node.body[0])
    assert spelled is not None
    return spelled.lstrip("rRuU").strip("\"'").split()
