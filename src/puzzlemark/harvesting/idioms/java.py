"""Java: Javadoc stands before the method and is no part of its code."""

import re
from collections.abc import Sequence

import tree_sitter

from puzzlemark.harvesting.idioms.base import Documentation
from puzzlemark.syntax.tree import Tree

CLASSES = frozenset(
    "class_declaration interface_declaration enum_declaration record_declaration "
    "annotation_type_declaration".split()
)
_STAR = re.compile(r"^\s*\*? ?", re.MULTILINE)


def decode(content: bytes) -> str:
    """Decode as UTF-8, with or without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ValueError("not valid utf-8") from exc


def find_documentation(
    tree: Tree,
    function: tree_sitter.Node,  # noqa: ARG001
    comments: Sequence[tree_sitter.Node],
) -> Documentation:
    """The nearest Javadoc before the method, without its stars."""
    for comment in reversed(comments):
        text = tree.text(comment)
        if text.startswith("/**") and len(text) > len("/**/"):
            lines = text[3:-2].splitlines()
            return Documentation("\n".join(_STAR.sub("", line).rstrip() for line in lines).strip())
    return Documentation()
