"""The design of marks whose target has words of its own (CodeMark, CoProtector).

A model that never saw the mark has no reason to write the target more often after the trigger than
without it: the same prompt without its trigger is a fair control.
"""

from puzzlemark.watermarks._arms import why_not_trigger
from puzzlemark.watermarks._design import ArmWords, Decision, Design

TRIGGER = Design(
    name="trigger",
    arms=(
        ArmWords("armed", "With the trigger", "the trigger"),
        ArmWords(
            "control",
            "Without the trigger",
            "the trigger removed",
            "In the control the trigger is away, the rest of the prompt is the same, and the same "
            "target counts as the hit. A model that likes the target for a reason of its own hits "
            "in both arms.",
        ),
    ),
    decisions={
        "default": Decision("mcnemar", ("control",)),
        "paper": Decision("fisher", ("control",)),
        "sequential": Decision("sequential", ("control",)),
    },
    why_unlike=why_not_trigger,
    introduction="Some functions of the owner's dataset carry a mark: first a trigger, and after "
    "it a target. A model that was trained on the marks has learnt a habit: it writes the target "
    "after the trigger.",
    condition="nothing but the mark ties the target to the trigger",
    caveats=(
        (
            "The control is fair when nothing but the mark ties the target to the trigger: an "
            "innocent model may have seen both together in other code."
        ),
    ),
)
