"""Programming languages, as tables: grammar, naming convention, node types. Almost no code."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a language", "object", "Language")
