"""What probes must be, so that their hits mean something: a file may come from a stranger.

Whoever made them, the target stands in no prompt, the arms differ as their design says, no question
is asked twice, and near-duplicates count once. Two texts are alike when the Jaccard similarity of
their sets of words is 0.7 or more. Exact and still fast: two sets that are alike share a word among
the first of each, in any fixed order (a prefix filter), so only texts that do are compared.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.watermarks._arms import declaring_words, joins
from puzzlemark.watermarks._design import ARMED, Arm, Design, Probe
from puzzlemark.watermarks._hits import why_uncountable

MOST_PROBES = 100_000
LONGEST_PROMPT = 200_000  # characters
LARGEST_FILE = 1 << 30  # bytes
SIMILARITY = (7, 10)  # as a fraction: 0.7 is no float
_WORD = re.compile(r"\w+")


class ProbesError(PuzzleMarkError):
    """Probes cannot be used, or a file of them cannot be read or written."""


def check_probes(design: Design, probes: Sequence[Probe], ordinary: Sequence[str] = ()) -> None:
    """Raise ProbesError, with the probe's number, when hits of these probes would mean nothing."""
    if max(len(probes), len(ordinary)) > MOST_PROBES:
        raise ProbesError(f"more than {MOST_PROBES:,} probes or ordinary requests; split them")
    seen: dict[str, int] = {}
    for number, probe in enumerate(probes):
        if reason := why_unfair(design, probe):
            raise ProbesError(f"probe {number}: {reason}")
        if reason := why_unlike(design, probe):
            raise ProbesError(f"probe {number}: {reason}; make them again with `puzzlemark probe`")
        if (earlier := seen.setdefault(probe.armed.prompt, number)) != number:
            raise ProbesError(f"probe {number}: the armed prompt of probe {earlier} again")
    for why in (design.why_uneven, design.why_apart):
        if why is not None and (reason := why(probes)):
            raise ProbesError(f"{reason}; make them again with `puzzlemark probe`")
    for number, prompt in enumerate(ordinary):
        if reason := why_unaskable(prompt):
            raise ProbesError(f"ordinary request {number}: {reason}")


def why_unfair(design: Design, probe: Probe) -> str | None:
    """Why the arms of a probe cannot be compared, or None when they can."""
    for name, arm in probe.arms.items():
        if reason := why_meaningless(arm):
            return f"{name}: {reason}"
    armed = probe.armed
    others = [each for each in design.arms if each.name != ARMED and each.name in probe.arms]
    for words in others:
        arm = probe.arms[words.name]
        if words.has_own_target and arm.target == armed.target:
            return f"the {words.name} counts the armed target; it must have one of its own"
        if not words.has_own_target and (arm.target, arm.form) != (armed.target, armed.form):
            return f"armed and {words.name} do not count the same target in the same form"
    if any(probe.arms[words.name].prompt == armed.prompt for words in others):
        return "the armed prompt is the same as one without the trigger"
    return None


def why_unlike(design: Design, probe: Probe) -> str | None:
    """Why the arms are not those of the design, or differ otherwise than it says; or None."""
    return design.why_other_arms(probe) or design.why_unlike(probe)


def why_meaningless(arm: Arm) -> str | None:
    """Why a hit of an arm would mean nothing, or None."""
    texts = list(arm.targets.values())
    for text in texts:
        if reason := why_uncountable(arm.form, text):
            return reason
    if not texts or len(set(texts)) < len(texts):
        return "each symbol needs a text of its own"
    if reason := why_unaskable(arm.prompt):
        return reason
    # a rewriting is looked for where the prompt ends: what stands earlier is no answer
    # and the first name of a completion is a target or not, but it must stand nowhere before
    form = "name" if arm.form == "first" else arm.form
    if form in ("name", "code") and replace(arm, form=form).is_hit(arm.prompt):
        return "the target stands in the prompt"
    return None


def why_unaskable(prompt: str) -> str | None:
    """Why a prompt is none, or None."""
    if not prompt.strip():
        return "the prompt is empty"
    if len(prompt) > LONGEST_PROMPT:
        return f"the prompt is longer than {LONGEST_PROMPT:,} characters"
    return None


def repeated(design: Design, probes: Sequence[Probe]) -> frozenset[int]:
    """Probes that do not count; none of a design that asks the same frames about every symbol."""
    return near_duplicates(probes) if design.why_uneven is None else frozenset()


def near_duplicates(probes: Sequence[Probe]) -> frozenset[int]:
    """Probes whose armed prompt is nearly that of an earlier one: they count once, as one."""
    words = [distinctive_words(probe) for probe in probes]
    copies = Copies(Counter(word for each in words for word in each))
    return frozenset(number for number, each in enumerate(words) if not copies.keep(each))


class Copies:
    """Texts that were kept, each unlike all others: `copies.keep(words) -> False` for a copy."""

    def __init__(self, frequencies: Mapping[str, int] | None = None) -> None:
        """How often words occur, if it is known, changes nothing but the time it takes."""
        self._frequencies = frequencies or {}
        self._kept: list[frozenset[str]] = []
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)

    def keep(self, words: Collection[str]) -> bool:
        """Keep a set of words, unless it is like one that was kept."""
        own = frozenset(words)
        first = self._first_words(own)
        candidates = {number for word in first for number in self._by_word.get(word, ())}
        if any(are_alike(own, self._kept[number]) for number in candidates):
            return False
        for word in first:
            self._by_word[word].append(len(self._kept))
        self._kept.append(own)
        return True

    def _first_words(self, words: frozenset[str]) -> list[str]:
        """As many that two sets which are alike must share one of them."""
        # rare words first, or else long ones, which are rare: so few texts are compared
        ordered = sorted(words, key=lambda word: (self._frequencies.get(word, 0), -len(word), word))
        above, below = SIMILARITY
        needed = -(-above * len(ordered) // below)  # that a set which is alike shares at least
        return ordered[: len(ordered) - needed + 1] or [""]  # no words at all: like each other


def are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether the Jaccard similarity is 0.7 or more; two empty sets are alike."""
    above, below = SIMILARITY
    if below * min(len(one), len(other)) < above * max(len(one), len(other)):
        return False  # too different in size
    shared = len(one & other)
    return below * shared >= above * (len(one) + len(other) - shared)


def words_of(text: str) -> frozenset[str]:
    """`"def f(x): # of x" -> {"def", "f", "x", "of"}`."""
    return frozenset(_WORD.findall(text))


def distinctive_words(probe: Probe) -> frozenset[str]:
    """The words of the armed prompt but for names that are drawn anew for each probe."""
    words = words_of(probe.armed.prompt)
    drawn = {word for text in probe.armed.targets.values() for word in joins(words, words, text)}
    return words - drawn - _moved_name(probe)


def _moved_name(probe: Probe) -> set[str]:
    """The name that stands in both prompts, and in the control comes earlier."""
    if "control" not in probe.arms:
        return set()
    declaring = declaring_words()
    armed, control = (
        [word for word in _WORD.findall(arm.prompt) if word not in declaring]
        for arm in (probe.armed, probe.arms["control"])
    )
    if sorted(armed) != sorted(control):
        return set()  # the control has another name for the trigger, or none
    pairs = zip(armed, control, strict=True)
    return set(next(([other] for one, other in pairs if one != other), []))
