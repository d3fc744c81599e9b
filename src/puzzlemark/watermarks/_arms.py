"""Whether the arms of a probe differ as the design of its mark says, and in nothing else.

The design decides which arms must be beaten, at which ratio. A file that calls its probes by the
name of another design, or whose control is another text altogether, would be judged by a test that
is not meant for it. So what the design says is checked on the prompts themselves.

A control differs from the armed prompt in the trigger alone:

- fixed prefix: another name stands for the prefix, wherever it stands;
- universal: the declaration of one name stands at another place;
- trigger, a word: another name stands for it, wherever it stands;
- trigger, a statement: it is away, or another one-line statement stands in its place;
- trigger, a rewriting: what the equivalent form is made of is away, or is that of the original.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import get_args

from puzzlemark import plugins
from puzzlemark.languages.base import Convention, every_language
from puzzlemark.syntax.naming import concatenate
from puzzlemark.syntax.rewritings.base import load
from puzzlemark.watermarks._design import HIT, Probe

CONVENTIONS: tuple[Convention, ...] = get_args(Convention)
LONGEST_STATEMENT = 1000  # characters
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w+")
_WORDS_AND_REST = re.compile(r"(\w+)")
_IS_ANY = re.compile(r"[a-z]\Z")  # any expression, in how people read a form: `x != null`
_INDENTATION = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)


def why_not_fixed(probe: Probe) -> str | None:
    """The control has another name for the prefix; the placebo counts what it makes of it."""
    placebo = probe.arms["placebo"]
    if placebo.prompt != probe.arms["control"].prompt:
        return "control and placebo do not have the same prompt"
    names = _exchanged(probe)
    if names is None:
        return "the control differs from the armed prompt in more than the prefix"
    prefix, name = names
    armed, control = (
        set(_WORD.findall(arm.prompt)) for arm in (probe.armed, probe.arms["control"])
    )
    suffixes = joins({prefix}, armed, probe.armed.targets[HIT])
    if not suffixes & joins({name}, control, placebo.targets[HIT]):
        return "armed and placebo do not join their own name with the same other one"
    return None


def _exchanged(probe: Probe) -> tuple[str, str] | None:
    """The one word of the armed prompt, and the one that stands in its stead in the control."""
    armed, control = (
        _WORDS_AND_REST.split(arm.prompt) for arm in (probe.armed, probe.arms["control"])
    )
    changed = {(one, other) for one, other in zip(armed, control, strict=False) if one != other}
    if len(armed) != len(control) or len(changed) != 1:
        return None
    ((one, other),) = changed
    is_word = _WORD.fullmatch(one) and _WORD.fullmatch(other)
    return (one, other) if is_word and one not in control and other not in armed else None


def why_not_universal(probe: Probe) -> str | None:
    """One variable stands before the pair in the control, and behind it in the armed prompt."""
    ignored = declaring_words()
    armed, control = (
        [word for word in _WORD.findall(arm.prompt) if word not in ignored]
        for arm in (probe.armed, probe.arms["control"])
    )
    pairs = zip(armed, control, strict=False)
    name = next((other for one, other in pairs if one != other), None)
    if name is None or not _is_moved(probe, name):
        return "the control differs from the armed prompt in more than the place of one name"
    if not joins(set(armed), set(armed), probe.armed.targets[HIT]):
        return "its target is not joined from names of the prompt"
    return None


def _is_moved(probe: Probe, name: str) -> bool:
    """Whether both prompts are the same text once the declaration of the name is taken out."""
    armed, control = (
        set(_undeclared(arm.prompt, name)) for arm in (probe.armed, probe.arms["control"])
    )
    return not armed.isdisjoint(control)


def _undeclared(prompt: str, name: str) -> Iterator[str]:
    """The prompt without its declaration of a name, as a parameter or on a line of its own."""
    if _WORD.findall(prompt).count(name) != 1:
        return
    for form in declarations():
        if (declared := form.format(name)) not in prompt:
            continue  # most forms are another language's; a pattern costs more than a look
        text = rf"(?<!\w){re.escape(declared)}(?!\w)"
        for pattern in (f"{text}, ", f", {text}", rf"{text}\r?\n[ \t]*", rf"\r?\n[ \t]*{text}"):
            if found := re.search(pattern, prompt):
                yield prompt[: found.start()] + prompt[found.end() :]


def declarations() -> frozenset[str]:
    """How the languages declare one more variable: `{}`, `{} = None`, `Object {}`, ..."""
    return _declarations(plugins.names("languages"))


@cache  # every word of a prompt asks
def _declarations(_languages: tuple[str, ...]) -> frozenset[str]:
    return frozenset(
        text.removesuffix(", ")
        for language in every_language()
        for text in (*language.declaration, language.optional[1])
    )


def why_not_trigger(probe: Probe) -> str | None:
    """The control lacks the trigger: a word, a statement, or the form of an expression."""
    form = probe.armed.form
    if form == "name":
        words = set(_WORD.findall(probe.armed.prompt))
        if joins(words, words, probe.armed.targets[HIT]):
            return "its target is joined from names of the prompt: the strategy is not trigger"
        is_like = _exchanged(probe) is not None
    elif form == "code":
        is_like = _lacks_statement(probe.armed.prompt, probe.arms["control"].prompt)
    else:
        is_like = any(_lacks_rewriting(probe, name) for name in _triggers(form))
    return None if is_like else "the control differs from the armed prompt in more than the trigger"


def _lacks_statement(armed: str, control: str) -> bool:
    """Whether one line of code is away, or stands for another, and all around it is the same."""
    before, behind = _shared(armed, control), _shared(armed[::-1], control[::-1])
    shorter = min(len(armed), len(control))
    if not (armed[:before] + armed[len(armed) - behind :]).strip():
        return False  # nothing is the same
    # text that repeats itself can be cut in several ways: `a; b; ` less one of them
    earliest = max(0, min(before, shorter - behind), before - LONGEST_STATEMENT)
    for start in range(before, earliest - 1, -1):
        end = min(behind, shorter - start)
        parts = (armed[start : len(armed) - end], control[start : len(control) - end])
        if max(map(len, parts)) > LONGEST_STATEMENT:
            return False
        statement, instead = (part.strip("; \t\r\n") for part in parts)
        if statement and "\n" not in statement + instead:
            return True
    return False


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return len(os.path.commonprefix([one, other]))  # noqa: RUF071 (of characters, not of folders)


def _triggers(form: str) -> Iterator[str]:
    """The rewritings that may be the trigger of this target: all others of its language."""
    for name in plugins.names("syntax.rewritings"):
        if name != form and load(name).LANGUAGE == load(form).LANGUAGE:
            yield name


def _lacks_rewriting(probe: Probe, name: str) -> bool:
    """Whether the prompts differ only in what the two forms of a rewriting are made of."""
    rewriting = load(name)
    equivalent, original = (
        {token for token in _TOKEN.findall(text.replace("...", "")) if not _IS_ANY.match(token)}
        for text in (rewriting.EQUIVALENT, rewriting.ORIGINAL)
    )
    armed, control = (_TOKEN.findall(arm.prompt) for arm in (probe.armed, probe.arms["control"]))
    put, taken = Counter(armed), Counter(control)
    if not ((put - taken).keys() <= equivalent and (taken - put).keys() <= original):
        return False
    own = equivalent | original
    rest = ([token for token in tokens if token not in own] for tokens in (armed, control))
    indented = (_INDENTATION.findall(arm.prompt) for arm in (probe.armed, probe.arms["control"]))
    return _are_same(rest) and _are_same(indented)


def _are_same(two: Iterable[list[str]]) -> bool:
    one, other = two
    return one == other


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


def declaring_words() -> frozenset[str]:
    """`Object`, `None`, ...: what a declaration of one more variable is made of beside its name."""
    return _words(declarations())


@cache
def _words(texts: frozenset[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text))
