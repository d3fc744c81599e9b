"""Scopes of TypeScript with JSX: those of TypeScript, and JSX's tags."""

from dataclasses import replace

from tree_sitter import Node

from puzzlemark.syntax.resolvers._scopes import resolve_by
from puzzlemark.syntax.resolvers.javascript import TABLE as JAVASCRIPT
from puzzlemark.syntax.resolvers.typescript import TABLE as TYPESCRIPT
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function

TABLE = replace(
    TYPESCRIPT,
    harmless=TYPESCRIPT.harmless | {"html_character_reference"},
    doubtful={**JAVASCRIPT.doubtful, **TYPESCRIPT.doubtful},
    plain=(TYPESCRIPT.plain - {"type_assertion"})
    | frozenset(kind for kind in JAVASCRIPT.plain if kind.startswith("jsx_")),
)


def resolve(tree: Tree, node: Node) -> Function:
    """The variables of a function, those of the closures inside it as well."""
    return resolve_by(TABLE, tree, node)
