"""What PuzzleMark knows about a programming language, as tables.

A language is one file with a `LANGUAGE`. Its scopes are the business of a second one,
`puzzlemark.syntax.resolvers.<name>`. Nothing else in the code knows which languages there are.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

from puzzlemark import plugins

Convention = Literal["snake", "camel"]
NodeTypes: TypeAlias = frozenset[str]  # node types of the grammar, a token by its text
# "all", "first" or "last" of the children, the name of a field, or "after as": what follows a token
Place: TypeAlias = str
AFTER = "after "
NONE: NodeTypes = frozenset()


@dataclass(frozen=True, slots=True)
class Grammar:
    """A tree-sitter grammar: `Grammar("tree_sitter_typescript", entry="language_tsx")`."""

    module: str
    entry: str = "language"  # the module's function that gives the grammar

    @property
    def package(self) -> str:
        """What the wheel is called: `tree-sitter-typescript`."""
        return self.module.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Tokens:
    """Node types at the end of a tree's branches."""

    comments: NodeTypes  # not code: no tokens, no lines
    strings: NodeTypes
    numbers: NodeTypes  # as people write them; a mask in hexadecimal is a constant of its own
    opaque: NodeTypes  # one token each, whatever they contain: a string, `pass`, `int`
    layout: NodeTypes = NONE  # neither comment nor token: a backslash at the end of a line
    names: NodeTypes = frozenset({"identifier"})  # spell variables, and maybe other things


@dataclass(frozen=True, slots=True)
class Lexing:
    """How text is read without a parser: code that does not parse, and columns of tokens."""

    line_comments: tuple[str, ...] = ()  # what opens one: `//`
    block_comments: tuple[tuple[str, str], ...] = ()  # what opens and closes one: `/*`, `*/`
    quotes: tuple[str, ...] = ('"', "'")  # around a string in which a backslash escapes
    long_quotes: tuple[str, ...] = ()  # around one that only the same quotes end
    prefixes: str = ""  # letters that may stand before a quote: `r"\d"`
    # for a language whose comments no expression finds; UnparsableSnippet says why it cannot
    strip: Callable[[str], str] | None = None

    def strip_comments(self, code: str) -> str:
        """The code with a blank for each comment: `f(x) // why` -> `f(x)  `."""
        if self.strip is not None:
            return self.strip(code)
        return _comments_and_strings(self).sub(lambda found: found["kept"] or " ", code)


@dataclass(frozen=True, slots=True)
class Measures:
    """Node types that the complexity features count; see docs/features.md for each definition."""

    decisions: NodeTypes  # each adds one to cc; most are keywords and operators
    nesting: NodeTypes  # control structures, for mlcn
    expressions: NodeTypes  # for ec and dec
    declares: Mapping[str, Place] = field(hash=False)  # where the name stands, for vc and dvc
    calls: Mapping[str, Place] = field(hash=False)  # where what is called stands, for ufcc
    qualified: Mapping[str, Place] = field(hash=False)  # `a.b`: the part that is called
    names: NodeTypes  # spell a declared name, unless there is a dot in it
    unpacked: NodeTypes = NONE  # hold several declared names: `as (a, b)`
    # a structure right after this token nests no deeper: `if_statement` after `else`
    else_if: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Docstring:
    """Documentation that is the first statement of a body: a string and nothing else."""

    statement: str  # node types
    string: str
    quoted: str  # regular expression for the whole string; its group `text` is what it says


@dataclass(frozen=True, slots=True)
class DocComment:
    """Documentation before a function: `/** ... */`, or all lines of `//` that touch it."""

    opening: str
    closing: str = ""  # nothing: the comment ends with its line
    margin: str = r"\s?"  # regular expression: what stands in a line before its text


