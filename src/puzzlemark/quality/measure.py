"""How well one model completes held-out functions, sample by sample (paper, RQ1).

Every answer goes into a journal as it arrives: one line for each completion and each loss, by row.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from puzzlemark import journal
from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.languages.base import parsing_packages
from puzzlemark.models.base import Answer, BudgetEnded, Failure, LogProbs, Model, Request
from puzzlemark.progress import Progress
from puzzlemark.provenance import versions
from puzzlemark.quality.result import Measured, Quality, Terms, save_quality
from puzzlemark.quality.samples import LONGEST, HeldOut, Sample, draw_samples
from puzzlemark.quality.scoring import (
    Loss,
    Scorer,
    bleu_signature,
    corpus_bleu,
    find_activation,
    sentence_bleu,
    tokenize,
)

FORMAT = "puzzlemark quality answers"


class AnswersError(PuzzleMarkError):
    """A file of answers cannot be used."""


KIND = journal.Kind("a file of answers", AnswersError)


@dataclass(slots=True)
class Answers:
    """What is known so far. What failed is asked again by the next run."""

    kept: journal.Journal
    completions: dict[int, Answer] = field(default_factory=dict)
    losses: dict[int, Loss | Failure] = field(default_factory=dict)

    def add_completions(self, answers: Iterable[tuple[int, Answer]]) -> None:
        """Keep some answers, on the disk before anything else is asked."""
        known = dict(answers)
        self.kept.append(_answer_fields(row, answer) for row, answer in known.items())
        self.completions.update(known)

    def add_loss(self, row: int, loss: Loss | Failure) -> None:
        """Keep one loss."""
        self.kept.append([_loss_fields(row, loss)])
        self.losses[row] = loss


@contextmanager
def opened(path: Path, header: Mapping[str, Any]) -> Iterator[Answers]:
    """Begin the file, or go on with it; refuse one that was made under other terms."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise AnswersError(f"{path}: cannot be opened: {exc.strerror or exc}") from exc
    expected = json.loads(json.dumps({"format": FORMAT, **header}))
    with journal.opened(path, KIND, expected) as kept:
        _check(path, kept.lines[0], expected)
        answers = Answers(kept)
        _read(answers, kept.lines[1:])
        yield answers


def _check(path: Path, line: bytes, expected: Mapping[str, Any]) -> None:
    try:
        found = json.loads(line)
        if found.get("format") != FORMAT:
            raise ValueError("no such format")
    except (ValueError, AttributeError) as exc:
        raise AnswersError(f"{path}:1: not a file of answers; choose another --output") from exc
    if message := journal.differences(found, expected):
        raise AnswersError(
            f"{path}: belongs to another measurement: {message}; repeat that command, or choose "
            "another --output"
        )


def _read(answers: Answers, lines: Iterable[bytes]) -> None:
    for number, line in enumerate(lines, 2):
        try:
            fields = json.loads(line)
            row = int(fields["row"])
            if "completion" in fields:
                answers.completions[row] = str(fields["completion"])
            elif "nats" in fields:
                answers.losses[row] = Loss(float(fields["nats"]), int(fields["tokens"]))
            elif fields["of"] == "loss":
                answers.losses[row] = Failure(str(fields["failure"]))
            else:
                answers.completions[row] = Failure(str(fields["failure"]))
        except (ValueError, TypeError, KeyError) as exc:
            raise AnswersError(
                f"{answers.kept.path}:{number}: not an answer; the file was changed after it was "
                "written: restore it, or remove the line to have its sample asked again"
            ) from exc


def _answer_fields(row: int, answer: Answer) -> dict[str, Any]:
    if isinstance(answer, Failure):
        return {"row": row, "of": "completion", "failure": answer.reason}
    return {"row": row, "completion": answer}


def _loss_fields(row: int, loss: Loss | Failure) -> dict[str, Any]:
    if isinstance(loss, Failure):
        return {"row": row, "of": "loss", "failure": loss.reason}
    return {"row": row, "nats": loss.nats, "tokens": loss.tokens}


def measure(
    corpus: Corpus,
    model: Model,
    *,
    output: Path | str,
    samples: int | None = 1000,
    max_tokens: int = 40,
    window: int = 16,
    temperature: float = 0.0,
    seed: int = 0,
    prefix: str | None = None,
    longest: int = LONGEST,
    scorer: Scorer | None = None,
    progress: Progress | None = None,
) -> Quality:
    """Ask for completions (and losses, with a scorer) and write `output`, a JSON file.

    Answers are kept beside it in `<output>.answers.jsonl` as they arrive; the same call goes on
    from there. Everything but the answers is fixed before the first question.
    """
    if samples is not None and samples < 2:
        raise UsageError(f"{samples} samples; two or more can be compared")
    if window < 1:
        raise UsageError(f"a window of {window} tokens; one or more can be compared")
    path = Path(output)
    keep_apart({"--output": path, "its answers": answers_path(path)}, {"INPUT": corpus.paths})
    signature = bleu_signature()  # without sacrebleu nothing is asked
    report = progress or (lambda _stage, _done, _total: None)
    terms = Terms(samples, max_tokens, window, temperature, seed, prefix, longest)
    held_out = draw_samples(corpus, samples, seed=seed, longest=longest)
    header = {
        "heldout": held_out.digest,
        "terms": asdict(terms),
        "model": model.describe(),
        "scorer": scorer.describe() if scorer is not None else None,
        "versions": versions("sacrebleu", *parsing_packages()),
    }
    with opened(answers_path(path), header) as answers:
        _ask(model, held_out.samples, terms, answers, report)
        if scorer is not None:
            _score(scorer, held_out.samples, answers, report)
        quality = _judge(held_out, terms, answers, header, signature)
    save_quality(quality, path)
    return quality


