"""Random functions of PHP and Ruby that are all scopes, like those of `scope_programs`.

Few names, bound and read in every way that the language has. They are compiled and never run; what
the compiler refuses is left out.
"""

# ruff: noqa: E501 (a statement is a line)

from collections.abc import Callable, Iterator

from tests.oracles.scope_programs import NAMES, _Maker


class Php(_Maker):
    """`Php(7).program()`: one function."""

    def program(self) -> str:
        if self.chance(0.3):
            return f"class K {{ public $a; static $b; {self.method()} }}"
        return f"function {self.rng.choice(['top', '&top'])}({self.parameters()}) {self.block()}"

    def method(self) -> str:
        word = self.rng.choice(["public", "private static", "final protected"])
        return f"{word} function {self.name()}({self.parameters()}) {self.block()}"

    def parameters(self) -> str:
        names = self.rng.sample(NAMES, self.rng.randint(0, 3))
        given = [
            self.rng.choice([f"${n}", f"?A ${n} = null", f"array &${n} = []", f"int|A ${n}"])
            for n in names
        ]
        rest = [each for each in NAMES if each not in names]
        if rest and self.chance(0.2):
            given.append(f"...${self.rng.choice(rest)}")
        return ", ".join(given)

    def var(self) -> str:
        return f"${self.name()}"

    def target(self) -> str:
        return self.one_of(
            self.var,
            self.var,
            self.var,
            lambda: f"{self.var()}[{self.var()}]",
            lambda: f"{self.var()}[]",
            lambda: f"[{self.var()}, 'k' => {self.var()}]",
            lambda: f"list({self.var()}, , list({self.var()}))",
            lambda: f"{self.var()}->{self.name()}",
            lambda: f"A::{self.var()}",
        )

    def expression(self) -> str:
        self.depth += 1
        made = self.var() if self.depth > 6 or self.chance(0.4) else self.one_of(*self.makers())
        self.depth -= 1
        return made

    def makers(self) -> list[Callable[[], str]]:
        var, name, expression = self.var, self.name, self.expression
        return [
            lambda: f"{var()} + {expression()}",
            lambda: f"f({expression()}, {var()})",
            lambda: f"f({name()}: {expression()})",
            lambda: f"{var()}->{name()}({expression()})",
            lambda: f"{var()}->{var()}",
            lambda: f"$this->{name()}",
            lambda: f"$this->{var()}[{var()}]",
            lambda: f"A::{var()}",
            lambda: f"{var()}::{var()}",
            lambda: f"A::{var()}()",
            lambda: f"A::{var()}[{var()}]()",
            lambda: f"{var()}::B",
            lambda: f"{var()}::class",
            lambda: f"new {var()}({expression()})",
            lambda: f"new A::{var()}",
            lambda: f"{var()} instanceof {var()}",
            lambda: f"({var()} = {expression()})",
            lambda: f"({var()} ?: {expression()}) ?? {var()}",
            lambda: f"isset({var()}, {var()}[{name()}])",
            lambda: (
                f'"{name()} {var()} {{{var()}}} {var()}[0] {var()}[{name()}] {var()}[{var()}] {var()}->{name()}"'
            ),
            lambda: (
                f'"{var()}->{name()}->{name()} {{{var()}->{name()}[{var()}]}} \\\\{var()} \\{var()}x"'
            ),
            lambda: f"'{self.rng.choice(['', 'x '])}{self.rng.choice([name(), var(), 'z'])}'",
            lambda: f"<<<T\n{name()} {var()} {{{var()}['{name()}']}}\nT\n",
            lambda: f"<<<'T'\n{name()} {self.rng.choice(['$e', var()])}\nT\n",
            lambda: f"`ls {var()}`",
            self.closure,
            self.closure,
            lambda: f"fn ({self.parameters()}) => {expression()}",
            lambda: f"fn ({self.parameters()}) => {expression()}",
            lambda: (
                f"static fn & ({self.parameters()}) => [{expression()}, {var()} = {expression()}]"
            ),
            lambda: (
                f"match ({var()}) {{ {var()}, {expression()} => {expression()}, default => {var()} }}"
            ),
            lambda: (
                f"new class({expression()}) {{ public {var()} = 1; function {name()}({self.parameters()}) {self.block()} }}"
            ),
            lambda: (
                f"new class({expression()}) {{ function __construct(private {var()}) {self.block()} }}"
            ),
            lambda: f"{var()}++ + --{var()}",
            lambda: f"[...{var()}, '{name()}' => {expression()}, {name()} => &{var()}]",
            lambda: f"clone {var()}",
            lambda: f"(int) {var()}",
            lambda: f"{var()}(...)",
            lambda: f"@{var()}[{expression()}]",
            lambda: "$_GET['a'] . $GLOBALS['b']",
            lambda: f"print {var()}",
            lambda: f"yield {var()} => {expression()}",
            lambda: f"{var()}?->{name()}",
            lambda: f"{name()}({expression()}) . \\{name()}",
            lambda: f"assert({var()} > {expression()})",
            lambda: f'"{name()}"',
            lambda: f"<<<T\n{name()}\nT\n",
            lambda: f"array({name()} => &{var()})",
        ]

    def closure(self) -> str:
        parameters = self.parameters()
        free = [name for name in NAMES if f"${name}" not in parameters]
        names = self.rng.sample(free, min(len(free), self.rng.randint(0, 2)))
        tied = ", ".join(f"{self.rng.choice(['', '&'])}${name}" for name in names)
        return f"function ({parameters}){f' use ({tied})' if names else ''} {self.block()}"

    def statement(self) -> str:
        if self.depth > 4 or self.chance(0.3):
            return f"use_it({self.expression()}, {self.var()});"
        var, expression = self.var, self.expression
        return self.one_of(
            lambda: f"{self.target()} = {expression()};",
            lambda: f"{self.target()} = {expression()};",
            lambda: f"{var()} .= {expression()};",
            lambda: f"{var()} = &{var()};",
            lambda: f"foreach ({expression()} as {var()}) {self.block()}",
            lambda: f"foreach ({var()} as {var()} => &{var()}) {self.block()}",
            lambda: f"foreach ({var()} as [{var()}, {var()}]) : {self.statements()} endforeach;",
            lambda: f"for ({var()} = 0, {var()} = 1; {var()} < 3; {var()}++) {self.block()}",
            lambda: (
                f"if ({expression()}) {self.block()} elseif ({var()}) {self.block()} else {self.block()}"
            ),
            lambda: f"while ({expression()}) {self.block()}",
            lambda: f"do {self.block()} while ({var()});",
            lambda: (
                f"switch ({var()}) {{ case {expression()}: {self.statements()} default: {self.statements()} }}"
            ),
            lambda: f"try {self.block()} catch (A|B {var()}) {self.block()} finally {self.block()}",
            lambda: f"global {var()};",
            lambda: f"static {var()} = 1;",
            lambda: f"unset({var()}, {var()}[{var()}]);",
            lambda: f"echo {var()}, {expression()};",
            lambda: f"// {var()}\n/* {self.name()} */",
            lambda: f"/** @var A {var()} */\n{var()} = {expression()};",
            lambda: f"function g{self.rng.randrange(10**6)}({self.parameters()}) {self.block()}",
            lambda: (
                f"if (1) {{ class K{self.rng.randrange(10**6)} {{ public static {var()}; {self.method()} }} }}"
            ),
            lambda: f"return {expression()};",
            lambda: f"throw {var()};",
        )


