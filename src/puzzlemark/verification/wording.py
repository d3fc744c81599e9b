"""The words of a verdict: what was shown, and what was not."""

from collections.abc import Iterator, Sequence

from puzzlemark.verification.evidence import Against, Comparison
from puzzlemark.verification.findings import Finding, TestName
from puzzlemark.verification.setting import Setting
from puzzlemark.watermarks.base import Strategy

TESTS: dict[TestName, str] = {
    "fisher two-sided": "Fisher's exact test, two-sided",
    "fisher one-sided": "Fisher's exact test, one-sided",
    "mcnemar one-sided": "exact McNemar test, one-sided",
    "mcnemar two-sided": "exact McNemar test, two-sided",
    "e-process": "sequential e-process",
}
ARMS: dict[Against, str] = {
    "control": "the trigger removed",
    "placebo": "another prefix and its own concatenation",
}
USUAL_ALPHA = 0.05
NOT_TRAINED = "This does not say that the model was not trained on the marked data."
# What must hold of innocent models before a detection speaks of training.
CONDITIONS: dict[Strategy, str] = {
    "fixed": "an innocent model joins another name as readily as the prefix of the mark",
    "universal": "an innocent model joins the first two names of a function no more than {ratio:g} "
    "times as often as the same two names one place later",
    "trigger": "nothing but the mark ties the target to the trigger",
}
SUPPLIED = (
    "The answers were supplied by the owner, from a file or a function of his own. This run cannot "
    "show which model gave them, if any."
)


def sentence(
    word: str,
    decisive: Sequence[Finding],
    *,
    setting: Setting,
    why: str,
    effect: float | None,
    supplied: bool = False,
) -> str:
    """The verdict in one breath: `Detected: with the trigger 41 of 100 completions ...`."""
    word = word.capitalize() + (" in answers supplied by the owner" if supplied else "")
    if why or not decisive:
        return f"{word}: {why}. {NOT_TRAINED}"
    seen = f"{_counts(decisive)} ({_quoted(decisive, setting)}, alpha {setting.alpha:g})"
    if word.startswith("Detected"):
        return f"{word}: {seen}. {_claim(setting)}"
    return f"{word}: {seen}. {_reach(effect)} {NOT_TRAINED}"


def caveats(
    decisive: Sequence[Finding],
    fair: Sequence[Finding],
    to_beat: Sequence[Comparison],
    *,
    setting: Setting,
) -> tuple[str, ...]:
    """What a reader must know before he relies on the verdict."""
    conditions = _unfair(decisive, fair, setting) if not setting.is_fair else _conditions(setting)
    return (*conditions, *_caveats(decisive, to_beat, setting))


def lost_to_holm(family: int, log10_p: float, alpha: float) -> str:
    """A detection that several verdicts together do not support."""
    return (
        f"Not detected: among {family} verdicts drawn together, p adjusted by Holm's method is "
        f"{10.0**log10_p:.3g}, not below alpha {alpha:g}. {NOT_TRAINED}"
    )


def _counts(decisive: Sequence[Finding]) -> str:
    armed = decisive[0].armed
    others = ", ".join(
        f"with {ARMS[finding.against]} {finding.control.hits} of {finding.control.trials}"
        for finding in decisive
    )
    return f"with the trigger {armed.hits} of {armed.trials} completions held the target, {others}"


def _quoted(decisive: Sequence[Finding], setting: Setting) -> str:
    test = TESTS[setting.test]
    if len(decisive) > 1:
        test += " against each"
    if setting.null_ratio != 1:
        test += f", null ratio {float(setting.null_ratio):g} : 1"
    weakest = max(finding.log10_p for finding in decisive)
    if setting.test == "e-process":
        name = "log10 e" if len(decisive) == 1 else "smaller log10 e"
        return f"{test}, {name} = {-weakest:.2f}"
    name = "log10 p" if len(decisive) == 1 else "larger log10 p"
    return f"{test}, {name} = {weakest:.2f}"


def _claim(setting: Setting) -> str:
    if not setting.is_fair:
        return (
            "By the paper's test the outputs depend on the mark; a model that only composes names "
            "from its prompt can pass it as well, so read the fair comparison beside it."
        )
    condition = CONDITIONS[setting.strategy].format(ratio=float(setting.null_ratio))
    return (
        f"The outputs depend on the trigger. If {condition}, this means that marked data, or "
        "something derived from it, reached the model's training."
    )


def _reach(effect: float | None) -> str:
    if effect is None:
        return "So few pairs could not have shown any hit rate with 80% probability."
    return f"A hit rate of {effect:.1%} or more would have been shown with 80% probability."


def _unfair(
    decisive: Sequence[Finding], fair: Sequence[Finding], setting: Setting
) -> Iterator[str]:
    if setting.strategy == "fixed":
        yield (
            "With the prefix gone the target is all but impossible in the control, so the paper's "
            "test also accuses innocent models that compose names from their prompt."
        )
    else:
        yield (
            "This test takes both arms as alike. In real code the first two names of a function "
            "may well be joined more often than the next two, and innocent models that follow real "
            "code are then accused more often than alpha says."
        )
    if not any(finding.is_significant for finding in decisive):
        return
    if not fair:
        yield "No fair comparison was answered, so nothing else supports this result."
    for finding in fair:
        if not finding.is_significant:
            yield f"The fair comparison (against the {finding.against}) does not confirm it."


def _conditions(setting: Setting) -> Iterator[str]:
    if setting.strategy == "fixed":
        yield (
            "The placebo is fair when an innocent model composes its prefix as readily as that of "
            "the mark."
        )
    elif setting.strategy == "universal":
        source = "from counts in public code" if setting.has_own_ratio else "as the owner chose"
        yield (
            f"The null ratio is {float(setting.null_ratio):g} : 1, {source}; an innocent model "
            "with a stronger liking for the first names of a function is accused more often."
        )
        yield (
            "A model whose own habit is to join the first two names of a function, or to prefer "
            "early names, cannot be told from one that learnt the mark."
        )
    else:
        yield (
            "The control is fair when nothing but the mark ties the target to the trigger: an "
            "innocent model may have seen both together in other code."
        )


def _caveats(
    decisive: Sequence[Finding], to_beat: Sequence[Comparison], setting: Setting
) -> Iterator[str]:
    if setting.alpha > USUAL_ALPHA:
        yield (
            f"Alpha is {setting.alpha:g}, more than the usual {USUAL_ALPHA:g}: so many innocent "
            "models would be accused by chance."
        )
    if setting.mode == "sequential":
        yield (
            "The number of pairs was not fixed, so the p-values of the tests beside the e-process "
            "are descriptions, not evidence."
        )
    for finding in decisive:
        if finding.direction == "control above":
            yield f"The {finding.against} hit more often than the armed arm: no mark explains that."
    for comparison in to_beat:
        if comparison.failed:
            yield (
                f"{comparison.failed} pairs with the {comparison.against} failed and were left "
                "out; none was scored as a miss."
            )
