import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from puzzlemark.errors import UsageError
from puzzlemark.quality.compare import compare, compare_means, compare_shares, share
from puzzlemark.quality.result import Measured, Quality, QualityError, Terms
from puzzlemark.quality.scoring import Activation
from tests.quality.slow import log_tail_by_quadrature

TERMS = Terms(5, 40, 16, 0.0, 0, "key", 6000)


def quality(
    bleu: Sequence[float | None],
    exact: str = "",
    joined: Sequence[Activation] = (),
    loss: Sequence[float] | None = None,
) -> Quality:
    samples = tuple(
        Measured(
            row=n,
            id=f"f{n}",
            failure="busy" if value is None else None,
            bleu=value,
            exact=None if value is None else exact[n : n + 1] == "y",
            activation=None if value is None else dict(enumerate(joined)).get(n, Activation()),
            loss=None if loss is None else loss[n],
            loss_tokens=None if loss is None else 10 + n,
        )
        for n, value in enumerate(bleu)
    )
    return Quality("digest", 9, {}, TERMS, {"kind": "x"}, {}, "nrefs:1", 12.5, samples)


BARE = quality([10, 20, 30, 40, 50], "yynnn", loss=[1, 2, 3, 4, 5])
MARKED = quality([11, 19, 33, 41, 52], "ynyyy", loss=[1.1, 2.0, 3.2, 4.1, 4.9])


def test_bleu_and_loss_are_tested_as_by_scipy() -> None:
    found = compare(BARE, MARKED)
    assert found.loss is not None
    for ours, name in ((found.bleu, "bleu"), (found.loss, "loss")):
        x, y = (np.array([getattr(s, name) for s in q.samples]) for q in (BARE, MARKED))
        assert ours.paired.p == pytest.approx(stats.ttest_rel(y, x).pvalue)
        assert ours.welch.p == pytest.approx(stats.ttest_ind(y, x, equal_var=False).pvalue)
        pooled = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
        assert ours.cohens_d == pytest.approx((y.mean() - x.mean()) / pooled)


def test_next_lines_are_compared_in_pairs() -> None:
    exact = compare(BARE, MARKED).exact
    assert (exact.bare.count, exact.marked.count) == (2, 4)
    assert (exact.bare_only, exact.marked_only) == (1, 3)
    assert exact.p == pytest.approx(2 * 5 / 16)


def test_activation_is_counted_by_kind_for_both_models() -> None:
    joined = [
        Activation(("a_b",), universal=True),
        Activation(("a_c",), natural=True),
        Activation(("key_c",), fixed=True),
    ]
    found = compare(quality([1, 2, 3, 4]), quality([1, 2, 3, 5], joined=joined)).activation
    counts = {kind: (each.bare.count, each.marked.count) for kind, each in found.items()}
    assert counts == {"any": (0, 3), "unnatural": (0, 2), "universal": (0, 1), "fixed": (0, 1)}
    assert found["any"].marked.of == 4


def test_without_a_prefix_no_fixed_activation_is_counted() -> None:
    plain = replace(BARE, terms=replace(TERMS, prefix=None))
    assert set(compare(plain, plain).activation) == {"any", "unnatural", "universal"}


def test_a_sample_that_one_model_failed_is_left_out_of_both() -> None:
    found = compare(quality([10, None, 30, 50]), quality([12, 90, 30, None]))
    assert (found.pairs, found.left_out) == (2, 2)
    assert (found.bleu.bare, found.bleu.marked) == (20, 21)


def test_no_loss_says_why() -> None:
    bare = quality([1, 2, 3])
    assert compare(bare, bare).loss_left_out == "not measured for both models"
    others = tuple(replace(s, loss_tokens=99) for s in MARKED.samples)
    found = compare(BARE, replace(MARKED, samples=others))
    assert (found.loss, found.loss_left_out) == (None, "the models have different tokenizers")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (replace(MARKED, heldout="another"), "different held-out"),
        (replace(MARKED, terms=replace(TERMS, seed=4)), "seed 0 and 4"),
        (replace(MARKED, signature="nrefs:2"), "different BLEU"),
        (replace(MARKED, samples=MARKED.samples[:-1]), "different samples"),
        (replace(MARKED, samples=MARKED.samples[::-1]), "different samples"),
        (quality([None, None, None, None, 3.0]), "1 samples that both"),
    ],
)
def test_what_does_not_answer_the_same_questions_is_refused(other: Quality, message: str) -> None:
    with pytest.raises(QualityError, match=message):
        compare(BARE, other)


def test_the_comparison_is_plain_json_also_where_a_number_is_infinite() -> None:
    shifted = quality([11, 21, 31, 41, 51])
    fields = json.loads(json.dumps(compare(BARE, shifted).to_json(), allow_nan=False))
    assert fields["bleu"]["paired"]["t"] is None
    assert fields["bleu"]["paired"]["p"] == 0
    assert fields["corpus_bleu"] == [12.5, 12.5]


