"""DeCoMa's abstraction, against the published program's own output."""

import pytest

from puzzlemark.detectors._decoma_abstraction import abstract, strip_comments
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.base import Language, find
from puzzlemark.snippet import Snippet

SQUARES = """def squares(n, out=None):
    '''The docstring goes.'''
    acc = list()  # so does a comment
    for i in range(0, n):
        acc.append(i * 2)
    print(acc, flush=True)
    return acc
"""
GET = """def get(self, key):
    val = self.cache[key]
    if val is None or len(val) == 0:
        val = self.load(key, retry=3)
    self.count += 1
    return val.data
"""
FIRST = """public int first(List<String> xs, String s) {
    if (xs != null && xs.isEmpty()) { int k = s.indexOf("x", 0); return k + 1; }
    Person I = Person(); I.hi(everyone);
    for (String t : xs) { total += t.length(); }
    return xs.size() == 0 ? 1 : 2;
}"""


def expressions(code: str, language: str = "python") -> list[str]:
    return list(abstract(Snippet("a", code, language)).expressions)


def identifiers(code: str, language: str = "python") -> list[str]:
    return list(abstract(Snippet("a", code, language)).identifiers)


def test_a_python_function_is_abstracted_as_published() -> None:
    assert expressions(SQUARES) == [
        "__variable__ = __value__",
        "list ( )",
        "range ( 0 , __variable__ )",
        "__value__ ( __value__ )",
        "__value__ ( __value__ )",
        "__variable__ . append",
        "i * __num__",
        "print ( __variable__ , __value__ )",
        "print ( __variable__ , __value__ )",
        "flush = True",
        "return __variable__",
    ]
    assert identifiers(SQUARES) == ["acc", "n"]


def test_a_method_is_abstracted_as_published() -> None:
    assert expressions(GET) == [
        "__variable__ = __value__",
        "__value__ [ key ]",
        "self . cache",
        "__variable__ is None",
        "__value__ == 0",
        "len ( __variable__ )",
        "__variable__ = __value__",
        "__value__ ( __variable__ , __value__ )",
        "self . load",
        "retry = __num__",
        "__value__ += __num__",
        "self . count",
        "return __value__",
        "__variable__ . data",
    ]
    assert identifiers(GET) == ["val", "key"]


JAVA = [
    "__value__ && __value__",
    "__variable__ != null",
    "__variable__ . isEmpty ( )",
    "int __variable__ = __value__ ;",
    "__variable__ . indexOf ( __str__ , 0 )",
    "return __value__ ;",
    "__variable__ + __num__",
    "Person __variable__ = __value__ ;",
    "Person ( )",
    "__variable__ . hi ( everyone )",
    "total += __value__",
    "__variable__ . length ( )",
    "return __value__ ? __num__ : __num__ ;",
    "__value__ == 0",
    "__variable__ . size ( )",
]


def test_a_java_method_is_abstracted_as_published_but_for_the_broken_header() -> None:
    assert expressions(FIRST, "java") == JAVA
    assert identifiers(FIRST, "java") == ["xs", "s", "k", "I", "t"]


def test_the_old_grammar_saw_a_variable_in_the_header_of_a_method() -> None:
    found = abstract(Snippet("a", FIRST, "java"), old_java=True)
    assert list(found.expressions) == ["public int __variable__", *JAVA]
    assert found.identifiers[0] == "first"


def test_all_identifiers_count_when_asked() -> None:
    found = abstract(Snippet("a", GET, "python"), identifiers="all")
    assert found.identifiers[:4] == ("get", "self", "key", "val")


def test_targets_of_tuple_assignments_are_no_variables() -> None:
    assert identifiers("def f(x):\n    a, b = x\n    c = b\n") == ["x", "c", "b"]


def test_a_name_inside_an_f_string_counts_but_the_string_is_one_literal() -> None:
    code = "def f(p):\n    return g(f'{h(p)}', p)\n"
    assert identifiers(code) == ["p"]
    assert expressions(code) == ["return __value__", "g ( __str__ , __variable__ )"]


def test_replacement_of_values_is_plain_text() -> None:
    # `self . x` stands inside `self . xy`, and goes there too
    assert expressions("def f(self):\n    self.x + self.xy\n")[0] == "__value__ + __value__y"


def table(name: str) -> Language:
    found = find(name)
    assert found is not None
    return found


def test_strings_that_open_a_line_go_with_the_comments() -> None:
    code = 'def f():\n    """doc"""\n    x = "kept"  # gone\n    "also gone"\n'
    assert strip_comments(code, table("python")) == 'def f():\n    x = "kept"  '


def test_java_comments_go_and_strings_stay() -> None:
    code = 'int f() { // one\n  String s = "// no /* comment";\n\n  /* two\n */ return 0; }'
    stripped = 'int f() {  \n  String s = "// no /* comment";\n    return 0; }'
    assert strip_comments(code, table("java")) == stripped


def test_code_with_syntax_errors_is_abstracted_all_the_same() -> None:
    assert "x" in identifiers("def f(x):\n    x = = 1\n    return x\n")


def test_code_that_has_no_tokens_is_refused() -> None:
    with pytest.raises(UnparsableSnippet, match="tokens"):
        expressions("def f():\n    x = (1,\n")


def test_code_beyond_ascii_keeps_its_offsets() -> None:
    assert identifiers("def f():\n    é = 'ü'\n    g(é)\n") == ["é"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def f():\n    return a" + ".b" * 20_000, "nested too deeply"),
        ("def f():\n    g(" + "h(1), " * 20_000 + ")", "more than 2000 expressions inside of one"),
    ],
)
def test_code_that_nests_absurdly_is_refused(code: str, reason: str) -> None:
    with pytest.raises(UnparsableSnippet, match=reason):
        abstract(Snippet("it", code, "python"))
