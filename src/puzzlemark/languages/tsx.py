"""TypeScript with JSX: files called `.tsx`, in which `<T>x` is an element and no cast."""

from dataclasses import replace

from puzzlemark.languages.base import Grammar
from puzzlemark.languages.typescript import JSX
from puzzlemark.languages.typescript import PLUGIN as TYPESCRIPT

PLUGIN = replace(
    TYPESCRIPT,
    name="tsx",
    title="TSX",
    aliases=frozenset({"typescriptreact"}),
    grammar=Grammar("tree_sitter_typescript", "language_tsx"),
    measures=replace(
        TYPESCRIPT.measures,
        expressions=TYPESCRIPT.measures.expressions | JSX,
    ),
    extensions=(".tsx",),
)
