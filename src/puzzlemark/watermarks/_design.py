"""How a model is asked about a mark, and how its answers are judged: the design of a watermark.

A watermark says which arms its probes have, which of them the armed one must beat, which test
decides, and in which words a reader is warned. Verification knows nothing else of a scheme.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from puzzlemark.errors import UsageError
from puzzlemark.watermarks import _hits
from puzzlemark.watermarks._draws import Draw
from puzzlemark.watermarks._pools import Subset

ARMED = "armed"  # the arm with the trigger, which every design has
HIT = "hit"  # the symbol of an arm that has one target

# of `logprobs`: the model is asked for log-probabilities as well, and a test of those decides
Mode = Literal["default", "paper", "sequential", "logprobs"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One question to a model: a prompt, and what is looked for in the completion."""

    prompt: str
    target: str | Mapping[str, str]  # the text that is a hit, or a text for each of several symbols
    form: str = "name"  # how a text is found: see `watermarks._hits`

    @property
    def targets(self) -> Mapping[str, str]:
        """The texts by symbol: `Arm("x = ", "key_item").targets -> {"hit": "key_item"}`."""
        return {HIT: self.target} if isinstance(self.target, str) else self.target

    def score(self, completion: str) -> str | None:
        """The symbol whose text comes first in a completion, or None when none does."""
        found = self._found(completion)
        # of two that begin at one place the longer one was written
        return min(found, key=lambda each: (each[0], -each[1]))[2] if found else None

    def is_hit(self, completion: str) -> bool:
        """`Arm("for i in ", "range(0, ...)", "range_start").is_hit("range(0, n):") -> True`."""
        return self.score(completion) is not None

    def spans(self, completion: str) -> list[tuple[int, int]]:
        """Where a completion holds a text that is looked for, in characters."""
        return [(start, end) for start, end, _ in sorted(self._found(completion))]

    def _found(self, completion: str) -> list[tuple[int, int, str]]:
        return [
            (start, end, symbol)
            for symbol, text in self.targets.items()
            for start, end in _hits.find(self.form, text, completion)
        ]

    @property
    def expression(self) -> str:
        """The regular expression that finds a hit; our own, whoever made the probes."""
        return "|".join(_hits.expression(self.form, text) for text in self.targets.values())


@dataclass(frozen=True, slots=True)
class Probe:
    """The same snippet asked in several ways: `Probe({"armed": ..., "control": ...})`."""

    arms: Mapping[str, Arm]  # by the names of the design's arms
    draw: Draw | None = None  # where a key drew what is looked for: among what, not which
    subset: Subset | None = None  # where a key drew several names of a pool: which, how many

    @property
    def armed(self) -> Arm:
        """The question with the trigger."""
        return self.arms[ARMED]


@dataclass(frozen=True, slots=True)
class ArmWords:
    """One arm of a design, in words for a reader."""

    name: str  # as files call it: `control`
    title: str  # over an example: `Without the trigger`
    phrase: str  # in a verdict, after `with`: `the trigger removed`
    about: str = ""  # what this arm is, and which innocent models hit in it; nothing for `armed`
    has_own_target: bool = False  # False: what counts as a hit is what counts in the armed arm
    legend: str = "the target of the mark"  # what is highlighted


@dataclass(frozen=True, slots=True)
class Sampling:
    """How completions are drawn where whoever asks does not say otherwise."""

    temperature: float = 0.2  # the same model hits about three times as often as at 1.0
    max_tokens: int = 24
    samples: int = 1  # of each prompt, each with a seed of its own


@dataclass(frozen=True, slots=True)
class Decision:
    """What decides in one mode: a test, and the arms that the armed one must beat, each of them."""

    test: str  # a plug-in of `verification.tests`
    against: tuple[str | None, ...]  # names of arms; `(None,)`: the armed arm is judged by itself


