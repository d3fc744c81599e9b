"""One variable more, before and after another, where it cannot go; other words in comments."""

from collections.abc import Callable

import pytest

from puzzlemark.errors import UnsafeRename
from puzzlemark.snippet import Edit, Snippet, apply_edits
from puzzlemark.syntax.prompts import declare_after, declare_before, reword
from puzzlemark.syntax.tree import Tree, parse


def inserted(
    declare: Callable[[Tree, int, str], Edit], code: str, at: str, language: str = "python"
) -> str:
    tree = parse(Snippet("x", code, language))
    edit = declare(tree, code.index(at), "new")
    return apply_edits(code.encode(), [edit]).decode()


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("def f(x, key):\n    pass\n", "def f(x, new, key):\n    pass\n"),
        ("def f(x=1, key=2):\n    pass\n", "def f(x=1, new=None, key=2):\n    pass\n"),
        ("def f():\n    key = 1\n", "def f():\n    new = None\n    key = 1\n"),
        (
            "def f():\n    for key in a: pass\n",
            "def f():\n    new = None\n    for key in a: pass\n",
        ),
        ("def f():\r\n    key = 1\r\n", "def f():\r\n    new = None\r\n    key = 1\r\n"),
    ],
)
def test_before_a_variable_of_python(code: str, after: str) -> None:
    assert inserted(declare_before, code, "key") == after


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("def f(key):\n    pass\n", "def f(key, new):\n    pass\n"),
        ("def f(key, x):\n    pass\n", "def f(key, new, x):\n    pass\n"),
        ("def f(key=1, x=2):\n    pass\n", "def f(key=1, new=None, x=2):\n    pass\n"),
        ("def f(key: int = 1):\n    pass\n", "def f(key: int = 1, new=None):\n    pass\n"),
        ("def f(*key, **x):\n    pass\n", "def f(*key, new, **x):\n    pass\n"),
        (
            "def f():\n    key = 1\n    x = 2\n",
            "def f():\n    key = 1\n    new = None\n    x = 2\n",
        ),
        ("def f():\n    key = 1  # one\n", "def f():\n    key = 1  # one\n    new = None\n"),
        ("def f():\r\n    key = 1\r\n", "def f():\r\n    key = 1\r\n    new = None\r\n"),
        ("def f():\n    key = 1", "def f():\n    key = 1\n    new = None"),
    ],
)
def test_after_a_variable_of_python(code: str, after: str) -> None:
    assert inserted(declare_after, code, "key") == after


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("void f(int key) {}", "void f(int key, Object new) {}"),
        (
            "void f() {\n  int key = 1; // one\n  g();\n}",
            "void f() {\n  int key = 1; // one\n  Object new = null;\n  g();\n}",
        ),
    ],
)
def test_after_a_variable_of_java(code: str, after: str) -> None:
    assert inserted(declare_after, code, "key", "java") == after


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("def f(x, **key):\n    pass\n", "python"),
        ("def f(x, **key: int):\n    pass\n", "python"),
        ("def f():\n    key = 1; x = 2\n", "python"),
        ("void f(int x, String... key) {}", "java"),
        ("void f() { int key = 1; g(); }", "java"),
        ("class A {\n  int key = 1;\n}", "java"),
    ],
)
def test_where_nothing_may_follow_it_is_refused(code: str, language: str) -> None:
    with pytest.raises(UnsafeRename, match="no place"):
        inserted(declare_after, code, "key", language)


@pytest.mark.parametrize(
    ("language", "code", "after"),
    [
        (
            "python",
            'def f(key):\n    """A key, no keys."""\n    g("key")  # key, not monkey\n',
            'def f(key):\n    """A new, no keys."""\n    g("key")  # new, not monkey\n',
        ),
        (
            "java",
            '/** A key. */ void f(int key) { /* key */ g("key"); } // key2',
            '/** A new. */ void f(int key) { /* new */ g("key"); } // key2',
        ),
    ],
)
def test_whole_words_of_comments_and_docstrings_are_put_anew(
    language: str, code: str, after: str
) -> None:
    edits = reword(parse(Snippet("x", code, language)), {"key": "new"})
    assert apply_edits(code.encode(), edits).decode() == after
