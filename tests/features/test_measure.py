import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.features.measure import DEFAULT, FEATURES, FeatureTable, measure
from puzzlemark.languages.base import every_language, find
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, parse
from tests.features.java_examples import JAVA_EXAMPLES
from tests.features.naive import naive_measure
from tests.oracles.scope_programs import programs

DOCS = Path(__file__).parents[2] / "docs"
LANGUAGES = [each.name for each in every_language()]


def page_of(language: str) -> str:
    """Where a language's measures are defined, and its example is counted by hand."""
    if language in ("python", "java"):
        return (DOCS / "features.md").read_text()
    # what tsx has of TypeScript stands on that page, what it has of JSX on JavaScript's
    pages = {"typescript": ["typescript", "javascript"], "tsx": ["typescript", "javascript"]}
    names = pages.get(language, [language])
    return "\n## ".join((DOCS / "languages" / f"{name}.md").read_text() for name in names)


MATCH = """match a:
    case [b, *c] | {'k': d, **e}: pass
    case G(h, i=j) as k: pass
    case L.m: pass
    case L.o | None | 1: pass
    case n: pass
    case _: pass
"""


def tree(code: str, language: str = "python") -> Tree:
    return parse(Snippet("it", code, language))


def features(code: str, language: str = "python") -> dict[str, int]:
    return dict(zip(FEATURES, measure(tree(code, language)), strict=True))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_counted_by_hand_in_the_docs_is_measured_so(language: str) -> None:
    page = page_of(language)
    spelled = "typescript" if language == "tsx" else language
    code = re.search(rf"```{spelled}\n(.*?)^```\n\n\| feature", page, re.DOTALL | re.MULTILINE)
    assert code is not None
    table = page[code.end() :].split("\n## ")[0]
    by_hand = {
        name: int(value)
        for name, value in re.findall(r"^\| (\w+) \| (\d+) \|", table, re.MULTILINE)
    }
    assert tuple(by_hand) == FEATURES
    assert features(code[1], language) == by_hand


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_docs_name_every_type_that_is_counted(language: str) -> None:
    found, page = find(language), page_of(language)
    assert found is not None
    m = found.measures
    counted = m.decisions | m.nesting | m.expressions | found.tokens.layout
    assert {kind for kind in counted if f"`{kind}`" not in page} == set()


def test_the_seven_default_features_are_the_papers() -> None:
    assert DEFAULT == ("cc", "nloc", "tc", "vc", "dvc", "ec", "dec")
    assert set(DEFAULT) < set(FEATURES)


@pytest.mark.parametrize(
    ("code", "decisions"),
    [
        ("x = 1", 0),
        ("if a and b or c: pass\nelif d: pass\nelse: pass", 4),
        ("while a: pass\nelse: pass", 1),
        ("try: pass\nexcept A: pass\nexcept B: pass\nfinally: pass", 2),
        ("x = a if b else c", 1),
        ("x = [a for b in c for d in e if f if g]", 4),
        ("match a:\n  case 1 if b: pass\n  case _: pass", 3),
        ("assert a", 1),
        ("async def f():\n  async for a in b: pass\n  async with c: pass", 1),
        ("match = case = 1", 0),
        ("x = f'{a if b else c}'", 0),
        ("x = 'if and or'  # if", 0),
    ],
)
def test_cc_counts_decisions_in_python(code: str, decisions: int) -> None:
    assert features(code)["cc"] == 1 + decisions


@pytest.mark.parametrize(
    ("body", "decisions"),
    [
        ("x = 1;", 0),
        ("if (a && b || c) {} else if (d) {} else {}", 4),
        ("do { } while (a);", 1),
        ("for (;;) {} for (A a : b) {}", 2),
        ("switch (a) { case 1, 2: break; case 3: default: }", 2),
        ("x = switch (a) { case B b when c -> 1; default -> 2; };", 2),
        ("try { } catch (A | B e) { } catch (C e) { } finally { }", 2),
        ("List<? extends A> x = a ? b : c;", 1),
        ("assert a;", 1),
        ("x = a & b | c;", 0),
    ],
)
def test_cc_counts_decisions_in_java(body: str, decisions: int) -> None:
    assert features(f"void f() {{ {body} }}", "java")["cc"] == 1 + decisions


