"""Python: a docstring is the first statement of the body; a cookie names the file's encoding."""

import io
import re
import tokenize
from collections.abc import Sequence

import tree_sitter

from puzzlemark.harvesting.idioms.base import Documentation
from puzzlemark.syntax.tree import Tree

CLASSES = frozenset({"class_definition"})
_QUOTED = re.compile(r'[uUrR]{0,2}("""|\'\'\'|"|\')(.*)\1', re.DOTALL)


def decode(content: bytes) -> str:
    """Decode by byte order mark or coding cookie (PEP 263), else as UTF-8."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except UnicodeDecodeError as exc:
        raise ValueError(f"not valid {exc.encoding}") from exc
    except (SyntaxError, LookupError) as exc:
        raise ValueError("unknown or contradictory encoding") from exc


def find_documentation(
    tree: Tree,
    function: tree_sitter.Node,
    comments: Sequence[tree_sitter.Node],  # noqa: ARG001
) -> Documentation:
    """The docstring as it is spelled, without its quotes; the indentation of its lines stays."""
    body = function.child_by_field_name("body")
    assert body is not None, "a Python function always has a body"
    first = next((each for each in body.named_children if each.type != "comment"), None)
    if first is None or first.type != "expression_statement" or first.named_child_count != 1:
        return Documentation()
    literal = first.named_children[0]
    quoted = _QUOTED.fullmatch(tree.text(literal)) if literal.type == "string" else None
    return Documentation(quoted[2].strip(), literal) if quoted else Documentation()
