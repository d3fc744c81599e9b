"""All guesses made into one: how likely nature would have chosen each member of a set.

A log-linear model (conditional logit) weighs the guesses. It is fitted to the names that people
gave, each guess of which was made without the variable's own fold, so its chances are calibrated:
of the names to which it gives 30 %, about 30 % are the ones that stand there. A name that is drawn
with these chances is as surprising as one that was chosen, and no more.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from puzzlemark.habits.guessing import (
    Guess,
    guess_by_bags,
    guess_by_counts,
    guess_by_reading,
    normal,
)
from puzzlemark.habits.seen import TRAITS, Chances, Integers, Seen

Features = NDArray[np.float64]  # by variable, member, feature
Weights = NDArray[np.float64]  # of each feature

LEAST = 1e-4  # of a chance, in a logarithm
SUPPORT = 3.0  # observations from which on a context is trusted more than half
RIDGE = 1.0  # pull towards the usual weights, in observations
STEPS = 40
USUAL = 0.15  # of each guess, before anything is fitted


def guess_all(seen: Seen, rows: Integers) -> dict[str, Guess]:
    """Every guess about some variables."""
    return {
        **guess_by_counts(seen, rows),
        **guess_by_bags(seen, rows),
        **guess_by_reading(seen, rows),
    }


def choose(seen: Seen, rows: Integers, guesses: Mapping[str, Guess] | None = None) -> Chances:
    """How likely each member is, for some variables; languages are fitted one by one.

    Nothing depends on how many workers read the dataset, or on a key.
    """
    if not len(rows):
        return np.zeros((0, seen.widest))
    features, usual = _features(seen, rows, guess_all(seen, rows) if guesses is None else guesses)
    in_set, members = seen.in_set[rows], seen.members[rows]
    spoken = np.array([language for language, _ in seen.sets])[seen.numbers[rows]]
    chances = np.zeros(in_set.shape)
    for language in np.unique(spoken):
        here = spoken == language
        weights = _fit(features[here], members[here], in_set[here], usual)
        chances[here] = _chances(features[here], weights, in_set[here])
    return chances


def _features(seen: Seen, rows: Integers, guesses: Mapping[str, Guess]) -> tuple[Features, Weights]:
    """What speaks for each member, and the weights before anything is fitted."""
    in_set = seen.in_set[rows]
    columns: list[Chances] = []
    usual: list[float] = []
    for guess in guesses.values():
        logs = np.where(in_set, np.log(np.maximum(guess.chances, LEAST)), 0.0)
        columns.append(logs)
        usual.append(USUAL)
        if guess.support.any():
            columns.append(logs * (guess.support / (guess.support + SUPPORT))[:, None])
            usual.append(USUAL)
    _, lines, _, _, short, length = (seen.traits[rows, at] for at in range(len(TRAITS)))
    occurrences = seen.traits[rows, 0]
    long = np.log(seen.lengths[rows] + 1.0)
    habits = (  # the same for all members but for their length
        (length - 5.0) / 5.0,
        short - 0.4,
        np.log(np.maximum(lines, 1.0)),
        np.log(np.maximum(occurrences, 1.0)),
    )
    columns += [seen.akin[rows].astype(np.float64), long, *(long * h[:, None] for h in habits)]
    usual += [0.0] * (2 + len(habits))
    return np.stack(columns, axis=-1), np.array(usual)


def _chances(
    features: Features, weights: NDArray[np.float64], in_set: NDArray[np.bool_]
) -> Chances:
    scores = np.where(in_set, features @ weights, -np.inf)
    return normal(np.exp(scores - scores.max(axis=1, keepdims=True)))


def _fit(
    features: Features, members: Integers, in_set: NDArray[np.bool_], usual: Weights
) -> Weights:
    """The weights that make the names that stand there likeliest, by Newton's method.

    Rounded: the last digits, which may differ between machines, are no part of a prior.
    """
    rows, weights = np.arange(len(members)), usual.copy()
    ridge = RIDGE * np.eye(len(weights))
    for _ in range(STEPS):
        chances = _chances(features, weights, in_set)
        mean = np.einsum("nm,nmk->nk", chances, features)
        slope = (features[rows, members] - mean).sum(axis=0) - RIDGE * (weights - usual)
        spread = np.tensordot(features * chances[:, :, None], features, axes=((0, 1), (0, 1)))
        step = np.linalg.solve(spread - mean.T @ mean + ridge, slope)
        weights = weights + step * min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-12))
        if float(np.abs(step).max()) < 1e-7:
            break
    return np.round(weights, 4)
