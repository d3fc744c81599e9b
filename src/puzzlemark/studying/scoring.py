"""What the answers say: suspicious rates, false flags, and whether the one exceeds the other."""

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.errors import UsageError
from puzzlemark.statistics.agreement import krippendorff_alpha
from puzzlemark.statistics.exact import holm
from puzzlemark.statistics.rates import Rate, estimate
from puzzlemark.studying.answers import Answer, Collected, Problem, read_answers
from puzzlemark.studying.design import Assignments, Design
from puzzlemark.studying.key import Key, StudyError, load_key

DRAWS = 9_999  # p is never below 1 / 10,000
FEWEST_DRAWS = 99  # with fewer no p could be below 0.01


@dataclass(frozen=True, slots=True)
class MarkScore:
    """One watermark in one round."""

    mark: str
    language: str
    round: int
    participants: int
    suspicious: Rate  # marked snippets that were flagged: the paper's suspicious rate
    false_flags: Rate  # bare snippets of the same set that were flagged
    p: float  # of so many finds, if the mark had no influence on any answer
    p_adjusted: float  # by Holm, over all watermarks and rounds

    @property
    def difference(self) -> float:
        """How much more often a snippet is flagged when it is marked."""
        return self.suspicious.rate - self.false_flags.rate


@dataclass(frozen=True, slots=True)
class GroupScore:
    """All participants of one language in one round."""

    language: str
    round: int
    participants: int
    suspicious: Rate
    false_flags: Rate
    alpha: float | None  # Krippendorff's, over snippets that two or more saw in the same form
    seconds: tuple[float, float, float]  # quartiles of the time per snippet
    seconds_marked: float  # medians
    seconds_bare: float


@dataclass(frozen=True, slots=True)
class StudyScore:
    """The whole study; the same content as `--json` prints."""

    study: str
    design: Design
    marks: tuple[MarkScore, ...]
    groups: tuple[GroupScore, ...]
    asked: int  # participants that the study has pages for
    answered: Mapping[str, tuple[int, ...]]  # the rounds that count, by participant
    problems: tuple[Problem, ...]
    draws: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        marks = [{**asdict(each), "difference": each.difference} for each in self.marks]
        return {**asdict(self), "marks": marks}


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The answers to one watermark's snippets in one round: participants x snippets."""

    is_marked: NDArray[np.bool_]
    is_flagged: NDArray[np.bool_]
    rows: list[int]  # which participants of the group these are

    def count(self, *, marked: bool) -> tuple[int, int]:
        chosen = self.is_marked == marked
        return int(self.is_flagged[chosen].sum()), int(chosen.sum())


def score_study(
    answers: Iterable[Path | str], key: Path | str | Key, *, draws: int = DRAWS, seed: int = 0
) -> StudyScore:
    """Score a study: `score_study(Path("answers").glob("*.json"), "pages.key.json")`.

    Files that are not counted are named in `problems`. `draws` and `seed` are those of the test.
    """
    if draws < FEWEST_DRAWS or seed < 0:
        raise UsageError(
            f"draws={draws}, seed={seed}: the test needs {FEWEST_DRAWS} draws or more, and a seed "
            "of 0 or more"
        )
    read = key if isinstance(key, Key) else load_key(key)
    collected = read_answers(answers, read)
    if not collected.rounds:
        told = "; ".join(map(str, collected.problems[:3])) or "no file was passed"
        raise StudyError(f"no finished round to count: {told}")
    answered: dict[str, tuple[int, ...]] = {}
    for who, number in sorted(collected.rounds):
        answered[who] = (*answered.get(who, ()), number)
    return StudyScore(
        read.study,
        read.design,
        tuple(_adjust(list(_marks(read, collected, draws, seed)))),
        tuple(_groups(read, collected)),
        len(read.participants),
        answered,
        collected.problems,
        draws,
        seed,
    )


