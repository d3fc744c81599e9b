"""What a statistical test is: outcomes in, findings out, and the words for both.

A test is a plug-in: a file of this folder, or of a third party, whose class `PLUGIN` judges
outcomes, says how likely it is to show a given hit rate, and describes what it found. The design of
a watermark names the tests that are made, and which of them decides.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Literal, Protocol, runtime_checkable

from puzzlemark import plugins
from puzzlemark.statistics.exact import EVEN, Significance
from puzzlemark.statistics.rates import Rate, estimate
from puzzlemark.watermarks._design import ARMED, Probe

Direction = Literal["armed above", "control above", "equal"]
Measure = Literal["p", "e"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the arms of one probe scored: a symbol, or None for a miss.

    An arm that was not asked, or whose requests all failed, is not in it: it is never a miss.
    """

    scores: Mapping[str, str | None]  # by the arm's name: of the first sample that was answered
    # for a test that judges by more than the scores: what its key says about a prompt, say
    probe: Probe | None = field(default=None, compare=False, repr=False)
    # what every sample of an arm scored, those that were answered; empty: there is only the score
    samples: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    # by the arm's name, of each symbol the log-probability of its text: of the model, and of an
    # innocent one; where they were asked for and answered
    logprobs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    reference: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def sampled(self, arm: str) -> tuple[str | None, ...]:
        """All that an arm scored: `Outcome({"armed": "hit"}).sampled("armed") -> ("hit",)`."""
        if arm in self.samples:
            return self.samples[arm]
        return (self.scores[arm],) if arm in self.scores else ()

    def pair(self, against: str | None) -> tuple[bool, bool] | None:
        """Whether armed and another arm hit; None unless both were answered.

        Without another arm, whether the armed one hit: the second is a miss then.
        """
        if ARMED not in self.scores or (against is not None and against not in self.scores):
            return None
        other = None if against is None else self.scores[against]
        return self.scores[ARMED] is not None, other is not None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The armed arm against another arm, over the pairs where both were answered."""

    against: str | None  # None: the armed arm by itself; then nothing is counted for the other one
    both: int  # pairs where both arms hit
    armed_only: int
    control_only: int
    neither: int
    failed: int  # pairs left out, never scored as misses

    @property
    def pairs(self) -> int:
        """Usable pairs."""
        return self.both + self.armed_only + self.control_only + self.neither

    @property
    def armed_hits(self) -> int:
        """Hits of the armed arm."""
        return self.both + self.armed_only

    @property
    def control_hits(self) -> int:
        """Hits of the other arm."""
        return self.both + self.control_only

    @property
    def failed_share(self) -> float:
        """Failed pairs among all pairs: 0 when there are none."""
        return self.failed / max(1, self.failed + self.pairs)

    @property
    def direction(self) -> Direction:
        """Which arm hit more often."""
        ahead = self.armed_hits - self.control_hits
        return "equal" if ahead == 0 else "armed above" if ahead > 0 else "control above"


def count(outcomes: Iterable[Outcome], against: str | None) -> Comparison:
    """`count([Outcome({"armed": "hit", "control": None})], "control").armed_only -> 1`."""
    cells = Counter(outcome.pair(against) for outcome in outcomes)
    return Comparison(
        against,
        both=cells[True, True],
        armed_only=cells[True, False],
        control_only=cells[False, True],
        neither=cells[False, False],
        failed=cells[None],
    )


@dataclass(frozen=True, slots=True)
class Finding:
    """One test of one comparison; where a test speaks by evidence e, p is 1 / e."""

    test: str  # as verdicts call it: `mcnemar one-sided`
    against: str | None
    statistic: Mapping[str, float | None]
    log10_p: float
    p: float  # 0.0 where it underflows: then only log10_p is quoted
    direction: Direction
    armed: Rate
    control: Rate | None  # of the arm that `against` names
    is_significant: bool

    @property
    def is_shown(self) -> bool:
        """Significant, and in the direction of the mark."""
        return self.is_significant and self.direction == "armed above"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a test judges: one comparison, the outcomes behind it, and what was fixed before."""

    comparison: Comparison  # of at least one pair
    outcomes: Sequence[Outcome] | None  # None: nothing but the counts was kept
    alpha: float
    ratio: Fraction = EVEN  # of the null hypothesis: see `Design.ratio`
    key: bytes | None = field(default=None, repr=False)  # for a test that needs it

    def finding(
        self,
        test: str,
        statistic: Mapping[str, float | None],
        found: Significance,
        *,
        is_significant: bool | None = None,
        direction: Direction | None = None,
        armed: Rate | None = None,
    ) -> Finding:
        """A finding about this comparison; unless told otherwise, significant with p below alpha.

        `direction` and `armed` are those of the hits, unless the test scores symbols otherwise.
        """
        counts = self.comparison
        other = None if counts.against is None else estimate(counts.control_hits, counts.pairs)
        return Finding(
            test,
            counts.against,
            statistic,
            found.log10_p,
            found.p,
            direction or counts.direction,
            armed or estimate(counts.armed_hits, counts.pairs),
            other,
            found.p < self.alpha if is_significant is None else is_significant,
        )


