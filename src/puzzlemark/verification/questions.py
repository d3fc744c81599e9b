"""From probes to requests, and from the answers back to what each probe scored."""

import hashlib
from collections.abc import Mapping, Sequence

from puzzlemark.models.base import Answer, ChoiceRequest, LogProbs, Reply, Request
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.verification.terms import Terms
from puzzlemark.verification.tests.base import Outcome
from puzzlemark.watermarks._design import Probe

Questions = dict[str, tuple[Request, ...]]  # of one probe, by the arm's name: all samples
Choices = dict[str, ChoiceRequest]  # of one probe, by the arm's name: log-probabilities


def questions_of(probes: ProbeSet, terms: Terms) -> list[Questions]:
    """The requests of each probe by arm; arms share one where their prompts are the same."""
    return [
        {name: requests_of(arm.prompt, n, terms) for name, arm in probe.arms.items()}
        for n, probe in enumerate(probes.probes)
    ]


def choices_of(probes: ProbeSet) -> list[Choices]:
    """What is asked about log-probabilities: of each arm, the names that it looks for."""
    return [
        {name: ChoiceRequest(a.prompt, tuple(a.targets.values())) for name, a in p.arms.items()}
        for p in probes.probes
    ]


def requests_of(prompt: str, number: int, terms: Terms) -> tuple[Request, ...]:
    """The samples of a question, each with a seed of its own, whatever else is asked."""
    return tuple(
        Request(prompt, terms.max_tokens, terms.temperature, _seed(terms, number, sample, prompt))
        for sample in range(terms.samples)
    )


def _seed(terms: Terms, number: int, sample: int, prompt: str) -> int:
    """The first sample has the seed that it has when there is no other."""
    place = f"{number}#{sample}" if sample else str(number)
    text = f"{terms.seed}:{place}:{prompt}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") >> 1


def outcome_of(
    probe: Probe,
    questions: Questions,
    answers: Mapping[str, Reply],
    choices: Choices | None = None,
    reference: Mapping[str, Reply] | None = None,
) -> Outcome:
    """What the arms of a probe scored, those of which all samples were asked."""
    samples: dict[str, tuple[str | None, ...]] = {}
    for name, arm in probe.arms.items():
        asked = asked_of(questions[name], answers) or ()
        if texts := [answer for answer in asked if isinstance(answer, str)]:
            samples[name] = tuple(arm.score(text) for text in texts)
    several = any(len(requests) > 1 for requests in questions.values())
    scores = {name: scored[0] for name, scored in samples.items()}
    return Outcome(
        scores,
        probe,
        samples if several else {},
        _log_probs(probe, choices or {}, answers),
        _log_probs(probe, choices or {}, reference or {}),
    )


def _log_probs(
    probe: Probe, choices: Choices, answers: Mapping[str, Reply]
) -> dict[str, dict[str, float]]:
    """The log-probability of each symbol, of the arms whose question about them was answered."""
    found: dict[str, dict[str, float]] = {}
    for name, choice in choices.items():
        answer = answers.get(choice.key)
        if isinstance(answer, LogProbs) and len(answer.values) == len(choice.names):
            found[name] = dict(zip(probe.arms[name].targets, answer.values, strict=True))
    return found


def asked_of(requests: Sequence[Request], answers: Mapping[str, Reply]) -> list[Answer] | None:
    """The answers to all samples of a question; None when one of them was never asked."""
    found = [answers[request.key] for request in requests if request.key in answers]
    texts = [answer for answer in found if not isinstance(answer, LogProbs)]
    return texts if len(texts) == len(requests) else None


def first_of(answers: Sequence[Answer]) -> Answer:
    """The first sample that was answered, which is the one that is scored; else why none was."""
    return next((answer for answer in answers if isinstance(answer, str)), answers[0])
