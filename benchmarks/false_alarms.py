"""How often each test accuses an innocent model: `false_alarms.py [--models 1000]`.

Every model is innocent: none has seen a mark. They differ in how often they hit by habit, and in
which arms. The tests are those of the product, run on simulated outcomes.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.evidence import AGAINST, Against, Outcome, count
from puzzlemark.verification.findings import TestName, find
from puzzlemark.verification.verdict import is_shown

Hits = NDArray[np.bool_]  # pairs by arms: armed, control, placebo
Innocent = Callable[[np.random.Generator, int, float], Hits]
Alarms = Counter[tuple[TestName, Against]]

ALPHA = 0.05
RATES = (0.0, 0.006, 0.01, 0.02, 0.05)
TESTS: tuple[TestName, ...] = (
    "fisher two-sided",
    "fisher one-sided",
    "mcnemar two-sided",
    "mcnemar one-sided",
    "e-process",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=1000, help="of each kind and rate")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    table = {
        (kind, rate): alarms_of(model, rate, options.models, options.pairs, rng)
        for kind, model in KINDS.items()
        for rate in RATES
    }
    print(f"{options.models:,} innocent models a row, {options.pairs} pairs each, alpha {ALPHA}")
    for against in AGAINST:
        print_table(against, table, options.models)


def compose(rng: np.random.Generator, pairs: int, rate: float) -> Hits:
    """Joins names that stand in the prompt; in the control the prefix is gone."""
    hits = rng.random((pairs, 3)) < rate
    hits[:, 1] = False
    return hits


def compose_unevenly(rng: np.random.Generator, pairs: int, rate: float) -> Hits:
    """As before, but joins the placebo's prefix half as readily: no arm is a fair control."""
    hits = compose(rng, pairs, rate)
    hits[:, 2] &= rng.random(pairs) < 0.5
    return hits


def hit_alike(rng: np.random.Generator, pairs: int, rate: float) -> Hits:
    """Hits by habit in all three arms."""
    return rng.random((pairs, 3)) < rate


def hit_alike_by_snippet(rng: np.random.Generator, pairs: int, rate: float) -> Hits:
    """As before, but snippets differ: the arms of one snippet correlate with 0.5."""
    own = rng.beta(rate, 1 - rate, size=(pairs, 1)) if rate else np.zeros((pairs, 1))
    hits: Hits = rng.random((pairs, 3)) < own
    return hits


KINDS: dict[str, Innocent] = {
    "composes names": compose,
    "hits in all arms alike": hit_alike,
    "the same, arms correlated": hit_alike_by_snippet,
    "composes, placebo half as readily": compose_unevenly,
}


def alarms_of(
    model: Innocent, rate: float, models: int, pairs: int, rng: np.random.Generator
) -> Alarms:
    alarms: Alarms = Counter()
    for _ in range(models):
        alarms.update(accusers([Outcome(*row) for row in model(rng, pairs, rate).tolist()]))
    return alarms


def accusers(outcomes: list[Outcome]) -> Iterator[tuple[TestName, Against]]:
    for against in AGAINST:
        for finding in find(outcomes, count(outcomes, against), alpha=ALPHA):
            if is_shown(finding):
                yield finding.test, against


def print_table(against: Against, table: dict[tuple[str, float], Alarms], models: int) -> None:
    print(f"\nAgainst the {against}\n")
    print("| innocent model | hit rate | " + " | ".join(TESTS) + " |")
    print("|---" * (2 + len(TESTS)) + "|")
    for (kind, rate), alarms in table.items():
        cells = [cell(alarms[test, against], models) for test in TESTS]
        print(f"| {kind} | {rate:.1%} | " + " | ".join(cells) + " |")


def cell(alarms: int, models: int) -> str:
    rate = estimate(alarms, models)
    excess = "**" * (rate.low > ALPHA)  # more than alpha, beyond chance
    return f"{excess}{rate.rate:.1%}{excess} ({rate.low:.1%}-{rate.high:.1%})"


if __name__ == "__main__":
    main()
