"""What the sequential test saves, and what looking early costs: `sequential.py [--runs 4000]`."""

import argparse

import numpy as np
from numpy.typing import NDArray

from puzzlemark.statistics.exact import mcnemar_boundary
from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.power import plan
from puzzlemark.verification.tests import sequential
from puzzlemark.verification.tests.fisher import fisher_boundary

Hits = NDArray[np.bool_]  # runs by pairs

PAPER = 500  # pairs that the paper always asks
LIMIT = 1000  # pairs after which the simulations give up
STEP = 25  # pairs between two looks
ALPHA = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print_savings(options.runs, rng)
    print_false_alarms(options.runs, rng)


def print_savings(runs: int, rng: np.random.Generator) -> None:
    print(
        f"Pairs until the e-process stops: {runs:,} simulated runs a row, at most {LIMIT} pairs\n"
    )
    print("| hit rate | control | stop at | median, computed | median | 90 % by | saved |")
    print("|---|---|---|---|---|---|---|")
    for hit_rate, control_rate in ((0.6, 0.0), (0.3, 0.0), (0.1, 0.0), (0.3, 0.02), (0.1, 0.02)):
        armed, control = draw(rng, runs, hit_rate), draw(rng, runs, control_rate)
        for alpha in (0.05, 1e-3, 1e-6):
            computed = plan(
                "sequential", hit_rate=hit_rate, control_rate=control_rate, alpha=alpha
            ).median_pairs
            stops = stopping_pairs(armed, control, alpha)
            saved = 1 - np.minimum(stops, PAPER).mean() / PAPER
            print(
                f"| {hit_rate:.0%} | {control_rate:.0%} | {1 / alpha:g} | {computed} "
                f"| {np.median(stops):.0f} | {np.quantile(stops, 0.9):.0f} | {saved:.0%} |"
            )


def print_false_alarms(runs: int, rng: np.random.Generator) -> None:
    print(f"\nInnocent models accused, alpha {ALPHA}: {runs:,} runs a row, {LIMIT} pairs\n")
    print(
        f"| hit rate in both arms | Fisher, once | Fisher, every {STEP} | McNemar, once "
        f"| McNemar, every {STEP} | e-process, every pair |\n|---|---|---|---|---|---|"
    )
    for rate in (0.01, 0.05, 0.2, 0.5):
        armed, control = draw(rng, runs, rate), draw(rng, runs, rate)
        fisher, mcnemar = fisher_looks(armed, control), mcnemar_looks(armed, control)
        watched = stopping_pairs(armed, control, ALPHA) <= LIMIT
        accused = (fisher[:, -1], ever(fisher), mcnemar[:, -1], ever(mcnemar), watched)
        print(f"| {rate:.0%} | " + " | ".join(share(each) for each in accused) + " |")


def draw(rng: np.random.Generator, runs: int, rate: float) -> Hits:
    return rng.random((runs, LIMIT)) < rate


def stopping_pairs(armed: Hits, control: Hits, alpha: float) -> NDArray[np.int64]:
    """The pair at which each run stops; LIMIT + 1 where it does not."""
    armed_only = (armed & ~control).cumsum(axis=1)
    discordant = (armed ^ control).cumsum(axis=1)
    crossed = armed_only >= np.array(sequential.boundary(LIMIT, alpha))[discordant]
    return np.where(crossed.any(axis=1), crossed.argmax(axis=1) + 1, LIMIT + 1)


def fisher_looks(armed: Hits, control: Hits) -> Hits:
    """Whether the two-sided test accuses, at every look."""
    looks = []
    for pairs in range(STEP, LIMIT + 1, STEP):
        armed_hits, control_hits = armed[:, :pairs].sum(axis=1), control[:, :pairs].sum(axis=1)
        fewest = np.array(fisher_boundary(pairs, int(control_hits.max()), ALPHA))
        looks.append(armed_hits >= fewest[control_hits])
    return np.stack(looks, axis=1)


def mcnemar_looks(armed: Hits, control: Hits) -> Hits:
    """Whether the one-sided test accuses, at every look."""
    armed_only = (armed & ~control).cumsum(axis=1)[:, STEP - 1 :: STEP]
    discordant = (armed ^ control).cumsum(axis=1)[:, STEP - 1 :: STEP]
    looks: Hits = armed_only >= np.array(mcnemar_boundary(LIMIT, ALPHA))[discordant]
    return looks


def ever(looks: Hits) -> Hits:
    """Whether any look accuses."""
    return np.asarray(looks.any(axis=1))


def share(accused: Hits) -> str:
    rate = estimate(int(accused.sum()), len(accused))
    return f"{rate.rate:.1%} ({rate.low:.1%}-{rate.high:.1%})"


if __name__ == "__main__":
    main()
