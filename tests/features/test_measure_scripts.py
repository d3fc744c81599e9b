"""The features of PHP and Ruby, counted by hand; docs/languages has a whole example of each."""

import pytest

from puzzlemark.features.measure import FEATURES, measure
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from tests.features.naive import naive_measure
from tests.oracles.script_programs import script_programs
from tests.oracles.test_compiled import read

BY_NAME = {"ufcc", "vc", "dvc"}  # which the slow twin does not know in these languages


def features(code: str, language: str) -> dict[str, int]:
    return dict(zip(FEATURES, measure(parse(Snippet("x", code, language))), strict=True))


@pytest.mark.parametrize(
    ("body", "decisions"),
    [
        ("$x = 1;", 0),
        ("if ($a && $b || $c) {} elseif ($d) {} else if ($e) {} else {}", 5),
        ("if ($a): elseif ($b): endif;", 2),
        ("while ($a) {} do {} while ($b); for (;;) {} foreach ($a as $b) {}", 4),
        ("switch ($a) { case 1: case 2: break; default: }", 2),
        ("try {} catch (A|B $e) {} catch (C) {} finally {}", 2),
        ("$x = $a ? $b : ($c ?: $d); $y = $e ?? 1; $z ??= 2; $a?->b;", 4),
        ("$x = match ($a) { 1, 2 => 3, default => 4 };", 1),
        ("$x = $a and $b or $c xor $d;", 3),
        ('$x = "{$a?->b}"; /* if */', 0),
    ],
)
def test_cc_counts_decisions_in_php(body: str, decisions: int) -> None:
    assert features(f"function f() {{ {body} }}", "php")["cc"] == 1 + decisions


@pytest.mark.parametrize(
    ("body", "decisions"),
    [
        ("x = 1", 0),
        ("if a && b || c\nelsif d\nelse\nend", 4),
        ("a if b\na unless c\nunless d\nend", 3),
        ("while a\nend\nuntil b\nend\nbegin\nend while c\nfor d in e do end", 4),
        ("case a\nwhen 1, 2 then b\nwhen 3\nelse\nend", 2),
        ("case a\nin 1 then b\nin c if d\nend", 3),
        ("begin\nrescue A, B\nrescue C => e\nensure\nend\nx = a rescue b", 3),
        ("a ? b : c\na ||= 1\na &&= 2\na and b or not c", 5),
        ("a.each { |b| b }\nloop do\nend", 0),
        ('x = "#{a if b}" # if', 0),
    ],
)
def test_cc_counts_decisions_in_ruby(body: str, decisions: int) -> None:
    assert features(f"def f\n{body}\nend", "ruby")["cc"] == 1 + decisions


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("function f(A $a, &$b = 1, ...$c) { }", "a b c"),
        ("function f() { $a = $b = 1; $a = 2; $c += 3; $d->e = $g[0] = 4; }", "a b a"),
        ("function f() { [$a, [$b]] = list($c, 'k' => $d) = $e; }", "a b c d"),
        ("function f() { foreach ($a as $b) {} foreach ($c as $d => &$e) {} }", "b d e"),
        ("function f() { foreach ($a as [$b, $c]) {} }", "b c"),
        ("function f() { try {} catch (A $a) {} static $b = 1; global $c, $d; }", "a b c d"),
        ("function f() { $a = &$b; for ($i = 0, $j = 1; ; $i++) {} }", "a i j"),
        ("function f() { return fn($a) => function ($b) use ($c) {}; }", "a b"),
        ("class A { public $a = 1; function __construct(private $b) {} }", "a b"),
    ],
)
def test_vc_counts_declarations_in_php(code: str, names: str) -> None:
    measured = features(code, "php")
    assert (measured["vc"], measured["dvc"]) == (len(names.split()), len(set(names.split())))


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(a, b = 1, *c, d:, e: 2, **g, &h)\nend", "a b c d e g h"),
        ("def f\na = b = 1\na = 2\nc += 3\n@d = self.e = g[0] = 4\nend", "a b a"),
        ("def f\na, (b, *c), d.e = g\nend", "a b c"),
        ("def f\nfor a, b in c do end\nfor d in e do end\nend", "a b d"),
        ("def f\na { |b, (c, d), e = 1; g| }\n->(h) { }\nend", "b c d e g h"),
        ("def f\ng\nrescue A => a\nend", "a"),
        ("def f(x)\ncase x\nin [a, *b] then 1\nin {c: d} then 2\nin e\nend\nend", "x a b d e"),
    ],
)
def test_vc_counts_declarations_in_ruby(code: str, names: str) -> None:
    measured = features(code, "ruby")
    assert (measured["vc"], measured["dvc"]) == (len(names.split()), len(set(names.split())))


@pytest.mark.parametrize(
    ("code", "language", "names"),
    [
        ("function f() { a(); \\b\\c(); $d->e(); $d?->e(); A::g(); new H(1); $i(); }", "php", 5),
        ("function f() { new \\A\\B; new static; $a[0](); new class {}; }", "php", 2),
        ("def f\na(1)\nb.c\nd&.c(1)\nA::e(2)\nG.new\nh { }\ni\nend", "ruby", 5),
    ],
)
def test_ufcc_counts_different_called_names(code: str, language: str, names: int) -> None:
    assert features(code, language)["ufcc"] == names


@pytest.mark.parametrize(
    ("code", "language", "level"),
    [
        ("function f() { if (1) {} else if (2) {} elseif (3) {} else {} }", "php", 1),
        (
            "function f() { foreach ($a as $b) { try { match (1) { 1 => 2 }; } finally {} } }",
            "php",
            3,
        ),
        ("def f\nif a\nelsif b\nelse\nend\nend", "ruby", 1),
        ("def f\nwhile a\nif b\ncase c\nwhen d then e\nend\nend\nend\na if b\nend", "ruby", 3),
    ],
)
def test_mlcn_is_the_deepest_nesting(code: str, language: str, level: int) -> None:
    assert features(code, language)["mlcn"] == level


@pytest.mark.parametrize("language", ["php", "ruby"])
def test_fast_and_slow_agree_on_generated_programs(language: str) -> None:
    seen = 0
    for code in script_programs(language, 30):
        if (tree := read(code, language)) is None:
            continue
        pairs = zip(FEATURES, measure(tree), naive_measure(tree), strict=True)
        assert all(one == other for name, one, other in pairs if name not in BY_NAME), code
        seen += 1
    assert seen > 20
