from dataclasses import dataclass
from pathlib import Path

import pytest

from puzzlemark.syntax.variables import Function, Variable, functions
from tests.oracles.java import (
    keep_classes,
    needs_javac,
    parse_java,
    rename,
    rename_all,
)
from tests.oracles.java_fuzz import generate_program


def resolve_first(code: str) -> Function:
    return next(functions(parse_java(code)))


def variable_of(code: str, name: str) -> Variable:
    found = [v for f in functions(parse_java(code)) for v in f.variables if v.name == name]
    assert found, f"{name} is no variable of {code}"
    return found[0]


def names_of(code: str) -> list[str]:
    return [variable.name for variable in resolve_first(code).variables]


@dataclass(frozen=True)
class Hazard:
    title: str
    code: str  # a compilable program; the variable is `x` of the first function that has one
    occurrences: int
    reason: str | None = None  # None: renamed, and the class files stay the same


RENAMED = [
    Hazard(
        "a field used before the local of its name is declared",
        "class T { int x = 7; int f() { int y = x; int x = y; return x + this.x; } }",
        2,
    ),
    Hazard(
        "a field used after the block of the local of its name",
        "class T { int x = 7; int f() { { int x = 1; x++; } x += 2; return x; } }",
        2,
    ),
    Hazard(
        "one name in two disjoint blocks",
        "class T { int f() { { int x = 1; x++; } for (int x = 0; x < 3; x++) { } return 0; } }",
        5,
    ),
    Hazard(
        "the name of a method",
        "class T { int x() { return 1; } int f() { int x = x(); return x + this.x(); } }",
        2,
    ),
    Hazard(
        "the name of a field after a dot",
        "class T { int x; int f(T t) { int x = t.x; this.x = x; return t.t().x; } T t() {"
        " return this; } }",
        2,
    ),
    Hazard(
        "a label",
        "class T { void f() { int x = 0; x: while (x < 9) { x++; if (x > 5) break x;"
        " else continue x; } } }",
        4,
    ),
    Hazard(
        "the receiver of a method reference, not the method's name",
        "class T { Runnable f() { T x = this; return x::x; } void x() { } }",
        2,
    ),
    Hazard(
        "the head of a chain of fields",
        "class T { T x; int n; int f() { T x = this; return x.x.x.n; } }",
        2,
    ),
    Hazard(
        "a lambda that reads the local",
        "class T { Runnable f() { int x = 1; return () -> System.out.println(x); } }",
        2,
    ),
    Hazard(
        "a lambda parameter of the same name in a disjoint scope",
        "import java.util.function.*; class T { int f() { { int x = 1; x++; }"
        " IntUnaryOperator g = x -> x + 1; IntBinaryOperator h = (x, y) -> x * y;"
        " IntUnaryOperator k = (int x) -> { return x; }; return g.applyAsInt(2); } }",
        2,
    ),
    Hazard(
        "a local inside the body of a lambda",
        "class T { int x = 4; Runnable f() { return () -> { int x = 1; x++; }; }"
        " int g() { return x; } }",
        2,
    ),
    Hazard(
        "a for-each over a field of its own name",
        "class T { int[] x = {1}; int f() { int n = 0; for (int x : x) n += x;"
        " return n + x.length; } }",
        2,
    ),
    Hazard(
        "a resource, out of scope in catch and finally",
        "class T implements AutoCloseable { static int x = 1; public void close() { }"
        " int f() { try (T x = new T(); T y = x.me()) { return x.hashCode(); }"
        " catch (RuntimeException e) { return x; } finally { x = 3; } } T me() { return this; } }",
        3,
    ),
    Hazard(
        "a resource that exists already",
        "class T implements AutoCloseable { public void close() { }"
        " void f() { T x = new T(); try (x) { x.close(); } } }",
        3,
    ),
    Hazard(
        "a catch parameter",
        "class T { int f() { try { return 1; } catch (IllegalStateException | ClassCastException x)"
        " { throw x; } } }",
        2,
    ),
    Hazard(
        "a classic for with two variables",
        "class T { int f() { int n = 0; for (int i = 0, x = i; x < 3; i++, x += i) n += x;"
        " return n; } }",
        4,
    ),
    Hazard(
        "a switch whose groups share one scope",
        "class T { int x; int f(int k) { switch (k) { case 1: int x = 1; break;"
        " default: x = 2; return x; } return x; } }",
        3,
    ),
    Hazard(
        "a switch expression with arrows and yield",
        "class T { int f(int k) { return switch (k) { case 1 -> { int x = 4; yield x; }"
        " default -> { int x = k; yield x * x; } }; } }",
        5,
    ),
    Hazard(
        "an initializer that assigns the variable it declares",
        "class T { int x = 2; int f() { int x = (x = 3) + 1; return x; } }",
        3,
    ),
    Hazard(
        "arrays in both spellings",
        "class T { int f() { int x[] = {1, 2}, y = x[0]; x[y] = new int[x.length][0].length;"
        " return x[x[0]]; } }",
        6,
    ),
    Hazard(
        "a generic method call and a cast on the variable",
        "import java.util.*; class T { List<String> f() { Object x = null;"
        " return Collections.<String>singletonList((String) x); } }",
        2,
    ),
    Hazard(
        "the outer instance of an inner class creation",
        "class T { class I { } I f() { T x = this; return x.new I(); } }",
        2,
    ),
    Hazard("a spread parameter", "class T { int f(int... x) { return x.length; } }", 2),
    Hazard(
        "a constructor's parameter and the field it fills",
        "class T { final int x; T(int x) { this.x = x; } }",
        2,
    ),
    Hazard(
        "a constructor that passes its parameter on",
        "class T { T(int x) { this(x, x + 1); } T(int a, int b) { } }",
        3,
    ),
    Hazard(
        "strings, text blocks and characters that merely contain the name",
        'class T { String f() { char x = \'x\'; return "x = " + x + """\n  x y\n  """; } }',
        2,
    ),
    Hazard(
        "a comment that mentions a local",
        "class T { int f() { int x = 1; /* x is one */ return x; // x\n } }",
        2,
    ),
    Hazard(
        "a name of which another name is a part",
        "class T { int f() { int x = 1, xx = 2, x$ = 3, $x = 4, x1 = 0x1; return x; } }",
        2,
    ),
    Hazard(
        "code that is not ASCII before the variable",
        'class T { String f() { String größe = "ü→😀"; int x = 1; return größe + x; } }',
        2,
    ),
    Hazard(
        "comments in the middle of expressions",
        "class T { int x() { return 2; } int f() { int /*a*/ x /*b*/ = 1;"
        " return this /*c*/ . /*d*/ x /*e*/ () + x /*f*/; } }",
        2,
    ),
    Hazard(
        "a method of a local class, whose own parameter it is",
        "class T { Object f() { return new Object() { int g(int x) { return x; } }; } }",
        2,
    ),
    Hazard(
        "an assert, a synchronized block, a do loop and a ternary",
        "class T { int f() { Object x = this; synchronized (x) { do { assert x != null : x; }"
        " while (x == null); } return x == this ? 1 : x.hashCode(); } }",
        7,
    ),
]

