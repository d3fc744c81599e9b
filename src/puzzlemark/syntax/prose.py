"""What a snippet says in words: comments and docstrings, which name variables too."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from puzzlemark.snippet import Edit
from puzzlemark.syntax.tree import Tree, is_docstring


def reword(tree: Tree, names: Mapping[str, str]) -> tuple[Edit, ...]:
    """Edits that put new names for old ones as whole words of comments and docstrings.

    For prompts only: a comment never matters to what the code does, but a text that still speaks of
    `iterator` would tell a model what a renamed variable was called.
    """
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)".encode())
    edits: list[Edit] = []
    for node in _prose(tree):
        start = node.start_byte - tree.offset
        for match in pattern.finditer(tree.source[node.start_byte : node.end_byte]):
            old = match[0]
            edits.append(Edit(start + match.start(), old, names[old.decode()].encode()))
    return tuple(sorted(edits))


def _prose(tree: Tree) -> Iterator[Node]:
    comments = tree.language.tokens.comments
    stack = [tree.root]
    while stack:
        node = stack.pop()
        if node.type in comments or is_docstring(tree.language, node):
            yield node
        else:
            stack.extend(node.named_children)
