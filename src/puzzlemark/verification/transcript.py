"""The transcript: every answer of a model as it arrived, and asking that resumes from it.

A text file of JSON lines that only grows: a header, then one line an answer. Nothing in it depends
on the clock or on how often a run was interrupted. See docs/verification/models.md.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.journal import Kind, differences, opened, whole_lines
from puzzlemark.models.base import Answer, BudgetEnded, Failure, Model, Request, Streaming

FORMAT = "puzzlemark transcript"
VERSION = 1

Progress = Callable[[int, int], None]  # answered, of how many


class TranscriptError(PuzzleMarkError):
    """A transcript cannot be read or written, or belongs to another run."""


KIND = Kind("a transcript", TranscriptError, mode=0o600)


@dataclass(frozen=True, slots=True)
class Header:
    """What a run is: another probe file, other settings or another model is another run."""

    probes: str  # digest of the probe file
    settings: Mapping[str, Any]
    model: Mapping[str, Any]  # Model.describe()
    versions: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain data: the first line of the file."""
        fields = {"format": FORMAT, "version": VERSION, "probes": self.probes}
        parts = {"settings": self.settings, "model": self.model, "versions": self.versions}
        told: dict[str, Any] = json.loads(json.dumps({**fields, **parts}))
        return told


@dataclass(slots=True)
class Transcript:
    """What a file holds. A request that failed and was asked again counts with its last answer."""

    header: dict[str, Any]
    answers: dict[str, Answer] = field(default_factory=dict)
    retried: int = 0  # failures that were asked again

    def add(self, key: str, answer: Answer) -> None:
        """Keep an answer; a request that was answered is never asked again."""
        earlier = self.answers.get(key)
        if isinstance(earlier, str):
            raise ValueError("the request was answered before")
        self.retried += earlier is not None
        self.answers[key] = answer


def ask(
    model: Model,
    requests: Iterable[Request],
    path: Path,
    header: Header,
    on_progress: Progress | None = None,
) -> dict[str, Answer]:
    """Ask what the transcript does not answer yet; return every request's answer by its key.

    Whatever ends the run early (Ctrl-C, a spent budget, a dead server), what was answered is in
    the file, and the same call goes on from there. Failures of an earlier run are asked again.
    """
    unique = list({request.key: request for request in requests}.values())
    with opened(path, KIND, header.to_json()) as journal:
        transcript = _parse(path, journal.lines)
        _check(path, transcript.header, header.to_json())
        open_ = {r.key for r in unique if not isinstance(transcript.answers.get(r.key), str)}
        done = len(unique) - len(open_)
        for batch in _answers(model, unique, open_):
            journal.append(_answer_fields(request.key, answer) for request, answer in batch)
            for request, answer in batch:
                transcript.add(request.key, answer)
            done += len(batch)
            if on_progress is not None:
                on_progress(done, len(unique))
    return {request.key: transcript.answers[request.key] for request in unique}


def read(path: Path) -> Transcript:
    """What a transcript holds; a last line that was cut off does not count."""
    try:
        return _parse(path, whole_lines(path.read_bytes()))
    except OSError as exc:
        raise TranscriptError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def pending(requests: Iterable[Request], path: Path) -> list[Request]:
    """The requests that `ask` would send, for a dry run; each once."""
    unique = {request.key: request for request in requests}
    begun = path.exists() and b"\n" in path.read_bytes()
    known = read(path).answers if begun else {}
    return [each for key, each in unique.items() if not isinstance(known.get(key), str)]


def _answers(
    model: Model, unique: Sequence[Request], open_: set[str]
) -> Iterator[list[tuple[Request, Answer]]]:
    if isinstance(model, Streaming):
        asked = [request for request in unique if request.key in open_]
        for arrived in model.stream(asked):
            yield [(asked[index], answer) for index, answer in arrived]
        return
    # Batches are cut from all requests, not from the open ones: a resumed run then sees the same
    # batches, and rounding that depends on a batch's shape cannot make its answers differ.
    for start in range(0, len(unique), model.batch_size):
        batch = unique[start : start + model.batch_size]
        if asked := [request for request in batch if request.key in open_]:
            yield from _complete(model, asked)


def _complete(model: Model, asked: Sequence[Request]) -> Iterator[list[tuple[Request, Answer]]]:
    try:
        yield list(zip(asked, model.complete(asked), strict=True))
    except BudgetEnded as exc:
        yield [(asked[index], answer) for index, answer in sorted(exc.answers.items())]
        raise


def _parse(path: Path, lines: Sequence[bytes]) -> Transcript:
    header = _parse_header(path, lines[0] if lines else b"")
    transcript = Transcript(header)
    for number, line in enumerate(lines[1:], 2):
        try:
            transcript.add(*_parse_answer(line))
        except (ValueError, TypeError, KeyError) as exc:
            raise TranscriptError(
                f"{path}:{number}: not an answer ({exc}); the file was changed after it was "
                "written: restore it, or remove the line to have its request asked again"
            ) from exc
    return transcript


def _parse_header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
        version = header["version"] if header["format"] == FORMAT else None
    except (ValueError, TypeError, KeyError):
        version = None
    if version is None:
        raise TranscriptError(f"{path}:1: not the header of a transcript")
    if version != VERSION:
        raise TranscriptError(f"{path}: written by a later PuzzleMark (version {version})")
    assert isinstance(header, dict)
    return header


def _parse_answer(line: bytes) -> tuple[str, Answer]:
    fields = json.loads(line)
    key = fields["key"]
    answer = fields["completion"] if "completion" in fields else Failure(fields["failure"])
    reason = answer.reason if isinstance(answer, Failure) else answer
    if not (isinstance(key, str) and isinstance(reason, str)):
        raise TypeError("key and completion must be texts")
    return key, answer


def _answer_fields(key: str, answer: Answer) -> dict[str, str]:
    if isinstance(answer, Failure):
        return {"key": key, "failure": answer.reason}
    return {"key": key, "completion": answer}


def _check(path: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse another run's transcript, and say what differs."""
    if told := differences(found, expected):
        raise TranscriptError(
            f"{path}: belongs to another run: {told}; repeat that run's command, "
            "or choose another output"
        )