KEPT = [
    Hazard(
        "captured by an anonymous class",
        "class T { Runnable f() { int x = 1; return new Runnable() { public void run() {"
        " System.out.println(x); } }; } }",
        1,
        "nested class",
    ),
    Hazard(
        "captured by a local class",
        "class T { int f() { int x = 1; class L { int g() { return x; } } return new L().g(); } }",
        1,
        "nested class",
    ),
    Hazard(
        "spelt like a component of a local record",
        "class T { int f() { int x = 1; record R(int x) { } return new R(x).x(); } }",
        2,
        "nested class",
    ),
    Hazard(
        "spelt like a field of an anonymous class",
        "class T { Object f() { int x = 1; x++; return new Object() { int x = 2; }; } }",
        2,
        "nested class",
    ),
    Hazard(
        "bound by instanceof",
        "class T { int f(Object o) { if (!(o instanceof String x)) return 0;"
        " return x.length(); } }",
        2,
        "pattern variable",
    ),
    Hazard(
        "bound by instanceof in one place and declared in another",
        "class T { int f(Object o) { if (o instanceof String x) return x.length();"
        ' else { String x = ""; return x.length(); } } }',
        4,
        "pattern variable",
    ),
    Hazard(
        "a case label that could be a constant of an enum",
        "class T { enum E { x, y } int f(E e) { int x = 1; switch (e) { case x: return x;"
        " default: return 2; } } }",
        3,
        "case label",
    ),
    Hazard(
        "spelt like a type",
        "class T { static class x { } Object f() { int x = 1; x++; return new x(); } }",
        2,
        "something else",
    ),
    Hazard(
        "spelt like the class before `this`",
        "class T { class x { int n; int f() { int x = 1; return x.this.n + x; } } }",
        2,
        "something else",
    ),
    Hazard(
        "spelt like the interface before `super`",
        "interface x { default int g() { return 1; } } class T implements x {"
        " public int g() { return 2; } int f() { int x = 1; return x.super.g() + x; } }",
        2,
        "something else",
    ),
    Hazard(
        "spelt like the class before `::new`",
        "import java.util.function.*; class T { static class x { } Supplier<Object> f() {"
        " int x = 1; x++; return x::new; } }",
        2,
        "something else",
    ),
    Hazard(
        "equal to a string",
        'class T { Object f() throws Exception { int x = 1; return T.class.getField("x"); } }',
        1,
        "equal to a string",
    ),
    Hazard(
        "an annotated parameter",
        "class T { @interface PathVariable { } int f(@PathVariable final int x) { return x; } }",
        2,
        "annotated parameter",
    ),
    Hazard(
        "a parameter of a method with an annotation that may read names",
        "class T { @interface Builder { } @Builder T(int x) { } }",
        1,
        "annotated method",
    ),
    Hazard(
        "a parameter that an annotation's text names",
        'class T { @SuppressWarnings("#x > 1") int f(int x) { return x; } }',
        2,
        "mentioned in an annotation",
    ),
    Hazard(
        "a constant that an annotation on a local reads",
        'class T { int f() { final String x = "unused"; @SuppressWarnings(x) int y = 1;'
        " return y; } }",
        1,
        "mentioned in an annotation",
    ),
    Hazard(
        "a parameter named in Javadoc",
        "class T { /** @param x the thing */ int f(int x) { return x; } }",
        2,
        "named in a comment",
    ),
    Hazard(
        "a parameter named in a comment of the body",
        "class T { int f(int x) { // x is never negative\n return x; } }",
        2,
        "named in a comment",
    ),
    Hazard(
        "a parameter of a record's canonical constructor",
        "record T(int x) { T(int x) { this.x = x; } }",
        2,
        "record's constructor",
    ),
]


