"""Where a language keeps its classes and its documentation; one file per language."""

from puzzlemark.plugins import Shape

SHAPE = Shape("a language's idiom", "module", "Idiom")
