"""Comments and docstrings go, and what is left is the same program."""

from pathlib import Path

import pytest

from tests.attacks.making import attack_codes

PAIRS = [
    (
        'def f(a):\n    """Says a."""\n    # one\n    b = a  # two\n\n    # last\n    return b\n',
        "def f(a):\n    b = a\n\n    return b\n",
    ),
    ('def f():\n    """Only this."""\n', "def f():\n    pass\n"),
    ('def f(): "Only this."', "def f(): pass"),
    ('def f():\n    "doc"; return 1\n', "def f():\n    pass; return 1\n"),
    ('class A:\n    """A."""\n\n    x = 1  # one', "class A:\n\n    x = 1"),
    ("def f():\n    return 1\n    # the end", "def f():\n    return 1"),
    ("def f():\r\n    # c\r\n    return 1  # d\r\n", "def f():\r\n    return 1\r\n"),
    ("def f():\n    x = [1,  # one\n         2]\n    return x\n",
     "def f():\n    x = [1,\n         2]\n    return x\n"),
]  # fmt: skip
KEPT = [
    'def f(x):\n    f"{x()}"\n    return "# no comment"\n',  # it calls something
    'def f():\n    """Doc."""\n    return f.__doc__\n',
    "#!/usr/bin/env python\nprint(1)\n",
]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_before_and_after(tmp_path: Path, before: str, after: str) -> None:
    assert attack_codes(tmp_path, "comments", [before])[0] == [after]


@pytest.mark.parametrize("code", KEPT)
def test_what_does_something_stays(tmp_path: Path, code: str) -> None:
    assert attack_codes(tmp_path, "comments", [code])[0] == [code]


def test_comments_alone(tmp_path: Path) -> None:
    before = 'def f():\n    """Doc."""\n    return 1  # one\n'
    after, attacked = attack_codes(tmp_path, "comments:docstrings=false", [before])
    assert after == [before.replace("  # one", "")]
    assert attacked.counts == {"comments stripped": 1}


JAVA = """\
/** Says. */
int f(int a /* in */, int b) { // why
    String s = "/* no */"; /* one */ /* two */
    /* all
     of it */
    return a/* x */+b;
}
"""
BARE_JAVA = """\
int f(int a , int b) {
    String s = "/* no */";
    return a +b;
}
"""
NATIVE = "native int g() /*-{ return 1; }-*/;"


def test_java_and_its_comments_that_are_code(tmp_path: Path) -> None:
    assert attack_codes(tmp_path, "comments", [JAVA, NATIVE], "java")[0] == [BARE_JAVA, NATIVE]


def test_a_comment_with_an_escape_that_the_compiler_reads_stays(tmp_path: Path) -> None:
    code = "int f(int a) {\n    // code: \\u000a a++;\n    return a; // why\n}\n"
    after = attack_codes(tmp_path, "comments", [code], "java")[0]
    assert after == [code.replace(" // why", "")]