def _marks(key: Key, collected: Collected, draws: int, seed: int) -> Iterator[MarkScore]:
    for place, (name, mark) in enumerate(key.marks.items()):
        group = key.group(mark.language)
        for number in range(1, key.design.rounds + 1):
            sheet = _sheet(key, collected, group, mark.snippets, number)
            if not sheet.rows:
                continue
            rng = np.random.default_rng((seed, place, number))
            drawn = key.design.assign(rng, len(group), draws)[:, sheet.rows]
            yield MarkScore(
                name,
                mark.language,
                number,
                len(sheet.rows),
                estimate(*sheet.count(marked=True)),
                estimate(*sheet.count(marked=False)),
                p := redraw_p(sheet.is_flagged, sheet.is_marked, drawn),
                p,
            )


def redraw_p(
    is_flagged: NDArray[np.bool_], is_marked: NDArray[np.bool_], drawn: Assignments
) -> float:
    """The share of draws of the design that find as many marked snippets flagged, or more.

    Who saw which snippet marked was drawn. If marks influence no answer, the answers would have
    been the same under any other draw. So the draws, with the answers as they are, show what chance
    gives: no matter how often each person flags, or how odd each snippet is. The draw that was made
    is one of them, so p is never 0.
    """
    found = int((is_flagged & is_marked).sum())
    chance = (drawn & is_flagged).sum(axis=(1, 2))
    return (1 + int((chance >= found).sum())) / (1 + len(drawn))


def _sheet(
    key: Key, collected: Collected, group: Sequence[str], snippets: Sequence[int], number: int
) -> _Sheet:
    rows = [place for place, who in enumerate(group) if (who, number) in collected.rounds]
    is_marked = np.zeros((len(rows), len(snippets)), np.bool_)
    is_flagged = is_marked.copy()
    columns = {snippet: column for column, snippet in enumerate(snippets)}
    for line, place in enumerate(rows):
        who = group[place]
        answers = collected.rounds[who, number]
        for label, shown in key.participants[who].shown.items():
            column = columns.get(shown.snippet)
            if column is not None:
                is_marked[line, column] = shown.is_marked
                is_flagged[line, column] = answers[label].suspicious
    return _Sheet(is_marked, is_flagged, rows)


def _adjust(scores: Sequence[MarkScore]) -> Iterator[MarkScore]:
    adjusted = holm([math.log10(each.p) for each in scores])
    for each, log10_p in zip(scores, adjusted, strict=True):
        yield replace(each, p_adjusted=10**log10_p)


def _groups(key: Key, collected: Collected) -> Iterator[GroupScore]:
    for language in dict.fromkeys(mark.language for mark in key.marks.values()):
        for number in range(1, key.design.rounds + 1):
            judged = [
                (shown.snippet, shown.is_marked, collected.rounds[who, number][label])
                for who in key.group(language)
                if (who, number) in collected.rounds
                for label, shown in key.participants[who].shown.items()
            ]
            if judged:
                people = sum((who, number) in collected.rounds for who in key.group(language))
                yield _group(language, number, people, judged)


def _group(
    language: str, number: int, people: int, judged: Sequence[tuple[int, bool, Answer]]
) -> GroupScore:
    units: dict[tuple[int, bool], list[int]] = {}
    for snippet, is_marked, answer in judged:
        units.setdefault((snippet, is_marked), [0, 0])[not answer.suspicious] += 1
    by_form = {
        form: [answer for _, is_marked, answer in judged if is_marked == form]
        for form in (True, False)
    }
    seconds = [answer.milliseconds / 1000 for _, _, answer in judged]
    return GroupScore(
        language,
        number,
        people,
        _rate(by_form[True]),
        _rate(by_form[False]),
        krippendorff_alpha((yes, no) for yes, no in units.values()),
        _quartiles(seconds),
        statistics.median(answer.milliseconds / 1000 for answer in by_form[True]),
        statistics.median(answer.milliseconds / 1000 for answer in by_form[False]),
    )


def _rate(answers: Sequence[Answer]) -> Rate:
    return estimate(sum(answer.suspicious for answer in answers), len(answers))


def _quartiles(seconds: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return low, middle, high