@pytest.mark.parametrize(
    ("body", "decisions"),
    [
        ("x := 1", 0),
        ("if a && b || c { } else if d { } else { }", 4),
        ("for { }\nfor a := range b { }\nfor i := 0; i < 9; i++ { }", 3),
        ("switch a { case 1, 2: f()\ncase 3: fallthrough\ndefault: }", 2),
        ("switch a.(type) { case B: }", 1),
        ("select { case <-a: case b <- 1: default: }", 2),
        ("x = a & b | c; defer f(); go g()", 0),
    ],
)
def test_cc_counts_decisions_in_go(body: str, decisions: int) -> None:
    assert features(f"func f() {{ {body} }}", "go")["cc"] == 1 + decisions


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
@pytest.mark.parametrize(
    ("body", "decisions"),
    [
        ("x = 1;", 0),
        ("if (a && b || c ?? d) {} else if (e) {} else {}", 5),
        ("do { } while (a);", 1),
        ("for (;;) {} for (a of b) {} for (a in b) {}", 3),
        ("switch (a) { case 1: case 2: break; default: }", 2),
        ("try { } catch { } finally { }", 1),
        ("x = a ? b : c; y = a?.b; a.catch(b).if(c);", 1),
        ("x = `${a ? b : c}`;", 0),
    ],
)
def test_cc_counts_decisions_in_javascript(body: str, decisions: int, language: str) -> None:
    assert features(f"function f() {{ {body} }}", language)["cc"] == 1 + decisions


@pytest.mark.parametrize(
    ("code", "language", "lines"),
    [
        ("x = 1\n\n  \t\n# all comment\n  # and this\ny = 2  # not this\n", "python", 2),
        ('def f():\n    """One.\n\n    Two.\n    """\n    pass\n', "python", 5),
        ("x = 1\r\n\r\n# no\r\ny = 2\r\n", "python", 2),
        ("x = '''\n# in a string\n'''", "python", 3),
        ("x = a + \\\n    b\n", "python", 2),
        ("void f() { /* one\n two\n three */ g(); }", "java", 2),
        ("void f() {\n/* one */ /* two */ // three\n/* four */ g(); }", "java", 2),
        ("/** doc\n * of f\n */\nvoid f() {\n}", "java", 2),
        ("// f does\nfunc f() {\n\tx := `a\n\n// b`\n}", "go", 4),
        ("/** doc */\nfunction f() { // why\n  `a\n  // b`\n}", "javascript", 4),
    ],
)
def test_nloc_leaves_out_blank_lines_and_lines_of_comment(
    code: str, language: str, lines: int
) -> None:
    assert features(code, language)["nloc"] == lines


@pytest.mark.parametrize(
    ("code", "tokens"),
    [
        ("x = 'a\\n' 'b'", 4),
        ("x = f'{a + b!r:>{c}}'", 3),
        ("a not in b is not c", 7),
        ("x = a + \\\n b  # c", 5),
        ("pass", 1),
    ],
)
def test_tc_counts_tokens(code: str, tokens: int) -> None:
    assert features(code)["tc"] == tokens


@pytest.mark.parametrize(
    ("code", "level"),
    [
        ("x = 1", 0),
        ("if a:\n  pass\nelif b:\n  pass\nelse:\n  pass", 1),
        ("if a:\n  pass\nelse:\n  if b:\n    pass", 2),
        ("for a in b:\n  with c:\n    try:\n      while d: pass\n    except E: pass", 4),
        # a closed structure holds nothing that comes after it, however deep that is
        ("if a: pass\ndef f():\n  def g():\n    if b: pass", 1),
    ],
)
def test_mlcn_is_the_deepest_nesting_of_control_structures(code: str, level: int) -> None:
    assert features(code)["mlcn"] == level


def test_mlcn_takes_else_if_for_a_branch() -> None:
    chain = "if (a) {} else if (b) {} else if (c) { for (;;) {} }"
    assert features(f"void f() {{ {chain} }}", "java")["mlcn"] == 2
    assert features("void f() { if (a) {} else { if (b) {} } }", "java")["mlcn"] == 2
    assert features("void f() { if (a) {} else for (;;) {} }", "java")["mlcn"] == 2
    assert features("void f() { if (a) {} else /* b */ if (b) {} }", "java")["mlcn"] == 1


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_mlcn_takes_else_if_for_a_branch_in_javascript(language: str) -> None:
    chain = "if (a) {} else if (b) {} else /* c */ if (c) { for (;;) {} }"
    assert features(f"function f() {{ {chain} }}", language)["mlcn"] == 2
    assert features("function f() { if (a) {} else { if (b) {} } }", language)["mlcn"] == 2
    assert features("function f() { if (a) {} else for (;;) {} }", language)["mlcn"] == 2


