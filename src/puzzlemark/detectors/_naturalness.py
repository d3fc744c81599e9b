"""How much more natural code becomes when a piece is taken out of it (KillBadCode)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from puzzlemark.habits.kneser_ney import BEGIN, Floats, Integers, KneserNey


class Sums(NamedTuple):
    """What some names gain over some samples."""

    best: Integers  # the names, ascending
    total: Floats


@dataclass(frozen=True, slots=True)
class Gains:
    """For some samples, each name that occurs in one, and the gain of its last occurrence."""

    samples: Integers  # ascending; the sample's place among those given
    names: Integers
    gains: Floats

    def best(self, k: int) -> NDArray[np.bool_]:
        """Which of them are among the k largest of their sample; of equals, the first name."""
        order = np.lexsort((self.names, -self.gains, self.samples))
        ordered = self.samples[order]
        rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
        chosen = np.zeros(len(order), np.bool_)
        chosen[order[rank < k]] = True
        return chosen

    def sum_best(self, k: int) -> Sums:
        """What each name gains in the samples where it is among the k largest."""
        best = self.best(k)
        names, at = np.unique(self.names[best], return_inverse=True)
        total: Floats = np.bincount(at, self.gains[best], len(names)).astype(np.float64)
        return Sums(names.astype(np.int64), total)


def measure_gains(model: KneserNey, samples: Sequence[Integers], names: Integers) -> Gains:
    """The gains of all names in samples of pieces; `names` is each piece's name, -1 for none.

    The cross-entropy of n pieces is `-log10 P(<s> pieces </s>) / n`; a gain is what it falls by
    without the piece, and 0 where it rises. It takes a few look-ups a piece: all but the next
    `order - 1` conditional probabilities stay.
    """
    text = np.concatenate([np.zeros(0, np.int64), *map(model.encode, samples)])
    lengths = np.array([len(sample) for sample in samples], np.int64)
    starts = np.cumsum(lengths + 2) - (lengths + 2)
    where, sample, name = _find_last(samples, starts, names)
    log_p = np.where(text == BEGIN, 0.0, model.log_probabilities(text[None])[0])
    totals = np.bincount(np.repeat(np.arange(len(samples)), lengths + 2), log_p, len(samples))
    ends = (starts + lengths + 1)[sample]
    n, total = lengths[sample], totals[sample]
    without = total + _change(model, text, log_p, where, ends)
    # one piece alone leaves nothing to compare with
    fall = np.where(n > 1, without / np.maximum(n - 1, 1) - total / np.maximum(n, 1), 0.0)
    return Gains(sample, name, np.maximum(fall, 0.0))


def _find_last(
    samples: Sequence[Integers], starts: Integers, names: Integers
) -> tuple[Integers, Integers, Integers]:
    """Place in the text, sample and name of each name's last occurrence in each sample."""
    lengths = [len(sample) for sample in samples]
    sample = np.repeat(np.arange(len(samples)), lengths)
    name = names[np.concatenate([np.zeros(0, np.int64), *samples])]
    at = np.concatenate([np.zeros(0, np.int64), *map(np.arange, lengths)]) + 1 + starts[sample]
    eligible = np.flatnonzero(name >= 0)[::-1]  # the last comes first, and unique keeps the first
    size = int(names.max(initial=0)) + 1
    _, first = np.unique(sample[eligible] * size + name[eligible], return_index=True)
    chosen = eligible[first]
    return at[chosen], sample[chosen], name[chosen]


def _change(
    model: KneserNey, text: Integers, log_p: Floats, where: Integers, ends: Integers
) -> Floats:
    """By how much the log probability of a sentence changes without the symbol at each place."""
    reach = model.order - 1
    around = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
    places = np.clip(where[:, None] + around, 0, max(len(text) - 1, 0))
    joined = model.log_probabilities(text[places])[:, reach:]
    after = where[:, None] + np.arange(1, reach + 1)
    inside = after <= ends[:, None]
    before = log_p[np.minimum(after, len(text) - 1)]
    changes: Floats = np.where(inside, joined - before, 0.0).sum(axis=1) - log_p[where]
    return changes
