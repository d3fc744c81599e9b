"""The fixed strategy: one secret prefix, joined with the variable that follows it (P1 to P4)."""

import random
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from puzzlemark.errors import UsageError
from puzzlemark.syntax.naming import Joining, is_plain_identifier, mentions
from puzzlemark.syntax.rename import why_not_fresh
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks._arms import why_not_fixed
from puzzlemark.watermarks._concatenation import DISCLOSURE as DISCLOSURE
from puzzlemark.watermarks._concatenation import (
    FEWEST_VARIABLES,
    NO_PREFIX,
    NOTHING_TO_INTRODUCE,
    concatenation_mark,
    variable_places,
    variables_of,
)
from puzzlemark.watermarks._design import ArmWords, Decision, Design
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._probing import CONCATENATION, PLACEHOLDER, probe_with, without_prefix
from puzzlemark.watermarks.base import (
    UNSAID,
    Defaults,
    Mark,
    Named,
    Place,
    Probe,
    Refusal,
)

# The armed arm must beat both others. The placebo: a model that joins names from its prompt cannot
# write the target without the prefix. The control: a model that writes the target in any prompt
# never hits the placebo.
BOTH = ("placebo", "control")
DESIGN = Design(
    name="fixed",
    arms=(
        ArmWords("armed", "With the trigger", "the trigger"),
        ArmWords(
            "control",
            "Without the trigger",
            "the trigger removed",
            "In the control an ordinary name stands for the prefix, and the target still counts as "
            "the hit, although its prefix is gone from the prompt. This is the paper's control. "
            "The target is unlikely there for a model that joins the names of its prompt; one that "
            "writes the target whatever the prompt says hits in both arms.",
        ),
        ArmWords(
            "placebo",
            "With another prefix",
            "another prefix and its own concatenation",
            "In the placebo an ordinary name stands for the prefix, and that name joined with the "
            "next one counts as the hit. Both arms are treated alike: a model that merely joins "
            "names hits in both.",
            has_own_target=True,
            legend="the placebo's own concatenation",
        ),
    ),
    decisions={
        "default": Decision("mcnemar", BOTH),
        "paper": Decision("fisher", ("control",)),
        "sequential": Decision("sequential", BOTH),
    },
    why_unlike=why_not_fixed,
    introduction=CONCATENATION,
    prompts=PLACEHOLDER,
    condition="an innocent model joins another name as readily as the prefix of the mark",
    caveats=(
        (
            "The placebo is fair when an innocent model composes its prefix as readily as that of "
            "the mark."
        ),
    ),
    unfair_claim="By the paper's test the outputs depend on the mark; a model that only composes "
    "names from its prompt can pass it as well, so read the fair comparison beside it.",
    unfair_caveat="With the prefix gone the target is all but impossible in the control, so the "
    "paper's test also accuses innocent models that compose names from their prompt.",
)


@dataclass(frozen=True, slots=True)
class FixedPrefix:
    """`FixedPrefix(prefix="key")` turns `key`, `iterator`, ..., `a` into `key_iterator` for `a`."""

    prefix: str
    joining: Joining = field(default="literal", metadata=UNSAID)
    name: ClassVar[str] = "fixed_prefix"
    design: ClassVar[Design] = DESIGN
    defaults: ClassVar[Defaults] = Defaults()
    fewest_variables: ClassVar[int] = FEWEST_VARIABLES

    def __post_init__(self) -> None:
        if not is_plain_identifier(self.prefix) or self.prefix.startswith("__"):
            raise UsageError(f"the prefix must be a plain variable name, not {self.prefix!r}")

    def may_occur(self, code: bytes) -> bool:
        """Whether the prefix stands in the code as a word."""
        return mentions(code, self.prefix)

    def plan(
        self,
        tree: Tree,
        function: Function,
        policy: Policy,
        rng: random.Random,  # noqa: ARG002
    ) -> Mark | Refusal:
        """Mark a function that has a variable named like the prefix."""
        names = [each.name for each in variables_of(function)]
        if self.prefix not in names:
            return NO_PREFIX
        at = names.index(self.prefix)
        return concatenation_mark(tree, function, at, policy, joining=self.joining)

    def introduce(
        self,
        tree: Tree,
        function: Function,
        policy: Policy,
        rng: random.Random,  # noqa: ARG002
    ) -> Mark | Refusal:
        """Rename a function's first variable that may be renamed to the prefix; then mark it."""
        reason = why_not_fresh(tree, self.prefix)
        if reason is not None:
            return Refusal(f"prefix: {reason}")
        for position, variable in enumerate(variables_of(function)):
            if variable.refusal(policy) is None:
                return concatenation_mark(
                    tree, function, position, policy, self.prefix, self.joining
                )
        return NOTHING_TO_INTRODUCE

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
