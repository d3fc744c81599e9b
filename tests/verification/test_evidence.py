from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.verification.evidence import AGAINST, FAIR, Outcome, count

ARM = st.sampled_from([True, False, None])
OUTCOMES = st.lists(st.builds(Outcome, ARM, ARM, ARM), max_size=30)


def test_a_hand_counted_run_has_each_pair_in_its_cell() -> None:
    outcomes = [
        Outcome(armed=True, control=True),
        Outcome(armed=True, control=False),
        Outcome(armed=True, control=False),
        Outcome(armed=False, control=True),
        Outcome(armed=False, control=False),
        Outcome(armed=None, control=True),
        Outcome(armed=True, control=None),
    ]
    table = count(outcomes, "control")
    assert (table.both, table.armed_only, table.control_only, table.neither) == (1, 2, 1, 1)
    assert (table.pairs, table.armed_hits, table.control_hits) == (5, 3, 2)
    assert table.failed == 2
    assert table.failed_share == 2 / 7


def test_a_failed_arm_is_never_scored_as_a_miss() -> None:
    table = count([Outcome(armed=True, control=None, placebo=False)], "control")
    assert table.pairs == 0
    assert table.failed == 1
    assert count([Outcome(armed=True, control=None, placebo=False)], "placebo").armed_only == 1


def test_no_outcomes_count_to_nothing() -> None:
    table = count([], "placebo")
    assert (table.pairs, table.failed, table.failed_share) == (0, 0, 0.0)


def test_only_a_fixed_prefix_has_a_placebo_to_beat_and_every_scheme_has_its_control() -> None:
    assert FAIR == {
        "fixed": ("placebo", "control"),
        "universal": ("control",),
        "trigger": ("control",),
    }


@given(OUTCOMES)
def test_every_outcome_is_counted_once(outcomes: Sequence[Outcome]) -> None:
    for against in AGAINST:
        table = count(outcomes, against)
        assert table.pairs + table.failed == len(outcomes)
        answered = [o for o in outcomes if o.armed is not None and getattr(o, against) is not None]
        assert table.pairs == len(answered)
        assert table.armed_hits == sum(bool(o.armed) for o in answered)
        assert table.control_hits == sum(bool(getattr(o, against)) for o in answered)
