"""What made a file: every artefact of ours says which versions it came from."""

import platform
from importlib.metadata import PackageNotFoundError, version

PARSING = ("tree-sitter", "tree-sitter-python", "tree-sitter-java")  # they decide the marks


def versions(*parts: str) -> dict[str, str]:
    """Of Python, of PuzzleMark and of the packages named; what is not installed is left out.

    Without a name: of the parser and the grammars.
    """
    found = {"python": platform.python_version()}
    for part in ("puzzlemark", *(parts or PARSING)):
        try:
            found[part] = version(part)
        except PackageNotFoundError:
            continue
    return found
