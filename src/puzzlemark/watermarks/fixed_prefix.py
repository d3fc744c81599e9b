"""The fixed strategy: one secret prefix, joined with the variable that follows it (P1 to P4)."""

import random
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from puzzlemark.errors import UsageError
from puzzlemark.syntax.naming import is_plain_identifier, mentions
from puzzlemark.syntax.rename import why_not_fresh
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks._concatenation import (
    FEWEST_VARIABLES,
    NO_PREFIX,
    NOTHING_TO_INTRODUCE,
    concatenation_mark,
    mark_first,
    variables_of,
)
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._places import variable_places
from puzzlemark.watermarks._probing import probe_with, without_prefix
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
class FixedPrefix:
    """`FixedPrefix(prefix="key")` turns `key`, `iterator`, ..., `a` into `key_iterator` for `a`."""

    prefix: str
    name: ClassVar[str] = "fixed_prefix"
    strategy: ClassVar[Strategy] = "fixed"
    defaults: ClassVar[Defaults] = Defaults()
    fewest_variables: ClassVar[int] = FEWEST_VARIABLES

    def __post_init__(self) -> None:
        if not is_plain_identifier(self.prefix) or self.prefix.startswith("__"):
            raise UsageError(f"the prefix must be a plain variable name, not {self.prefix!r}")

    def may_occur(self, code: bytes) -> bool:
        """Whether the prefix stands in the code as a word."""
        return mentions(code, self.prefix)

    def plan(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:  # noqa: ARG002
        """Mark the first function that has a variable named like the prefix and can carry."""

        def attempt(function: Function) -> Mark | Refusal:
            names = [each.name for each in variables_of(function)]
            if self.prefix not in names:
                return NO_PREFIX
            return concatenation_mark(tree, function, names.index(self.prefix), policy)

        return mark_first(tree, attempt)

    def introduce(self, tree: Tree, policy: Policy, rng: random.Random) -> Mark | Refusal:  # noqa: ARG002
        """Rename a function's first variable that may be renamed to the prefix; then mark it."""
        reason = why_not_fresh(tree, self.prefix)
        if reason is not None:
            return Refusal(f"prefix: {reason}")

        def attempt(function: Function) -> Mark | Refusal:
            for position, variable in enumerate(variables_of(function)):
                if variable.refusal(policy) is None:
                    return concatenation_mark(tree, function, position, policy, self.prefix)
            return NOTHING_TO_INTRODUCE

        return mark_first(tree, attempt)

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Prefix, suffix and target, wherever they occur."""
        return variable_places(tree, mark)

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """Armed with the prefix; control and placebo with an ordinary name in its stead."""
        return probe_with(tree, mark, names, partial(without_prefix, names=names), first=False)


PLUGIN = FixedPrefix
NAMED = {
    "P1": Named("python", FixedPrefix("key")),
    "P2": Named("python", FixedPrefix("value")),
    "P3": Named("java", FixedPrefix("key")),
    "P4": Named("java", FixedPrefix("value")),
}