class Ruby(_Maker):
    """`Ruby(7).program()`: one method."""

    def program(self) -> str:
        head = self.rng.choice(["def top", "def self.top", "def top="])
        # a name that is never called: most are variables somewhere
        self.called = self.rng.choice(["e", "e", "e", "abe"])
        first = "".join(f"{each} = 1\n" for each in self.rng.sample(NAMES, self.rng.randint(0, 4)))
        return f"{head}({self.parameters()})\n{first}{self.statements(2, 6)}\nend"

    def method(self) -> str:
        return self.rng.choice(self.called)

    def other(self, name: str) -> str:
        return self.rng.choice([each for each in NAMES if each != name])

    def block(self) -> str:
        return self.statements()

    def parameters(self) -> str:
        names = self.rng.sample(NAMES, self.rng.randint(0, 4))
        kinds: list[Callable[[str], str]] = [
            lambda n: n,
            lambda n: f"{n} = {self.other(n)}",
            lambda n: f"*{n}",
            lambda n: f"{n}: {self.other(n)}",
            lambda n: f"**{n}",
            lambda n: f"&{n}",
        ]
        places = sorted([*self.rng.choices(range(2), k=2), 2, 3, 4, 5])
        chosen = sorted(self.rng.sample(places, len(names)))
        return ", ".join(kinds[place](name) for place, name in zip(chosen, names, strict=True))

    def block_parameters(self) -> str:
        names = self.rng.sample(NAMES, self.rng.randint(0, 3))
        made = [self.rng.choice([n, n, f"({n}, *)", f"{n} = {self.other(n)}"]) for n in names]
        rest = [each for each in NAMES if each not in names]
        local = f"; {self.rng.choice(rest)}" if self.chance(0.3) else ""
        return f"|{', '.join(made)}{local}|" if names or local else ""

    def lambda_parameters(self) -> str:
        names = self.rng.sample(NAMES, self.rng.randint(0, 2))
        return ", ".join(self.rng.choice([n, f"{n} = {self.other(n)}"]) for n in names)

    def target(self) -> str:
        name = self.name
        return self.one_of(
            name,
            name,
            name,
            lambda: f"{name()}, {name()}",
            lambda: f"{name()}, ({name()}, *{name()}), @{name()}",
            lambda: f"{name()}[{name()}], *{name()}",
            lambda: f"self.{name()}, {name()}",
        )

    def pattern(self) -> str:
        name = self.name
        return self.one_of(
            name,
            lambda: f"[Integer => {name()}, *{name()}]",
            lambda: f"{{k: {name()}, **{name()}}}",
            lambda: f"{{{name()}:}}",
            lambda: f"{{k: String => {name()}}}",
            lambda: f"[*, {name()}, *]",
            lambda: f"A({name()})",
            lambda: f"^{name()}",
            lambda: f"[{name()}, [{name()}]]",
            lambda: f"(1 | {name()}_ | A)",
            lambda: f"({name()})",
            lambda: "1 | 2",
            lambda: f"[{name()}, *{name()}]",
        )

    def expression(self) -> str:
        self.depth += 1
        made = self.name() if self.depth > 6 or self.chance(0.45) else self.one_of(*self.makers())
        self.depth -= 1
        return made

    def makers(self) -> list[Callable[[], str]]:
        name, expression = self.name, self.expression
        return [
            lambda: f"({name()} + {expression()})",
            lambda: f"f({expression()}, {name()})",
            lambda: f"f({name()}: {expression()})",
            lambda: f"f({name()}:)",
            lambda: f"{name()}.{name()}",
            lambda: f"{name()}&.{name()}({expression()})",
            lambda: f"self.{name()}",
            lambda: f"{self.method()}({expression()})",
            lambda: f"{name()}[{expression()}]",
            lambda: f"({self.method()} -1)",
            lambda: f"({self.method()} [{name()}])",
            lambda: f"(f ? {name()} : {expression()})",
            lambda: f'"x #{{{name()}}} {name()} #{{{expression()}}}"',
            lambda: self.rng.choice([f'"{name()}"', f"'z {name()}'", f"%w[{name()} y]"]),
            lambda: f"%(x #{{{name()}}})",
            lambda: f":{name()}",
            lambda: f':"x#{{{name()}}}"',
            lambda: f"{{{name()}: {expression()}, {name()} => {name()}}}",
            lambda: f"[{expression()}, *{name()}]",
            lambda: f"f(*{name()}, **{name()}, &{name()})",
            lambda: f"f(&:{name()})",
            lambda: f"f({expression()}) {{ {self.block_parameters()} {expression()} }}",
            lambda: f"{name()}.each do {self.block_parameters()}\n{self.block()}\nend",
            lambda: f"f {{ {self.block_parameters()} {name()} = {expression()} }}",
            lambda: f"f do\n{self.block()}\nend",
            lambda: f"->({self.lambda_parameters()}) {{ {expression()} }}",
            lambda: f"->({self.lambda_parameters()}) do\n{self.block()}\nend",
            lambda: f"lambda {{ {self.block_parameters()} {expression()} }}",
            lambda: f"({name()} = {expression()})",
            lambda: f"({name()} ||= {expression()})",
            lambda: f"(/(?<{name()}>x)/ =~ {expression()})",
            lambda: f"({name()} =~ /x#{{{name()}}}{name()}/)",
            lambda: f"defined?({name()})",
            lambda: f"(not {name()})",
            lambda: f"@{name()}",
            lambda: f"${name()}",
            lambda: f"{name()}::{name()}",
            lambda: f"`ls #{{{name()}}}`",
            lambda: f"({expression()} rescue {name()})",
            lambda: f"({name()}..{name()})",
            lambda: f"(yield {expression()})",
            lambda: "super",
            lambda: f"super({name()})",
            lambda: f"({name()} in {self.pattern()})",
            lambda: f"f {{ _1 + {name()} }}",
            lambda: f"begin\n{self.block()}\nend",
        ]

    def heredoc(self) -> str:
        name = self.name
        return self.rng.choice(
            [
                f"f(<<~T, {name()} = {name()})\n  {name()} #{{{name()}}} #{{{name()} = 1}}\nT",
                f"{name()} = <<-T + {name()}\n #{{{name()}}}\n T",
                f"f(<<T, <<'U', {name()})\n#{{{name()}}}\nT\n#{{{name()}}}\nU",
                f"f <<T\n#{{f(<<U)}}\n#{{{name()}}}\nU\nT",
            ]
        )

    def statement(self) -> str:
        if self.depth > 4 or self.chance(0.25):
            return f"use_it({self.expression()}, {self.name()})"
        name, expression, block = self.name, self.expression, self.block
        return self.one_of(
            lambda: f"{self.target()} = {expression()}",
            lambda: f"{self.target()} = {expression()}",
            lambda: f"{name()} = {expression()}",
            lambda: f"{name()} += {expression()}",
            lambda: f"{name()} = {expression()} if {expression()}",
            lambda: f"use_it({name()}) unless {name()} = {expression()}",
            lambda: f"use_it({name()}) while {name()} = {expression()}",
            lambda: (
                f"if {expression()}\n{block()}\nelsif {expression()}\n{block()}\nelse\n{block()}\nend"
            ),
            lambda: f"while {expression()}\n{block()}\nend",
            lambda: f"until {expression()} do\n{block()}\nend",
            lambda: (
                f"for {self.rng.choice([name(), f'{name()}, {name()}'])} in {expression()} do\n{block()}\nend"
            ),
            lambda: (
                f"case {expression()}\nwhen {expression()}, *{name()} then {name()}\nelse\n{block()}\nend"
            ),
            lambda: (
                f"case {expression()}\nin {self.pattern()} if {name()}\n{block()}\nin {self.pattern()}\n{block()}\nend"
            ),
            lambda: f"{expression()} => {self.pattern()}",
            lambda: (
                f"begin\n{block()}\nrescue {name()}, A => {name()}\n{block()}\nelse\n{block()}\nensure\n{block()}\nend"
            ),
            lambda: f"begin\n{block()}\nend while {name()}",
            self.heredoc,
            lambda: f"self.{name()} = {expression()}",
            lambda: f"{name()}.{name()} = {expression()}",
            lambda: f"{name()}[{name()}] ||= {expression()}",
            lambda: f"def {name()}({self.parameters()})\n{block()}\nend",
            lambda: f"def {name()}.{name()}\n{block()}\nend",
            lambda: f"class << {name()}\n{block()}\nend",
            lambda: f"alias {self.method()} {self.method()}",
            lambda: f"undef {self.method()}",
            lambda: f"# {name()}\n{name()}",
            lambda: f"return {name()}, {expression()}",
            lambda: f"use_it {name()} do {self.block_parameters()}\n{block()}\nend",
            lambda: f"{name()}, {name()} = {name()}, {name()}",
        )