def answers_path(output: Path) -> Path:
    """`quality.json -> quality.json.answers.jsonl`."""
    return output.with_name(f"{output.name}.answers.jsonl")


def _ask(
    model: Model, samples: Sequence[Sample], terms: Terms, answers: Answers, report: Progress
) -> None:
    known = answers.completions
    # cut from all samples, not from the open ones: a resumed run then sees the same batches
    for start in range(0, len(samples), model.batch_size):
        report("completing", start, len(samples))
        batch = samples[start : start + model.batch_size]
        if asked := [sample for sample in batch if not isinstance(known.get(sample.row), str)]:
            for arrived in _complete(model, asked, terms):
                answers.add_completions(arrived)
    report("completing", len(samples), len(samples))


def _complete(
    model: Model, asked: Sequence[Sample], terms: Terms
) -> Iterator[list[tuple[int, Answer]]]:
    requests = [
        Request(sample.prompt, terms.max_tokens, terms.temperature, _seed(terms, sample))
        for sample in asked
    ]
    try:
        completed = model.complete(requests)
    except BudgetEnded as exc:
        answered = sorted(exc.answers.items())
        yield [(asked[n].row, a) for n, a in answered if not isinstance(a, LogProbs)]
        raise
    yield [(sample.row, answer) for sample, answer in zip(asked, completed, strict=True)]


def _seed(terms: Terms, sample: Sample) -> int:
    text = f"{terms.seed}:{sample.row}".encode()
    return int.from_bytes(blake2b(text, digest_size=4).digest(), "big") >> 1


def _score(scorer: Scorer, samples: Sequence[Sample], answers: Answers, report: Progress) -> None:
    for done, sample in enumerate(samples):
        report("scoring", done, len(samples))
        if not isinstance(answers.losses.get(sample.row), Loss):
            answers.add_loss(sample.row, scorer.score(sample.code))
    report("scoring", len(samples), len(samples))


def _judge(
    held_out: HeldOut, terms: Terms, answers: Answers, header: Mapping[str, Any], signature: str
) -> Quality:
    measured = tuple(
        measure_sample(
            sample, answers.completions[sample.row], answers.losses.get(sample.row), terms
        )
        for sample in held_out.samples
    )
    return Quality(
        heldout=held_out.digest,
        records=held_out.records,
        skipped=dict(held_out.skipped),
        terms=terms,
        model=header["model"],
        versions=header["versions"],
        signature=signature,
        corpus_bleu=_corpus_bleu(held_out.samples, answers.completions, terms),
        samples=measured,
    )


def measure_sample(
    sample: Sample, answer: Answer, loss: Loss | Failure | None, terms: Terms
) -> Measured:
    """All numbers of one sample; a failed answer has none and is counted as failed, not as bad."""
    scored = loss if isinstance(loss, Loss) else None
    measured = Measured(
        row=sample.row,
        id=sample.id,
        loss=scored.mean if scored else None,
        loss_tokens=scored.tokens if scored else None,
        loss_failure=loss.reason if isinstance(loss, Failure) else None,
    )
    if isinstance(answer, Failure):
        return replace(measured, failure=answer.reason)
    return replace(
        measured,
        bleu=sentence_bleu(*compared_tokens(sample, answer, terms.window)),
        exact=next_line(answer) == next_line(sample.continuation),
        activation=find_activation(sample, answer, terms.prefix),
    )


def compared_tokens(sample: Sample, completion: str, window: int) -> tuple[list[str], list[str]]:
    """Completion and truth, both cut to the window, or to the truth where that is shorter.

    So an answer that goes on beyond the function's end loses nothing by it; an answer that is too
    short is punished as BLEU punishes brevity.
    """
    reference = tokenize(sample.continuation)[:window]
    return tokenize(completion)[: len(reference)], reference


def next_line(text: str) -> str:
    """The first line with something on it, white space made one: `"\\n  x =  1\\n" -> "x = 1"`."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return next(filter(None, lines), "")


def _corpus_bleu(
    samples: Sequence[Sample], answers: Mapping[int, Answer], terms: Terms
) -> float | None:
    pairs = [
        compared_tokens(sample, answer, terms.window)
        for sample in samples
        if isinstance(answer := answers[sample.row], str)
    ]
    if not pairs:
        return None
    return corpus_bleu([ours for ours, _ in pairs], [truth for _, truth in pairs])
