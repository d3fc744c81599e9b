"""What all codebook tests share: each class once, two findings, and the rank among other keys."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from puzzlemark.statistics.evalues import Bet, Evidence, rank
from puzzlemark.statistics.exact import Significance
from puzzlemark.statistics.rates import Rate
from puzzlemark.verification.tests.base import Direction, Finding, Outcome, Trial
from puzzlemark.watermarks._draws import Draw

OTHER_KEYS = 9_999  # among which the true key is ranked
LOST = -1e6  # log10 of the evidence, where JSON has no word for a bet that lost everything


def each_class(
    outcomes: Iterable[Outcome], tells: Callable[[Outcome], bool]
) -> Iterator[tuple[Draw, Outcome]]:
    """The carriers that tell something, each class once: the key drew for its copies together."""
    seen: set[tuple[str, str]] = set()
    for outcome in outcomes:
        draw = None if outcome.probe is None else outcome.probe.draw
        if draw is None or not tells(outcome) or (draw.group, draw.unit) in seen:
            continue
        seen.add((draw.group, draw.unit))
        yield draw, outcome


def chances_of(draw: Draw) -> dict[str, float]:
    """The prior of a draw, in floating point: what bets are made against."""
    return {name: float(chance) for name, chance in draw.prior.items()}


def findings_of(
    trial: Trial,
    name: str,
    bets: Sequence[Bet],
    evidence: Evidence,
    statistic: Mapping[str, float | None],
    rate: Rate | None,
    seed: int,
) -> tuple[Finding, Finding]:
    """The evidence of all carriers, which decides, and the rank of the true key.

    The rank is by the evidence itself: keys that lost everything are ties, and count against the
    owner.
    """
    log10_e = max(evidence.log10_e, LOST)
    place = rank(bets, evidence.log10_e, OTHER_KEYS, seed)
    direction: Direction = "armed above" if log10_e > 0 else "equal"
    return (
        trial.finding(
            name,
            {"log10_e": log10_e, **statistic},
            significance(log10_e),
            is_significant=log10_e >= -math.log10(trial.alpha),
            direction=direction,
            armed=rate,
        ),
        trial.finding(
            f"{name} rank",
            {"rank": place.numerator * (OTHER_KEYS + 1) // place.denominator},
            Significance(math.log10(place), float(place)),
            direction=direction,
            armed=rate,
        ),
    )


def describe_rank(finding: Finding) -> str | None:
    """`place 1 among 10,000 keys`; None for a finding that is no rank."""
    place = finding.statistic.get("rank")
    return None if place is None else f"place {place:,} among {OTHER_KEYS + 1:,} keys"


def evidence_lines(findings: Mapping[str, Finding], name: str) -> dict[str, tuple[int | str, ...]]:
    """The evidence and the rank, for a table."""
    place = whole(findings[f"{name} rank"].statistic["rank"])
    return {
        "evidence: log10 e": (f"{findings[name].statistic['log10_e']:.2f}",),
        "place of the key among others": (f"{place:,} of {OTHER_KEYS + 1:,}",),
    }


def whole(count: float | None) -> int:
    """A count of a finding, which is a whole number."""
    return int(count or 0)


def significance(log10_e: float) -> Significance:
    """1 / E is a p-value; evidence below 1 is no evidence."""
    log10_p = min(0.0, -log10_e)
    return Significance(log10_p, 10.0**log10_p)


def seed_of(carriers: Iterable[tuple[Draw, Mapping[str, float]]]) -> int:
    """Which other keys are drawn: the same for the same run, and not by anybody's choice.

    By what each carrier is drawn from, and what the model said about it.
    """
    state = hashlib.sha256()
    for draw, said in carriers:
        found = sorted(said.items())
        state.update(repr((draw.group, draw.unit, draw.weights, found)).encode())
    return int.from_bytes(state.digest()[:8], "big")
