"""A watermark: the universal mark, in short snippets only, judged by a test of its own."""

import random
from dataclasses import dataclass, replace
from typing import ClassVar

from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks.base import (
    Decision,
    Defaults,
    Design,
    Mark,
    Named,
    Place,
    Probe,
    ProbeNames,
    Refusal,
)
from puzzlemark.watermarks.universal import Universal

TOO_LONG = Refusal("more lines than the watermark takes")
# the arms and words of the universal mark; `unanimous` decides, McNemar's test stands beside it
DESIGN = replace(
    Universal.design,
    name="short_only",
    tests=("unanimous", "mcnemar"),
    decisions={"default": Decision("unanimous", ("control",))},
)


@dataclass(frozen=True, slots=True)
class ShortOnly:
    """`ShortOnly(lines=10)`; on the command line `--watermark short_only:lines=10`."""

    lines: int = 20
    name: ClassVar[str] = "short_only"
    design: ClassVar[Design] = DESIGN
    defaults: ClassVar[Defaults] = Defaults(tau=0.0)
    fewest_variables: ClassVar[int] = Universal.fewest_variables

    def may_occur(self, code: bytes) -> bool:
        """Whether the snippet is short: a cheap look, never wrongly no."""
        return self._is_short(code)

    def plan(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        """The universal mark, or the reason why there is none."""
        if not self._is_short(tree.code):
            return TOO_LONG
        return Universal().plan(tree, function, policy, rng)

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Where the parts of the mark stand."""
        return Universal().locate(tree, mark)

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """The prompts of the universal mark."""
        return Universal().probe(tree, mark, names)

    def _is_short(self, code: bytes) -> bool:
        return len(code.splitlines()) <= self.lines


PLUGIN = ShortOnly
# optional: names for `--mark`
NAMED = {"SHORT": Named("python", ShortOnly())}
