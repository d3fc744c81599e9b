"""What Ruby's resolver takes for a variable, and what it refuses."""

import pytest

from puzzlemark.languages.ruby import (
    CALL_THEIR_BLOCK,
    CONSTANT_READERS,
    PLUGIN,
    SCOPE_READERS,
    TEXT_READERS,
)
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.resolvers import ruby
from puzzlemark.syntax.resolvers._scopes import NOT_PLAIN
from puzzlemark.syntax.tree import load_grammar, parse
from puzzlemark.syntax.variables import Function, Variable, functions


def resolve(body: str, parameters: str = "") -> Function:
    code = f"def f({parameters})\n{body}\nend"
    return next(functions(parse(Snippet("x", code, "ruby"))))


def variable(body: str, name: str = "x", parameters: str = "") -> Variable:
    found = {each.name: each for each in resolve(body, parameters).variables}
    return found[name]


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ("x = 1\nx + x", 3),
        ("x = x", 2),
        ("x = 1 if false\nx", 2),
        ("x, (y, *z), a[0] = 1\nx", 2),
        ("y, *x = 1\nx", 2),
        ("x += 1\nx ||= 2", 2),
        ("for x in a do end\nx", 2),
        ("begin\nrescue A => x\nx\nend", 2),
        ("x = 1\ny.each { |z| x }\n-> { x }", 3),
        ("y.each { |x| x }\ny.each { |x| x }", 4),
        ("y.each { |a, (b, x)| x }", 2),
        ("x = 1\ny.each { |z; x| x = 2 }\nx", 4),
        ("x = 1\n\"#{x} x\" + 'z x'", 2),
        ("x = 1\na.x + self.x + @x + $x + a::x + A::X", 1),
        ("x = 1\n{x: 1, :x => x, y: :x}", 2),
        ("x = 1\na(*x, **x, &x)", 4),
        ("x = 1\ndef g(x)\nx\nend", 1),
        ("x = 1\nclass << x\nx\nend", 2),
        ("x = 1\ndef x.g\nx\nend", 2),
        ("case a\nin [x, *] then x\nend", 2),
        ("case a\nin {k: Integer => x} if x then 1\nend", 2),
        ("case a\nin [*, x, *] then x\nin (y) then y\nend", 2),
        ("case a\nin {k: 1, **x} then x\nin ^x then 1\nend", 3),
        ("a => x\nx", 2),
        ("x = 1\na(<<~T)\n  #{x} x\nT\nx", 3),
        ("x = 1\n/a#{x}/ =~ b", 2),
        ("x = 1\ndefined?(x)", 2),
        ("->(x, y = x) { x }", 3),
        ("while x = gets\nx\nend", 2),
    ],
)
def test_a_variable_has_all_its_places_and_no_others(body: str, places: int) -> None:
    found = variable(body)
    assert found.frequency == places
    assert found.fixed is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("x = 1\ng('x')", "equal to a string"),
        ("x = 1\n%w[a x]", "equal to a string"),
        ("x = 1\ng(<<~T)\n  x\nT", "equal to a string"),
        ("x = 1\ng(:x)", None),
        ("x = 1\nx(2)", "also the name of a method that is called"),
        ("x = 1\nx { 2 }", "also the name of a method that is called"),
        ("x\nx = 1", "also the name of a method that is called"),
        ("g(x) if x = 1", "also the name of a method that is called"),
        ("g { x = 1 }\nx", "also the name of a method that is called"),
        ("g(<<~T, x = 1)\n  #{x}\nT", "also the name of a method that is called"),
        ("x = 1\nalias x y", "also the name of a method that is called"),
        ("x = 1\nundef x", "also the name of a method that is called"),
        ("x = 1\ng(x:)", "label and variable at once"),
        ("x = 1\n{x:}", "label and variable at once"),
        ("x = 1\ncase a\nin {x:} then x\nend", "label and variable at once"),
        ("x = 1\n/(?<x>.)/ =~ a", "named capture of a regular expression"),
        ("g { |x:| x }", "keyword parameter"),
    ],
)
def test_a_reason_keeps_a_name(body: str, reason: str | None) -> None:
    assert variable(body).fixed == reason


