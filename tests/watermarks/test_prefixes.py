"""Probes about prefixes that a stranger wrote: what would make the ranks unequal is refused."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from puzzlemark.verification.checking import ProbesError, check_probes
from puzzlemark.watermarks._pools import Subset
from puzzlemark.watermarks.base import Arm, Probe
from puzzlemark.watermarks.prefixes import DESIGN, why_not_asked, why_several_subsets, why_uneven

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


def test_another_prefix_of_the_pool_in_the_words_of_a_frame_is_refused() -> None:
    """It would be asked about in the frames of all, and favoured."""
    hinting = f"{{}} = 1\nzebra = {{}}  # not {PYTHON.pool[7]}\n"
    reasons = [why_not_asked(probe) for probe in asked(PYTHON.pool[:5], hinting)]
    assert all("stands in its prompt" in (reason or "") for reason in reasons)


@pytest.mark.parametrize("other", [replace(PYTHON, number=5), replace(PYTHON, beacon="a" * 64)])
def test_two_subsets_of_a_pool_are_refused(other: Subset) -> None:
    """The first four of five are the four: what happened once would count as happened twice."""
    assert why_several_subsets(asked(PYTHON.pool)) is None
    more = [replace(each, subset=other) for each in asked(PYTHON.pool, "{} = 2\nzebra = {}\n")]
    with pytest.raises(ProbesError, match="more than one subset of a pool"):
        check_probes(DESIGN, [*asked(PYTHON.pool), *more])


def test_two_pools_have_one_beacon() -> None:
    java = Subset("java", 1, 4, "a" * 64)
    probes = [*asked(PYTHON.pool), replace(asked(PYTHON.pool)[0], subset=java)]
    assert "more than one beacon" in (why_several_subsets(probes) or "")


def test_a_language_in_another_spelling_is_another_subset_of_the_key_and_refused() -> None:
    for spelling in ("Python", "py", " python"):
        assert "is spelled" in (replace(PYTHON, language=spelling).why_not() or "")
    assert PYTHON.why_not() is None


def test_a_beacon_that_is_no_digest_is_refused() -> None:
    assert "no SHA-256" in (replace(PYTHON, beacon="my own words").why_not() or "")
