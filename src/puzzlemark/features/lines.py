"""Lines of code: those that are neither blank nor wholly comment."""

from collections.abc import Sequence

from tree_sitter import Node

from puzzlemark.syntax.tree import Tree


def count_lines(tree: Tree, comments: Sequence[Node]) -> int:
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
