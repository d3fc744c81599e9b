"""The loud channel: the paper's concatenation with prefixes that a key draws from a public pool.

The marks are those of `fixed_prefix`, each with one of a few prefixes. Whoever asks a model asks
about every prefix of the pool alike, in the same frames: functions of the originals, drawn by a
public seed, in which each prefix in turn stands before a placeholder. Only the key tells which
prefixes were marked; the test `rank` compares their hits with those of all other subsets of the
pool. The proof is in docs/watermarks/prefixes.md, and docs/decisions/0017 says why it is so.
"""

import hashlib
import hmac
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from puzzlemark.errors import UnsafeRename, UsageError
from puzzlemark.languages.base import Language, every_language
from puzzlemark.syntax.naming import concatenate
from puzzlemark.syntax.rename import why_not_fresh
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy, functions
from puzzlemark.watermarks._arms import CONVENTIONS
from puzzlemark.watermarks._concatenation import (
    FEWEST_VARIABLES,
    NO_PREFIX,
    concatenation_mark,
    variable_places,
    variables_of,
)
from puzzlemark.watermarks._design import Arm, ArmWords, Decision, Design
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._pools import HOLE, Frame, Subset, frame_of, subset_of
from puzzlemark.watermarks._probing import CONCATENATION, PLACEHOLDER, Asked, edited, probe_with
from puzzlemark.watermarks.base import Defaults, Mark, Place, Probe, Refusal
from puzzlemark.watermarks.fixed_prefix import FixedPrefix

FRAMES = 10  # functions that every prefix of the pool is asked about in
POOL = 200  # names
SLOT = "slotname"  # stands for the prefix while a frame is made: of one word, as those of the pool
SAFE: Policy = "safe"

NO_POOL = Refusal("the language has no public pool of prefixes")
NO_FRAME = Refusal("no function of the snippet could carry a prefix")
NAME_STANDS = Refusal("a prefix of the pool stands in the prompt by nature")

_WORD = re.compile(r"\w+")
_BYTES_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def why_not_asked(probe: Probe) -> str | None:
    """Why a probe does not ask about one prefix of its pool, or None."""
    if probe.subset is None:
        return "it does not say which pool its prefix is of"
    if reason := probe.subset.why_not():
        return reason
    if len(probe.armed.targets) != 1 or probe.armed.form != "name":
        return "it asks about more than one prefix"
    ((prefix, target),) = probe.armed.targets.items()
    if prefix not in probe.subset.pool:
        return f"{prefix} is no prefix of its pool"
    if HOLE in probe.armed.prompt:
        return "its prompt has a sign in it that no text has"
    words = set(_WORD.findall(probe.armed.prompt))
    joined = {concatenate(prefix, word, each) for word in words for each in CONVENTIONS}
    if prefix not in words or target not in joined:
        return "its target is not its prefix joined with another name of the prompt"
    if others := sorted(words.intersection(probe.subset.pool) - {prefix}):
        return f"{others[0]}, another prefix of its pool, stands in its prompt"
    return None


def why_uneven(probes: Sequence[Probe]) -> str | None:
    """Why the prefixes of a pool are not all asked about in the same frames, or None.

    Whoever could ask about the true ones in other frames could choose those where they hit.
    """
    frames: defaultdict[tuple[Subset | None, Frame], set[str]] = defaultdict(set)
    for probe in probes:
        frames[probe.subset, frame_of(probe.armed.prompt, probe.armed.targets)] |= set(
            probe.armed.targets
        )
    for (subset, _), asked in frames.items():
        if subset is not None and asked != set(subset.pool):
            return (
                f"a frame asks about {len(asked)} of {len(subset.pool)} prefixes, where it must "
                "ask about all of them in the same words"
            )
    return None


def why_several_subsets(probes: Sequence[Probe]) -> str | None:
    """Why probes are not those of one dataset, or None: of each pool it drew one subset.

    Four and five names of one key are nearly the same ones; as independent draws they would count
    twice what happened once. And of several beacons the best could be chosen.
    """
    subsets = {probe.subset for probe in probes if probe.subset is not None}
    pools = {(subset.language, subset.version) for subset in subsets}
    if len(pools) < len(subsets):
        return "its probes name more than one subset of a pool"
    if len({subset.beacon for subset in subsets}) > 1:
        return "its subsets name more than one beacon"
    return None


DESIGN = Design(
    name="prefixes",
    arms=(
        ArmWords(
            "armed",
            "With a prefix of the pool",
            "the prefixes of the key",
            legend="the prefix of this prompt, joined with the name after it",
        ),
    ),
    decisions={"default": Decision("rank", (None,))},
    why_unlike=why_not_asked,
    why_uneven=why_uneven,
    why_apart=why_several_subsets,
    introduction=f"{CONCATENATION} Which names are prefixes was drawn by a secret key, from a "
    "public pool of names that people use anyway.",
    prompts=f"{PLACEHOLDER} Every prefix of the pool is asked about in the same prompts; only the "
    "key tells which of them were marked.",
    condition="whoever made an innocent model did not have the key, nor any data that was marked "
    "with it, and the key was fixed before the first question",
    caveats=(
        (
            "The error rate holds for every model that does not depend on the key, whatever its "
            "habits. It rests on the key: that it was drawn at random and committed to before the "
            "model was asked."
        ),
        (
            "The frames, the number of prefixes and the beacon are those of the file of probes, "
            "and whoever can choose them after the key can accuse anybody. This verdict does not "
            "rest on a comparison with the dataset: `puzzlemark compare` makes one, from dataset "
            "and manifest, and what it found stands beside the verdict."
        ),
    ),
    hits="joined the prefix with the name after it",
    symbols=None,
    tests=("rank",),
    is_key_blind=True,
    alpha=1e-4,
    pairs=FRAMES * POOL,
    shown="The outputs depend on the key.",
)


