"""What is said of a variable's surroundings, and that its own name is no part of it."""

from puzzlemark.snippet import Snippet
from puzzlemark.syntax.surroundings import FAR, HOLE, MOST_WINDOWS, Reading, Surroundings
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import functions

CODE = """\
def readAll(path):
    for {0} in list_rows(path):
        use({0})
    with open(path) as handle:
        return [x.rowCount for x in handle]
"""
JAVA = "int total(int n) { int {0} = 0; return {0}; }"


def around(code: str, name: str, language: str = "python") -> Surroundings:
    tree = parse(Snippet("", code, language))
    (found,) = (
        Reading(tree).around(function, variable)
        for function in functions(tree)
        for variable in function.variables
        if variable.name == name
    )
    return found


def test_a_loop_over_a_call() -> None:
    found = around(CODE.format("row"), "row")
    assert found.function == "readAll"
    assert found.kind == "for_statement block"
    assert found.heads == ("list_rows()",)
    assert found.windows == (
        (":", "\n", "for", HOLE, "in", "list_rows", "("),
        ("\n", "use", "(", HOLE, ")", "\n", "with"),
    )
    assert found.locals == ("path", "handle", "x")
    assert {"read", "all", "list", "rows", "count"} <= set(found.words)
    assert (found.occurrences, found.lines) == (2, 6)


def test_what_is_opened_and_what_is_declared() -> None:
    assert around(CODE.format("row"), "handle").heads == ("open()",)
    found = around(JAVA.replace("{0}", "count"), "count", "java")
    assert found.heads == ("0", "int")
    assert found.kind == "variable_declarator local_variable_declaration"


def test_the_own_name_changes_nothing() -> None:
    assert around(CODE.format("row"), "row") == around(CODE.format("entry"), "entry")


def test_beyond_the_text_there_is_nothing_and_windows_are_not_without_end() -> None:
    assert around("x = 1\ndef f(a): return a", "a").windows[-1][-1] == FAR
    many = "def f(a):\n" + "    use(a)\n" * 30
    assert len(around(many, "a").windows) == MOST_WINDOWS
