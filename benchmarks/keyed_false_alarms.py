"""False accusations of the codebook test: innocent models of every kind, thousands of keys.

    python -m benchmarks.keyed_false_alarms [--keys 10000] [--carriers 400] [--runs FOLDER ...]

Innocent means: the model does not depend on the key. For each model its answers are fixed, then so
many keys are drawn, and each is judged: how often does the evidence reach 1 / alpha? The bound is
alpha, for every model, every alpha, at the end and at any time before it. An interval is exact
(Clopper-Pearson, 95 %); a rate is above alpha when its whole interval is. With `--runs` models are
real: folders that `verify` made, whose answers are judged with other keys than the owner's.
"""

import argparse
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from puzzlemark.statistics.evalues import Bet, bet_on_counts, bet_on_logprobs
from puzzlemark.statistics.rates import estimate
from puzzlemark.verification.run import read_answers
from puzzlemark.verification.tests.codebook import answered
from puzzlemark.verification.tests.codebook_logprobs import told
from puzzlemark.watermarks._draws import Draw

ALPHAS = (0.1, 0.05, 0.01, 1e-3, 1e-4)
SETS = (
    (("result", 90), ("res", 38), ("ret", 137), ("output", 15), ("out", 39)),
    (("i", 187), ("idx", 32), ("index", 22)),
    (("key", 76), ("k", 75)),
    (("e", 91), ("exc", 40), ("err", 32), ("error", 10), ("ex", 8)),
    (("item", 38), ("element", 5), ("entry", 7), ("elem", 3)),
    (("msg", 45), ("message", 11), ("never", 0)),
)  # as in public Python code
Answers = Mapping[str, int]
Model = Callable[[Draw, Random], Answers]


def silent(_draw: Draw, _rng: Random) -> Answers:
    """Never answers with a name of the set."""
    return {}


def most_frequent(draw: Draw, _rng: Random) -> Answers:
    """Always the most frequent name, twenty times of twenty."""
    return {max(draw.weights, key=lambda each: each[1])[0]: 20}


def rarest(draw: Draw, _rng: Random) -> Answers:
    """Always the rarest name."""
    return {min(draw.weights, key=lambda each: each[1])[0]: 5}


def natural(draw: Draw, rng: Random) -> Answers:
    """Answers as nature does, five samples."""
    names, weights = zip(*draw.weights, strict=True)
    return Counter(rng.choices(names, weights, k=5))


def uniform(draw: Draw, rng: Random) -> Answers:
    """Any name alike, one sample."""
    return {rng.choice(draw.weights)[0]: 1}


def one_mind(draw: Draw, _rng: Random) -> Answers:
    """The same name in every prompt of a set: answers that depend on each other wholly."""
    return {draw.weights[0][0]: 5}


def echo(draw: Draw, rng: Random) -> Answers:
    """Repeats one answer it once gave, ninety-nine times."""
    return {rng.choice(draw.weights)[0]: 99}


def other_key(draw: Draw, _rng: Random) -> Answers:
    """Trained on the same dataset, marked with another key, and remembers all of it."""
    return {draw.symbol(b"the other key"): 5}


def half_other_key(draw: Draw, rng: Random) -> Answers:
    """The same, remembered in half of the cases; else as nature does."""
    return other_key(draw, rng) if rng.random() < 0.5 else natural(draw, rng)


def flooded(draw: Draw, rng: Random) -> Answers:
    """A thousand samples as nature has them: the surest bets there are."""
    names, weights = zip(*draw.weights, strict=True)
    return Counter(rng.choices(names, weights, k=1000))


MODELS: dict[str, Model] = {
    "never answers": silent,
    "always the most frequent name": most_frequent,
    "always the rarest name": rarest,
    "as nature does": natural,
    "any name alike": uniform,
    "one name in all prompts": one_mind,
    "repeats itself": echo,
    "remembers another key": other_key,
    "remembers another key in part": half_other_key,
    "a thousand samples as nature has them": flooded,
}


@dataclass(frozen=True, slots=True)
class Alarms:
    """How many keys accuse a model, by alpha: at the end, and ever on the way to it."""

    at_end: Mapping[float, int]
    ever: Mapping[float, int]
    largest: float  # log10 E


