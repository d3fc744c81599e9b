"""What the probes showed: an outcome for each probe, counted as pairs (paper, section 4.4).

A probe has up to three arms. *Armed*: the trigger is there. *Control*: the trigger is removed, and
the same target counts as a hit. *Placebo*: another prefix, whose own concatenation counts as the
hit; only a fixed prefix has one.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from puzzlemark.watermarks.base import Strategy

Against = Literal["control", "placebo"]

AGAINST: tuple[Against, ...] = ("control", "placebo")
# The arms that the armed one must beat, each of them. A fixed prefix: the placebo, since a model
# that joins names from its prompt cannot write the target without the prefix; and the control,
# since a model that writes the target in any prompt never hits the placebo. For the universal
# strategy any first variable is a trigger, so another one is no placebo: the control has the same
# names, out of the trigger position. Where the target has words of its own, the prompt without its
# trigger makes it no less likely.
FAIR: dict[Strategy, tuple[Against, ...]] = {
    "fixed": ("placebo", "control"),
    "universal": ("control",),
    "trigger": ("control",),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One probe: whether each arm hit; None where it was not asked or its request failed."""

    armed: bool | None = None
    control: bool | None = None
    placebo: bool | None = None

    def pair(self, against: Against) -> tuple[bool, bool] | None:
        """Armed and the other arm, or None unless both were answered."""
        other = self.control if against == "control" else self.placebo
        return None if self.armed is None or other is None else (self.armed, other)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The armed arm against one control arm, over the pairs where both were answered."""

    against: Against
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
        """Hits of the control arm."""
        return self.both + self.control_only

    @property
    def failed_share(self) -> float:
        """Failed pairs among all pairs: 0 when there are none."""
        return self.failed / max(1, self.failed + self.pairs)


def count(outcomes: Iterable[Outcome], against: Against) -> Comparison:
    """Count pairs: `count([Outcome(armed=True, control=False)], "control").armed_only -> 1`."""
    cells = Counter(outcome.pair(against) for outcome in outcomes)
    return Comparison(
        against,
        both=cells[True, True],
        armed_only=cells[True, False],
        control_only=cells[False, True],
        neither=cells[False, False],
        failed=cells[None],
    )