class StatisticalTest(Protocol):
    """A test, and its words. A file of this package offers its class as `PLUGIN`."""

    name: ClassVar[str]  # the file's name
    findings: ClassVar[Mapping[str, str]]  # what it finds, and how a sentence calls that
    decides: ClassVar[str]  # the finding that decides, when a design lets this test decide
    measure: ClassVar[Measure]  # p, below alpha; or evidence e, at least 1 / alpha
    about: ClassVar[str]  # for the reader of a report
    takes_ratio: ClassVar[bool]  # whether it can test another null ratio than 1
    needs_key: ClassVar[bool]  # whether it judges by the key of the watermark

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        """One finding for each name in `findings`; none where it needs outcomes and has counts."""
        ...

    def describe(self, finding: Finding) -> str:
        """The statistic of a finding in words: `36 armed only, 0 placebo only`."""
        ...

    def power(
        self, pairs: int, *, hit_rate: float, control_rate: float, alpha: float, ratio: Fraction
    ) -> float:
        """The chance that so many pairs show that the armed arm hits more often."""
        ...


@dataclass(frozen=True, slots=True)
class Counted:
    """A table for the reader of a report: lines by name, each with a cell for each column."""

    caption: str
    corner: str
    columns: tuple[str, ...]
    lines: Mapping[str, tuple[int | str, ...]]


@runtime_checkable
class Tabulating(Protocol):
    """A test that counts otherwise than by hits of the arms, and so brings its own tables."""

    def tables(
        self, findings: Mapping[str, Finding], outcomes: Sequence[Outcome]
    ) -> tuple[Counted, ...]:
        """What the report shows in place of hits by arm; `findings` are its own, by their names."""
        ...


@runtime_checkable
class OwnRate(Protocol):
    """A test whose rate does not count completions: what it counts, for a sentence."""

    unit: ClassVar[str]  # `scores`
    hits: ClassVar[str]  # `favoured the name that the key had drawn`


@runtime_checkable
class OwnAnswers(Protocol):
    """A test that reads other answers than completions: of which outcomes it has one."""

    def is_answered(self, outcome: Outcome) -> bool:
        """Whether there is what the test judges by; else the question failed."""
        ...


def count_own(outcomes: Iterable[Outcome], test: OwnAnswers) -> Comparison:
    """What a test could read, and what failed: it counts no hits."""
    cells = Counter(test.is_answered(outcome) for outcome in outcomes)
    return Comparison(
        None, both=0, armed_only=0, control_only=0, neither=cells[True], failed=cells[False]
    )


def counted(test: StatisticalTest, hits: str) -> tuple[str, str]:
    """What a rate is of: completions that did what counts in the design, or the test's own."""
    return (test.unit, test.hits) if isinstance(test, OwnRate) else ("completions", hits)


class Watch(Protocol):
    """Evidence that grows with every outcome."""

    def observe(self, outcome: Outcome) -> bool:
        """Whether the evidence has sufficed, now or before."""
        ...


@runtime_checkable
class Stopping(Protocol):
    """A test that may be read after any pair, and stopped; needed for sequential mode."""

    def watch(
        self, against: str | None, *, alpha: float, ratio: Fraction, key: bytes | None
    ) -> Watch:
        """Begin to watch one comparison."""
        ...


def load_test(name: str) -> StatisticalTest:
    """A test by its name: `load_test("fisher").decides -> "fisher two-sided"`."""
    test: StatisticalTest = plugins.find("verification.tests", name)()
    return test


def by_finding(names: Iterable[str]) -> dict[str, StatisticalTest]:
    """Tests by what they find: `by_finding(["fisher"])["fisher one-sided"].name -> "fisher"`."""
    loaded = [load_test(name) for name in names]
    return {finding: test for test in loaded for finding in test.findings}


def state_ratio(finding: Finding) -> str:
    """`, null ratio 2.9 : 1`, or nothing where it is 1."""
    ratio = finding.statistic.get("ratio")
    return "" if ratio in (None, 1.0) else f", null ratio {ratio:g} : 1"