PROGRAMS = sorted((Path(__file__).parents[1] / "oracles" / "java_programs").glob("*.java"))


@pytest.mark.parametrize("hazard", RENAMED, ids=lambda hazard: hazard.title)
def test_a_variable_is_told_from_what_is_only_spelt_like_it(hazard: Hazard) -> None:
    variable = variable_of(hazard.code, "x")
    assert (variable.frequency, variable.refusal("paper")) == (hazard.occurrences, None)


@pytest.mark.parametrize("hazard", KEPT, ids=lambda hazard: hazard.title)
def test_a_variable_keeps_its_name_for_a_reason(hazard: Hazard) -> None:
    variable = variable_of(hazard.code, "x")
    assert variable.frequency == hazard.occurrences
    reason = variable.refusal("paper")
    assert reason is not None
    assert hazard.reason is not None
    assert hazard.reason in reason


@needs_javac
def test_every_hazard_that_is_renamed_keeps_its_class_files() -> None:
    pairs = [(h.code, rename(h.code, variable_of(h.code, "x"), "keyItem")) for h in RENAMED]
    kept = keep_classes(pairs)
    assert [h.title for h, same in zip(RENAMED, kept, strict=True) if not same] == []


@needs_javac
def test_every_hazard_that_is_kept_is_real_java() -> None:
    assert all(keep_classes([(hazard.code, hazard.code) for hazard in KEPT]))


