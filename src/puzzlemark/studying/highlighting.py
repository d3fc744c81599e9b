"""Code in colours: pieces with a kind, by the grammar of its language and nothing else."""

from collections.abc import Iterator

from tree_sitter import Node

from puzzlemark.pages.diff import make_visible
from puzzlemark.pages.study import Kind, Piece
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, parse


def highlight(code: str, language: str) -> tuple[Piece, ...]:
    """`"return 1"` -> keyword `return`, plain ` `, number `1`.

    What hides or turns around is shown as a sign. Raises UnparsableSnippet where the code does not
    parse: a snippet without colours would stand out.
    """
    tree = parse(Snippet("", code.replace("\r\n", "\n"), language))
    return tuple(_merge(_cut(tree)))


def _cut(tree: Tree) -> Iterator[Piece]:
    source = tree.source
    at, end = tree.offset, tree.offset + len(tree.code)
    for start, stop, kind in _spans(tree, tree.root):
        if start < at or stop > end:  # of the wrapper
            continue
        yield Piece("", make_visible(source[at:start].decode()))
        yield Piece(kind, make_visible(source[start:stop].decode()))
        at = stop
    yield Piece("", make_visible(source[at:end].decode()))


def _spans(tree: Tree, root: Node) -> Iterator[tuple[int, int, Kind]]:
    stack = [root]
    while stack:
        node = stack.pop()
        kind = _kind(tree, node)
        if kind:
            yield node.start_byte, node.end_byte, kind
        else:
            stack += reversed(node.children)


def _kind(tree: Tree, node: Node) -> Kind:
    tokens = tree.language.tokens
    if node.type in tokens.comments:
        return "comment"
    if node.type in tokens.strings:
        return "string"
    if node.type in tokens.numbers:
        return "number"
    if node.child_count or node.type in tokens.names:
        return ""
    if node.type == "type_identifier":
        return "type"
    is_word = tree.text(node).isalpha()
    is_fixed = not node.is_named or tree.text(node) in tree.language.reserved
    return "keyword" if is_word and is_fixed else ""


def _merge(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Without empty pieces, and neighbours of one kind as one."""
    last: Piece | None = None
    for piece in pieces:
        if not piece.text:
            continue
        if last is not None and last.kind == piece.kind:
            last = Piece(last.kind, last.text + piece.text)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last
