"""The gain of taking a piece out, against writing the sample out without it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.detectors._naturalness import Gains, measure_gains
from puzzlemark.habits.kneser_ney import KneserNey, fit

WORDS = 8
sentences = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=10), min_size=1, max_size=8)
# pieces 0 and 1 have no name, 2 and 3 share one
NAMES = np.array([-1, -1, 0, 0, 1, 2, 3, 4])


def cross_entropy(model: KneserNey, words: list[int]) -> float:
    """Written out: everything is looked up again."""
    row = model.encode(np.array(words, np.int64))
    return -float(model.log_probabilities(row[None])[0, 1:].sum()) / len(words)


def naive_gains(model: KneserNey, words: list[int]) -> dict[int, float]:
    """Take out each piece in turn; a later occurrence of a name overwrites the earlier."""
    gains: dict[int, float] = {}
    for j, word in enumerate(words):
        if NAMES[word] >= 0:
            rest = words[:j] + words[j + 1 :]
            fall = cross_entropy(model, words) - cross_entropy(model, rest) if rest else 0.0
            gains[int(NAMES[word])] = max(0.0, fall)
    return gains


@given(sentences, sentences, st.integers(2, 4))
def test_gains_are_those_of_writing_each_sample_out_without_the_piece(
    clean: list[list[int]], samples: list[list[int]], order: int
) -> None:
    model = fit(clean, words=WORDS, order=order)
    found = measure_gains(model, [np.array(s, np.int64) for s in samples], NAMES)
    assert (np.diff(found.samples) >= 0).all()
    for nth, words in enumerate(samples):
        mine = found.samples == nth
        got = dict(zip(found.names[mine].tolist(), found.gains[mine].tolist(), strict=True))
        expected = naive_gains(model, words)
        assert got.keys() == expected.keys()
        for name, gain in expected.items():
            assert got[name] == pytest.approx(gain, abs=1e-12)


def test_gains_on_longer_text_agree_with_the_naive_ones() -> None:
    rng = np.random.default_rng(5)
    model = fit([(rng.zipf(1.5, 30) % WORDS).tolist() for _ in range(60)], words=WORDS)
    samples = [(rng.zipf(1.5, 40) % WORDS).tolist() for _ in range(10)]
    found = measure_gains(model, [np.array(s) for s in samples], NAMES)
    for nth, words in enumerate(samples):
        mine = found.samples == nth
        got = dict(zip(found.names[mine].tolist(), found.gains[mine].tolist(), strict=True))
        assert got == pytest.approx(naive_gains(model, words), abs=1e-12)
        assert any(got.values())


def test_a_strange_piece_gains_and_an_expected_one_does_not() -> None:
    clean = [[0, 1, 4, 5, 6]] * 20 + [[0, 1, 4, 6, 5]] * 2
    gains = measure_gains(fit(clean, words=WORDS), [np.array([0, 1, 7, 4, 5, 6])], NAMES)
    by_name = dict(zip(gains.names.tolist(), gains.gains.tolist(), strict=True))
    assert by_name[NAMES[7]] > 0.3
    assert by_name[NAMES[5]] == 0.0


def test_no_samples_and_samples_of_nothing_have_no_gains() -> None:
    model = fit([[2, 4]], words=WORDS)
    for samples in ([], [np.zeros(0, np.int64)], [np.array([0, 1])]):
        assert len(measure_gains(model, samples, NAMES).gains) == 0


def test_a_piece_alone_is_seen_but_gains_nothing() -> None:
    gains = measure_gains(fit([[2, 4]], words=WORDS), [np.array([7])], NAMES)
    assert (gains.names.tolist(), gains.gains.tolist()) == ([4], [0.0])


def test_the_best_are_counted_in_each_sample_and_ties_go_to_the_first_name() -> None:
    gains = Gains(
        np.array([0, 0, 0, 1, 1, 1]),
        np.array([3, 4, 5, 3, 4, 5]),
        np.array([0.1, 0.3, 0.2, 0.5, 0.5, 0.5]),
    )
    assert gains.best(2).tolist() == [False, True, True, True, True, False]
    assert gains.best(1).tolist() == [False, True, False, True, False, False]
    assert gains.best(9).all()


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9), st.floats(0, 5)), max_size=60),
    st.integers(1, 4),
    st.lists(st.integers(0, 20), max_size=5),
)
def test_sums_of_parts_add_up_to_those_of_the_whole(
    drawn: list[tuple[int, int, float]], k: int, cuts: list[int]
) -> None:
    entries = sorted({(sample, name): gain for sample, name, gain in drawn}.items())
    samples = np.array([sample for (sample, _), _ in entries], np.int64)
    names = np.array([name for (_, name), _ in entries], np.int64)
    gains = np.array([gain for _, gain in entries])
    totals = np.zeros(10)
    for a, b in pairwise([0, *sorted(cuts), 21]):
        mine = (samples >= a) & (samples < b)
        part = Gains(samples[mine] - a, names[mine], gains[mine]).sum_best(k)
        totals[part.best] += part.total
    slow = np.zeros(10)
    for sample in range(21):
        of_sample = [(-gain, name) for (s, name), gain in entries if s == sample]
        for gain, name in sorted(of_sample)[:k]:
            slow[name] -= gain
    assert totals == pytest.approx(slow)