@needs_javac
def test_the_hazards_are_hazards() -> None:
    # renaming what the walk alone takes for the variable: these reasons to refuse are needed
    needed = {
        "captured by an anonymous class",
        "captured by a local class",
        "a case label that could be a constant of an enum",
        "a parameter of a record's canonical constructor",
    }
    hazards = [hazard for hazard in KEPT if hazard.title in needed]
    pairs = [(h.code, rename(h.code, variable_of(h.code, "x"), "keyItem")) for h in hazards]
    assert len(hazards) == len(needed)
    assert not any(keep_classes(pairs))


@needs_javac
def test_the_oracle_catches_a_rename_onto_a_field() -> None:
    code = "class T { int size = 7; int f() { int x = 1; return x + size; } }"
    assert keep_classes([(code, rename(code, variable_of(code, "x"), "size"))]) == [False]


@needs_javac
def test_the_oracle_catches_a_missing_and_an_excess_occurrence() -> None:
    code = "class T { int x; int f() { x = 2; int x = 1; x++; return x; } }"
    variable = variable_of(code, "x")
    assert variable.frequency == 3
    missing = Variable("x", variable.starts[:2], is_parameter=False)
    excess = Variable("x", (code.index("x = 2"), *variable.starts), is_parameter=False)
    pairs = [(code, rename(code, wrong, "y")) for wrong in (missing, excess)]
    assert keep_classes(pairs) == [False, False]


@needs_javac
def test_each_renameable_variable_of_whole_programs_can_be_renamed() -> None:
    trials = [
        (path.stem, code, variable)
        for path in PROGRAMS
        for code in [path.read_text(encoding="utf-8")]
        for function in functions(parse_java(code))
        for variable in function.variables
        if variable.refusal("paper") is None
    ]
    assert len(trials) >= 100
    kept = keep_classes([(code, rename(code, variable, "keyItem")) for _, code, variable in trials])
    wrong = [(t[0], t[2].name) for t, same in zip(trials, kept, strict=True) if not same]
    assert wrong == []


@needs_javac
def test_all_renameable_variables_of_whole_programs_can_be_renamed_at_once() -> None:
    codes = [path.read_text(encoding="utf-8") for path in PROGRAMS]
    assert keep_classes([(code, rename_all(code)) for code in codes]) == [True] * len(codes)


@needs_javac
def test_random_programs_keep_their_class_files_when_all_is_renamed() -> None:
    codes = [generate_program(seed) for seed in range(60)]
    pairs = [(code, rename_all(code)) for code in codes]
    assert sum(before != after for before, after in pairs) > 55
    assert [seed for seed, same in enumerate(keep_classes(pairs)) if not same] == []


SERIALIZABLE_LAMBDA = (
    "class T { Object f() { int x = 1;"
    " Object y = (Runnable & java.io.Serializable) () -> System.out.println(x); return y; } }"
)


def test_nothing_is_renamed_beside_a_lambda_that_may_be_serializable() -> None:
    reason = resolve_first(SERIALIZABLE_LAMBDA).dynamic
    assert reason == "cast that may make a lambda serializable"


@needs_javac
def test_javac_names_a_serializable_lambda_after_the_locals_around_it() -> None:
    code = SERIALIZABLE_LAMBDA
    afters = [rename(code, variable_of(code, name), "keyItem") for name in ("x", "y")]
    assert keep_classes([(code, after) for after in afters]) == [False, False]


@pytest.mark.parametrize(
    "code",
    [
        "void f() { int x = 1; char c = '\\u0078'; }",
        'void f() { int x = 1; String s = "\\u0022 + x + \\u0022"; }',
        "void f() { int x = 1; // \\u000a x++;\n }",
    ],
)
def test_nothing_is_renamed_beside_a_unicode_escape(code: str) -> None:
    assert resolve_first(code).dynamic == "unicode escape in the snippet"


