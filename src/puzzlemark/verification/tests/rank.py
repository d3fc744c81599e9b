"""The rank test: the hits of the prefixes that a key drew, among those of all other subsets.

Every prefix of a public pool was asked about in the same frames; h(x) is how often prefix x hit.
S(K) is the sum of h over the prefixes that the key drew, and

    p = (subsets of the same size whose sum is at least S(K)) / (all subsets of that size).

*Proof.* For a model that does not depend on the key, h is fixed when the key is drawn, and the
subset of the key is as likely as any other. So the chance of p <= a is the share of subsets that
are among the best a of all, ties counted against the owner: at most a. Whatever the habits of the
model, however its answers hang together. Subsets are counted exactly, in whole numbers, one prefix
after the other; where a run has pools of several languages, all combinations of their subsets are.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from puzzlemark.statistics.evalues import calibrate
from puzzlemark.statistics.exact import Significance, log10_ratio
from puzzlemark.statistics.rates import binomial, estimate
from puzzlemark.verification.tests.base import Counted, Finding, Measure, Outcome, Trial
from puzzlemark.watermarks._design import ARMED
from puzzlemark.watermarks._pools import Frame, Subset, frame_of

POOL, DRAWN = 200, 4  # what `power` plans for
OF = "hits of "
MOST_LINES = 12  # of the table of all prefixes by their hits


def count_sums(hits: Iterable[int], number: int) -> Counter[int]:
    """How many subsets of so many have which sum: `count_sums([0, 1, 1], 2) -> {1: 2, 2: 1}`."""
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(number))]
    for each in hits:
        for size in range(number, 0, -1):
            for total, count in ways[size - 1].items():
                ways[size][total + each] += count
    return ways[number]


def combine(one: Mapping[int, int], other: Mapping[int, int]) -> Counter[int]:
    """The sums of two independent choices."""
    both: Counter[int] = Counter()
    for total, count in one.items():
        for more, times in other.items():
            both[total + more] += count * times
    return both


def rank_p(sums: Mapping[int, int], found: int) -> Significance:
    """The share of subsets with at least this sum."""
    above = sum(count for total, count in sums.items() if total >= found)
    log10_p = log10_ratio(above, sum(sums.values()))
    return Significance(min(0.0, log10_p), min(1.0, 10.0**log10_p))


@dataclass(frozen=True, slots=True)
class Asked:
    """The hits of one pool."""

    subset: Subset
    hits: Mapping[str, int]
    answers: Mapping[str, int]  # how many there were: all samples of all frames


def complete_frames(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes of frames in which every prefix of the pool was answered."""
    frames: dict[tuple[Subset, Frame], list[Outcome]] = {}
    for outcome in outcomes:
        if (probe := outcome.probe) is not None and probe.subset is not None:
            frame = frame_of(probe.armed.prompt, probe.armed.targets)
            frames.setdefault((probe.subset, frame), []).append(outcome)
    for (subset, _), asked in frames.items():
        answered = [each for each in asked if ARMED in each.scores]
        if len(answered) == len(subset.pool):
            yield from answered


def count_hits(outcomes: Iterable[Outcome]) -> list[Asked]:
    """Hits and answers of each prefix, pool by pool; every sample counts.

    A frame in which one prefix was not answered is left out whole: the prefix would have a place
    less to hit in than the others, and whoever knows the key could choose which.
    """
    hits: dict[Subset, Counter[str]] = {}
    answers: dict[Subset, Counter[str]] = {}
    for outcome in complete_frames(outcomes):
        probe = outcome.probe
        assert probe is not None, "it is in a frame"
        assert probe.subset is not None, "it is in a frame"
        (prefix,) = probe.armed.targets
        scored = outcome.sampled(ARMED)
        answers.setdefault(probe.subset, Counter())[prefix] += len(scored)
        hits.setdefault(probe.subset, Counter())[prefix] += sum(s is not None for s in scored)
    return [Asked(subset, hits[subset], answers[subset]) for subset in hits]


