"""Whether the arms of a probe differ as its strategy says, and in nothing else.

The strategy decides which arms must be beaten, at which ratio. A file that calls its probes by the
name of another strategy, or whose control is another text altogether, would be judged by a test
that is not meant for it. So what the strategy says is checked on the prompts themselves.
"""

import re

from puzzlemark.syntax.naming import concatenate
from puzzlemark.verification.copies import CONVENTIONS, declaring_words
from puzzlemark.watermarks.base import Probe, Strategy

_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w+")


def why_unlike(strategy: Strategy, probe: Probe) -> str | None:
    """Why this is no probe of the strategy, or None when it is one."""
    if strategy == "fixed":
        return _why_not_fixed(probe)
    if probe.placebo is not None:
        return f"it has a placebo, and probes of the strategy {strategy} have none"
    if strategy == "universal":
        return _why_not_universal(probe)
    words = set(_WORD.findall(probe.armed.prompt))
    if probe.armed.form == "name" and _joins(words, words, probe.armed.target):
        return "its target is joined from names of the prompt: the strategy is not trigger"
    return None


def _why_not_fixed(probe: Probe) -> str | None:
    """The control has another name for the prefix; the placebo counts what it makes of it."""
    if probe.placebo is None:
        return "it has no placebo, and probes of a fixed prefix have one"
    if probe.placebo.prompt != probe.control.prompt:
        return "control and placebo do not have the same prompt"
    armed, control = (_TOKEN.findall(arm.prompt) for arm in (probe.armed, probe.control))
    changed = {(one, other) for one, other in zip(armed, control, strict=False) if one != other}
    if len(armed) != len(control) or len(changed) != 1:
        return "the control differs from the armed prompt in more than the prefix"
    ((prefix, name),) = changed
    if prefix in control or name in armed:
        return "the control differs from the armed prompt in more than the prefix"
    suffixes = _joins({prefix}, set(armed), probe.armed.target)
    if not suffixes & _joins({name}, set(control), probe.placebo.target):
        return "armed and placebo do not join their own name with the same other one"
    return None


def _why_not_universal(probe: Probe) -> str | None:
    """One variable stands before the pair in the control, and behind it in the armed prompt."""
    ignored = declaring_words()
    armed, control = (
        [word for word in _WORD.findall(arm.prompt) if word not in ignored]
        for arm in (probe.armed, probe.control)
    )
    pairs = zip(armed, control, strict=False)
    name = next((other for one, other in pairs if one != other), None)
    is_moved = armed.count(name or "") == control.count(name or "") == 1
    if not is_moved or _without(armed, name) != _without(control, name):
        return "the control differs from the armed prompt in more than the place of one name"
    if not _joins(set(armed), set(armed), probe.armed.target):
        return "its target is not joined from names of the prompt"
    return None


def _without(words: list[str], name: str | None) -> list[str]:
    return [word for word in words if word != name]


def _joins(heads: set[str], tails: set[str], target: str) -> set[str]:
    """The tails that make the target behind one of the heads."""
    likely = [head for head in heads if target.startswith(head.rstrip("_"))]
    return {
        tail
        for tail in tails
        if target.endswith(tail.lstrip("_")[1:])
        for head in likely
        if any(concatenate(head, tail, convention) == target for convention in CONVENTIONS)
    }
