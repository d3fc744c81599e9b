"""What made a file: every artefact of ours says which versions it came from."""

import platform
from importlib.metadata import version

PARTS = ("puzzlemark", "tree-sitter", "tree-sitter-python", "tree-sitter-java")


def versions() -> dict[str, str]:
    """Versions of PuzzleMark, of Python, and of the parser and grammars that decide the marks."""
    return {"python": platform.python_version(), **{part: version(part) for part in PARTS}}