@dataclass(frozen=True, slots=True)
class Rank:
    """Exact for every model that does not depend on the key; no arm is compared with another."""

    name: ClassVar[str] = "rank"
    findings: ClassVar[Mapping[str, str]] = {"rank": "rank among all subsets of the pool"}
    decides: ClassVar[str] = "rank"
    measure: ClassVar[Measure] = "p"
    about: ClassVar[str] = (
        "The rank counts how many of all subsets of the pool, of the same size, hit at least as "
        "often as the prefixes that the key drew. For a model that does not depend on the key "
        "every subset is as likely to be the key's as any other, so p is exact, whatever the "
        "model's habits. Ties count against the owner."
    )
    takes_ratio: ClassVar[bool] = False
    needs_key: ClassVar[bool] = True

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """One finding: the share of subsets that hit as often."""
        if trial.outcomes is None or trial.key is None or trial.comparison.against is not None:
            return ()
        sums: Counter[int] = Counter({0: 1})
        true: dict[str, int] = {}
        answers, decoys, of_decoys = 0, 0, 0
        pools = count_hits(trial.outcomes)
        for asked in pools:
            drawn = asked.subset.drawn(trial.key)
            counts = [asked.hits.get(name, 0) for name in asked.subset.pool]
            sums = combine(sums, count_sums(counts, asked.subset.number))
            for name in drawn:
                true[_label(asked, pools, name)] = asked.hits.get(name, 0)
                answers += asked.answers.get(name, 0)
            decoys += sum(counts) - sum(asked.hits.get(name, 0) for name in drawn)
            of_decoys += sum(n for name, n in asked.answers.items() if name not in drawn)
        found = sum(true.values())
        significance = rank_p(sums, found)
        statistic = {
            "hits": found,
            "answers": answers,
            "decoy_hits": decoys,
            "decoy_answers": of_decoys,
            "log10_subsets": log10_ratio(sum(sums.values()), 1),
            "log10_e": calibrate(significance.log10_p),
            **{f"{OF}{name}": hits for name, hits in true.items()},
        }
        is_above = found * of_decoys > decoys * answers
        return (
            trial.finding(
                "rank",
                statistic,
                significance,
                direction="armed above" if is_above else "equal",
                armed=estimate(found, answers) if answers else None,
            ),
        )

    def describe(self, finding: Finding) -> str:
        """The hits of the true prefixes, and of the others."""
        fields = finding.statistic
        others = fields["decoy_answers"] or 0
        share = f"{(fields['decoy_hits'] or 0) / others:.2%}" if others else "none"
        return (
            f"{fields['hits']:,} hits in {fields['answers']:,} answers about the prefixes of the "
            f"key, {fields['decoy_hits']:,} in {others:,} about the others ({share}); "
            f"10^{fields['log10_subsets']:.1f} subsets"
        )

    def tables(
        self, findings: Mapping[str, Finding], outcomes: Sequence[Outcome]
    ) -> tuple[Counted, ...]:
        """The prefixes of the key one by one, and all prefixes by how often they hit."""
        pools = count_hits(outcomes)
        statistic = findings["rank"].statistic
        true = {name.removeprefix(OF) for name in statistic if name.startswith(OF)}
        hits = {_label(a, pools, name): a.hits[name] for a in pools for name in a.answers}
        answers = {_label(a, pools, name): n for a in pools for name, n in a.answers.items()}
        decoys = [number for name, number in hits.items() if name not in true]
        lines: dict[str, tuple[int | str, ...]] = {
            name: (number, answers[name], sum(each >= number for each in decoys))
            for name, number in sorted(hits.items(), key=lambda each: (-each[1], each[0]))
            if name in true
        }
        columns = "hits", "answers", "others with as many"
        return (
            Counted("The prefixes that the key drew (keep them secret)", "prefix", columns, lines),
            Counted(
                "All prefixes of the pool, by their hits",
                "hits",
                ("of the key", "others"),
                _by_hits([hits[name] for name in lines], decoys),
            ),
        )

    def power(
        self,
        pairs: int,
        *,
        hit_rate: float,
        control_rate: float,
        alpha: float,
        ratio: Fraction,  # noqa: ARG002
    ) -> float:
        """The chance when `pairs` prompts ask about 200 prefixes, 4 of them true.

        The true ones hit with `hit_rate`, the others with `control_rate`. What the others hit is
        not drawn but spread as their binomial distribution says, and so are the hits among the
        true ones: an approximation, which a simulation in the tests confirms.
        """
        frames = pairs // POOL
        if not frames:
            return 0.0
        decoys = _spread(frames, control_rate, POOL - DRAWN)
        by_size = [count_sums(decoys, size) for size in range(DRAWN + 1)]
        subsets = math.comb(POOL, DRAWN)
        chances = binomial(DRAWN * frames, hit_rate)
        return float(
            sum(
                chance
                for found, chance in enumerate(chances)
                if chance > 1e-12 and _above(found, by_size) < alpha * subsets
            )
        )


def _label(asked: Asked, pools: Sequence[Asked], name: str) -> str:
    """A prefix; where there are pools of several languages, with its own."""
    return name if len(pools) == 1 else f"{asked.subset.language} {name}"


def _by_hits(true: Sequence[int], decoys: Sequence[int]) -> dict[str, tuple[int | str, ...]]:
    """How many prefixes hit how often: `{"0": (0, 190), "1": (0, 6), "2": (4, 0)}`."""
    most = max((*true, *decoys), default=0)
    width = -(-(most + 1) // MOST_LINES)
    lines: dict[str, tuple[int | str, ...]] = {}
    for low in range(0, most + 1, width):
        within = range(low, low + width)
        name = str(low) if width == 1 else f"{low:,} to {min(most, within[-1]):,}"
        lines[name] = (sum(n in within for n in true), sum(n in within for n in decoys))
    return lines


def _spread(trials: int, rate: float, number: int) -> list[int]:
    """So many hits, distributed as a binomial distribution is: its quantiles."""
    sums, found, hits = binomial(trials, rate).cumsum(), [], 0
    for place in range(number):
        while hits < trials and sums[hits] < (place + 0.5) / number:
            hits += 1
        found.append(hits)
    return found


def _above(found: int, by_size: Sequence[Mapping[int, int]]) -> int:
    """Subsets with at least so many hits, when the true prefixes share them evenly."""
    own = [(found + place) // DRAWN for place in range(DRAWN)]
    above = 0
    for taken in range(1 << DRAWN):
        mine = [hits for place, hits in enumerate(own) if taken >> place & 1]
        needed = found - sum(mine)
        above += sum(n for total, n in by_size[DRAWN - len(mine)].items() if total >= needed)
    return above


PLUGIN = Rank