@pytest.mark.parametrize("name", ["größe", "_"])
def test_names_that_are_not_plain_are_kept(name: str) -> None:
    assert variable(f"{name} = 1", name).fixed == NOT_PLAIN


@pytest.mark.parametrize(
    "body",
    [
        *(f"{name}(1)" for name in sorted(SCOPE_READERS)),
        *(f"a.{name}(:y)" for name in sorted(SCOPE_READERS)),
        *(f"{name} 'y'" for name in sorted(TEXT_READERS)),
        *(f"a.{name} <<~T, __FILE__\n  y\nT" for name in sorted(TEXT_READERS)),
        *(f"{name}.new" for name in sorted(CONSTANT_READERS)),
        "binding",
        "g { binding }",
        "x -1",
        "x [1]",
        "x /y/z",
        "/(?<y>.)/ =~ x\ny -1",
        "begin\nf <<T\n#{f(<<U)}\n#{x}\nU\nT\nf(<<T, <<'U', b)\n#{b}\nT\n#{a}\nU\nend",
    ],
)
def test_nothing_is_renamed_where_names_are_looked_for(body: str) -> None:
    assert resolve("x = 1").dynamic is None
    assert resolve(f"x = 1\n{body}").dynamic is not None


@pytest.mark.parametrize(
    "body",
    [
        "a.instance_eval { y }",
        "a.class_eval(&y)",
        "binding = 2\nbinding",
        "y -1",
        "a.x -1",
        "x - 1",
    ],
)
def test_something_of_the_same_name_does_no_harm(body: str) -> None:
    assert resolve(f"x = 1\n{body}").dynamic is None


def test_a_node_type_that_is_not_known_refuses_the_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ruby, "KNOWN", ruby.KNOWN - {"return"})
    assert resolve("x = 1\nreturn x").dynamic == "construct that is not known: return"


def test_every_node_type_that_is_named_is_one_of_the_grammar() -> None:
    grammar = load_grammar(PLUGIN.grammar)
    kinds = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)}
    assert {*ruby.KNOWN, *ruby.OTHERS, *ruby.BLOCKS, *ruby.PATTERNS, *ruby._READERS} <= kinds


@pytest.mark.parametrize(
    ("body", "is_parameter", "doubtful"),
    [
        ("a.each { |x| x }", False, None),
        ("a.unknown { |x| x }", False, ruby.UNKNOWN_BLOCK),
        ("unknown do |x| x end", False, ruby.UNKNOWN_BLOCK),
        ("lambda { |x| x }", True, None),
        ("proc do |x| x end", True, None),
        ("->(x) { x }", True, None),
        ("a.unknown { x = 1 }", False, None),
    ],
)
def test_parameters_of_blocks(body: str, is_parameter: bool, doubtful: str | None) -> None:
    found = variable(body)
    # whoever makes a function of the block may ask for the names
    assert found.is_parameter == is_parameter
    if not is_parameter:
        assert found.doubtful == doubtful
    assert found.fixed is None


def test_every_known_method_frees_the_parameters_of_its_block() -> None:
    for method in CALL_THEIR_BLOCK:
        assert variable(f"a.{method} {{ |x| x }}").refusal("safe") is None


@pytest.mark.parametrize(
    ("code", "fixed", "documented"),
    [
        ("def f(x)\nx\nend", None, False),
        ("def f(*x)\nx\nend", None, False),
        ("def f(x:)\nx\nend", ruby.BY_KEYWORD, False),
        ("def f(x: 1)\nx\nend", ruby.BY_KEYWORD, False),
        ("# @param x [A]\ndef f(x = 1)\nx\nend", None, True),
        ("def f(x)\n# of x\nx\nend", None, True),
        ("# of x\nprivate def f(x)\nx\nend", None, True),
        ("def self.f(&x)\nx\nend", None, False),
        ("def f(x) = x", None, False),
    ],
)
def test_parameters_have_reasons_of_their_own(
    code: str, fixed: str | None, documented: bool
) -> None:
    (function,) = functions(parse(Snippet("x", code, "ruby")))
    (x,) = function.variables
    assert x.is_parameter
    assert (x.fixed, x.documented is not None) == (fixed, documented)
