"""What harvesting must know about a language, beside its grammar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import tree_sitter

from puzzlemark import plugins
from puzzlemark.syntax.tree import Tree


@dataclass(frozen=True, slots=True)
class Documentation:
    """The text that documents a function, and its node when it stands inside the function."""

    text: str = ""
    inside: tree_sitter.Node | None = None


class Idiom(Protocol):
    """What each file of this folder offers."""

    CLASSES: frozenset[str]  # node types whose name qualifies the functions in them

    def decode(self, content: bytes) -> str:
        """The text of a source file; raises ValueError with the reason."""
        ...

    def find_documentation(
        self, tree: Tree, function: tree_sitter.Node, comments: Sequence[tree_sitter.Node]
    ) -> Documentation:
        """A function's documentation; `comments` are those directly before it."""
        ...


def load_idiom(language: str) -> Idiom:
    """The idiom of a language."""
    found: Idiom = plugins.find("harvesting.idioms", language)
    return found
