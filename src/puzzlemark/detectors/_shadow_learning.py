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

from puzzlemark.habits.guessing import SURELY, Guess, normal
from puzzlemark.habits.seen import Chances, Integers, Seen

Features = NDArray[np.float64]
Scores = NDArray[np.float64]

FEWEST = 50  # variables of clean code that could carry; with fewer there is nothing to learn from


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """What is known of the variables that could carry, whatever they are called."""

    seen: Seen
    rows: Integers  # which of all that were seen; all else here is in their order
    prior: Chances  # of the scheme, as far as it can be rebuilt
    guesses: Mapping[str, Guess]

    @property
    def members(self) -> Integers:
        """The name that each has."""
        members: Integers = self.seen.members[self.rows]
        return members

    def features(self, cells: Integers, members: Integers) -> Features:
        """All that speaks for or against a mark, if some of them had these names."""
        at, rows = np.arange(len(cells)), self.rows[cells]
        prior = np.log(self.prior[cells][at, members] + SURELY)
        columns = [self.seen.numbers[rows] * self.seen.widest + members, prior]
        for guess in self.guesses.values():
            chances = np.log(guess.chances[cells] + SURELY)
            own = chances[at, members]
            chances[at, members] = -np.inf
            # how likely, how much likelier than the key would draw it, and against the best other
            columns += [own, own - prior, chances.max(axis=1) - own, guess.support[cells]]
        akin = self.seen.akin[rows]
        own_akin = akin[at, members]
        columns += [own_akin, akin.sum(axis=1) - own_akin]
        lengths, traits = self.seen.lengths[rows][at, members], self.seen.traits[rows]
        columns += [lengths, lengths - traits[:, -1]]
        columns += [self.seen.numbers[rows], entropies(self.prior[cells])]
        return np.column_stack([*columns, traits]).astype(np.float64)


def entropies(prior: Chances) -> Scores:
    """In nats."""
    found: Scores = -(prior * np.log(np.maximum(prior, SURELY))).sum(axis=1)
    return found


def priors_by_project(
    seen: Seen, rows: Integers, is_suspect: NDArray[np.bool_], pull: float
) -> Chances:
    """The rule of the prior `project`: counts of the project + `pull` x the global share.

    What the owner counts are the places of his dataset that could carry a mark, the variable itself
    among them. A variable of clean code is not: it is counted in for once.
    """
    ours = np.zeros(len(seen), np.bool_)
    ours[rows[is_suspect]] = True
    everywhere = seen.count_others(seen.groups(), ours, rows, folds=False)
    counts = seen.count_others(seen.groups("project"), ours, rows, folds=False)
    own = np.flatnonzero(~is_suspect)
    counts[own, seen.members[rows[own]]] += 1.0
    return normal(counts + pull * normal(everywhere) + SURELY * seen.in_set[rows])


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
    scores: Scores = model.predict_proba(known.features(judged, known.members[judged]))[:, 1]
    return scores


def guess_score(known: Knowledge, judged: Integers, draws: Chances, rate: float) -> Scores:
    """The same by Bayes' rule from one guess alone: where there is too little to learn."""
    members = known.members[judged]
    guess = known.guesses["reading" if "reading" in known.guesses else "project"]
    by_nature = guess.chances[judged, members]
    by_key = draws[judged, members]
    chances: Scores = rate * by_key / (rate * by_key + (1 - rate) * by_nature)
    return chances


def _learn(known: Knowledge, cells: Integers, draws: Chances, rate: float, seed: int) -> Any:
    """Boost on every cell as it is, and under every name that a key could draw."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    own = known.members[cells]
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
