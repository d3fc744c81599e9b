"""Random functions that are all scopes: few names, bound in every way that a language has.

Real code exercises the rules of scope rarely. These do nothing else: the same four names are
parameters, locals, loop variables and parts of patterns, inside each other and side by side. They
are never run; some are refused by the compiler, and left out.
"""

# ruff: noqa: E501 (a statement is a line)

import random
from collections.abc import Callable, Iterator

NAMES = "abcd"


class _Maker:
    """What the makers of all languages share: a generator, and a limit to nesting."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.depth = 0

    def name(self) -> str:
        return self.rng.choice(NAMES)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def one_of(self, *makers: Callable[[], str]) -> str:
        return self.rng.choice(makers)()

    def statements(self, least: int = 1, most: int = 4) -> str:
        self.depth += 1
        lines = [self.statement() for _ in range(self.rng.randint(least, most))]
        self.depth -= 1
        return "\n".join(lines)

    def block(self) -> str:
        return "{\n" + self.statements() + "\n}"

    def statement(self) -> str:
        raise NotImplementedError


class JavaScript(_Maker):
    """`JavaScript(7).program()`: one function."""

    def program(self) -> str:
        return f"function top{self.parameters()} {self.body()}"

    def body(self) -> str:
        first = self.declaration("var") + "\n" if self.chance(0.3) and self.depth < 7 else ""
        return "{\n" + first + self.statements() + "\n}"

    def parameters(self) -> str:
        names = self.rng.sample(NAMES, self.rng.randint(0, 3))
        given = [self.parameter(name) for name in names]
        if self.chance(0.2) and len(names) < len(NAMES):
            rest = next(each for each in NAMES if each not in names)
            given.append(self.rest(rest))
        return f"({', '.join(given)})"

    def rest(self, name: str) -> str:
        return f"...{name}"

    def parameter(self, name: str) -> str:
        return self.rng.choice(
            [
                name,
                name,
                f"{name} = {self.expression()}",
                f"{{p: {name}}}",
                f"[{name}] = []",
                f"{{{name} = {self.name()}}}",
            ]
        )

    def pattern(self, name: str) -> str:
        return self.rng.choice(
            [
                f"[{name}]",
                f"[, {name} = {self.expression()}]",
                f"[...{name}]",
                f"{{p: {name}}}",
                f"{{p: {{q: {name} = {self.name()}}}}}",
                f"{{[{self.name()}]: {name}}}",
                f"{{...{name}}}",
                f"{{{name}}}",
                f"{{{name} = {self.name()}}}",
            ]
        )

    def target(self) -> str:
        name = self.name()
        return self.pattern(name) if self.chance(0.3) else name

    def expression(self) -> str:
        self.depth += 1
        deep = self.depth > 7
        made = (
            self.name()
            if deep or self.chance(0.4)
            else self.one_of(
                lambda: f"{self.name()} + {self.expression()}",
                lambda: f"{self.name()}.{self.name()}({self.expression()})",
                lambda: f"`{self.name()} ${{{self.expression()}}}`",
                lambda: f"[{self.expression()}, ...{self.name()}]",
                lambda: f"({{{self.name()}: {self.expression()}, [{self.name()}]: 1}})",
                lambda: f"({{{self.name()}, {self.name()}() {{ return {self.name()}; }}}})",
                lambda: f"({self.name()} => {self.expression()})",
                lambda: f"({self.arrow_parameters()} => {self.body()})",
                lambda: (
                    f"(function {self.rng.choice(['', 'e', self.name()])}{self.parameters()} {self.body()})"
                ),
                lambda: (
                    f"(function* {self.rng.choice(['', self.name()])}{self.parameters()} {self.body()})"
                ),
                lambda: f"(class {self.rng.choice(['', self.name()])} {self.members()})",
                lambda: f"({self.name()} = {self.expression()})",
                lambda: f"({self.name()} ? {self.name()} : {self.expression()})",
                lambda: f"typeof {self.name()}",
            )
        )
        self.depth -= 1
        return made

    def arrow_parameters(self) -> str:
        return self.parameters()

    def members(self) -> str:
        made = [
            f"{self.name()}{self.parameters()} {self.body()}",
            f"static {self.name()} = {self.expression()};",
            f"#{self.name()} = {self.expression()};",
            f"[{self.name()}] = {self.expression()};",
            f"static {self.body()}",
            f"get {self.name()}() {{ return {self.expression()}; }}",
        ]
        return "{ " + "\n".join(self.rng.sample(made, self.rng.randint(1, 3))) + " }"

    def statement(self) -> str:
        if self.depth > 4 or self.chance(0.35):
            return f"use({self.expression()}, {self.name()});"
        return self.one_of(*self.statement_makers())

    def statement_makers(self) -> list[Callable[[], str]]:
        word = self.rng.choice(["var", "let", "const"])
        return [
            lambda: self.declaration("var"),
            lambda: self.declaration("var"),
            lambda: self.declaration(self.rng.choice(["let", "const"])),
            lambda: self.declaration(self.rng.choice(["let", "const"])),
            self.block,
            lambda: f"if ({self.expression()}) {self.block()} else {self.block()}",
            lambda: f"for ({word} {self.target()} of {self.expression()}) {self.block()}",
            lambda: f"for ({word} {self.name()} in {self.name()}) {self.block()}",
            lambda: f"for ({self.name()} of {self.expression()}) {self.block()}",
            lambda: (
                f"for ({self.rng.choice(['var', 'let'])} {self.name()} = {self.name()}; "
                f"{self.name()} < {self.name()}; {self.name()}++) {self.block()}"
            ),
            lambda: (
                f"try {self.block()} catch ({self.target()}) {self.block()} finally {self.block()}"
            ),
            lambda: (
                f"switch ({self.name()}) {{ case {self.name()}: {self.statements()} "
                f"default: {self.statements()} }}"
            ),
            lambda: (
                f"function {self.rng.choice(['f', 'g', self.name()])}{self.parameters()} {self.body()}"
            ),
            lambda: (
                f"function* {self.rng.choice(['g', self.name()])}{self.parameters()} {self.body()}"
            ),
            lambda: (
                f"class {self.rng.choice(['K', self.name()])} extends {self.name()} {self.members()}"
            ),
            self.using,
            lambda: f"{self.name()}: for (;;) {{ {self.statements()} break; }}",
            lambda: f"({self.pattern(self.name())} = {self.expression()});",
            lambda: f"{self.name()} += {self.expression()};",
        ]

    def declaration(self, word: str) -> str:
        more = f", {self.name()} = {self.expression()}" if self.chance(0.2) else ""
        return f"{word} {self.declared()} = {self.expression()}{more};"

    def using(self) -> str:
        return self.rng.choice(
            [
                f"using {self.name()} = {self.name()};",
                f"for (using {self.name()} of {self.name()}) {self.block()}",
            ]
        )

    def declared(self) -> str:
        return self.target()


class TypeScript(JavaScript):
    """The same with types, and with names in them."""

    def program(self) -> str:
        return f"function top{self.parameters()}{self.result()} {self.body()}"

    def result(self) -> str:
        return self.rng.choice(["", "", ": number", f": {self.type()}"])

    def rest(self, name: str) -> str:
        return f"...{name}: {self.type()}"

    def parameter(self, name: str) -> str:
        return self.rng.choice(
            [
                f"{name}: {self.type()}",
                f"{name}?: {self.type()}",
                f"{name}: {self.type()} = {self.expression()}",
                f"{{p: {name}}}: {self.type()}",
                super().parameter(name),
            ]
        )

    def type(self) -> str:
        self.depth += 1
        made = (
            self.rng.choice(["number", "any", "T", self.name()])
            if self.depth > 6 or self.chance(0.4)
            else self.one_of(
                lambda: f"({self.name()}: {self.type()}) => {self.type()}",
                lambda: f"new ({self.name()}: number) => {self.type()}",
                lambda: (
                    f"{{ {self.name()}: {self.type()}; {self.name()}?({self.name()}: any): void }}"
                ),
                lambda: f"{{ ({self.name()}: {self.type()}): any; new ({self.name()}: any): any }}",
                lambda: f"{{ [{self.name()}: string]: {self.type()} }}",
                lambda: f"[{self.name()}: {self.type()}, {self.name()}?: {self.type()}]",
                lambda: f"{self.type()} | {self.type()}[]",
                lambda: "({0}: any) => {0} is string".format(self.name()),
                lambda: f"typeof {self.name()}",
            )
        )
        self.depth -= 1
        return f"({made})" if "=>" in made else made

    def declared(self) -> str:
        return self.rng.choice(
            [f"{self.name()}: {self.type()}", self.target(), f"{self.name()}: {self.type()}"]
        )

    def arrow_parameters(self) -> str:
        return self.parameters() + self.rng.choice(["", ": any"])

    def expression(self) -> str:
        if self.depth <= 7 and self.chance(0.15):
            return self.rng.choice(
                [
                    f"({self.name()} as {self.type()})",
                    f"({self.name()} satisfies {self.type()})",
                    f"{self.name()}!",
                    f"use<{self.type()}>({self.name()})",
                ]
            )
        return super().expression()

    def members(self) -> str:
        made = [
            f"{self.name()}{self.parameters()}{self.result()} {self.body()}",
            f"static {self.name()}: {self.type()} = {self.expression()};",
            f"private {self.name()}?: {self.type()};",
            f"constructor(private {self.name()}: number) {self.body()}",
            f"constructor(readonly {self.name()} = 1) {self.body()}",
            f"{self.name()}(this: any, {self.name()}: any): any {self.body()}",
            f"check({{p: d}}: any, a: any): a is string {self.body()}",
            f"[{self.name()}: string]: any;",
            f"static {self.body()}",
        ]
        return "{ " + "\n".join(self.rng.sample(made, self.rng.randint(1, 3))) + " }"

    def statement_makers(self) -> list[Callable[[], str]]:
        return [
            *(each for each in super().statement_makers() if each != self.using),
            lambda: f"enum {self.rng.choice(['E', self.name()])} {{ p, q = {self.name()} }}",
            lambda: f"interface I {{ {self.name()}({self.name()}: {self.type()}): void }}",
            lambda: f"type A<T> = {self.type()};",
            lambda: (
                f"abstract class {self.rng.choice(['Q', self.name()])} "
                f"{{ abstract {self.name()}({self.name()}: any): void; }}"
            ),
            lambda: f"function {self.name()}({self.name()}: any): any;",
            lambda: "function q({0}: any): asserts {0} {1}".format(self.name(), self.body()),
        ]


class Go(_Maker):
    """`Go(7).program()`: a method, and what stands around it in its package."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.taken: set[str] = set()  # names that the block at hand declares
        self.in_block: set[str] = set()  # parameters: the next block is their function's

    def program(self) -> str:
        package = "var a, b, c, d int\n" if self.chance(0.7) else ""
        receiver = self.rng.choice(["", f"({self.name()} *T) "])
        names = [each for each in NAMES if f"({each} " not in receiver]
        self.rng.shuffle(names)
        given = self.rng.randint(0, 2)
        taken = names[:given]
        parameters = ", ".join(f"{each} int" for each in taken)
        if self.chance(0.3) and given < len(names):
            parameters = ", ".join([*filter(None, [parameters]), f"{names[given]} ...int"])
            given += 1
        results = self.rng.choice(["", " int"])
        if self.chance(0.4) and given < len(names):
            results = f" ({names[given]} int)"
        generic = "[E any]" if not receiver and self.chance(0.2) else ""
        self.in_block = {each for each in NAMES if each in receiver + parameters + results}
        return (
            f"{package}type T struct {{ a, b, c, d int; m map[int]int }}\n"
            f"func {receiver}top{generic}({parameters}){results} {self.block()}\n"
        )

    def statements(self, least: int = 2, most: int = 5) -> str:
        """Those of a block of their own, in which no name may be declared twice."""
        around, self.taken = self.taken, self.in_block
        self.in_block = set()
        made = super().statements(least, most)
        self.taken = around
        return made

    def new(self) -> str:
        """A name that the block does not have yet, or one that binds nothing."""
        free = [each for each in NAMES if each not in self.taken] or ["_"]
        name = self.rng.choice(free)
        self.taken.add(name)
        return name

    def expression(self) -> str:
        self.depth += 1
        made = (
            self.name()
            if self.depth > 6 or self.chance(0.45)
            else self.one_of(
                lambda: f"{self.name()} + {self.expression()}",
                lambda: f"use({self.expression()}, {self.name()})",
                lambda: f"T{{{self.name()}: {self.expression()}}}.{self.name()}",
                lambda: f"(&T{{}}).{self.name()}",
                lambda: f"map[int]int{{{self.name()}: {self.expression()}}}[{self.name()}]",
                lambda: f"[]int{{{self.expression()}, {self.name()}}}[0]",
                lambda: f"func({self.given()} int) int {self.block()}({self.expression()})",
                lambda: f"func() ({self.given()} int) {self.block()}()",
                lambda: f"[...]int{{{self.name()}, 2}}[{self.name()}]",
                lambda: f"any({self.name()}).(int)",
                lambda: f"[]int{{}}[{self.name()}:{self.name()}][0]",
            )
        )
        self.depth -= 1
        return made

    def statement(self) -> str:
        if self.depth > 4 or self.chance(0.3):
            return f"use({self.expression()}, {self.name()})"
        return self.one_of(
            self.short,
            self.short,
            self.two,
            self.two,
            lambda: f"var {self.new()} = {self.expression()}",
            lambda: f"var {self.new()}, {self.new()} int = {self.expression()}, {self.name()}",
            lambda: f"var {self.new()} func({self.name()}, _ int) (_ int)",
            lambda: f"const {self.new()} = 1",
            lambda: f"const (\n{self.new()} = iota\n{self.new()}\n)",
            self.block,
            lambda: (
                f"if {self.name()} := {self.expression()}; {self.name()} > 0 {self.block()} else {self.block()}"
            ),
            lambda: (
                f"if {self.name()} := {self.name()}; {self.name()} > 0 {self.block()} "
                f"else if {self.name()} := {self.name()}; {self.name()} > 1 {self.block()}"
            ),
            lambda: (
                f"for {self.name()} := {self.name()}; {self.name()} < 3; {self.name()}++ {self.block()}"
            ),
            lambda: f"for {self.pair()} := range []int{{{self.expression()}}} {self.block()}",
            lambda: f"for {self.name()} = range []int{{{self.name()}}} {self.block()}",
            lambda: f"for {self.name()} < 3 {self.block()}",
            lambda: (
                f"switch {self.name()} := {self.expression()}; {self.name()} {{\n"
                f"case {self.name()}:\n{self.statements()}\ndefault:\n{self.statements()}\n}}"
            ),
            lambda: (
                f"switch {self.name()} := any({self.name()}).(type) {{\n"
                f"case int:\nuse({self.name()})\n{self.statements()}\n"
                f"default:\n{self.statements()}\n}}\nuse({self.name()})"
            ),
            lambda: f"select {{\ncase {self.name()} = <-make(chan int):\nuse({self.name()})\n}}",
            lambda: (
                f"select {{\ncase {self.pair()} := <-make(chan int, {self.name()}):\n"
                f"{self.statements()}\ndefault:\n{self.statements()}\n}}"
            ),
            lambda: f"{self.name()}, {self.name()} = {self.name()}, {self.name()}",
            lambda: f"{self.name()} += {self.name()}",
            lambda: f"go use({self.expression()})\ndefer func() {self.block()}()",
            lambda: f"{self.name().upper()}:\nfor {{\n{self.statements()}\nbreak\n}}",
            lambda: f"type S{self.rng.randrange(10**6)} struct {{ {self.name()} int }}",
            lambda: f"type I{self.rng.randrange(10**6)} interface {{ M({self.name()} int) }}",
        )

    def given(self) -> str:
        self.in_block = {name := self.name()}
        return name

    def short(self) -> str:
        value = self.expression()
        return f"{name} := {value}" if (name := self.new()) != "_" else f"_ = {value}"

    def two(self) -> str:
        """One new name, and one that the block may have already."""
        value, name, other = self.expression(), self.new(), self.name()
        if name in ("_", other):
            return f"_, _ = {value}, {other}"
        self.taken.add(other)
        return f"{name}, {other} := {value}, {self.name()}"

    def pair(self) -> str:
        first, second = self.rng.sample(NAMES + "_", 2)
        return f"{first}, {second}"