def test_mlcn_takes_else_if_for_a_branch_in_go() -> None:
    chain = "if a { } else if b { } else if c { for { } }"
    assert features(f"func f() {{ {chain} }}", "go")["mlcn"] == 2
    assert features("func f() { if a { } else { if b { } } }", "go")["mlcn"] == 2
    assert features("func f() { select { case <-a: switch b.(type) { } } }", "go")["mlcn"] == 2


def test_mdt_counts_the_nodes_on_the_longest_way() -> None:
    assert features("x")["mdt"] == 3  # module, statement, x
    assert features("x = -y")["mdt"] == 5  # module, statement, assignment, -, y
    assert features("x = f'{a(b(c))}'")["mdt"] == 4  # a string is a leaf


@pytest.mark.parametrize(
    ("code", "language", "names"),
    [
        ("a(b(), c.b(), d.e.f(), g[0](), h()(), (lambda: 0)())", "python", 4),  # a b f h
        ("@a(1)\ndef f(): super().f(); f'{g()}'", "python", 3),  # a super f
        (
            "void f() { a(); b.a(); this.<T>c(); new D(); new e.f.D<G>() {}; H::i; }",
            "java",
            3,  # a c D
        ),
        (
            "func f() { a(b(), c.b(), d.e.f(), g[0](), func() {}(), make(H)) }",
            "go",
            4,
        ),  # a b f make
        (
            "function f() { a(b(), c.b(), d?.e.f(), g[0](), h()(), new I(), new j.K, (k)()) }",
            "javascript",
            6,  # a b f h I K
        ),
        ("function f() { a<B>(c!.d(), new E<F>()) }", "typescript", 3),  # a d E
    ],
)
def test_ufcc_counts_different_called_names(code: str, language: str, names: int) -> None:
    assert features(code, language)["ufcc"] == names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(self, a, /, b=1, *c, d: int, e: int = 2, **g): pass", "self a b c d e g"),
        ("def f(*, a, **b: int) -> c: pass", "a b"),
        ("lambda a, *b, c=d: e", "a b c"),
        ("a = b = c", "a b"),
        ("a, (b, [c, *d]) = e", "a b c d"),
        ("a.b = c[d] = e", ""),
        ("a: int\nb: int = 1\na += 1", "a b"),
        ("for a in b: pass\nfor a, (c, d) in e: pass", "a a c d"),
        ("[a for a, b in c for d in e]", "a b d"),
        ("with a as b, c as (d, [e, *g]), f() as h.i: pass", "b d e g"),
        ("try: pass\nexcept (A, B) as e: pass", "e"),
        ("if (a := b): pass", "a"),
        ("import a\nfrom b import c as d\ndef e(): pass\nclass F: pass", ""),
        (
            MATCH,
            "b c d e h j k n",
        ),
    ],
)
def test_vc_counts_declarations_in_python(code: str, names: str) -> None:
    measured = features(code)
    assert (measured["vc"], measured["dvc"]) == (len(names.split()), len(set(names.split())))


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("int a, b = 1, c[] = {}; d = 2;", "a b c"),
        ("for (int i = 0, j; ; ) {} for (int i : k) {}", "i j i"),
        ("try (A a = b(); c) {} catch (D | E e) {}", "a e"),
        ("a -> b; (c, d) -> e; (int g, final H h) -> i;", "a c d g h"),
        ("if (a instanceof B b && c instanceof D) {}", "b"),
        ("switch (a) { case B b -> {} case C(int d, E(var g)) -> {} default -> {} }", "b d g"),
        ("new A() { int b; void c(int d, E... e) {} };", "b d e"),
    ],
)
def test_vc_counts_declarations_in_java(body: str, names: str) -> None:
    measured = features(f"void f() {{ {body} }}", "java")
    assert (measured["vc"], measured["dvc"]) == (len(names.split()), len(set(names.split())))


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("func f(a, b int, c ...int) (d int, e error) { }", "a b c d e"),
        ("func (a *T) f(int, string) { }", "a"),
        ("func f() { a, b := 1, 2; a, c := 3, 4; a = 5; d.e, a = 6, 7 }", "a b a c"),
        ("func f() { var a, b int; var (\nc = 1\nd int\n); const e = 2 }", "a b c d e"),
        ("func f() { for a, b := range c { }; for a = range c { }; for range c { } }", "a b a"),
        ("func f() { for a := 0; a < 9; a++ { } }", "a"),
        ("func f() { if a, b := c(); a > b { }; switch d := e.(type) { case F: } }", "a b d"),
        ("func f() { select { case a := <-b: case c, d = <-e: case <-g: } }", "a c d"),
        ("func f() { g(func(a int) (b int) { return a }); var h func(c int) }", "a b h c"),
        ("func f() { _ = a; _, b := c(); type d struct{ e int } }", "_ b"),
    ],
)
def test_vc_counts_declarations_in_go(code: str, names: str) -> None:
    measured = features(code, "go")
    assert (measured["vc"], measured["dvc"]) == (len(names.split()), len(set(names.split())))