MAKERS: dict[str, Callable[[int], Php | Ruby]] = {"php": Php, "ruby": Ruby}


# what the makers come to rarely
BY_HAND = {
    "php": (
        "function f($a) { return new class { public function __construct(private $b) {} }; }",
        "function f($a) { g([&$b]); $c = function () use (&$d) { $d = 1; }; return $b; }",
        'function f($a) { $b = 1; return "$b\u00a0" . $b; }',
    ),
    "ruby": (
        "def f\n  g(<<~T, a = 1)\n    #{a}\n  T\nend",
        "def f\n  g(<<~T, b = 1)\n    x\n  T\n  b\nend",
        "def f\n  begin\n    g\n  rescue => a\n    h(a)\n  end\nend",
        "def f(x)\n  case x\n  in [*, a, *] then a\n  in {k: 1, **b} then b\n  in (c) then c\n  end\nend",
        "def f(x)\n  case x\n  in 1 | [2] => a then a\n  in A(d, *e) then [d, e]\n  end\nend",
        "def f(x)\n  /(?<a>.)/ =~ x\n  a -1\n  b = 2\n  b\nend",
        "def f(x)\n  n = 7\n  y = n %(x + 1)\n  y\nend",
        "def f(x)\n  y = 1\n  x ?y :2\nend",
        "def f(x)\n  y = 4\n  z = 2\n  y /x/z\nend",
    ),
}


def script_programs(language: str, count: int) -> Iterator[str]:
    """The first programs of a language, always the same, and those by hand."""
    yield from BY_HAND[language]
    yield from (MAKERS[language](seed).program() for seed in range(count))
