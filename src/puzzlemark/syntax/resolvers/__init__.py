"""Scopes: one file per language, found by the language's name. No file: the language is refused."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a resolver of scopes", "module", "syntax.variables:Resolver")
