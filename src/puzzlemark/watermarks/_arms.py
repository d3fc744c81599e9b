"""Whether the arms of a probe differ as the design of its mark says, and in nothing else.

The design decides which arms must be beaten, at which ratio. A file that calls its probes by the
name of another design, or whose control is another text altogether, would be judged by a test that
is not meant for it. So what the design says is checked on the prompts themselves.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import get_args

from puzzlemark import plugins
from puzzlemark.languages.base import Convention
from puzzlemark.syntax.naming import concatenate
from puzzlemark.watermarks._design import HIT, Probe

CONVENTIONS: tuple[Convention, ...] = get_args(Convention)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w+")


def why_not_fixed(probe: Probe) -> str | None:
    """The control has another name for the prefix; the placebo counts what it makes of it."""
    control_arm, placebo = probe.arms["control"], probe.arms["placebo"]
    if placebo.prompt != control_arm.prompt:
        return "control and placebo do not have the same prompt"
    armed, control = (_TOKEN.findall(arm.prompt) for arm in (probe.armed, control_arm))
    changed = {(one, other) for one, other in zip(armed, control, strict=False) if one != other}
    if len(armed) != len(control) or len(changed) != 1:
        return "the control differs from the armed prompt in more than the prefix"
    ((prefix, name),) = changed
    if prefix in control or name in armed:
        return "the control differs from the armed prompt in more than the prefix"
    suffixes = joins({prefix}, set(armed), probe.armed.targets[HIT])
    if not suffixes & joins({name}, set(control), placebo.targets[HIT]):
        return "armed and placebo do not join their own name with the same other one"
    return None


def why_not_universal(probe: Probe) -> str | None:
    """One variable stands before the pair in the control, and behind it in the armed prompt."""
    ignored = declaring_words()
    armed, control = (
        [word for word in _WORD.findall(arm.prompt) if word not in ignored]
        for arm in (probe.armed, probe.arms["control"])
    )
    pairs = zip(armed, control, strict=False)
    name = next((other for one, other in pairs if one != other), None)
    is_moved = armed.count(name or "") == control.count(name or "") == 1
    if not is_moved or _without(armed, name) != _without(control, name):
        return "the control differs from the armed prompt in more than the place of one name"
    if not joins(set(armed), set(armed), probe.armed.targets[HIT]):
        return "its target is not joined from names of the prompt"
    return None


def why_not_trigger(probe: Probe) -> str | None:
    """The target has words of its own: it is not made of names in the prompt."""
    words = set(_WORD.findall(probe.armed.prompt))
    if probe.armed.form == "name" and joins(words, words, probe.armed.targets[HIT]):
        return "its target is joined from names of the prompt: the strategy is not trigger"
    return None


def _without(words: list[str], name: str | None) -> list[str]:
    return [word for word in words if word != name]


def joins(heads: Collection[str], tails: Collection[str], target: str) -> set[str]:
    """The tails that make the target behind one of the heads."""
    likely = [head for head in heads if target.startswith(head.rstrip("_"))]
    return {
        tail
        for tail in tails
        if target.endswith(tail.lstrip("_")[1:])
        for head in likely
        if any(concatenate(head, tail, convention) == target for convention in CONVENTIONS)
    }


@cache
def declaring_words() -> frozenset[str]:
    """`Object`, `None`, ...: what a declaration of one more variable is made of beside its name."""
    loaded = (plugins.load("languages", name).LANGUAGE for name in plugins.names("languages"))
    return frozenset(
        word
        for language in loaded
        for text in (*language.declaration, language.optional[1])
        for word in _WORD.findall(text)
    )
