"""Every answer as it arrived, in a journal: one line for each completion and each loss, by row."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from puzzlemark import journal
from puzzlemark.errors import PuzzleMarkError
from puzzlemark.models.base import Answer, Failure
from puzzlemark.quality.scoring import Loss

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