def decode_utf8(content: bytes) -> str:
    """The text of a source file in UTF-8, with or without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ValueError("not valid utf-8") from exc


def name_sets(text: str) -> tuple[tuple[str, ...], ...]:
    """A table of `Language.synonyms`: `"tmp temp | i idx" -> (("tmp", "temp"), ("i", "idx"))`."""
    return tuple(tuple(names.split()) for names in re.split(r"[|\n]", text) if names.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language. Its scopes are resolved by `puzzlemark.syntax.resolvers.<name>`."""

    name: str
    title: str = ""  # as people write it: `JavaScript`; see `title_of`
    aliases: frozenset[str] = frozenset()  # other spellings met in datasets, lower case
    grammar: Grammar
    wrapper: tuple[bytes, bytes] | None = None  # tried around a snippet that does not parse alone
    # code without a function was misread: JavaScript's `get(a)` above a block is a call
    needs_function: bool = False
    example: str  # a function with a parameter, two local variables and a string: for tests

    # names
    convention: Convention
    reserved: frozenset[str]  # names that a variable must never get
    receivers: frozenset[str] = frozenset()  # `self`: variables that never take part in a mark
    # public tables of the marks with a key, in the language's own spelling; a change of one gives
    # it a new version, because marks that were made with the old one must stay readable
    synonyms: tuple[tuple[str, ...], ...] = ()  # sets of local names that people use alike
    synonyms_version: int = 0
    pool: tuple[str, ...] = ()  # natural local names, from which a key draws its prefixes
    pool_version: int = 0

    # tokens
    tokens: Tokens
    lexing: Lexing
    code_comments: tuple[str, ...] = ()  # how comments open that some tool compiles: `/*-{`

    # functions and what surrounds them
    functions: NodeTypes  # the units of marking; their fields are called `name` and `body`
    classes: NodeTypes = NONE  # whose field `name` qualifies the functions in them
    # what stands in a qualified name between two classes, and before a function by its node type:
    # Ruby's `Shop::Cart#total` and `Shop::Cart.open`
    class_sign: str = "."
    function_signs: Mapping[str, str] = field(default_factory=dict, hash=False)
    # where a function itself names its type: a field, and the type of the first node there that is
    # the name. Go's `func (c *Cache) Get()` is `Cache.Get` by ("receiver", "type_identifier")
    owner: tuple[str, str] | None = None
    # what stands around a function without a name, between it and its documentation, and the field
    # that names it: `exports.get = function () {}` by {"assignment_expression": "left"}
    bearers: Mapping[str, Place | None] = field(default_factory=dict, hash=False)
    attached: NodeTypes = NONE  # what is fastened to code and is none itself: annotations

    # parameters
    parameter_lists: NodeTypes
    last_parameters: NodeTypes = NONE  # nothing may follow them: `**kwargs`, `String... args`
    # parameters with a default, and how to declare one; a language without them has no such types
    optional: tuple[NodeTypes, str] = (NONE, "{}, ")

    # statements
    blocks: NodeTypes  # node types whose children are statements
    joint: str = " "  # what stands between two statements on one line, beside their own ends
    openings: NodeTypes = NONE  # what must stay the first statement of a body: `super(x);`
    clauses: NodeTypes = NONE  # stand beside statements and are none: `rescue` in a method
    told_apart: NodeTypes = NONE  # a statement around one of these is of another kind than others
    declaration: tuple[str, str]  # how to declare a variable: as a parameter, as a statement

    # complexity, and the spelling of code as DeCoMa compares it
    measures: Measures
    binders: NodeTypes  # an identifier directly inside one is plainly a variable
    phrases: NodeTypes  # expressions and statements whose texts are compared

    # source files
    extensions: tuple[str, ...]
    formatter: str | None = None  # a tool that lays out its files, which the attack `format` knows
    skipped_folders: frozenset[str] = frozenset()  # other people's code, caches: `vendor`
    decode: Callable[[bytes], str] = decode_utf8  # a file's text; ValueError says why there is none
    docstring: Docstring | None = None
    doc_comments: tuple[DocComment, ...] = ()  # the first that fits counts


@cache
def find(name: str) -> Language | None:
    """The language with this name or alias, in any case; None when there is no table for it.

    `find("Py").name -> "python"`, `find("cobol") -> None`
    """
    wanted = name.strip().lower()
    found = (each for each in every_language() if wanted in (each.name, *each.aliases))
    return next(found, None)


def title_of(name: str) -> str:
    """A language as people write it: `title_of("php") -> "PHP"`; one without a table as it is."""
    language = find(name)
    return name if language is None else language.title or language.name.capitalize()


def find_by_path(path: str) -> Language | None:
    """The language of a source file by how its name ends: `find_by_path("a/b.go").name -> "go"`."""
    _, dot, ending = path.strip().lower().rpartition(".")
    return _find_by_ending(dot + ending)


@cache
def _find_by_ending(ending: str) -> Language | None:
    return next((each for each in every_language() if ending in each.extensions), None)


def every_language() -> Iterator[Language]:
    """All that are found, by name."""
    return (language for _, language in plugins.every("languages"))


def parsing_packages() -> tuple[str, ...]:
    """The packages that decide what is read from code: the parser, and each language's grammar."""
    grammars = {language.grammar.package for language in every_language()}
    # from the last to the first letter: the order in which our files have always named them
    return "tree-sitter", *sorted(grammars, reverse=True)


@cache
def skipped_by_tokenizers() -> re.Pattern[bytes]:
    """What a tokenizer of any language may leave out: white space, comments, strings."""
    all_lexing = [language.lexing for language in every_language()]
    comments = {pattern for lexing in all_lexing for pattern in _comments(lexing)}
    longer = {quote for lexing in all_lexing for quote in lexing.long_quotes}
    quotes = {quote for lexing in all_lexing for quote in lexing.quotes}
    prefixes = "".join(sorted({letter for lexing in all_lexing for letter in lexing.prefixes}))
    strings = [
        *(f"{q}.*?{q}" for q in map(re.escape, sorted(longer))),
        *(rf"{q}(?:[^{q}\\\n]|\\.)*{q}" for q in map(re.escape, sorted(quotes))),
    ]
    before = f"[{re.escape(prefixes)}]{{0,2}}" if prefixes else ""
    spelled = [r"\s+", r"\\\r?\n", *sorted(comments), f"{before}(?:{'|'.join(strings)})"]
    return re.compile("|".join(spelled).encode(), re.DOTALL)


@cache
def _comments_and_strings(lexing: Lexing) -> re.Pattern[str]:
    """Finds comments, and as the group `kept` strings, in which no comment begins."""
    strings = [
        *(f"{q}.*?{q}" for q in map(re.escape, lexing.long_quotes)),
        *(rf"{q}(?:\\.|[^{q}\\])*{q}" for q in map(re.escape, lexing.quotes)),
    ]
    spelled = [f"(?P<kept>{'|'.join(strings)})", *_comments(lexing)]
    return re.compile("|".join(spelled), re.DOTALL)


def _comments(lexing: Lexing) -> list[str]:
    lines = (rf"{re.escape(opening)}[^\n]*" for opening in lexing.line_comments)
    blocks = (f"{re.escape(a)}.*?{re.escape(b)}" for a, b in lexing.block_comments)
    return [*lines, *blocks]
