"""The universal strategy: a function's own first two variables are prefix and suffix (U1, U2)."""

import random
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from puzzlemark.syntax.naming import Joining
from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks._arms import why_not_universal
from puzzlemark.watermarks._concatenation import DISCLOSURE as DISCLOSURE
from puzzlemark.watermarks._concatenation import (
    FEWEST_VARIABLES,
    TOO_FEW,
    concatenation_mark,
    variable_places,
)
from puzzlemark.watermarks._design import ArmWords, Decision, Design
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks._probing import CONCATENATION, PLACEHOLDER, moved, probe_with
from puzzlemark.watermarks.base import (
    UNSAID,
    Defaults,
    Mark,
    Named,
    Place,
    Probe,
    Refusal,
)

# Any first variable is a trigger, so another one is no placebo: the control has the same names, out
# of the trigger position.
DESIGN = Design(
    name="universal",
    arms=(
        ArmWords("armed", "With the trigger", "the trigger"),
        ArmWords(
            "control",
            "Without the trigger",
            "the trigger removed",
            "Both prompts hold one more name, an ordinary one: in the armed prompt after the pair, "
            "in the control before it. So the control has the same names, and the pair stands side "
            "by side, but not where it is a trigger. The same target counts as the hit. A model "
            "that joins any two neighbouring names hits in both arms.",
        ),
    ),
    decisions={
        "default": Decision("mcnemar", ("control",)),
        "paper": Decision("fisher", ("control",)),
        "sequential": Decision("sequential", ("control",)),
    },
    why_unlike=why_not_universal,
    introduction=CONCATENATION,
    prompts=PLACEHOLDER,
    condition="an innocent model joins the first two names of a function no more than {ratio:g} "
    "times as often as the same two names one place later",
    caveats=(
        (
            "The null ratio is {ratio:g} : 1, {source}; an innocent model with a stronger liking "
            "for the first names of a function is accused more often."
        ),
        (
            "A model whose own habit is to join the first two names of a function, or to prefer "
            "early names, cannot be told from one that learnt the mark."
        ),
    ),
    # real code may join the first two names of a function more often than the next two; this is
    # the upper end of what was measured: docs/verification/statistics.md
    ratio=2.9,
    ratio_source="from counts in public code",
    unfair_claim="By the paper's test the outputs depend on the mark; a model that only composes "
    "names from its prompt can pass it as well, so read the fair comparison beside it.",
    unfair_caveat="This test takes both arms as alike. In real code the first two names of a "
    "function may well be joined more often than the next two, and innocent models that follow "
    "real code are then accused more often than alpha says.",
)


@dataclass(frozen=True, slots=True)
class Universal:
    """`Universal()` turns `name`, `path`, ..., `x` into `name_path` for `x`."""

    joining: Joining = field(default="literal", metadata=UNSAID)
    name: ClassVar[str] = "universal"
    design: ClassVar[Design] = DESIGN
    defaults: ClassVar[Defaults] = Defaults()
    fewest_variables: ClassVar[int] = FEWEST_VARIABLES

    def may_occur(self, code: bytes) -> bool:  # noqa: ARG002
        """Every function has a first variable: each snippet is a natural carrier."""
        return True

    def plan(
        self,
        tree: Tree,
        function: Function,
        policy: Policy,
        rng: random.Random,  # noqa: ARG002
    ) -> Mark | Refusal:
        """Replace a variable by the concatenation of the function's first two."""
        if not function.variables:
            return TOO_FEW
        return concatenation_mark(tree, function, 0, policy, joining=self.joining)

    def locate(self, tree: Tree, mark: Mark) -> tuple[Place, ...]:
        """Prefix, suffix and target, wherever they occur."""
        return variable_places(tree, mark)

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:
        """One variable more in both arms: after the pair, or (control) before it."""
        return probe_with(tree, mark, names, partial(moved, names=names), first=True)


PLUGIN = Universal
NAMED = {"U1": Named("python", Universal()), "U2": Named("java", Universal())}