def codebook(carriers: int) -> list[Draw]:
    """Draws for so many carriers; every set comes about as often."""
    return [
        Draw(f"python/1/{names[0][0]}", f"{n:08x}", names)
        for n in range(carriers)
        for names in (SETS[n % len(SETS)],)
    ]


def bets_of(model: Model, draws: Sequence[Draw], rng: Random) -> list[Bet]:
    """What is bet on the answers of one model."""
    return [
        bet_on_counts(model(draw, rng), {s: float(p) for s, p in draw.prior.items()})
        for draw in draws
    ]


def logprob_bets(draws: Sequence[Draw], rng: Random) -> list[Bet]:
    """Bets on log-probabilities that have nothing to do with the key."""
    return [
        bet_on_logprobs(
            {name: rng.uniform(-12, 0) for name, _ in draw.weights},
            {s: float(p) for s, p in draw.prior.items()},
        )
        for draw in draws
    ]


def real_bets(folder: Path) -> tuple[list[Draw], list[Bet]]:
    """What is bet on the answers of a real model, as `verify` does it."""
    answers = read_answers(folder)
    outcomes = [answers.outcomes[n] for n in answers.asked]
    logprobs = answers.terms.mode == "logprobs"
    carriers = list(told(answers.outcomes)) if logprobs else list(answered(outcomes))
    return [each.draw for each in carriers], [each.bet for each in carriers]


def accuse(draws: Sequence[Draw], bets: Sequence[Bet], keys: int, start: int = 0) -> Alarms:
    """Judge the same answers with so many keys, each drawing by the real function."""
    logs = np.zeros((len(bets[0].stakes), keys))
    highest = np.zeros(keys)
    texts = [n.to_bytes(32, "big") for n in range(start, start + keys)]
    for draw, bet in zip(draws, bets, strict=True):
        won = {s: np.array([_log(f) for f in bet.factors(s)]) for s, p in bet.prior.items() if p}
        logs += np.array([won[draw.symbol(key)] for key in texts]).T
        highest = np.maximum(highest, _log10_mean(logs))
    last = _log10_mean(logs)
    return Alarms(
        {alpha: int(np.count_nonzero(last >= -math.log10(alpha))) for alpha in ALPHAS},
        {alpha: int(np.count_nonzero(highest >= -math.log10(alpha))) for alpha in ALPHAS},
        float(last.max()),
    )


def _log(factor: float) -> float:
    return math.log(factor) if factor > 0 else -math.inf


def _log10_mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.logaddexp.reduce(logs, axis=0) - math.log(len(logs))
    return mean / math.log(10)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--carriers", type=int, default=400)
    parser.add_argument("--runs", type=Path, nargs="+", default=[])
    chosen = parser.parse_args()
    heads = " | ".join(f"{alpha:g}" for alpha in ALPHAS)
    print(f"| innocent model | {heads} | largest log10 E |\n|{'---|' * (len(ALPHAS) + 2)}")
    for folder in chosen.runs:
        draws, bets = real_bets(folder)
        name = f"{folder.parent.name}/{folder.name}, {len(draws)} carriers"
        print(line(name, accuse(draws, bets, chosen.keys), chosen.keys), flush=True)
    if chosen.runs:
        return
    draws = codebook(chosen.carriers)
    for name, model in MODELS.items():
        bets = bets_of(model, draws, Random(name))
        print(line(name, accuse(draws, bets, chosen.keys), chosen.keys), flush=True)
    bets = logprob_bets(draws, Random("logprobs"))
    print(line("any log-probabilities", accuse(draws, bets, chosen.keys), chosen.keys))


def line(name: str, alarms: Alarms, keys: int) -> str:
    """At the end / at any time; a star where the rate is above alpha."""
    cells = [
        f"{_rate(alarms.at_end[alpha], keys, alpha)} / {_rate(alarms.ever[alpha], keys, alpha)}"
        for alpha in ALPHAS
    ]
    return f"| {name} | {' | '.join(cells)} | {alarms.largest:.1f} |"


def _rate(count: int, keys: int, alpha: float) -> str:
    return f"{count / keys:.2g}{'*' * is_above(count, keys, alpha)}"


def is_above(count: int, keys: int, alpha: float) -> bool:
    """Whether so many alarms cannot well be those of a rate of alpha."""
    return estimate(count, keys).low > alpha


if __name__ == "__main__":
    main()
