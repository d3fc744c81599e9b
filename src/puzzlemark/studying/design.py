"""How a study is laid out: who sees which snippet marked (paper, RQ2, the human study)."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from puzzlemark.errors import UsageError

Kind = Literal["balanced", "paper"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# draws x participants x snippets: is it marked?
Assignments: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Design:
    """The layout of a study; the numbers are the paper's.

    `balanced`: every snippet of a watermark could carry it, and who sees which of them marked is
    drawn so that each is marked equally often. A snippet is its own control.
    `paper`: the same snippets are marked for everybody, the others are any other functions.
    """

    kind: Kind = "balanced"
    snippets: int = 20  # of each watermark
    marked: int = 5  # of them
    rounds: int = 2  # the second one with disclosure
    participants: int = 10  # over all languages; each reads one

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"no design {self.kind!r}; known: {', '.join(KINDS)}")
        if not 0 < self.marked < self.snippets:
            raise UsageError(
                f"{self.marked} of {self.snippets} snippets marked: some must be, and some must "
                "not, or nobody could tell a find from a false flag"
            )
        if self.rounds not in (1, 2):
            raise UsageError(f"{self.rounds} rounds; a study has 1, or 2 with disclosure")
        if self.participants < 1:
            raise UsageError("a study needs a participant")

    @property
    def carriers(self) -> int:
        """How many carriers of a watermark it takes."""
        return self.snippets if self.kind == "balanced" else self.marked

    def divide(self, languages: int) -> list[int]:
        """How many participants read each language: `10` in two languages are `[5, 5]`."""
        if self.participants < languages:
            raise UsageError(
                f"{self.participants} participants for {languages} languages; each reads one "
                "language, so pass more participants or fewer watermarks"
            )
        each, more = divmod(self.participants, languages)
        return [each + (place < more) for place in range(languages)]

    def assign(self, rng: np.random.Generator, participants: int, draws: int = 1) -> Assignments:
        """Draw who sees what marked, as often as asked.

        The study itself is one draw. What another draw would have given, with the same answers, is
        what a find is compared with (`scoring`): so the test follows from the design.
        """
        if self.kind == "paper":
            shared = _lowest(rng.random((draws, self.snippets)), self.marked)
            return np.repeat(shared[:, None, :], participants, axis=1)
        drawn = np.zeros((draws, participants, self.snippets), np.bool_)
        counts = np.zeros((draws, self.snippets))
        for participant in range(participants):
            # those that were marked least often so far, and chance among equals
            drawn[:, participant] = _lowest(counts + rng.random(counts.shape), self.marked)
            counts += drawn[:, participant]
        return drawn


def _lowest(values: NDArray[np.float64], few: int) -> Assignments:
    """Where the lowest values of each row stand."""
    ranks = values.argsort(axis=1).argsort(axis=1)
    chosen: Assignments = ranks < few
    return chosen
