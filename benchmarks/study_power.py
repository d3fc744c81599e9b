"""How many people a study needs: `study_power.py` prints the tables of docs/results/human-study.md.

The first: the paper's suspicious rates with the intervals that 25 answers give, and which of them
differ. The others: how often a study of some size sees a mark that is flagged more often than bare
code.
"""

import itertools
from collections.abc import Iterator

import puzzlemark as pm
from puzzlemark.bench.records import table
from puzzlemark.statistics.exact import fisher
from puzzlemark.statistics.rates import estimate
from puzzlemark.studying.results import PAPER, PAPER_ANSWERS, spell
from puzzlemark.watermarks.base import named

PARTICIPANTS = (5, 10, 20, 40)
SUSPICIOUS = (0.1, 0.15, 0.2, 0.3, 0.5)
FALSE_FLAGS = 0.1
TESTS = 28  # of the paper's table: fourteen watermarks in two rounds


def main() -> None:
    print(paper_table())
    for line in differing():
        print(line)
    print()
    for alpha in (0.05, 0.05 / TESTS):
        print(power_table(alpha))


def paper_table() -> str:
    rows = [
        [mark, *(spell(estimate(round(PAPER_ANSWERS * rate), PAPER_ANSWERS)) for rate in rates)]
        for mark, rates in PAPER.items()
    ]
    return table(["watermark", "round 1 (95 %)", "round 2 (95 %)"], rows)


def differing() -> Iterator[str]:
    """Pairs of watermarks of one language that Fisher's exact test tells apart."""
    known = named()
    for number, language in itertools.product((0, 1), ("python", "java")):
        marks = [mark for mark in PAPER if known[mark].language == language]
        for one, two in itertools.combinations(marks, 2):
            hits = [round(PAPER_ANSWERS * PAPER[mark][number]) for mark in (one, two)]
            found = fisher(hits[0], PAPER_ANSWERS, hits[1], PAPER_ANSWERS, two_sided=True)
            if found.p < 0.05:
                yield f"round {number + 1}: {one} and {two} differ, p = {found.p:.3f}"


def power_table(alpha: float) -> str:
    head = [f"suspicious, alpha {alpha:.2g}", *(f"{people} people" for people in PARTICIPANTS)]
    rows = []
    for rate in SUSPICIOUS:
        shares = [
            pm.study_power(rate, FALSE_FLAGS, participants=people, alpha=alpha)
            for people in PARTICIPANTS
        ]
        rows.append([f"{rate:.2f}", *(f"{share:.0%}" for share in shares)])
    return table(head, rows)


if __name__ == "__main__":
    main()
