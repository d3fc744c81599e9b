"""What a probe must be, so that its hits mean something: a file may come from a stranger."""

from collections.abc import Iterator

from puzzlemark.watermarks._hits import why_uncountable
from puzzlemark.watermarks.base import Arm, Probe

MOST_PROBES = 100_000
LONGEST_PROMPT = 200_000  # characters
LARGEST_FILE = 1 << 30  # bytes


def why_unfair(probe: Probe) -> str | None:
    """Why the arms of a probe cannot be compared, or None when they can."""
    for name, arm in arms_of(probe):
        if reason := why_meaningless(arm):
            return f"{name}: {reason}"
    armed, control, placebo = probe.armed, probe.control, probe.placebo
    if (armed.target, armed.form) != (control.target, control.form):
        return "armed and control do not count the same target in the same form"
    if placebo is not None and placebo.target == armed.target:
        return "the placebo counts the armed target; it must have one of its own"
    if armed.prompt in {arm.prompt for arm in (control, placebo) if arm is not None}:
        return "the armed prompt is the same as one without the trigger"
    return None


def arms_of(probe: Probe) -> Iterator[tuple[str, Arm]]:
    """The arms that a probe has, with their names."""
    yield "armed", probe.armed
    yield "control", probe.control
    if probe.placebo is not None:
        yield "placebo", probe.placebo


def why_meaningless(arm: Arm) -> str | None:
    """Why a hit of an arm would mean nothing, or None."""
    if reason := why_uncountable(arm.form, arm.target) or why_unaskable(arm.prompt):
        return reason
    # a rewriting is looked for where the prompt ends: what stands earlier is no answer
    if arm.form in ("name", "code") and arm.is_hit(arm.prompt):
        return "the target stands in the prompt"
    return None


def why_unaskable(prompt: str) -> str | None:
    """Why a prompt is none, or None."""
    if not prompt.strip():
        return "the prompt is empty"
    if len(prompt) > LONGEST_PROMPT:
        return f"the prompt is longer than {LONGEST_PROMPT:,} characters"
    return None