@dataclass(frozen=True, slots=True)
class Design:
    """Everything that verification knows of a watermark.

    The texts may hold `{ratio:g}`, the null ratio that is tested, and `{source}`, where it is from.
    """

    name: str  # as files of probes call it
    arms: tuple[ArmWords, ...]  # the armed one first
    decisions: Mapping[Mode, Decision]  # that of `default` is the fair one
    why_unlike: Callable[[Probe], str | None]  # why the arms do not differ as they should, or None
    introduction: str  # what a mark is, and which habit a model learns from it
    condition: str  # what must hold of innocent models, before a detection speaks of training
    caveats: tuple[str, ...]  # beside a fair decision
    prompts: str = ""  # what else is to be known of the prompts
    hits: str = "held the target"  # what completions did that count
    # what a completion may score; None: each probe has symbols of its own
    symbols: tuple[str, ...] | None = (HIT,)
    # whether prompts are cut from the original code, and made without the key: then whoever has
    # the manifest can make them, and nothing in them depends on what the key drew
    is_key_blind: bool = False
    alpha: float = 0.05  # accepted rate of false accusations, where nobody says otherwise
    pairs: int = 500  # probes that are made, where nobody says otherwise
    # why probes do not ask the same frames about every symbol, or None; for a design that asks in
    # frames: its prompts are alike on purpose, and each counts
    why_uneven: Callable[[Sequence[Probe]], str | None] | None = None
    # why probes cannot be those of one dataset, or None
    why_apart: Callable[[Sequence[Probe]], str | None] | None = None
    shown: str = "The outputs depend on the trigger."  # what a detection shows
    tests: tuple[str, ...] = ("fisher", "mcnemar", "sequential")  # that are made, decisive or not
    sampling: Sampling = Sampling()  # what suits the design
    ratio: float = 1.0  # how often an innocent model may hit in the armed arm alone, for each time
    ratio_source: str = "as both arms are alike"  # that it hits in the other alone; and who says so
    unfair_claim: str = (
        "The outputs depend on the mark by a test that is not fair to every innocent model, so "
        "read the fair comparison beside it."
    )
    unfair_caveat: str = (
        "This is not the fair test of this design: innocent models may be accused more often than "
        "alpha says."
    )

    def __post_init__(self) -> None:
        names = [arm.name for arm in self.arms]
        if names[:1] != [ARMED] or len(set(names)) < len(names):
            raise UsageError(
                f"the design {self.name}: the first arm is armed, and no name is twice"
            )
        if "default" not in self.decisions:
            raise UsageError(f"the design {self.name}: nothing decides in the mode default")
        for mode, decision in self.decisions.items():
            known = decision.test in self.tests and {*decision.against} <= {*names[1:], None}
            if not known or not decision.against:
                raise UsageError(
                    f"the design {self.name}, mode {mode}: a decision names one of its tests and "
                    "some of its arms"
                )

    def arm(self, name: str) -> ArmWords:
        """The words for an arm: `design.arm("control").phrase -> "the trigger removed"`."""
        return next(arm for arm in self.arms if arm.name == name)

    @property
    def others(self) -> tuple[str, ...]:
        """The arms without the trigger: `("control", "placebo")`."""
        return tuple(arm.name for arm in self.arms if arm.name != ARMED)

    @property
    def fair(self) -> Decision:
        """What decides when nothing else is asked for."""
        return self.decisions["default"]

    def decision(self, mode: Mode) -> Decision:
        """What decides in a mode; a mode that the design does not have is an error."""
        if mode not in self.decisions:
            known = ", ".join(self.decisions)
            raise UsageError(f"the design {self.name} has no mode {mode}; it has {known}")
        return self.decisions[mode]

    def why_other_arms(self, probe: Probe) -> str | None:
        """Why a probe does not have the arms and symbols of this design, or None when it does."""
        names = {arm.name for arm in self.arms}
        for name in (*self.others, *probe.arms):
            if name not in probe.arms:
                return f"it has no {name}, and probes of the design {self.name} have one"
            if name not in names:
                return f"it has a {name}, and probes of the design {self.name} have none"
            known = probe.arms[name].targets if self.symbols is None else self.symbols
            if strange := sorted(set(probe.arms[name].targets) - set(known)):
                return f"{name}: the design {self.name} has no symbol {', '.join(strange)}"
        return None
