"""The ten complexity features of a snippet, in one walk (paper, section 4.2.1)."""

from array import array
from collections.abc import Collection, Iterable, Sequence

from tree_sitter import Node

from puzzlemark.features.kinds import (
    CALL,
    COMMENT,
    DECISION,
    DECLARATION,
    EXPRESSION,
    INNER,
    NESTING,
    SKIPPED,
    Kinds,
    kinds_of,
)
from puzzlemark.features.lines import count_lines
from puzzlemark.features.table import DEFAULT, FEATURES
from puzzlemark.syntax.tree import Tree

__all__ = ["DEFAULT", "FEATURES", "measure"]

CONTROL = -1  # stands for the start where a control structure was opened, not an expression


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
        count_lines(tree, comments),
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
            waiting.extend(reversed(_at(place, child)))


def _find_called(kinds: Kinds, kind: int, node: Node, found: list[Node]) -> None:
    """Add the name of what is called, without its owner: `self.rows.append(row)` -> `append`."""
    for callee in _at(kinds.calls[kind], node):
        while (part := kinds.qualified.get(callee.kind_id)) is not None:
            callee = callee.children[part]
        if not callee.child_count:
            found.append(callee)


def _at(place: slice | int, node: Node) -> Sequence[Node]:
    # by position where possible: these are the very nodes that the walk goes on to, not new ones
    if isinstance(place, slice):
        return node.children[place]
    child = node.child_by_field_id(place)
    return () if child is None else (child,)


def _is_else_if(kinds: Kinds, kind: int, before: list[int]) -> bool:
    # Java's `else if` is an if inside an if; to a reader it is one more branch of the same
    return kind in kinds.ifs and len(before) > 0 and before[-1] in kinds.elses


def _texts(tree: Tree, nodes: Iterable[Node]) -> list[bytes]:
    source = tree.source
    return [source[slice(*node.byte_range)] for node in nodes]  # half the time of node.text


def _count_patterns(sequence: list[int], expressions: list[tuple[int, int]]) -> int:
    """How many expressions differ in more than their identifiers and the text of their literals."""
    kinds = array("H", sequence).tobytes()
    # hashes, not slices: those of a sum with ten thousand terms would fill the memory
    return len({hash(kinds[2 * start : 2 * end]) for start, end in expressions})
