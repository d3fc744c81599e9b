"""What made a file: every artefact of ours says which versions it came from."""

import platform
from importlib.metadata import PackageNotFoundError, version


def versions(*parts: str) -> dict[str, str]:
    """Of Python, of PuzzleMark and of the packages named; what is not installed is left out.

    `versions(*parsing_packages())` are those of all that decides how code is read.
    """
    found = {"python": platform.python_version()}
    for part in ("puzzlemark", *parts):
        try:
            found[part] = version(part)
        except PackageNotFoundError:
            continue
    return found
