"""What PuzzleMark knows about a programming language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from puzzlemark import plugins

Convention = Literal["snake", "camel"]
Place = Literal["all", "first", "last", "name", "left", "type"]  # among the children, or a field


@dataclass(frozen=True, slots=True)
class Measures:
    """Node types that the complexity features count; see docs/features.md for each definition."""

    decisions: frozenset[str]  # each adds one to cc; most are keywords and operators
    nesting: frozenset[str]  # control structures, for mlcn
    expressions: frozenset[str]  # for ec and dec
    declares: Mapping[str, Place] = field(hash=False)  # where the name stands, for vc and dvc
    calls: Mapping[str, Place] = field(hash=False)  # where what is called stands, for ufcc
    qualified: Mapping[str, Place] = field(hash=False)  # `a.b`: the part that is called
    names: frozenset[str]  # spell a declared name, unless there is a dot in it
    unpacked: frozenset[str]  # hold several declared names: `as (a, b)`
    comments: frozenset[str]  # not code: no tokens, no lines
    layout: frozenset[str]  # neither comment nor token: a backslash at the end of a line
    opaque: frozenset[str]  # one token each, whatever they contain: a string, `pass`, `int`


@dataclass(frozen=True, slots=True)
class Language:
    """One language. Its scopes are resolved by `puzzlemark.syntax.resolvers.<name>`."""

    name: str
    aliases: frozenset[str]  # other spellings met in datasets, lower case
    extensions: tuple[str, ...]
    grammar: str  # module of the tree-sitter wheel
    convention: Convention
    functions: frozenset[str]  # node types that are a unit of marking
    reserved: frozenset[str]  # names that a variable must never get
    receivers: frozenset[str]  # `self`: variables that never take part in a mark
    measures: Measures
    parameter_lists: frozenset[str]  # node types
    blocks: frozenset[str]  # node types whose children are statements
    declaration: tuple[str, str]  # how to declare a variable: as a parameter, as a statement
    # parameters with a default, and how to declare one; a language without them has no such types
    optional: tuple[frozenset[str], str] = (frozenset(), "{}, ")
    wrapper: tuple[bytes, bytes] | None = None  # tried around a snippet that does not parse alone
    docstring: tuple[str, str] | None = None  # a statement and the string that is all of it


@cache
def find(name: str) -> Language | None:
    """The language with this name or alias, in any case; None when there is no table for it.

    `find("Py").name -> "python"`, `find("cobol") -> None`
    """
    wanted = name.strip().lower()
    for _, language in plugins.every("languages"):
        assert isinstance(language, Language)
        if wanted == language.name or wanted in language.aliases:
            return language
    return None
