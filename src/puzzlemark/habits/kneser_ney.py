"""An n-gram model with interpolated modified Kneser-Ney smoothing, in sorted integer arrays.

Chen and Goodman (1999), with the choices of KenLM's `lmplz`: no pruning, an open vocabulary, and a
begin and an end around every sentence. An n-gram is one integer, `id of its first n-1 symbols *
symbols + last symbol`, and its id is its place among the sorted ones: a look-up is a binary search,
and whole batches are looked up at once. The arrays are plain files that processes share.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

UNKNOWN, BEGIN, END = 0, 1, 2  # symbols that are no words; the words come after them
WORDS = 3
FALLBACK = (0.5, 1.0, 1.5)  # lmplz --discount_fallback: for data too small to count counts
_MISSING = -1


@dataclass(frozen=True, slots=True)
class KneserNey:
    """Log probabilities (base 10) of every n-gram seen, and what backing off from it costs.

    Index 0 of each tuple is about single symbols, index 1 about pairs, and so on.
    """

    symbols: Integers  # of every word there may be; UNKNOWN for those never seen
    keys: tuple[Integers, ...]  # sorted; a single symbol is its own key, so the first is empty
    log_p: tuple[Floats, ...]
    backoff: tuple[Floats, ...]  # none for the longest n-grams: nothing is longer
    discounts: tuple[tuple[float, float, float], ...]

    @property
    def order(self) -> int:
        """How long the longest n-grams are."""
        return len(self.log_p)

    def encode(self, words: Integers) -> Integers:
        """A sentence in symbols, with its begin and end."""
        return np.concatenate(([BEGIN], self.symbols[words], [END]))

    def log_probabilities(self, rows: Integers) -> Floats:
        """Of each symbol, given the symbols before it in its row (as many as the model knows).

        Sentences may follow each other in one row: nothing was ever seen across END and BEGIN,
        so that nothing before a BEGIN counts. The figure of a BEGIN itself means nothing.
        """
        ids = [rows]
        result = self.log_p[0][rows]
        for n in range(2, self.order + 1):  # n-grams that start in each column
            context = ids[-1][:, :-1]
            ids.append(self._find(n, context, rows[:, n - 1 :]))
            backed_off = result[:, n - 1 :] + _pick(self.backoff[n - 2], context, 0.0)
            result[:, n - 1 :] = _pick(self.log_p[n - 1], ids[-1], backed_off)
        return result

    def save(self, folder: Path) -> None:
        """Write the arrays; `open_model` finds them."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "symbols.npy", self.symbols)
        np.save(folder / "discounts.npy", np.array(self.discounts))
        for name, arrays in (("keys", self.keys), ("log_p", self.log_p), ("back", self.backoff)):
            for n, array in enumerate(arrays, start=1):
                np.save(folder / f"{name}{n}.npy", array)

    def _find(self, n: int, context: Integers, last: Integers) -> Integers:
        """The ids of n-grams, given the ids of all but their last symbols; -1 where unseen."""
        known = self.keys[n - 1]
        if not len(known):
            return np.full(last.shape, _MISSING)
        wanted = context * len(self.log_p[0]) + last
        place = np.searchsorted(known, wanted)
        place[place == len(known)] = 0
        return np.where((known[place] == wanted) & (context >= 0), place, _MISSING)


def open_model(folder: Path) -> KneserNey:
    """A saved model. Its arrays are mapped, not read: processes on one machine share them."""

    def every(name: str) -> tuple[NDArray[Any], ...]:
        count = len(list(folder.glob(f"{name}*.npy")))
        return tuple(_map(folder / f"{name}{n}.npy") for n in range(1, count + 1))

    return KneserNey(
        np.load(folder / "symbols.npy"),
        every("keys"),
        every("log_p"),
        every("back"),
        tuple((a, b, c) for a, b, c in np.load(folder / "discounts.npy").tolist()),
    )


def fit(
    sentences: Iterable[Sequence[int] | Integers],
    words: int,
    *,
    order: int = 4,
    discounts: Sequence[tuple[float, float, float]] | None = None,
) -> KneserNey:
    """A model of sentences of words 0 to `words` - 1; discounts are estimated unless given."""
    said = [np.asarray(sentence, np.int64) for sentence in sentences]
    symbols = _number(said, words)
    size = WORDS + int((symbols != UNKNOWN).sum())
    text = [part for s in said for part in ([BEGIN], symbols[s], [END])]
    grams = _count(np.concatenate([np.zeros(0, np.int64), *text]), size, order)
    estimated = discounts or [estimate_discounts(each.counts) for each in grams]
    log_p, backoff = _smooth(grams, size, estimated)
    keys = (np.zeros(0, np.int64), *(each.keys for each in grams[1:]))
    return KneserNey(symbols, keys, log_p, backoff, tuple(estimated))