@pytest.mark.parametrize(
    ("code", "language", "names"),
    [
        (
            "function f(a, b = 1, { c, d: e, g = 2, ...h }, [i, , j = 3], ...k) {}",
            "javascript",
            "a b c e g h i j k",
        ),
        (
            "function f() { var a, b = 1; let c; const [d] = e, { g } = h; a = 2; }",
            "javascript",
            "a b c d g",
        ),
        (
            "function f() { for (const a of b) {} for (let c in d) {} for (e of g) {} }",
            "javascript",
            "a c e",
        ),
        ("function f() { for (let a = 0, b = 1; ; ) {} }", "javascript", "a b"),
        (
            "function f() { try {} catch (a) {} try {} catch ({ b }) {} try {} catch {} }",
            "javascript",
            "a b",
        ),
        ("function f() { a => b; (c, d) => e; (function (g) {}); }", "javascript", "a c d g"),
        ("function f() { [a, b[0], c.d] = e; ({ g: h } = i); }", "javascript", "a h"),
        ("function f() { function g() {} class h { i(j) {} } }", "javascript", "j"),
        ("function f(this: A, a: B, c?: D, ...e: G[]): h is I {}", "typescript", "a c e"),
        ("class A { constructor(private a: number, readonly b = 1) {} }", "typescript", "a b"),
        ("function f(a: (b: number) => void) { let c: { d: number }; }", "typescript", "a b c"),
    ],
)
def test_vc_counts_declarations_in_javascript(code: str, language: str, names: str) -> None:
    measured = features(code, language)
    assert (measured["vc"], measured["dvc"]) == (len(names.split()), len(set(names.split())))


@pytest.mark.parametrize(
    ("code", "expressions", "patterns"),
    [
        ("a", 0, 0),
        ("a + 1; b + 2", 2, 1),
        ("a + 1; a - 1; a + 1.5", 3, 3),
        ("f('a'); f('b\\n'); f('''c''')", 3, 1),
        ("(a + b); a + b", 2, 1),
        ("a + b + c", 2, 2),
        ("f(a, # why\n  b); f(a, \\\n b); f(a, b)", 3, 1),
        ("a.b(); c.d()", 4, 2),
    ],
)
def test_ec_counts_expressions_and_dec_their_patterns(
    code: str, expressions: int, patterns: int
) -> None:
    measured = features(code)
    assert (measured["ec"], measured["dec"]) == (expressions, patterns)


def test_a_constructor_parsed_in_a_wrapper_is_measured_without_it() -> None:
    code = "Foo(int a) {\n  // set\n  this.a = a; b(c);\n}"
    constructor = tree(code, "java")
    assert constructor.offset > 0
    as_a_method = features("void " + code, "java")
    assert features(code, "java") == as_a_method | {"tc": as_a_method["tc"] - 1}
    assert naive_measure(constructor) == measure(constructor)


def test_several_constructors_in_a_wrapper_are_measured_together() -> None:
    one, two = "Foo() { a(); }", "Foo(int b) { c(b); }"
    first, second, both = (features(code, "java") for code in (one, two, f"{one}\n{two}"))
    assert {name: both[name] for name in ("tc", "nloc", "vc", "ec", "ufcc")} == {
        name: first[name] + second[name] for name in ("tc", "nloc", "vc", "ec", "ufcc")
    }


