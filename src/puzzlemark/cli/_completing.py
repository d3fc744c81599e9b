"""What a shell offers for the value of an option; nothing is loaded until a shell asks.

`typer.Option(autocompletion=names_of("attacks"))`: the names of the attacks that begin like what
was typed. Where none does, the shell offers files.
"""

from collections.abc import Callable, Iterable

Complete = Callable[[str], list[str]]


def one_of(*words: str) -> Complete:
    """A list that is known: `one_of("tiny", "small", "full")("s") -> ["small"]`."""
    return lambda incomplete: _beginning(words, incomplete)


def names_of(package: str) -> Complete:
    """The plug-ins of a package: `names_of("engines")("s") -> ["serial"]`."""

    def complete(incomplete: str) -> list[str]:
        from puzzlemark import plugins

        return _beginning(plugins.names(package), incomplete)

    return complete


def marks(incomplete: str) -> list[str]:
    """The paper's marks, then the watermarks: `marks("U") -> ["U1", "U2"]`."""
    from puzzlemark import plugins
    from puzzlemark.watermarks.base import named

    return _beginning((*sorted(named()), *plugins.names("watermarks")), incomplete)


def features(incomplete: str) -> list[str]:
    """The features: `features("m") -> ["mlcn", "mdt"]`."""
    from puzzlemark.features.measure import FEATURES

    return _beginning(FEATURES, incomplete)


def with_commas(complete: Complete) -> Complete:
    """Several values in one: `with_commas(marks)("P1,U") -> ["P1,U1", "P1,U2"]`."""

    def complete_last(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{each}" for each in complete(last)]

    return complete_last


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
