"""What PHP's resolver takes for a variable, and what it refuses."""

import pytest

from puzzlemark.errors import UnparsableSnippet
from puzzlemark.languages.php import INCLUDES, PLUGIN, SCOPE_READERS, SET_BY_PHP, SUPERGLOBALS
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.resolvers import php
from puzzlemark.syntax.resolvers._scopes import NOT_PLAIN
from puzzlemark.syntax.tree import load_grammar, parse
from puzzlemark.syntax.variables import Function, Variable, functions

PROMOTED = php.FIXED["property_promotion_parameter"]


def resolve(body: str, parameters: str = "") -> Function:
    code = f"function f({parameters}) {{ {body} }}"
    return next(functions(parse(Snippet("x", code, "php"))))


def variable(body: str, name: str = "x", parameters: str = "") -> Variable:
    found = {each.name: each for each in resolve(body, parameters).variables}
    return found[name]


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ("$x = 1; return $x + $x;", 3),
        ("$x = 1; return $a->x . X::$x . x() . X::x . $this->x;", 1),
        ("$x = 1; return A::$x() . A::$x[0]() . $x::y();", 3),
        ("$x = 1; return \"$x {$x} $x[0] $x[x] $x->x {$x['k']}\" . 'x y';", 7),
        ("$x = <<<A\n$x x {$x}\nA;", 3),
        ("$x = 1; return `ls $x`;", 2),
        ("$x = 1; return fn($y) => $x + fn() => $x;", 3),
        ("$x = 1; return function () use ($x) { return $x; };", 3),
        ("$x = 1; return function () { $x = 2; };", 2),
        ("$x = 1; function g($x) { return $x; }", 1),
        ("$x = 1; return new class($x) { public $x; function h($x) { return $x; } };", 2),
        ("foreach ($a as $x => [$y, $x]) {} unset($x);", 3),
        ("try {} catch (A $x) { throw $x; }", 2),
        ("preg_match('/a/', $s, $x); return $x;", 2),
        ("$x = 1; return f(x: $x);", 2),
        ("goto x; x: $x = 1;", 1),
        ("$x = 1; $X = 2;", 1),
    ],
)
def test_a_variable_has_all_its_places_and_no_others(body: str, places: int) -> None:
    found = variable(body)
    assert found.frequency == places
    assert found.fixed is None


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("$x = 1; g('x');", "equal to a string"),
        ('$x = 1; g("x");', "equal to a string"),
        ("$x = 1; g(<<<A\nx\nA);", "equal to a string"),
        ("$x = 1; g(<<<'A'\nx\nA);", "equal to a string"),
        ("$x = 1; g('$x + 1');", "a string names it with its sign"),
        ("$x = 1; g(<<<'A'\n$x\nA);", "a string names it with its sign"),
        ("global $x; g($x);", "declared global"),
        ("static $x = 1; g($x);", "declared static"),
        ("return $x;", "read and never assigned"),
        ("$x = 1; assert($x > 0);", "an assertion shows its name"),
        ("$x = 1; \\Assert(fn() => $x);", "an assertion shows its name"),
        ("/** @var A $x */ $x = g();", "a @var comment names it"),
        ("/** @psalm-var A $x */ $x = g();", "a @var comment names it"),
        ("$x = 1; g('/a/e');", None),
        ("/* of $x */ $x = g();", None),
    ],
)
def test_a_reason_keeps_a_name(body: str, reason: str | None) -> None:
    assert variable(body).fixed == reason


@pytest.mark.parametrize("name", ["größe", "_", *sorted(SET_BY_PHP)])
def test_some_names_are_kept_as_they_are(name: str) -> None:
    assert variable(f"${name} = 1;", name).fixed in (NOT_PLAIN, php.BY_PHP)


@pytest.mark.parametrize("name", ["this", *sorted(SUPERGLOBALS)])
def test_what_is_everywhere_is_no_variable(name: str) -> None:
    assert resolve(f"${name} = 1; return ${name};").variables == ()