def test_a_snippet_of_comments_has_no_code() -> None:
    nothing = {"cc": 1, "mdt": 2}
    assert features("# only\n# comment") == dict.fromkeys(FEATURES, 0) | nothing


def test_a_sum_of_many_terms_is_measured() -> None:
    measured = features("x = " + " + ".join("a" * 900))
    assert (measured["tc"], measured["ec"], measured["dec"]) == (1801, 900, 900)


@pytest.mark.parametrize("code", JAVA_EXAMPLES)
def test_fast_and_slow_agree_on_java(code: str) -> None:
    parsed = tree(code, "java")
    assert measure(parsed) == naive_measure(parsed)


@pytest.mark.parametrize("language", ["go", "javascript", "typescript", "tsx"])
def test_fast_and_slow_agree_on_generated_programs(language: str) -> None:
    for code in programs("typescript" if language == "tsx" else language, 40):
        parsed = tree(code, language)
        assert measure(parsed) == naive_measure(parsed), code


@pytest.mark.parametrize("language", ["go", "javascript"])
def test_fast_and_slow_agree_on_real_functions(real_data: Path, language: str) -> None:
    corpus = open_corpus(real_data / f"csn_{language}.jsonl.gz", language=language)
    for entry in corpus.entries():
        if entry.row % 16 == 0 and entry.code is not None:
            with suppress(UnparsableSnippet):
                parsed = tree(entry.code, language)
                assert measure(parsed) == naive_measure(parsed), entry.code


STATEMENTS = [
    "a = b(c, d.e[0])",
    "for a, b in c: d += a",
    "x = [y for y in z if y]",
    "def f(g, h=1): return g and h",
    "with a as b: pass",
    "try: pass\nexcept E as e: raise",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6), st.data())
def test_comments_and_blank_lines_change_nothing(
    statements: list[str], data: st.DataObject
) -> None:
    plain = "\n".join(statements) + "\n"
    filler = st.sampled_from(["", "\n", "# note\n", "\n   \n# if a: b()\n"])
    filled = "".join(data.draw(filler) + statement + "  # x = 1\n" for statement in statements)
    assert features(filled) == features(plain)


@settings(deadline=None)
@given(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=6))
def test_statements_add_up(statements: list[str]) -> None:
    together = features("\n".join(statements))
    alone = [features(statement) for statement in statements]
    for name in ("nloc", "tc", "vc", "ec"):
        assert together[name] == sum(one[name] for one in alone)
    for name in ("mlcn", "mdt"):
        assert together[name] == max(one[name] for one in alone)
    assert together["cc"] - 1 == sum(one["cc"] - 1 for one in alone)


Row = tuple[int, ...] | None
ROWS = st.lists(st.none() | st.tuples(*[st.integers(0, 2**31 - 1)] * len(FEATURES)), max_size=12)


def test_select_gives_the_named_columns_of_measured_rows() -> None:
    table = FeatureTable.from_rows([range(10), None, range(10, 20)])
    assert table.measured.tolist() == [True, False, True]
    assert table.select(["dec", "cc"]).tolist() == [[9.0, 0.0], [19.0, 10.0]]


def test_select_copies() -> None:
    table = FeatureTable.from_rows([range(10)])
    table.select(["cc"])[:] = 7
    assert table.values[0, 0] == 0


@given(ROWS)
def test_rows_are_kept_as_they_were_measured(rows: list[Row]) -> None:
    table = FeatureTable.from_rows(rows)
    assert len(table) == len(rows)
    assert table.values.dtype == np.int32
    measured = [tuple(row) for row in table.values[table.measured].tolist()]
    assert measured == [row for row in rows if row is not None]


def test_an_empty_table_has_no_rows() -> None:
    assert len(FeatureTable.from_rows([])) == 0
    assert FeatureTable.from_rows([]).select(["cc", "tc"]).shape == (0, 2)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["cc", "loc"], "no feature 'loc'; known: cc, nloc"),
        (["cc", "tc", "cc"], "'cc' is named twice"),
        ([], "no feature chosen; known: cc"),
    ],
)
def test_a_wrong_choice_of_features_is_refused(names: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        FeatureTable.from_rows([range(10)]).select(names)
