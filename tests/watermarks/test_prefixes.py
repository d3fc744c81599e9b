"""Probes about prefixes that a stranger wrote: what would make the ranks unequal is refused."""

from collections.abc import Sequence

from puzzlemark.watermarks._pools import Subset
from puzzlemark.watermarks.base import Arm, Probe
from puzzlemark.watermarks.prefixes import why_not_asked, why_uneven

PYTHON = Subset("python", 1, 4)


def asked(names: Sequence[str], frame: str = "{} = 1\nzebra = {}\n") -> list[Probe]:
    return [
        Probe({"armed": Arm(frame.format(name, name), {name: f"{name}_zebra"})}, subset=PYTHON)
        for name in names
    ]


def test_every_prefix_of_the_pool_in_the_same_words_is_fair() -> None:
    probes = asked(PYTHON.pool)
    assert why_uneven(probes) is None
    assert not any(why_not_asked(probe) for probe in probes)


def test_a_prefix_that_is_not_asked_about_or_in_other_words_is_noticed() -> None:
    assert "199 of 200" in (why_uneven(asked(PYTHON.pool[1:])) or "")
    other = asked(PYTHON.pool[:1], "{} = 2\nzebra = {}\n")
    assert why_uneven([*asked(PYTHON.pool[1:]), *other]) is not None


def test_the_sign_that_stands_for_a_prefix_is_refused_in_a_prompt() -> None:
    """A decoy with that sign in its place has the frame of the others, and cannot be joined."""
    name = PYTHON.pool[0]
    hollow = Arm(f"\0 = 1\nzebra = \0\n# {name}\n", {name: f"{name}_zebra"})
    assert "no text has" in (why_not_asked(Probe({"armed": hollow}, subset=PYTHON)) or "")