MAKERS: dict[str, Callable[[int], JavaScript | Go]] = {
    "go": Go,
    "javascript": JavaScript,
    "typescript": TypeScript,
}


# What random programs would show too seldom: each is about one row of a table.
DIRECTED: dict[str, tuple[str, ...]] = {
    "go": (
        # parameters, results and the receiver are seen in the body, not in each other's types
        "const a, b = 2, 3\nfunc top(a [b]int, b int) [a]int { use(a, b); return [2]int{} }",
        "const a, b = 2, 3\nfunc top(a int, b [a]int) (c [b]int) { use(a, b); return }",
        "const a, b = 2, 3\nfunc top(a ...[b]int) (b [a]int) { use(a, b); return }",
        "const a, b = 2, 3\nfunc top(b [a]int, a ...[b]int) { use(a, b) }",
        "const a = 2\ntype T struct{}\nfunc (a *T) top(b [a]int) (c [a]int) { use(a, b); return }",
        "func top() { const a = 2; use(func(b [a]int, a int) [a]int { use(a); return [2]int{} }) }",
        "func top() { const a = 2; var b func(a int, c [a]int) [a]int; use(a, b) }",
        "func top() { const a = 2; var b interface{ M(a int, c ...[a]int) }; use(a, b) }",
    ),
    "javascript": (
        # a name in shorthand is bound by its pattern, and the same that a var declares again
        "function top({a = 1}) { var a; use(a); }",
        "function top(b, {a = b}) { use(a); for (var a of b) use(a); }",
        "function top({p: {a = 1}}) { var a = 2; use(() => a); }",
        # a function's own name is seen in the default values of its parameters
        "function top(a) { use(function a(b = a) { use(a, b); }, a); }",
        "function top(a) { use(function* a(b = a) { use(a, b); }, a); }",
        # a class is seen in its block only
        "function top(a) { use(() => { { class a { } } use(a); }); }",
        # `using` is like `let`
        "function top(a, b) { { using a = b; use(a); } use(a); }",
        "function top(a, b) { use(a); { use(() => a); using a = b; } { use(a); } }",
        "function top(a, b) { for (using a of b) use(a); use(a); }",
    ),
    "typescript": (
        # parameters see each other, the later ones as well
        "function top(a: any = () => b, b?: any) { use(a, b); }",
        "function top(c: any) { use((a: any = () => c, c?: any) => use(a, c)); }",
        # classes and enums are seen in their whole block, and not outside of it
        "function top(a: any) { { use(() => a); abstract class a { } use(a); } use(a); }",
        "function top(a: any) { use(() => { { abstract class a { } } use(a); }); }",
        "function top(a: any) { { use(() => a); enum a { p } use(a); } use(a); }",
        "function top(a: any) { use(() => { { enum a { p } } use(a); }); }",
        # a signature stands for the function behind it, also where that is called before
        "function top() { let a = 1; use(() => { use(a); function a(b: any): any; function a(b: any) { return b; } use(a); }); use(a); }",
        "function top(c: any) { use(() => { use(c); function c(b: any): any; function c(b: any) { return b; } }); }",
    ),
}


def programs(language: str, count: int) -> Iterator[str]:
    """So many programs, always the same."""
    return (MAKERS[language](seed).program() for seed in range(count))
