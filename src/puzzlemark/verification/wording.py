"""The words of a verdict: what was shown, and what was not."""

from collections.abc import Iterator

from puzzlemark.verification.evidence import Against, Comparison
from puzzlemark.verification.findings import Finding, TestName
from puzzlemark.verification.setting import Setting

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
NOT_TRAINED = "This does not say that the model was not trained on the marked data."


def sentence(
    word: str, decisive: Finding | None, *, setting: Setting, why: str, effect: float | None
) -> str:
    """The verdict in one breath: `Detected: with the trigger 41 of 100 completions ...`."""
    if why or decisive is None:
        return f"{word.capitalize()}: {why}. {NOT_TRAINED}"
    seen = f"{_counts(decisive)} ({_quoted(decisive)}, alpha {setting.alpha:g})"
    if word == "detected":
        return f"Detected: {seen}. {_claim(setting)}"
    return f"Not detected: {seen}. {_reach(effect)} {NOT_TRAINED}"


def caveats(
    decisive: Finding | None, fair: Finding | None, comparison: Comparison, *, setting: Setting
) -> tuple[str, ...]:
    """What a reader must know before he relies on the verdict."""
    return tuple(_caveats(decisive, fair, comparison, setting))


def lost_to_holm(family: int, log10_p: float, alpha: float) -> str:
    """A detection that several verdicts together do not support."""
    return (
        f"Not detected: among {family} verdicts drawn together, p adjusted by Holm's method is "
        f"{10.0**log10_p:.3g}, not below alpha {alpha:g}. {NOT_TRAINED}"
    )


def _counts(finding: Finding) -> str:
    armed, control = finding.armed, finding.control
    return (
        f"with the trigger {armed.hits} of {armed.trials} completions held the target, "
        f"with {ARMS[finding.against]} {control.hits} of {control.trials}"
    )


def _quoted(finding: Finding) -> str:
    if finding.test == "e-process":
        return f"{TESTS[finding.test]}, log10 e = {finding.statistic['log10_e']:.2f}"
    return f"{TESTS[finding.test]}, log10 p = {finding.log10_p:.2f}"


def _claim(setting: Setting) -> str:
    if not setting.is_fair:
        return (
            "By the paper's test the outputs depend on the mark; a model that only composes names "
            "from its prompt can pass it as well, so read the fair comparison beside it."
        )
    return (
        "The outputs depend on the mark: marked data, or something derived from it, reached the "
        "model's training."
    )


def _reach(effect: float | None) -> str:
    if effect is None:
        return "So few pairs could not have shown any hit rate with 80% probability."
    return f"A hit rate of {effect:.1%} or more would have been shown with 80% probability."


def _caveats(
    decisive: Finding | None, fair: Finding | None, comparison: Comparison, setting: Setting
) -> Iterator[str]:
    if not setting.is_fair:
        yield (
            "With the prefix gone the target is all but impossible in the control, so the paper's "
            "test also accuses innocent models that compose names from their prompt."
        )
        if decisive is not None and decisive.is_significant:
            if fair is None:
                yield "No fair comparison was answered, so nothing else supports this result."
            elif not fair.is_significant:
                yield f"The fair comparison (against the {fair.against}) does not confirm it."
    elif comparison.against == "placebo":
        yield (
            "The placebo is fair when an innocent model composes its prefix as readily as that of "
            "the mark."
        )
    elif setting.strategy == "universal":
        yield (
            "The control is fair when an innocent model composes the two names as readily out of "
            "the trigger position as in it."
        )
    else:
        yield (
            "The control is fair when nothing but the mark ties the target to the trigger: an "
            "innocent model may have seen both together in other code."
        )
    if setting.mode == "sequential":
        yield (
            "The number of pairs was not fixed, so the p-values of the tests beside the e-process "
            "are descriptions, not evidence."
        )
    if decisive is not None and decisive.direction == "control above":
        yield "The control hit more often than the armed arm: no mark explains that."
    if comparison.failed:
        yield f"{comparison.failed} pairs failed and were left out; none was scored as a miss."
