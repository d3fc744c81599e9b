import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from puzzlemark.errors import UsageError
from puzzlemark.statistics.exact import (
    fisher,
    holm,
    log10_ratio,
    mcnemar,
    mcnemar_boundary,
    mcnemar_two_sided,
)

RATIOS = [Fraction(1), Fraction("2.6"), Fraction(5), Fraction("1.25")]


@st.composite
def tables(draw: st.DrawFn, most: int = 40) -> tuple[int, int, int, int]:
    armed, control = draw(st.integers(1, most)), draw(st.integers(1, most))
    return draw(st.integers(0, armed)), armed, draw(st.integers(0, control)), control


def slow_fisher(hits: int, armed: int, others: int, control: int) -> tuple[Fraction, Fraction]:
    """One-sided and two-sided, every split written out."""
    total = hits + others
    chances = {
        at: Fraction(
            math.comb(armed, at) * math.comb(control, total - at),
            math.comb(armed + control, total),
        )
        for at in range(total + 1)
    }
    one = sum((p for at, p in chances.items() if at >= hits), Fraction(0))
    two = sum((p for p in chances.values() if p <= chances[hits]), Fraction(0))
    return one, two


@given(tables())
def test_fisher_is_the_ratio_of_counts(table: tuple[int, int, int, int]) -> None:
    one, two = slow_fisher(*table)
    assert fisher(*table, two_sided=False).p == float(one)
    assert fisher(*table, two_sided=True).p == float(two)


@given(tables(most=300))
@settings(deadline=None)
def test_fisher_is_scipys(table: tuple[int, int, int, int]) -> None:
    hits, armed, others, control = table
    cells = [[hits, armed - hits], [others, control - others]]
    for two_sided, alternative in ((True, "two-sided"), (False, "greater")):
        expected = stats.fisher_exact(cells, alternative=alternative).pvalue
        found = fisher(*table, two_sided=two_sided)
        assert found.p == pytest.approx(expected, rel=1e-7)
        assert 10**found.log10_p == pytest.approx(found.p, rel=1e-9)


@given(tables())
def test_fisher_two_sided_knows_no_first_arm(table: tuple[int, int, int, int]) -> None:
    hits, armed, others, control = table
    swapped = fisher(others, control, hits, armed, two_sided=True)
    assert fisher(*table, two_sided=True) == swapped


@given(tables())
def test_both_one_sided_tests_cover_the_whole(table: tuple[int, int, int, int]) -> None:
    hits, armed, others, control = table
    either = (
        fisher(*table, two_sided=False).p + fisher(others, control, hits, armed, two_sided=False).p
    )
    assert either >= 1.0 or either == pytest.approx(1.0)
    assert fisher(*table, two_sided=False).p <= 1.0


@given(tables())
def test_one_more_armed_hit_never_weakens_the_evidence(table: tuple[int, int, int, int]) -> None:
    hits, armed, others, control = table
    if hits < armed:
        more = fisher(hits + 1, armed, others, control, two_sided=False)
        assert more.log10_p <= fisher(*table, two_sided=False).log10_p


def test_six_against_none_is_significant_and_five_is_so_on_one_side_only() -> None:
    for n, p in ((50, 0.0267), (500, 0.0308), (1000, 0.0310)):
        assert fisher(6, n, 0, n, two_sided=True).p == pytest.approx(p, abs=5e-5)
    assert fisher(5, 500, 0, 500, two_sided=True).p == pytest.approx(0.062, abs=0.001)
    assert fisher(5, 500, 0, 500, two_sided=False).p == pytest.approx(0.031, abs=0.001)


def test_log10_p_never_underflows() -> None:
    for n in (600, 1000):
        found = fisher(n, n, 0, n, two_sided=False)
        exact = -math.log10(math.comb(2 * n, n))
        assert found.p == 0.0
        assert found.log10_p == pytest.approx(exact, rel=1e-14)
        expected = stats.hypergeom.logsf(n - 1, 2 * n, n, n) / math.log(10)
        assert found.log10_p == pytest.approx(expected, rel=1e-9)
    assert mcnemar(5000, 0).log10_p == pytest.approx(-5000 * math.log10(2), rel=1e-12)


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from(RATIOS))
def test_mcnemar_is_scipys_binomial_test(
    armed_only: int, control_only: int, ratio: Fraction
) -> None:
    n, null = armed_only + control_only, float(ratio / (1 + ratio))
    greater = stats.binomtest(armed_only, n, null, alternative="greater").pvalue if n else 1.0
    either = stats.binomtest(armed_only, n).pvalue if n else 1.0
    assert mcnemar(armed_only, control_only, ratio=ratio).p == pytest.approx(greater, rel=1e-9)
    assert mcnemar_two_sided(armed_only, control_only).p == pytest.approx(either, rel=1e-7)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_ratio_of_counts(armed_only: int, control_only: int) -> None:
    n = armed_only + control_only
    outcomes = sum(math.comb(n, heads) for heads in range(armed_only, n + 1))
    assert mcnemar(armed_only, control_only).p == float(Fraction(outcomes, 2**n))


def test_five_discordant_pairs_of_five_make_one_in_thirty_two() -> None:
    assert mcnemar(5, 0).p == 1 / 32
    assert mcnemar_two_sided(5, 0).p == 1 / 16
    assert mcnemar(0, 5).p == 1.0
    assert mcnemar(0, 0).p == 1.0


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("alpha", [0.05, 1 / 32, 0.5, 1e-6])
def test_the_boundary_of_mcnemar_is_where_its_p_falls_below_alpha(
    alpha: float, ratio: Fraction
) -> None:
    for n, fewest in enumerate(mcnemar_boundary(80, alpha, ratio)):
        assert fewest == n + 1 or mcnemar(fewest, n - fewest, ratio=ratio).p < alpha
        assert mcnemar(fewest - 1, n - fewest + 1, ratio=ratio).p >= alpha


@given(st.lists(st.floats(-400, 0), min_size=1, max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_what_its_steps_reject(log10_ps: list[float], alpha: float) -> None:
    adjusted = holm(log10_ps)
    k = len(log10_ps)
    going = True
    for i, index in enumerate(sorted(range(k), key=lambda j: log10_ps[j]), start=1):
        line = math.log10(alpha / (k - i + 1))
        if math.isclose(log10_ps[index], line, abs_tol=1e-9):
            return  # rounding decides
        going = going and log10_ps[index] <= line
        assert (adjusted[index] <= math.log10(alpha)) == going


def test_holm_by_hand() -> None:
    ps = [0.04, 0.01, 0.03]
    adjusted = [10**a for a in holm([math.log10(p) for p in ps])]
    assert adjusted == pytest.approx([0.06, 0.03, 0.06])
    assert holm([]) == ()
    assert holm([-0.1, -0.1]) == (0.0, 0.0)


def test_ratios_of_any_size_have_a_logarithm() -> None:
    assert log10_ratio(10**5000, 1) == pytest.approx(5000)
    assert log10_ratio(1, 10**5000) == pytest.approx(-5000)
    assert log10_ratio(10**5000 + 1, 10**5000) == 0.0


@pytest.mark.parametrize("table", [(3, 2, 0, 5), (-1, 2, 0, 5), (1, 2, 6, 5)])
def test_hits_that_are_not_among_the_trials_are_refused(table: tuple[int, int, int, int]) -> None:
    with pytest.raises(UsageError, match="hits are counted among the trials"):
        fisher(*table, two_sided=True)
