"""The attacker's own marks: embedded into clean code with keys of his own, and learnt from.

A key draws each name with a known chance, so he need not draw: a variable of clean code counts as
marked under each name of its set, with the chance of that name as its weight, and as unmarked under
its own. That is the mean over all keys, without the noise of any.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.detectors._shadow_cells import Cell
from puzzlemark.detectors._shadow_guessing import SURELY, Chances, Guess, Integers, Seen, normal

Features = NDArray[np.float64]
Scores = NDArray[np.float64]

FEWEST = 50  # variables of clean code that could carry; with fewer there is nothing to learn from


@dataclass(frozen=True)
class Knowledge:
    """What is known of every cell, whatever it is called."""

    seen: Seen
    weights: Chances  # of the prior, without the cell itself
    guesses: Mapping[str, Guess]
    akin: NDArray[np.bool_]  # which members begin other words of the snippet: `idx` and `idxs`
    traits: Features  # the same under any name

    @classmethod
    def of(cls, seen: Seen, weights: Chances, guesses: Mapping[str, Guess]) -> "Knowledge":
        """Take stock."""
        return cls(seen, weights, guesses, seen.marks(_is_akin), _traits(seen, normal(weights)))

    def prior(self, cells: Integers, members: Integers) -> Chances:
        """The owner's prior of some cells, if by nature they had these names."""
        weights = self.weights[cells]
        weights[np.arange(len(cells)), members] += 1.0
        return normal(weights)

    def features(self, cells: Integers, members: Integers) -> Features:
        """All that speaks for or against a mark, if some cells had these names."""
        rows = np.arange(len(cells))
        prior = np.log(normal(self.weights[cells])[rows, members] + SURELY)
        columns = [self.seen.numbers[cells] * self.seen.widest + members, prior]
        for guess in self.guesses.values():
            chances = np.log(guess.chances[cells] + SURELY)
            own = chances[rows, members]
            chances[rows, members] = -np.inf
            # how likely, how much likelier than the key would draw it, and against the best other
            columns += [own, own - prior, chances.max(axis=1) - own, guess.support[cells]]
        akin = self.akin[cells]
        own_akin = akin[rows, members]
        columns += [own_akin, akin.sum(axis=1) - own_akin]
        lengths = self._lengths(cells, members)
        columns += [lengths, lengths - self.traits[cells, -1]]
        return np.column_stack([*columns, self.traits[cells]]).astype(np.float64)

    def _lengths(self, cells: Integers, members: Integers) -> Features:
        numbers = self.seen.numbers[cells].tolist()
        pairs = zip(numbers, members.tolist(), strict=True)
        return np.array([len(self.seen.sets[number][member]) for number, member in pairs], float)


def entropies(prior: Chances) -> Scores:
    """In nats."""
    found: Scores = -(prior * np.log(np.maximum(prior, SURELY))).sum(axis=1)
    return found


def score(
    known: Knowledge,
    *,
    learnt: Integers,
    judged: Integers,
    draws: Chances,
    rate: float,
    seed: int,
) -> Scores:
    """The chance that each judged cell carries, by gradient boosting on marks of one's own.

    `learnt` are cells of clean code that could carry.
    """
    model = _learn(known, learnt, draws, rate, seed)
    scores: Scores = model.predict_proba(known.features(judged, known.seen.members[judged]))[:, 1]
    return scores


def guess_score(known: Knowledge, judged: Integers, draws: Chances, rate: float) -> Scores:
    """The same by Bayes' rule from the language model alone: where there is too little to learn."""
    members = known.seen.members[judged]
    by_nature = known.guesses["words"].chances[judged, members]
    by_key = draws[judged, members]
    chances: Scores = rate * by_key / (rate * by_key + (1 - rate) * by_nature)
    return chances


def _learn(known: Knowledge, cells: Integers, draws: Chances, rate: float, seed: int) -> Any:
    """Boost on every cell as it is, and under every name that a key could draw."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    own = known.seen.members[cells]
    features = [known.features(cells, own)]
    labels = [np.zeros(len(cells))]
    weights = [np.full(len(cells), 1.0 - rate)]
    for member in range(known.seen.widest):
        drawn = cells[draws[cells, member] > SURELY]
        features.append(known.features(drawn, np.full(len(drawn), member)))
        labels.append(np.ones(len(drawn)))
        weights.append(rate * draws[drawn, member])
    model = HistGradientBoostingClassifier(
        max_iter=150,
        learning_rate=0.06,
        max_leaf_nodes=15,
        min_samples_leaf=40,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )
    return model.fit(
        np.vstack(features), np.concatenate(labels), sample_weight=np.concatenate(weights)
    )


def _is_akin(cell: Cell, name: str) -> bool:
    """Whether another word of the snippet begins with a name, or is one of its words."""
    whole = name.lower()
    return any(word == whole or (len(whole) > 2 and word.startswith(whole)) for word in cell.words)


def _traits(seen: Seen, prior: Chances) -> Features:
    rows = [
        (
            number,
            cell.is_inside,
            cell.occurrences,
            cell.lines,
            len(cell.locals),
            len(cell.words),
            cell.function,
            np.mean([len(name) <= 3 for name in cell.locals]) if cell.locals else -1.0,
            np.mean([len(name) for name in cell.locals]) if cell.locals else 0.0,
        )
        for cell, number in zip(seen.cells, seen.numbers.tolist(), strict=True)
    ]
    return np.column_stack([entropies(prior), np.array(rows, float).reshape(len(rows), 9)])
