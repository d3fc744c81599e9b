"""Probes and their outcomes by hand: `outcome(True, False)` hit when armed, not in the control."""

from puzzlemark.verification.tests.base import Outcome
from puzzlemark.watermarks.base import Arm, Probe, designs

DESIGNS = designs()
FIXED, UNIVERSAL, TRIGGER = (DESIGNS[name] for name in ("fixed", "universal", "trigger"))


def outcome(
    armed: bool | None = None, control: bool | None = None, placebo: bool | None = None
) -> Outcome:
    """None: not asked, or failed."""
    hits = {"armed": armed, "control": control, "placebo": placebo}
    return Outcome({arm: "hit" if hit else None for arm, hit in hits.items() if hit is not None})


def made_of(*arms: Arm) -> Probe:
    """A probe of its arms: armed, control and perhaps placebo."""
    return Probe(dict(zip(("armed", "control", "placebo"), arms, strict=False)))