@pytest.mark.parametrize(
    "body",
    [
        *(f"{name}('y');" for name in sorted(SCOPE_READERS - {"reflectionfunction"})),
        "\\Compact('y');",
        "new \\ReflectionFunction($f);",
        "fn() => compact('y');",
        *(f"{node.removesuffix('_expression')} 'a.php';" for node in sorted(INCLUDES)),
        "$$y = 2;",
        "${'y'} = 2;",
        '"${y}";',
        "preg_replace('/a/e', 'f($x)', $s);",
        "preg_replace('{a}ie', 'f($x)', $s);",
        '"$x\u00a0";',
    ],
)
def test_nothing_is_renamed_where_names_are_looked_for(body: str) -> None:
    assert resolve("$x = 1;").dynamic is None
    assert resolve(f"$x = 1; {body}").dynamic is not None


@pytest.mark.parametrize(
    "body",
    ["$a->compact('y');", "A::extract($y);", "preg_replace('/a/i', 'e', $s);", "new Reflection();"],
)
def test_something_of_the_same_name_does_no_harm(body: str) -> None:
    assert resolve(f"$x = 1; {body}").dynamic is None


def test_a_node_type_that_is_not_known_refuses_the_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(php, "KNOWN", php.KNOWN - {"echo_statement"})
    assert resolve("$x = 1; echo $x;").dynamic == "construct that is not known: echo_statement"


def test_every_node_type_that_is_named_is_one_of_the_grammar() -> None:
    grammar = load_grammar(PLUGIN.grammar)
    kinds = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)}
    named = php.KNOWN | php.OTHERS | php.TARGETS | php.GIVEN | {*php.DYNAMIC, *php.FIXED}
    assert {*named, *php._READERS} <= kinds


def test_a_nested_function_in_an_assertion_keeps_its_names() -> None:
    code = "function f() { assert(new class { function g() { $x = 1; return $x; } }); }"
    outer, inner = functions(parse(Snippet("x", code, "php")))
    assert (outer.dynamic, inner.dynamic) == (None, php.IN_ASSERT)


@pytest.mark.parametrize(
    ("code", "fixed", "documented"),
    [
        ("function f($x) { return $x; }", None, False),
        ("function f($x) { return f(x: $x); }", php.BY_NAME, False),
        ("function f($x) { return f(/* y */ x: 1); }", php.BY_NAME, False),
        ("function f($x) { return f(X::y); }", None, False),
        ("/** @param int $x */ function f($x) { return $x; }", None, True),
        ("function f($x) { /* of x */ return $x; }", None, True),
        ("class A { function __construct(private $x) {} }", PROMOTED, False),
    ],
)
def test_parameters_have_reasons_of_their_own(
    code: str, fixed: str | None, documented: bool
) -> None:
    (function,) = functions(parse(Snippet("x", code, "php")))
    (x,) = function.variables
    assert x.is_parameter
    assert (x.fixed, x.documented is not None) == (fixed, documented)


def test_a_method_alone_is_read_in_a_class() -> None:
    tree = parse(Snippet("x", "public static function f(?A &$x): int { return $x; }", "php"))
    assert tree.offset > 0
    (function,) = functions(tree)
    (x,) = function.variables
    assert [tree.code[at - 1 : at + 1] for at in x.starts] == [b"$x", b"$x"]


def test_parameters_of_closures_are_parameters() -> None:
    assert variable("return fn($x) => $x;").is_parameter
    assert variable("return function (A ...$x) { return $x; };").is_parameter


@pytest.mark.parametrize("text", ["?> a <?php ", "// a ?>\n", "# ?> <?php\n", "/* ?> */ ?>"])
def test_text_outside_of_php_is_not_read(text: str) -> None:
    with pytest.raises(UnparsableSnippet):
        resolve(f"$x = 1; {text} return $x;")
