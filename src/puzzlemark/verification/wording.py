"""The words of a verdict: what was shown, and what was not."""

from collections.abc import Iterator, Sequence

from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests.base import Comparison, Finding, counted, load_test
from puzzlemark.watermarks._design import ARMED, Design

USUAL_ALPHA = 0.05
NOT_TRAINED = "This does not say that the model was not trained on the marked data."
SUPPLIED = (
    "The answers were supplied by the owner, from a file or a function of his own. This run cannot "
    "show which model gave them, if any."
)
REFERENCE = (
    "The evidence holds if the reference model did not depend on the key either: one that was made "
    "by somebody who had the key can convict anybody. It has to be one that the other side accepts."
)
SUPPLIED_REFERENCE = (
    "The answers of the reference model were supplied by the owner, from a file or a function of "
    "his own. Whoever has the key can write such answers so that any model is accused; this run "
    "shows nothing unless they are obtained again from a model that both sides know."
)


def sentence(
    word: str,
    decisive: Sequence[Finding],
    *,
    design: Design,
    terms: Terms,
    why: str,
    effect: float | None,
    supplied: bool = False,
) -> str:
    """The verdict in one breath: `Detected: with the trigger 41 of 100 completions ...`."""
    word = word.capitalize() + (" in answers supplied by the owner" if supplied else "")
    if why or not decisive:
        return f"{word}: {why}. {NOT_TRAINED}"
    quoted = _quoted(decisive, design, terms)
    seen = f"{counts(decisive, design, terms)} ({quoted}, alpha {terms.alpha:g})"
    if word.startswith("Detected"):
        return f"{word}: {seen}. {claim(design, terms)}"
    if terms.test(design).needs_key:  # what it needs is no rate of hits: see `puzzlemark power`
        return f"{word}: {seen}. {NOT_TRAINED}"
    return f"{word}: {seen}. {_reach(effect)} {NOT_TRAINED}"


def caveats(
    decisive: Sequence[Finding],
    findings: Sequence[Finding],
    to_beat: Sequence[Comparison],
    *,
    design: Design,
    terms: Terms,
) -> tuple[str, ...]:
    """What a reader must know before he relies on the verdict."""
    if terms.is_fair(design):
        own = [_filled(caveat, design, terms) for caveat in design.caveats]
    else:
        own = list(_unfair(decisive, findings, design))
    return (*own, *_caveats(decisive, to_beat, design, terms))


def lost_to_holm(family: int, log10_p: float, alpha: float) -> str:
    """A detection that several verdicts together do not support."""
    return (
        f"Not detected: among {family} verdicts drawn together, p adjusted by Holm's method is "
        f"{10.0**log10_p:.3g}, not below alpha {alpha:g}. {NOT_TRAINED}"
    )


def _filled(text: str, design: Design, terms: Terms) -> str:
    """A text of the design with the ratio that is tested."""
    source = design.ratio_source if terms.has_own_ratio(design) else "as the owner chose"
    return text.format(ratio=float(terms.null_ratio(design)), source=source)


def counts(decisive: Sequence[Finding], design: Design, terms: Terms) -> str:
    """What each arm scored: `with the trigger 41 of 100 completions held the target, with ...`."""
    armed = decisive[0].armed
    unit, hits = counted(terms.test(design), design.hits)
    found = [f"with {design.arm(ARMED).phrase} {armed.hits} of {armed.trials} {unit} {hits}"]
    for finding in decisive:
        if finding.against is not None and finding.control is not None:
            phrase = design.arm(finding.against).phrase
            found.append(f"with {phrase} {finding.control.hits} of {finding.control.trials}")
    return ", ".join(found)


def _quoted(decisive: Sequence[Finding], design: Design, terms: Terms) -> str:
    test, ratio = terms.test(design), terms.null_ratio(design)
    words = test.findings[test.decides]
    if len(decisive) > 1:
        words += " against each"
    if ratio != 1:
        words += f", null ratio {float(ratio):g} : 1"
    weakest = max(finding.log10_p for finding in decisive)
    if test.measure == "e":
        name = "log10 e" if len(decisive) == 1 else "smaller log10 e"
        return f"{words}, {name} = {min(map(_log10_e, decisive)):.2f}"
    name = "log10 p" if len(decisive) == 1 else "larger log10 p"
    return f"{words}, {name} = {weakest:.2f}"


def _log10_e(finding: Finding) -> float:
    """The evidence itself, which may be below 1; its p-value is not above 1."""
    log10_e = finding.statistic.get("log10_e")
    return -finding.log10_p if log10_e is None else log10_e


def claim(design: Design, terms: Terms) -> str:
    """What a detection shows, and under which condition it speaks of training."""
    if not terms.is_fair(design):
        return design.unfair_claim
    condition = _filled(design.condition, design, terms)
    return (
        f"{design.shown} If {condition}, this means that marked data, or "
        "something derived from it, reached the model's training."
    )


def _reach(effect: float | None) -> str:
    if effect is None:
        return "So few pairs could not have shown any hit rate with 80% probability."
    return f"A hit rate of {effect:.1%} or more would have been shown with 80% probability."


def _unfair(
    decisive: Sequence[Finding], findings: Sequence[Finding], design: Design
) -> Iterator[str]:
    yield design.unfair_caveat
    if not any(finding.is_significant for finding in decisive):
        return
    decides, arms = load_test(design.fair.test).decides, design.fair.against
    fair = [each for each in findings if each.test == decides and each.against in arms]
    if not fair:
        yield "No fair comparison was answered, so nothing else supports this result."
    for finding in fair:
        if not finding.is_significant:
            yield f"The fair comparison (against the {finding.against}) does not confirm it."


def _caveats(
    decisive: Sequence[Finding], to_beat: Sequence[Comparison], design: Design, terms: Terms
) -> Iterator[str]:
    if terms.alpha > USUAL_ALPHA:
        yield (
            f"Alpha is {terms.alpha:g}, more than the usual {USUAL_ALPHA:g}: so many innocent "
            "models would be accused by chance."
        )
    usual = Terms()
    if terms.min_pairs < usual.min_pairs or terms.max_failed > usual.max_failed:
        yield (
            f"It was called conclusive from {terms.min_pairs} pairs on with up to "
            f"{terms.max_failed:.0%} failed, where {usual.min_pairs} and {usual.max_failed:.0%} "
            "are usual."
        )
    if terms.mode == "sequential":
        yield (
            "The number of pairs was not fixed, so the p-values of the tests beside the "
            f"{terms.test(design).decides} are descriptions, not evidence."
        )
    for finding in decisive:
        if finding.direction == "control above":
            yield f"The {finding.against} hit more often than the armed arm: no mark explains that."
    for comparison in to_beat:
        if comparison.failed:
            beside = "" if comparison.against is None else f" with the {comparison.against}"
            yield (
                f"{comparison.failed} pairs{beside} failed and were left out; none was scored as a "
                "miss."
            )
