"""The n-gram model against hand-computed fractions, a slow twin, nltk, and the laws of chance."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.lm import KneserNeyInterpolated

from puzzlemark.habits.kneser_ney import (
    BEGIN,
    END,
    FALLBACK,
    UNKNOWN,
    KneserNey,
    estimate_discounts,
    fit,
    open_model,
)
from tests.habits.slow_kneser_ney import SlowKneserNey

WORDS = 7
texts = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=12), min_size=1, max_size=12)


def probabilities(model: KneserNey, words: Sequence[int]) -> list[float]:
    """Of each word and of the end."""
    row = model.encode(np.array(words, np.int64))
    return [float(10**x) for x in model.log_probabilities(row[None])[0, 1:]]


def given_context(model: KneserNey, context: Sequence[int], symbol: int) -> float:
    row = np.array([[*context, symbol]])
    return float(10 ** model.log_probabilities(row)[0, -1])


def test_a_bigram_model_of_two_sentences_has_the_probabilities_counted_by_hand() -> None:
    # a b / a c: pairs <s>a twice, ab, ac, b</s>, c</s> once; D = (0.5, 1, 1.5) at both orders
    model = fit([[0, 1], [0, 2]], words=3, order=2, discounts=[FALLBACK, FALLBACK])
    # different symbols before: a 1 (<s>), b 1 (a), c 1 (a), </s> 2 (b, c): 5 in all
    # what the discounts free: (0.5 + 0.5 + 0.5 + 1) / 5 = 1/2, for five symbols 1/10 each
    p_a = Fraction(1, 10) + Fraction(1, 10)  # (1 - 1/2)/5 + 1/10
    p_end = Fraction(1, 5) + Fraction(1, 10)  # (2 - 1)/5 + 1/10
    p_unknown = Fraction(1, 10)
    assert probabilities(model, [0, 1]) == pytest.approx(
        [
            (2 - 1) / 2 + 1 / 2 * p_a,  # a after <s>: seen twice, of two
            (1 - 0.5) / 2 + (0.5 + 0.5) / 2 * p_a,  # b after a; alone b is as likely as a
            (1 - 0.5) / 1 + 0.5 * p_end,  # </s> after b
        ]
    )
    assert given_context(model, [BEGIN], UNKNOWN) == pytest.approx(float(p_unknown / 2))
    assert given_context(model, [UNKNOWN], END) == pytest.approx(float(p_end))


def test_discounts_follow_from_counts_of_counts_by_hand() -> None:
    counts = np.array([1] * 10 + [2] * 4 + [3] * 2 + [4] + [9])
    y = 10 / (10 + 2 * 4)
    expected = (1 - 2 * y * 4 / 10, 2 - 3 * y * 2 / 4, 3 - 4 * y * 1 / 2)
    assert estimate_discounts(counts) == pytest.approx(expected)


@pytest.mark.parametrize(
    "counts",
    [[], [1, 1, 2, 2], [2, 3, 4], [1, 2, 3, 3, 3, 3, 3, 3]],
    ids=["nothing", "no threes", "no ones", "a negative discount"],
)
def test_data_too_small_for_discounts_gets_the_fallback(counts: list[int]) -> None:
    assert estimate_discounts(np.array(counts, np.int64)) == FALLBACK


def test_what_begins_a_sentence_keeps_its_raw_count() -> None:
    # <s> a is seen three times, though nothing precedes it; a trigram model sees the pair
    model = fit([[0, 1], [0, 2], [0, 3], [4]], words=5, order=3, discounts=[FALLBACK] * 3)
    slow = SlowKneserNey([[0, 1], [0, 2], [0, 3], [4]], 3)
    assert slow.counts[2][("<s>", 0)] == 3
    assert probabilities(model, [0]) == pytest.approx([float(p) for p in slow.sentence([0])])


@given(texts, st.integers(1, 4), st.lists(st.integers(0, WORDS - 1), max_size=8))
def test_it_agrees_with_the_slow_and_obvious_model(
    sentences: list[list[int]], order: int, asked: list[int]
) -> None:
    model = fit(sentences, words=WORDS, order=order)
    slow = SlowKneserNey(sentences, order)
    assert np.allclose(model.discounts, np.array(slow.discounts, float))
    expected = [float(p) for p in slow.sentence(asked)]
    assert probabilities(model, asked) == pytest.approx(expected, rel=1e-12)


def test_it_agrees_with_the_slow_model_where_discounts_are_estimated() -> None:
    # enough text that no order falls back
    rng = np.random.default_rng(4)
    sentences = [(rng.zipf(1.6, rng.integers(1, 12)) % 40).tolist() for _ in range(150)]
    model, slow = fit(sentences, words=40), SlowKneserNey(sentences, 4)
    assert FALLBACK not in model.discounts
    assert np.allclose(model.discounts, np.array(slow.discounts, float))
    for asked in (*sentences[:10], [1, 1, 5, 39, 2], [38, 37, 36]):
        expected = [float(p) for p in slow.sentence(asked)]
        assert probabilities(model, asked) == pytest.approx(expected, rel=1e-12)


@given(texts, st.lists(st.integers(0, WORDS - 1), max_size=3), st.booleans())
def test_probabilities_sum_to_one_after_any_context(
    sentences: list[list[int]], context: list[int], from_the_begin: bool
) -> None:
    model = fit(sentences, words=WORDS)
    symbols = model.symbols[np.array(context, np.int64)].tolist()
    before = [BEGIN, *symbols] if from_the_begin else symbols
    vocabulary = [s for s in range(len(model.log_p[0])) if s != BEGIN]
    assert UNKNOWN in vocabulary
    total = sum(given_context(model, before, symbol) for symbol in vocabulary)
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_with_a_single_discount_it_agrees_with_nltk(order: int) -> None:
    """Where the two overlap: full contexts, one discount for all counts, none for single words.

    nltk has no raw counts for shorter n-grams that begin a sentence (it divides by zero there),
    and does not interpolate single words with the uniform distribution.
    """
    rng = np.random.default_rng(2)
    sentences = [rng.integers(0, 8, rng.integers(3, 15)).tolist() for _ in range(80)]
    theirs = KneserNeyInterpolated(order, discount=0.3)
    text = [["<s>", *map(str, sentence), "</s>"] for sentence in sentences]
    lengths = range(1, order + 1)
    grams = [tuple(s[i : i + n]) for n in lengths for s in text for i in range(len(s) - n + 1)]
    theirs.fit([grams], vocabulary_text=[w for s in text for w in s])
    one, none = (0.3, 0.3, 0.3), (1e-13, 1e-13, 1e-13)
    ours = fit(sentences, words=8, order=order, discounts=[none, *[one] * (order - 1)])
    for asked in (*sentences[:10], [7, 6, 5, 4, 3, 2, 1, 0], [0, 0, 0, 0, 0]):
        said = ["<s>", *map(str, asked), "</s>"]
        found = probabilities(ours, asked)
        for i in range(order - 1, len(said)):
            expected = theirs.score(said[i], said[i - order + 1 : i])
            assert found[i - 1] == pytest.approx(expected, rel=1e-9)


@given(texts, st.lists(st.lists(st.integers(0, WORDS - 1), max_size=6), max_size=4))
def test_sentences_in_one_row_do_not_see_each_other(
    sentences: list[list[int]], asked: list[list[int]]
) -> None:
    model = fit(sentences, words=WORDS)
    rows = [model.encode(np.array(words, np.int64)) for words in [*asked, []]]
    together = model.log_probabilities(np.concatenate(rows)[None])[0]
    apart = np.concatenate([model.log_probabilities(row[None])[0] for row in rows])
    counted = np.concatenate(rows) != BEGIN
    assert np.array_equal(together[counted], apart[counted])


def test_a_word_never_said_is_unknown_and_still_possible() -> None:
    model = fit([[0, 1, 0]], words=3)
    assert model.encode(np.array([0, 2])).tolist() == [BEGIN, model.symbols[0], UNKNOWN, END]
    assert all(0 < p < 1 for p in probabilities(model, [0, 2]))


def test_a_model_of_nothing_knows_only_that_a_sentence_ends() -> None:
    model = fit([], words=3)
    assert probabilities(model, []) == pytest.approx([0.5])  # the end, or a word unknown
    assert probabilities(fit([[]], words=3), [])[0] > 0.5


def test_a_saved_model_is_the_same_when_it_is_opened(tmp_path: Path) -> None:
    corpora: tuple[list[list[int]], ...] = ([[0, 1, 2, 3, 0, 1], [1, 2]], [[]])
    for nth, sentences in enumerate(corpora):
        model = fit(sentences, words=4)
        model.save(tmp_path / str(nth))
        opened = open_model(tmp_path / str(nth))
        assert opened.discounts == model.discounts
        assert probabilities(opened, [0, 1, 3]) == probabilities(model, [0, 1, 3])
