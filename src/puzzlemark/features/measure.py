"""The ten complexity features of a snippet, in one walk (paper, section 4.2.1), and their table.

The table has one row a snippet, ten whole numbers a row.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
import tree_sitter
from numpy.typing import NDArray
from tree_sitter import Node

from puzzlemark.errors import UsageError
from puzzlemark.languages.base import AFTER, Measures, Place, Tokens, find
from puzzlemark.syntax.tree import Tree, load_grammar

FEATURES = ("cc", "nloc", "tc", "mlcn", "mdt", "ufcc", "vc", "dvc", "ec", "dec")
DEFAULT = ("cc", "nloc", "tc", "vc", "dvc", "ec", "dec")  # the seven that the paper keeps


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features in corpus order; a snippet that does not parse has a row of zeros, not measured."""

    values: NDArray[np.int32]  # snippets x FEATURES
    measured: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int] | None]) -> "FeatureTable":
        """A table, or a chunk of one, from what `measure` gave; None: not measured."""
        kept = list(rows)
        nothing = (0,) * len(FEATURES)
        values = np.array([nothing if row is None else row for row in kept], dtype=np.int32)
        measured = np.array([row is not None for row in kept], dtype=np.bool_)
        return cls(values.reshape(len(kept), len(FEATURES)), measured)

    def select(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The columns with these names, as new floats, of the measured rows only."""
        columns = columns_of(names)
        matrix = np.empty((int(self.measured.sum()), len(columns)))
        for place, column in enumerate(columns):
            matrix[:, place] = self.values[self.measured, column]
        return matrix


def columns_of(names: Sequence[str]) -> list[int]:
    """Where features stand in a table: `("tc", "cc") -> [2, 0]`."""
    if not names:
        raise UsageError(f"no feature chosen; known: {', '.join(FEATURES)}")
    for name in names:
        if name not in FEATURES:
            raise UsageError(f"no feature {name!r}; known: {', '.join(FEATURES)}")
        if list(names).count(name) > 1:
            raise UsageError(f"feature {name!r} is named twice; name it once")
    return [FEATURES.index(name) for name in names]


__all__ = ["DEFAULT", "FEATURES", "columns_of", "measure"]

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
CONTROL = -1  # stands for the start where a control structure was opened, not an expression


# a slice of the children, the number of a field, or the kinds of a token and what follows it
At = slice | int | frozenset[int]


@dataclass(frozen=True, slots=True)
class Kinds:
    """Everything the walk asks about a node, by its kind number."""

    roles: tuple[int, ...]
    declares: dict[int, At]
    calls: dict[int, At]
    qualified: dict[int, int]  # an index among the children
    names: frozenset[int]
    unpacked: frozenset[int]
    ifs: frozenset[int]
    elses: frozenset[int]


def measure(tree: Tree, features: Collection[str] = FEATURES) -> tuple[int, ...]:
    """Ten whole numbers in the order of FEATURES; docs/features.md defines each of them.

    With fewer `features` asked for, the walk may be quicker, and ufcc and mlcn, unasked, are 0.
    """
    ignored = (0 if "ufcc" in features else CALL) | (0 if "mlcn" in features else NESTING)
    kinds = kinds_of(tree.language.name, tree.root.kind_id, ignored)
    roles = kinds.roles
    sequence: list[int] = []  # kinds in document order, a node before its children
    comments: list[Node] = []
    declared: list[Node] = []
    called: list[Node] = []
    opened: list[tuple[int, int]] = []  # around the node at hand: depth of the next outer, start
    expressions: list[tuple[int, int]] = []  # start and end in sequence
    cc = depth = mdt = 1
    inner = mlcn = nesting = innermost = 0

    # One turn a node, and nothing that can be left out: this loop is the cost of scoring a corpus.
    level = iter(_members(tree))
    above = []
    while True:
        for node in level:
            kind = node.kind_id
            role = roles[kind]
            if role == 0:
                sequence.append(kind)
                continue
            if role > INNER | EXPRESSION:
                if role & SKIPPED:
                    if role & COMMENT:
                        comments.append(node)
                    continue
                if role & DECISION:
                    cc += 1
                if not role & INNER:
                    sequence.append(kind)
                    continue
                if role & DECLARATION:
                    _find_declared(kinds, kind, node, declared)
                if role & CALL:
                    _find_called(kinds, kind, node, called)
                if role & NESTING and _is_else_if(kinds, kind, sequence):
                    role = INNER
            children = node.children
            if not children:
                sequence.append(kind)
                continue
            above.append(level)
            level = iter(children)
            depth += 1
            if depth > mdt:
                mdt = depth
            if role & EXPRESSION:
                opened.append((innermost, len(sequence)))
                innermost = depth
            elif role & NESTING:
                opened.append((innermost, CONTROL))
                innermost = depth
                nesting += 1
                mlcn = max(mlcn, nesting)
            sequence.append(kind)
            inner += 1
            break
        else:
            if not above:
                break
            if depth == innermost:
                innermost, start = opened.pop()
                if start == CONTROL:
                    nesting -= 1
                else:
                    expressions.append((start, len(sequence)))
            depth -= 1
            level = above.pop()

    names = [name for name in _texts(tree, declared) if b"." not in name]
    return (
        cc,
        _count_lines(tree, comments),
        len(sequence) - inner,
        mlcn,
        mdt + 1,
        len(set(_texts(tree, called))),
        len(names),
        len(set(names)),
        len(expressions),
        _count_patterns(sequence, expressions),
    )


def _members(tree: Tree) -> Sequence[Node]:
    """The top of the snippet; a wrapper that was put around it to parse it does not count."""
    if tree.offset == 0:
        return tree.root.children
    end = tree.offset + len(tree.code)
    node: Node | None = tree.root
    while node is not None:
        inside = [c for c in node.children if tree.offset <= c.start_byte and c.end_byte <= end]
        if inside:
            return inside
        node = next((c for c in node.children if c.end_byte > tree.offset), None)
    return ()


def _find_declared(kinds: Kinds, kind: int, node: Node, found: list[Node]) -> None:
    """Add the names that a node declares."""
    place = kinds.declares[kind]
    waiting = list(reversed(_at(place, node)))
    while waiting:
        child = waiting.pop()
        if child.kind_id in kinds.names:
            found.append(child)
        elif child.kind_id in kinds.unpacked:
            # a field of the node above says nothing of what is inside
            inside = _at(place, child) if isinstance(place, slice) else child.children
            waiting.extend(reversed(inside))


def _find_called(kinds: Kinds, kind: int, node: Node, found: list[Node]) -> None:
    """Add the name of what is called, without its owner: `self.rows.append(row)` -> `append`."""
    for callee in _at(kinds.calls[kind], node):
        while (part := kinds.qualified.get(callee.kind_id)) is not None:
            callee = callee.children[part]
        if not callee.child_count:
            found.append(callee)


def _at(place: At, node: Node) -> Sequence[Node]:
    # by position where possible: these are the very nodes that the walk goes on to, not new ones
    if isinstance(place, slice):
        return node.children[place]
    if isinstance(place, frozenset):
        children = node.children
        after = (n for n, child in enumerate(children, 1) if child.kind_id in place)
        start = next(after, len(children))
        return children[start : start + 1]
    return node.children_by_field_id(place)  # several, as in Go's `a, b int`


def _is_else_if(kinds: Kinds, kind: int, before: list[int]) -> bool:
    # Java's `else if` is an if inside an if; to a reader it is one more branch of the same
    return kind in kinds.ifs and len(before) > 0 and before[-1] in kinds.elses


def _texts(tree: Tree, nodes: Iterable[Node]) -> list[bytes]:
    source = tree.source
    return [source[slice(*node.byte_range)] for node in nodes]  # half the time of node.text


def _count_lines(tree: Tree, comments: Sequence[Node]) -> int:
    """The snippet's lines with something other than space and comment; comments in order."""
    code = _without(tree, comments) if comments or tree.offset else tree.source
    return len([1 for line in code.splitlines() if line and not line.isspace()])


def _without(tree: Tree, comments: Sequence[Node]) -> bytes:
    source, at = tree.source, tree.offset
    pieces: list[bytes] = []
    for comment in comments:
        start, end = comment.start_byte, comment.end_byte
        # what stands before and after a comment of several lines stays on different lines
        pieces += (source[at:start], b"\n" if b"\n" in source[start:end] else b"")
        at = end
    pieces.append(source[at : tree.offset + len(tree.code)])
    return b"".join(pieces)


def _count_patterns(sequence: list[int], expressions: list[tuple[int, int]]) -> int:
    """How many expressions differ in more than their identifiers and the text of their literals."""
    kinds = array("H", sequence).tobytes()
    # hashes, not slices: those of a sum with ten thousand terms would fill the memory
    return len({hash(kinds[2 * start : 2 * end]) for start, end in expressions})


# A language's node types as tables over tree-sitter's kind numbers.

Value = TypeVar("Value")
_POSITIONS = {"first": slice(0, 1), "last": slice(-1, None), "all": slice(None)}


@cache
def kinds_of(name: str, root: int, ignored: int = 0) -> Kinds:
    """The tables of a language; `root` is the kind of the root of its trees.

    tree-sitter numbers the tokens of a grammar first, then the root, then all other nodes: a kind
    below the root's never has children. `ignored` are roles of no interest this time.
    """
    language = find(name)
    assert language is not None, f"a tree of an unknown language {name!r}"
    grammar = load_grammar(language.grammar)
    spelled = [grammar.node_kind_for_id(n) or "" for n in range(grammar.node_kind_count)]
    measures, tokens = language.measures, language.tokens
    assert not measures.expressions & measures.nesting, "a node is one or the other"
    words = frozenset(spelled[:root])
    return Kinds(
        roles=tuple(
            _role(measures, tokens, kind, n >= root)
            # Ruby's `if` is a word in a node of the same name: one decision
            & ~(ignored | (DECISION if n >= root and kind in words else 0))
            for n, kind in enumerate(spelled)
        ),
        declares=_numbered(spelled, _placed(grammar, spelled, measures.declares)),
        calls=_numbered(spelled, _placed(grammar, spelled, measures.calls)),
        qualified=_numbered(
            spelled, {k: 0 if p == "first" else -1 for k, p in measures.qualified.items()}
        ),
        names=_numbers(spelled, measures.names),
        unpacked=_numbers(spelled, measures.unpacked),
        ifs=_numbers(spelled, measures.else_if[:1] if measures.else_if else ()),
        elses=_numbers(spelled, measures.else_if[1:] if measures.else_if else ()),
    )


def _role(measures: Measures, tokens: Tokens, kind: str, inner: bool) -> int:
    bits: tuple[tuple[int, Collection[str]], ...] = (
        (EXPRESSION, measures.expressions),
        (DECLARATION, measures.declares),
        (CALL, measures.calls),
        (NESTING, measures.nesting),
        (DECISION, measures.decisions),
        (COMMENT, tokens.comments),
        (LAYOUT, tokens.layout),
    )
    looked_into = inner and kind not in tokens.opaque
    return (INNER if looked_into else 0) | sum(bit for bit, kinds in bits if kind in kinds)


def _placed(
    grammar: tree_sitter.Language, spelled: list[str], places: Mapping[str, Place]
) -> dict[str, At]:
    return {kind: _found(grammar, spelled, place) for kind, place in places.items()}


def _found(grammar: tree_sitter.Language, spelled: list[str], place: Place) -> At:
    if place.startswith(AFTER):
        return _numbers(spelled, (place.removeprefix(AFTER),))
    return _POSITIONS[place] if place in _POSITIONS else _field(grammar, place)


def _field(grammar: tree_sitter.Language, name: str) -> int:
    number = grammar.field_id_for_name(name)
    assert number is not None, f"no field {name!r} in the grammar"
    return number


def _numbered(spelled: list[str], table: Mapping[str, Value]) -> dict[int, Value]:
    # several numbers may be spelled alike: a token and a node, or a node under two names
    return {number: table[kind] for number, kind in enumerate(spelled) if kind in table}


def _numbers(spelled: list[str], kinds: Collection[str]) -> frozenset[int]:
    return frozenset(number for number, kind in enumerate(spelled) if kind in kinds)
