"""The universal strategy: a function's own first two variables are prefix and suffix (U1, U2)."""

import random
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks._concatenation import (
    FEWEST_VARIABLES,
    TOO_FEW,
    concatenation_mark,
    mark_first,
)
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._places import variable_places
from puzzlemark.watermarks._probing import moved, probe_with
from puzzlemark.watermarks.base import (
    Defaults,
    Mark,
    Named,
    Place,
    Probe,
    Refusal,
    Strategy,
)


@dataclass(frozen=True, slots=True)
class Universal:
    """`Universal()` turns `name`, `path`, ..., `x` into `name_path` for `x`."""

    name: ClassVar[str] = "universal"
    strategy: ClassVar[Strategy] = "universal"
    defaults: ClassVar[Defaults] = Defaults()
    fewest_variables: ClassVar[int] = FEWEST_VARIABLES

    def may_occur(self, code: bytes) -> bool:  # noqa: ARG002
        """Every function has a first variable: each snippet is a natural carrier."""
        return True

    def plan(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:  # noqa: ARG002
        """Mark the first function that can carry."""

        def attempt(function: Function) -> Mark | Refusal:
            return concatenation_mark(tree, function, 0, policy) if function.variables else TOO_FEW

        return mark_first(tree, attempt)

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Prefix, suffix and target, wherever they occur."""
        return variable_places(tree, mark)

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """One variable more in both arms: after the pair, or (control) before it."""
        return probe_with(tree, mark, names, partial(moved, names=names), first=True)


PLUGIN = Universal
NAMED = {"U1": Named("python", Universal()), "U2": Named("java", Universal())}