def test_variables_come_by_first_occurrence() -> None:
    code = (
        "void f(int b, int... a) { for (int d : g(() -> { int c = 0; })) { int e = d; }"
        " try (R h = o()) { } catch (E i) { } if (q instanceof J k) { } }"
    )
    assert names_of(code) == ["b", "a", "d", "c", "e", "h", "i", "k"]
    assert [v.name for v in resolve_first(code).variables if v.is_parameter] == ["b", "a"]


def test_fields_lambda_parameters_and_receivers_are_no_variables() -> None:
    assert names_of("int f(Outer this, int n) { g(p -> p); g((q, r) -> q); return size; }") == ["n"]


def test_an_inner_method_is_a_function_of_its_own() -> None:
    code = "void f() { int a; new R() { void g(int b) { int c; } }; }"
    found = [(f.name, [v.name for v in f.variables]) for f in functions(parse_java(code))]
    assert found == [("f", ["a"]), ("g", ["b", "c"])]


def test_a_method_without_a_body_has_its_parameters() -> None:
    assert names_of("interface I { int f(int a, String... b); }") == ["a", "b"]


def test_offsets_count_in_the_snippet_even_where_it_was_wrapped() -> None:
    code = "/** ä */ public Foo(int x) { this.x = x; }"
    tree = parse_java(code)
    assert tree.offset > 0
    starts = variable_of(code, "x").starts
    assert [code.encode()[start:].split(b";")[0] for start in starts] == [
        b"x) { this.x = x",
        b"x",
    ]


def test_patterns_of_later_java_bind_variables_that_are_kept() -> None:
    code = (
        "int f(Object o) { return switch (o) { case Point(int x, Line(var y, _)) when x > y -> x;"
        " case String s -> s.length(); default -> 0; }; }"
    )
    function = resolve_first(code)
    assert [(v.name, v.frequency) for v in function.variables] == [
        ("o", 2),
        ("x", 3),
        ("y", 2),
        ("s", 2),
    ]
    assert {v.refusal("paper") for v in function.variables[1:]} == {"pattern variable"}


def test_an_unnamed_variable_is_none() -> None:
    assert names_of("void f() { for (var _ : all) { int _ = 1; int n = 2; } }") == ["n"]


def test_a_string_template_keeps_what_it_mentions() -> None:
    code = 'String f() { int x = 1; x++; return STR."is \\{x}"; }'
    assert variable_of(code, "x").refusal("paper") == "spelt like something else in the function"


@pytest.mark.parametrize("name", ["ö", "x$1", "_1"])
def test_a_name_that_is_not_plain_is_kept(name: str) -> None:
    assert (
        variable_of(f"void f() {{ int {name} = 1; }}", name).refusal("paper")
        == "name is not plain ASCII"
    )


def test_code_that_does_not_compile_is_not_guessed_at() -> None:
    code = "void f() { int x = 1; { int x = 2; x++; } x++; }"
    assert variable_of(code, "x").refusal("paper") == "declared again inside its own scope"


def test_deeply_nested_code_is_resolved() -> None:
    code = "int f(int x) { return " + "(" * 500 + "x" + ")" * 500 + " + x" * 400 + "; }"
    assert variable_of(code, "x").frequency == 402


def test_code_inside_a_comment_keeps_the_variables_it_reads() -> None:
    native = "native int f(int a, int b) /*-{ return a + 1; }-*/;"
    assert variable_of(native, "a").refusal("paper") == "mentioned in code inside a comment"
    assert variable_of(native, "b").refusal("paper") is None
    conditional = "void f() { int x = 1;\n//#if DEBUG\n//# log(x);\n//#endif\n}"
    assert variable_of(conditional, "x").refusal("paper") == "mentioned in code inside a comment"


def test_an_annotation_that_means_nothing_to_parameters_does_not_keep_them() -> None:
    code = '@Override @Generated(value = "tool") void set(int value) { this.value = value; }'
    assert variable_of(code, "value").refusal("paper") is None


def test_the_article_a_in_a_comment_is_not_the_parameter_a() -> None:
    assert variable_of("int f(int a) { /* a sum */ return a; }", "a").refusal("paper") is None
    documented = variable_of("/** @param a first */ int f(int a) { return a; }", "a")
    assert documented.refusal("paper") is not None
    assert documented.refusal("prompt") is None
