"""The words of a report, explained for readers who do not use them every day."""

from collections.abc import Iterator

from puzzlemark.pages.marks import Fact
from puzzlemark.verification.tests.base import load_test
from puzzlemark.verification.verdict import Verdict

ALWAYS = {
    "Model": "A program that continues a text. It was made by training on many texts.",
    "Mark": "A small, deliberate change in the code of a dataset, which does not change what the "
    "code does. A model that is trained on many marks takes on a habit.",
    "Prompt, completion": "What a model is given to continue, and what it writes.",
    "Probe": "One piece of code that the model is asked to continue, in one or several ways.",
}
PAIRED = {
    "Trigger, target": "The part of a mark that comes first, and the name or code that follows it "
    "in marked code.",
    "Armed": "A prompt with the trigger.",
    "Control, placebo": "The same prompt without the trigger. In a placebo another name stands for "
    "it, and what would be its target counts. A model that never saw the marks does alike in both.",
    "Hit": "A completion with the target in it.",
    "p, p-value": "How often answers would differ as much as these, or more, if the trigger made "
    "no difference. It is not the chance that the model is innocent.",
}
KEYED = {
    "Key": "A secret number. It decided by chance, for each mark, which of several ordinary names "
    "stands there. Who does not have it cannot know the choices.",
    "p, p-value": "How often a key drawn at random would do as well as the owner's, for a model "
    "that does not depend on it. It is not the chance that the model is innocent.",
}
EVIDENCE = {
    "Evidence e, e-process": "What a bet against innocence has grown to, from 1 at the start; bets "
    "are made on one answer after the other, before it is looked at. For an innocent model it "
    "reaches 1,000 in fewer than 1 of 1,000 cases, however often one looks and whenever one stops. "
    "1 / e serves as p.",
}
FIXED = {
    "Alpha": "The limit that p must stay below, fixed before: the share of innocent models that "
    "the test may accuse.",
    "Commitment": "One number that stands for marks, keys, plan and dataset. It tells nothing of "
    "them, and none of them can be changed afterwards without changing it.",
    "Timestamp": "The signed statement of a third party that a number was there at a given time.",
    "Confirmatory, exploratory": "A verdict is confirmatory if everything was done as it was fixed "
    "before the dataset was published, and exploratory otherwise. An exploratory one may be a "
    "result of looking long enough.",
    "Transcript": "All answers of the model in the order in which they came.",
}


def glossary(verdict: Verdict) -> Iterator[Fact]:
    """The words that this verdict needs, and no others."""
    test = load_test(verdict.terms.decision(verdict.design).test)
    words = {**ALWAYS, **(KEYED if test.needs_key else PAIRED)}
    if test.measure == "e":
        words |= EVIDENCE
    if "placebo" not in verdict.design.others and "Control, placebo" in words:
        about = "The same prompt without the trigger. A model that never saw the marks does alike."
        words = {("Control" if n == "Control, placebo" else n): a for n, a in words.items()}
        words["Control"] = about
    for name, about in {**words, **FIXED}.items():
        yield Fact(name, about)