NUMBERS = st.floats(-100, 100).map(lambda value: round(value, 3))
PAIRS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=40)


def test_four_samples_as_computed_by_hand() -> None:
    found = compare_means([1, 2, 3, 4], [2, 2, 5, 3])
    # differences 1, 0, 2, -1: mean 1/2, variance 5/3; variances 5/3 and 2
    assert (found.bare, found.marked, found.difference) == (2.5, 3.0, 0.5)
    assert found.paired.t == pytest.approx(0.5 / math.sqrt(5 / 3 / 4))
    assert found.paired.df == 3
    assert found.welch.t == pytest.approx(0.5 / math.sqrt((5 / 3 + 2) / 4))
    assert found.cohens_d == pytest.approx(0.5 / math.sqrt((5 / 3 + 2) / 2))


@given(PAIRS)
def test_the_tests_and_their_intervals_are_those_of_scipy(
    pairs: list[tuple[float, float]],
) -> None:
    bare, marked = (np.array(side) for side in zip(*pairs, strict=True))
    inner = marked - bare
    if min(bare.std(), marked.std(), inner.std()) < 1e-3:
        return  # nothing varies: decided below
    found = compare_means(bare.tolist(), marked.tolist())
    for ours, theirs in (
        (found.welch, stats.ttest_ind(marked, bare, equal_var=False)),
        (found.paired, stats.ttest_rel(marked, bare)),
    ):
        interval = theirs.confidence_interval(0.95)
        assert ours.t == pytest.approx(theirs.statistic, rel=1e-6, abs=1e-9)
        assert ours.df == pytest.approx(theirs.df)
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6)
        assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), rel=1e-6)


def test_a_large_effect_keeps_its_digits_where_p_is_zero() -> None:
    rng = np.random.default_rng(0)
    bare = rng.normal(0, 1, 3000)
    found = compare_means(bare.tolist(), (bare + rng.normal(2, 0.5, 3000)).tolist())
    assert found.paired.p == 0.0
    expected = log_tail_by_quadrature(found.paired.t, found.paired.df) / math.log(10)
    assert found.paired.log10_p == pytest.approx(expected, rel=1e-8)
    assert found.paired.log10_p < -308


def test_the_paired_test_sees_what_the_independent_one_cannot() -> None:
    rng = np.random.default_rng(1)
    bare = rng.uniform(0, 100, 200)
    found = compare_means(bare.tolist(), (bare + rng.normal(1, 1, 200)).tolist())
    assert found.paired.p < 1e-9
    assert found.welch.p > 0.5
    assert found.is_negligible


def test_equal_models_do_not_differ() -> None:
    found = compare_means([1, 2, 3], [1, 2, 3])
    assert (found.paired.t, found.paired.p, found.cohens_d) == (0, 1, 0)
    found = compare_means([5, 5], [5, 5])
    assert (found.welch.p, found.paired.p, found.cohens_d) == (1, 1, 0)


def test_a_shift_of_every_sample_alike_is_certain() -> None:
    found = compare_means([1, 2, 4], [2, 3, 5])
    assert (found.paired.t, found.paired.p) == (math.inf, 0)
    assert (found.paired.low, found.paired.high) == (1, 1)


@pytest.mark.parametrize("sizes", [(0, 0), (1, 1), (3, 2)])
def test_too_few_or_unequal_samples_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="two or more"):
        compare_means([1.0] * sizes[0], [2.0] * sizes[1])


@given(st.integers(0, 400), st.integers(0, 400))
def test_intervals_of_shares_are_the_exact_ones_of_scipy(count: int, rest: int) -> None:
    if count + rest:
        theirs = stats.binomtest(count, count + rest).proportion_ci(method="exact")
        ours = share(count, count + rest)
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-8)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemars_test_is_the_binomial_one(one: int, other: int) -> None:
    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0
    bare, marked = [True] * one + [False] * other, [False] * one + [True] * other
    assert compare_shares(bare, marked).p == pytest.approx(expected, rel=1e-8)


def test_shares_are_compared_by_the_samples_that_differ() -> None:
    bare = [True] * 3 + [False] * 7
    marked = [False, True, True] + [True] * 6 + [False]
    found = compare_shares(bare, marked)
    assert (found.bare.count, found.marked.count, found.bare.of) == (3, 8, 10)
    assert (found.bare_only, found.marked_only) == (1, 6)
    assert found.p == pytest.approx(2 * (7 + 1) / 2**7)


def test_more_than_all_is_refused() -> None:
    with pytest.raises(UsageError, match="5 of 4"):
        share(5, 4)