def estimate_discounts(counts: Integers) -> tuple[float, float, float]:
    """D1, D2 and D3+ from how many n-grams have the (adjusted) counts 1, 2, 3 and 4.

    Chen and Goodman, equation 26. Where the data is too small or too odd for it (one of the
    first three is missing, or a discount is not above 0 and at most its count), the fallback.
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(np.float64)
    if not n[:3].all():
        return FALLBACK
    ratio = n[0] / (n[0] + 2 * n[1])
    one, two, three = (float(k - (k + 1) * ratio * n[k] / n[k - 1]) for k in (1, 2, 3))
    fits = 0 < one <= 1 and 0 < two <= 2 and 0 < three <= 3
    return (one, two, three) if fits else FALLBACK


@dataclass(frozen=True, slots=True)
class _Grams:
    """The distinct n-grams of one order, by key."""

    keys: Integers
    counts: Integers  # adjusted: see `_count`
    suffixes: Integers  # id of the (n-1)-gram without the first symbol
    contexts: Integers  # id of the (n-1)-gram without the last symbol


def _number(sentences: Sequence[Integers], words: int) -> Integers:
    """The symbol of each word, by word number: UNKNOWN when it is never said."""
    said = np.zeros(words, np.bool_)
    for sentence in sentences:
        said[sentence] = True
    return np.where(said, WORDS - 1 + np.cumsum(said), UNKNOWN)


def _count(text: Integers, size: int, order: int) -> list[_Grams]:
    """The n-grams of all orders, with adjusted counts.

    The longest n-grams count how often they occur, shorter ones how many different symbols they
    follow. Nothing precedes a BEGIN: what starts with it counts how often it occurs.
    """
    ids = text  # at each place of the text the n-gram that starts there, or -1
    nothing = np.zeros(size, np.int64)
    raw = np.bincount(text, minlength=size)
    grams = [_Grams(np.arange(size), raw, nothing, nothing)]
    starts_sentence = np.arange(size) == BEGIN
    for n in range(2, order + 1):
        here = np.flatnonzero(ids[:-1] != _MISSING)
        here = here[text[here + n - 1] != BEGIN]
        keys, first, at, raw = np.unique(
            ids[here] * size + text[here + n - 1],
            return_index=True, return_inverse=True, return_counts=True,
        )  # fmt: skip
        suffixes = ids[here[first] + 1]
        grams[-1] = _adjust(grams[-1], suffixes, starts_sentence)
        starts_sentence = starts_sentence[keys // size]
        grams.append(_Grams(keys, raw, suffixes, keys // size))
        ids = np.full(max(len(ids) - 1, 0), _MISSING)
        ids[here] = at
    grams[0].counts[[UNKNOWN, BEGIN]] = 0  # never predicted
    return grams


def _adjust(grams: _Grams, suffixes: Integers, starts_sentence: NDArray[np.bool_]) -> _Grams:
    followed = np.bincount(suffixes, minlength=len(grams.keys))
    counts = np.where(starts_sentence, grams.counts, followed)
    return _Grams(grams.keys, counts, grams.suffixes, grams.contexts)


def _smooth(
    grams: Sequence[_Grams], size: int, discounts: Sequence[tuple[float, float, float]]
) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
    """Interpolate each order with the one below; single symbols with the uniform distribution."""
    p: list[Floats] = [np.array([1.0 / (size - 1)])]  # of every symbol but BEGIN
    backoff: list[Floats] = []
    for each, (one, two, three) in zip(grams, discounts, strict=True):
        discount = np.array([0.0, one, two, three])[np.minimum(each.counts, 3)]
        contexts = 1 if not backoff else len(p[-1])
        total = np.bincount(each.contexts, each.counts, minlength=contexts)
        freed = np.bincount(each.contexts, discount, minlength=contexts)
        # what ends a sentence is nobody's context; an empty corpus leaves it all to the uniform
        share = np.divide(freed, total, out=np.ones(contexts), where=total > 0)
        direct = np.divide(each.counts - discount, total[each.contexts],
                           out=np.zeros(len(each.keys)), where=each.counts > 0)  # fmt: skip
        p.append(direct + share[each.contexts] * p[-1][each.suffixes])
        backoff.append(share)
    return tuple(map(np.log10, p[1:])), tuple(map(np.log10, backoff[1:]))


def _pick(values: Floats, ids: Integers, otherwise: Floats | float) -> Floats:
    """The value of each id, or what stands in its place otherwise."""
    result = np.broadcast_to(np.asarray(otherwise, np.float64), ids.shape).copy()
    seen = ids >= 0
    result[seen] = values[ids[seen]]
    return result


def _map(path: Path) -> NDArray[Any]:
    try:
        mapped: NDArray[Any] = np.load(path, mmap_mode="r")
    except ValueError:  # an empty array cannot be mapped
        mapped = np.load(path)
    return mapped
