"""Evidence by betting on symbols that a key drew: e-values, exact for every innocent model.

A key has drawn a symbol s_c for each of several units c, independently, with chances p_c that were
public before. A model was asked about each unit, and what it answered was turned into a
distribution q_c over the symbols, without the key. Then

    E = product over c of q_c(s_c) / p_c(s_c).

For a model that does not depend on the key, the mean of q_c(s_c) / p_c(s_c) over the draws is the
sum of q_c, which is 1. So the mean of E is 1, and E reaches 1 / alpha with a chance of at most
alpha (Markov); taken unit by unit it is a martingale, and the chance that it ever does is at most
alpha, too (Ville). The mean of several e-values is one: nobody has to choose one way to bet.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# How much the prior weighs against the answers, in answers. No single value: the light ones win
# most where a model remembers, the heavy ones lose least where it does not.
SMOOTHINGS = (1, 2, 4, 8)
POWERS = (0.1, 0.25, 0.5, 0.75)  # of a model's own chances, beside the prior's
TILTS = (0.25, 0.5, 1.0, 2.0)  # of a suspect's log-probabilities over a reference's
LN10 = math.log(10.0)

Number = TypeVar("Number", float, Fraction)
Distribution = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Bet:
    """One unit: what each way to bet puts on each symbol, and the chances of the draw.

    `Bet({"a": 0.5, "b": 0.5}, ({"a": 0.9, "b": 0.1},))` wins a factor of 1.8 when `a` was drawn.
    """

    prior: Distribution
    stakes: tuple[Distribution, ...]  # one for each way to bet, made without the key

    def factors(self, drawn: str) -> tuple[float, ...]:
        """What each way wins, or loses, when this symbol was drawn."""
        return tuple(stake[drawn] / self.prior[drawn] for stake in self.stakes)


def smoothed(
    counts: Mapping[str, int], prior: Mapping[str, Number], weight: int
) -> dict[str, Number]:
    """q(s) = (n_s + a p(s)) / (n + a): answers, and the prior as if it were `a` answers more.

    `smoothed({"a": 3}, {"a": 0.5, "b": 0.5}, 1) -> {"a": 0.875, "b": 0.125}`
    """
    possible = {symbol: counts.get(symbol, 0) for symbol, chance in prior.items() if chance}
    total = sum(possible.values()) + weight
    return {s: (possible.get(s, 0) + weight * chance) / total for s, chance in prior.items()}


def bet_on_counts(
    counts: Mapping[str, int],
    prior: Distribution,
    smoothings: Sequence[int] = SMOOTHINGS,
) -> Bet:
    """A bet from answers: how often each symbol was one; an answer that is none abstains."""
    return Bet(prior, tuple(smoothed(counts, prior, weight) for weight in smoothings))


def bet_on_logprobs(
    logprobs: Mapping[str, float],
    prior: Distribution,
    powers: Sequence[float] = POWERS,
) -> Bet:
    """A bet from a model's own chances pi: q proportional to p^(1 - beta) pi^beta.

    They need not add up to 1: a model has other words beside the symbols. A server names the most
    likely words only; a symbol that it leaves out is taken to be as unlikely as the least likely
    one that it names. With none named the bet is the prior, which neither wins nor loses.
    """
    known = {s: logprobs[s] for s, _ in _likely(prior) if math.isfinite(logprobs.get(s, -math.inf))}
    least = min(known.values(), default=0.0)
    exponents = (
        {s: (1 - beta) * math.log(p) + beta * known.get(s, least) for s, p in _likely(prior)}
        for beta in powers
    )
    if not known:
        return Bet(prior, (prior,) * len(powers))
    return Bet(prior, tuple(_normalised(each, prior) for each in exponents))


def bet_on_difference(
    suspect: Mapping[str, float],
    reference: Mapping[str, float],
    prior: Distribution,
    tilts: Sequence[float] = TILTS,
) -> Bet:
    """A bet from two models: q proportional to p exp(beta (log pi_suspect - log pi_reference)).

    The reference is any model that does not depend on the key. A symbol of which one of the two
    says nothing is bet on as if they agreed.
    """
    apart = {
        s: suspect[s] - reference[s]
        for s in suspect.keys() & reference.keys()
        if math.isfinite(suspect[s]) and math.isfinite(reference[s])
    }
    exponents = (
        {s: math.log(p) + beta * apart.get(s, 0.0) for s, p in _likely(prior)} for beta in tilts
    )
    return Bet(prior, tuple(_normalised(each, prior) for each in exponents))


def _likely(prior: Distribution) -> Iterator[tuple[str, float]]:
    return ((symbol, chance) for symbol, chance in prior.items() if chance > 0)


def _normalised(exponents: Mapping[str, float], prior: Distribution) -> Distribution:
    largest = max(exponents.values())
    raised = {symbol: math.exp(value - largest) for symbol, value in exponents.items()}
    total = sum(raised.values())
    return {symbol: raised.get(symbol, 0.0) / total for symbol in prior}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The product of bets so far, for each way to bet: their mean is the e-value."""

    logs: tuple[float, ...] = ()  # natural logarithms; empty: nothing was bet on yet

    def after(self, bet: Bet, drawn: str) -> "Evidence":
        """The evidence with one more unit."""
        factors = bet.factors(drawn)
        before = self.logs or (0.0,) * len(factors)
        return Evidence(tuple(b + _log(f) for b, f in zip(before, factors, strict=True)))

    @property
    def log10_e(self) -> float:
        """log10 of the mean over the ways to bet; 0 with no bet, -inf when all is lost."""
        return log_mean(self.logs) / LN10 if self.logs else 0.0


