"""Java snippets with the constructs that the features look at."""

_BODIES = [
    "int a = 1, b[] = {1, 2}; a += b[0]; a++; return -a * (b.length + 1);",
    "for (int i = 0; i < n && i != 3; i++) { if (i % 2 == 0) continue; else break; }",
    "for (final Map.Entry<String, List<?>> e : map.entrySet()) { use(e.getKey(), e.getValue()); }",
    "do { x = next(); } while (x != null || retry--  > 0);",
    "outer: while (true) { switch (x) { case 1: case 2: break outer; default: x = x ? 1 : 2; } }",
    "try (Reader r = open(p); r2) { r.read(); } catch (A | B e) { throw new C(e); } finally { }",
    "synchronized (lock) { if (a) { } else if (b) { } else if (c) { while (d) { } } else { } }",
    "Runnable r = () -> run(); Function<A, B> f = x -> x.y(); g = (a, b) -> { return a + b; };",
    "list.stream().filter(Objects::nonNull).map((String s) -> s.trim()).collect(toList());",
    "if (o instanceof String s && s.length() > 1) { print(s); } // end\n",
    "return switch (o) { case A a when a.x > 1 -> 1; case B(int c, var d) -> 2; default -> 3; };",
    "new Thread() { int count = 0; @Override public void run() { count++; go(); } }.start();",
    'String s = "a\\n" + \'b\' + """\n  text\n  """; /* one\n two */ char c = \'\\u0041\';',
    "int[][] grid = new int[3][]; long l = (long) grid[0][1] >>> 2; Class<?> k = int[].class;",
    'assert n > 0 : "n"; Outer.Inner i = outer.new Inner(); i.<T>cast(Outer.super.x);',
    "var x = a == null ? b != null ? 1 : 2 : 3; x = ~x ^ 0xFF | 1 & 2;",
    "",
    "/* nothing */",
]
_WHOLE = [
    '@Override @SuppressWarnings({"a", "b"}) public <T extends A & B> T f(T... t) throws X;',
    "class A<T> extends B implements C { private int x = f(); static { g(); } A() { this(1); } }",
    "record P(int x, int y) { P { if (x < 0) throw new E(); } }",
    "enum E { A(1) { int f() { return 2; } }, B; E(int... x) { } }",
    "interface I { default int f(int a) { return a; } int g(); }",
    "import a.b.*;\n\nvoid f() { h(); }\n\nint g(int a) { return a; }",
    "Foo(final int a) { super(a); this.a = a; }",
    "public <T> Foo(T a) throws X { }\n\n// and one more\nFoo() { }",
    "int x = 1;",
]
JAVA_EXAMPLES = [f"Object f(Object o, int n) {{ {body} }}" for body in _BODIES] + _WHOLE
