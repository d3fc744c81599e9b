"""A language's node types as tables over tree-sitter's kind numbers, for one fast walk."""

import importlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import tree_sitter

from puzzlemark.languages.base import Language, Measures, Place, find

Value = TypeVar("Value")

# What a node is to the walk. No bit at all: a token, or a node that counts as one.
INNER = 1  # may have children
EXPRESSION = 2
DECLARATION = 4
CALL = 8
NESTING = 16
DECISION = 32
COMMENT = 64
LAYOUT = 128
SKIPPED = COMMENT | LAYOUT

_POSITIONS = {"first": slice(0, 1), "last": slice(-1, None), "all": slice(None)}


@dataclass(frozen=True, slots=True)
class Kinds:
    """Everything the walk asks about a node, by its kind number."""

    roles: tuple[int, ...]
    declares: dict[int, slice | int]  # a slice of the children, or the number of a field
    calls: dict[int, slice | int]
    qualified: dict[int, int]  # an index among the children
    names: frozenset[int]
    unpacked: frozenset[int]
    ifs: frozenset[int]
    elses: frozenset[int]


@cache
def kinds_of(name: str, root: int, ignored: int = 0) -> Kinds:
    """The tables of a language; `root` is the kind of the root of its trees.

    tree-sitter numbers the tokens of a grammar first, then the root, then all other nodes: a kind
    below the root's never has children. `ignored` are roles of no interest this time.
    """
    language = find(name)
    assert language is not None, f"a tree of an unknown language {name!r}"
    grammar = _grammar(language)
    spelled = [grammar.node_kind_for_id(n) or "" for n in range(grammar.node_kind_count)]
    measures = language.measures
    assert not measures.expressions & measures.nesting, "a node is one or the other"
    return Kinds(
        roles=tuple(_role(measures, kind, n >= root) & ~ignored for n, kind in enumerate(spelled)),
        declares=_numbered(spelled, _placed(grammar, measures.declares)),
        calls=_numbered(spelled, _placed(grammar, measures.calls)),
        qualified=_numbered(
            spelled, {k: 0 if p == "first" else -1 for k, p in measures.qualified.items()}
        ),
        names=_numbers(spelled, measures.names),
        unpacked=_numbers(spelled, measures.unpacked),
        ifs=_numbers(spelled, {"if_statement"}),
        elses=_numbers(spelled, {"else"}),
    )


def _grammar(language: Language) -> tree_sitter.Language:
    return tree_sitter.Language(importlib.import_module(language.grammar).language())


def _role(measures: Measures, kind: str, inner: bool) -> int:
    bits: tuple[tuple[int, Collection[str]], ...] = (
        (EXPRESSION, measures.expressions),
        (DECLARATION, measures.declares),
        (CALL, measures.calls),
        (NESTING, measures.nesting),
        (DECISION, measures.decisions),
        (COMMENT, measures.comments),
        (LAYOUT, measures.layout),
    )
    looked_into = inner and kind not in measures.opaque
    return (INNER if looked_into else 0) | sum(bit for bit, kinds in bits if kind in kinds)


def _placed(grammar: tree_sitter.Language, places: Mapping[str, Place]) -> dict[str, slice | int]:
    return {
        kind: _POSITIONS[place] if place in _POSITIONS else _field(grammar, place)
        for kind, place in places.items()
    }


def _field(grammar: tree_sitter.Language, name: str) -> int:
    number = grammar.field_id_for_name(name)
    assert number is not None, f"no field {name!r} in the grammar"
    return number


def _numbered(spelled: list[str], table: Mapping[str, Value]) -> dict[int, Value]:
    # several numbers may be spelled alike: a token and a node, or a node under two names
    return {number: table[kind] for number, kind in enumerate(spelled) if kind in table}


def _numbers(spelled: list[str], kinds: Collection[str]) -> frozenset[int]:
    return frozenset(number for number, kind in enumerate(spelled) if kind in kinds)