def follow(bets: Iterable[tuple[Bet, str]]) -> Iterator[Evidence]:
    """The evidence after each unit; it may be read, and asking stopped, after any of them."""
    evidence = Evidence()
    for bet, drawn in bets:
        evidence = evidence.after(bet, drawn)
        yield evidence


def gather(bets: Iterable[tuple[Bet, str]]) -> Evidence:
    """The evidence of all units together."""
    evidence = Evidence()
    for bet, drawn in bets:
        evidence = evidence.after(bet, drawn)
    return evidence


def log_mean(logs: Sequence[float]) -> float:
    """log of the mean of exp: `log_mean([0.0, 0.0]) -> 0.0`."""
    largest = max(logs)
    if largest == -math.inf:
        return largest
    return largest + math.log(sum(math.exp(each - largest) for each in logs) / len(logs))


def _log(factor: float) -> float:
    return math.log(factor) if factor > 0 else -math.inf


def sample_log10_e(bets: Sequence[Bet], draws: int, seed: int) -> NDArray[np.float64]:
    """log10 E under so many other keys: each draws a symbol for every unit, by the same chances."""
    rng = np.random.default_rng(seed)
    ways = len(bets[0].stakes) if bets else 1
    logs = np.zeros((ways, draws))
    for bet in bets:
        symbols = [symbol for symbol, chance in bet.prior.items() if chance > 0]
        chances = np.array([bet.prior[symbol] for symbol in symbols])
        drawn = np.searchsorted(np.cumsum(chances)[:-1], rng.random(draws), side="right")
        won = np.array([[_log(f) for f in bet.factors(symbol)] for symbol in symbols])
        logs += won[drawn].T
    with np.errstate(divide="ignore"):
        largest = np.maximum(logs.max(axis=0), -1e300)  # not the -inf of a key that lost all
        found: NDArray[np.float64] = largest + np.log(np.exp(logs - largest).mean(axis=0))
    return found / LN10


def rank(bets: Sequence[Bet], log10_e: float, draws: int, seed: int) -> Fraction:
    """(1 + other keys with as much evidence) / (1 + all others): an exact p-value by itself.

    The true key is one more draw among the others, so that its rank is any of them with the same
    chance when the model does not depend on it.
    """
    slack = 1e-9  # sums in another order round otherwise: a tie counts against the true key
    others = sample_log10_e(bets, draws, seed)
    return Fraction(1 + int(np.count_nonzero(others >= log10_e - slack)), 1 + draws)


def calibrate(log10_p: float) -> float:
    """log10 of the e-value 1 / (2 sqrt(p)) of a p-value, so that it can be multiplied with others.

    Its mean over a uniform p is the integral of 1 / (2 sqrt(p)) from 0 to 1, which is 1.
    """
    return -math.log10(2) - log10_p / 2
