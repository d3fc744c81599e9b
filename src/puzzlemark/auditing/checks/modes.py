"""The permissions of files do not tell which hold carriers."""

from collections.abc import Iterator

from puzzlemark.auditing.checks.base import Evidence, Observation, View, compare_parts

ABOUT = "permissions of the files"
VIEW: View = "marked"


def inspect(evidence: Evidence) -> Iterator[Observation]:
    """One change of mode for all files, or none."""
    modes = [(old.stat().st_mode, new.stat().st_mode) for old, new in evidence.paths]
    carriers = [evidence.carriers_of(at) for at in range(len(modes))]
    yield compare_parts(modes, carriers, ABOUT, "file")