@dataclass(frozen=True, slots=True)
class Prefixes:
    """`Prefixes().with_key(key)` marks as `FixedPrefix` does, with four prefixes of the key."""

    number: int = 4  # prefixes that are drawn
    beacon: str | None = None  # SHA-256 of what was published after the secret was committed to
    key: bytes | None = field(default=None, repr=False)
    name: ClassVar[str] = "prefixes"
    design: ClassVar[Design] = DESIGN
    defaults: ClassVar[Defaults] = Defaults()
    fewest_variables: ClassVar[int] = FEWEST_VARIABLES

    def __post_init__(self) -> None:
        if not 1 <= self.number <= POOL // 10:
            raise UsageError(f"prefixes: number is 1 to {POOL // 10}, not {self.number}")
        if self.beacon is not None and not _DIGEST.fullmatch(self.beacon):
            raise UsageError("prefixes: beacon is a SHA-256 in hexadecimal; pass --beacon FILE")

    def with_key(self, key: bytes) -> "Prefixes":
        """The same with the key that draws the prefixes."""
        return replace(self, key=key)

    def drawn(self, language: Language) -> tuple[str, ...]:
        """The prefixes of a language; none where it has no pool."""
        if self.key is None:
            raise UsageError("prefixes: they are drawn by a key; bind one with with_key")
        return self._subset(language).drawn(self.key)

    def _subset(self, language: Language) -> Subset:
        return subset_of(language, self.number, self.beacon)

    def may_occur(self, code: bytes) -> bool:
        """Whether a prefix of any language stands in the code as a word."""
        words = {name.encode() for each in every_language() for name in self.drawn(each)}
        return not words.isdisjoint(_BYTES_WORD.findall(code))

    def plan(
        self,
        tree: Tree,
        function: Function,
        policy: Policy,
        rng: random.Random,  # noqa: ARG002
    ) -> Mark | Refusal:
        """Mark a function that has a variable named like a prefix; the first one counts."""
        drawn = self.drawn(tree.language)
        names = [each.name for each in variables_of(function)]
        place = next((n for n, name in enumerate(names) if name in drawn), None)
        return NO_PREFIX if place is None else concatenation_mark(tree, function, place, policy)

    def introduce(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        """Bring in the prefix whose turn it is: by the text, so that no order matters."""
        refusal = NO_POOL
        for prefix in self._in_turn(tree):
            outcome = FixedPrefix(prefix).introduce(tree, function, policy, rng)
            if isinstance(outcome, Mark) or why_not_fresh(tree, prefix) is None:
                return outcome
            refusal = outcome
        return refusal

    def _in_turn(self, tree: Tree) -> tuple[str, ...]:
        drawn = self.drawn(tree.language)
        if not drawn:
            return ()
        assert self.key is not None, "drawn with it"
        digest = hmac.digest(self.key, b"turn\n" + tree.code, hashlib.sha256)
        first = int.from_bytes(digest[:8], "big") % len(drawn)
        return drawn[first:] + drawn[:first]

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Prefix, suffix and target, wherever they occur."""
        return variable_places(tree, mark)

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """One mark with its own prefix; a verification asks in frames instead."""
        return probe_with(tree, mark, names, partial(self._armed, tree.language), first=False)

    def _armed(self, language: Language, asked: Asked) -> Probe:
        arm = Arm(asked.arm.prompt, {asked.prefix: asked.target})
        return Probe({"armed": arm}, subset=self._subset(language))

    def frame(self, tree: Tree, names: ProbeNames) -> tuple[Probe, ...] | Refusal:
        """An original function, asked with every prefix of its language's pool; needs no key."""
        pool = tree.language.pool
        if not pool:
            return NO_POOL
        refusal = NO_FRAME
        for made in self._slotted(tree, names):
            if isinstance(made, Refusal):
                refusal = made
            elif not set(pool).isdisjoint(_WORD.findall(made.armed.prompt)):
                refusal = NAME_STANDS
            else:
                return tuple(self._filled(tree.language, made.armed, prefix) for prefix in pool)
        return refusal

    def _slotted(self, tree: Tree, names: ProbeNames) -> Iterator[Probe | Refusal]:
        """Each function with the slot for its prefix, as if it had been marked."""
        for function in functions(tree):
            mark = FixedPrefix(SLOT).introduce(tree, function, SAFE, names.rng)
            if isinstance(mark, Refusal):
                yield mark
                continue
            try:
                marked = edited(tree, mark.edits)
            except UnsafeRename as refusal:
                yield Refusal(str(refusal))
                continue
            yield probe_with(marked, mark, names, partial(self._armed, tree.language), first=False)

    def _filled(self, language: Language, slotted: Arm, prefix: str) -> Probe:
        """The frame with a prefix in its slot."""
        (target,) = slotted.targets.values()
        prompt = re.sub(rf"\b{SLOT}\b", prefix, slotted.prompt)
        arm = Arm(prompt, {prefix: target.replace(SLOT, prefix, 1)})
        return Probe({"armed": arm}, subset=self._subset(language))


PLUGIN = Prefixes
