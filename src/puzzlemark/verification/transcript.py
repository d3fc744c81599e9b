"""The transcript: every answer of a model as it arrived, and asking that resumes from it.

A text file of JSON lines that only grows: a header, then a line for each time that asking began or
went on (a sitting), and one for each answer. Every line but the first holds a link: the SHA-256 of
the link before it and of its own text. So no line can be changed, added or taken out of the middle
unnoticed; an end that was cut off shows as one sitting more. Whoever holds the file can still
write a new one: see docs/verification/models.md.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.journal import (
    Journal,
    Kind,
    begin_anew,
    differences,
    opened,
    spell,
    whole_lines,
)
from puzzlemark.models.base import (
    Asked,
    BudgetEnded,
    ChoiceRequest,
    Failure,
    LogProbs,
    Model,
    ModelError,
    Reply,
    Request,
    Scoring,
    Streaming,
    Telling,
)
from puzzlemark.progress import Progress
from puzzlemark.verification.chain import Witness

_Asked = TypeVar("_Asked", Request, ChoiceRequest)

FORMAT = "puzzlemark transcript"
VERSION = 2  # 1 had no links and no sittings; it can be judged, but not gone on with


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
    source: Mapping[str, str] | None = None  # what the probes were made from

    def to_json(self) -> dict[str, Any]:
        """Plain data: the first line of the file."""
        fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "probes": self.probes}
        if self.source is not None:
            fields["source"] = self.source
        parts = {"settings": self.settings, "model": self.model, "versions": self.versions}
        payload: dict[str, Any] = json.loads(json.dumps({**fields, **parts}))
        return payload


@dataclass(slots=True)
class Transcript:
    """What a file holds. A request that failed and was asked again counts with its last answer."""

    header: dict[str, Any]
    last_link: str  # that the next line continues
    links: list[str] = field(default_factory=list)  # of all lines but the first
    answers: dict[str, Reply] = field(default_factory=dict)
    retried: int = 0  # failures that were asked again
    sittings: list[int] = field(default_factory=list)  # how many lines of answers each one found
    lines: int = 0  # of answers
    first: str = ""  # SHA-256 of the first line

    @property
    def is_linked(self) -> bool:
        """Whether changed lines would have been noticed."""
        return bool(self.header["version"] > 1)

    def add(self, key: str, answer: Reply) -> None:
        """Keep an answer; a request that was answered is never asked again."""
        earlier = self.answers.get(key)
        if _is_answered(earlier):
            raise ValueError("the request was answered before")
        self.retried += earlier is not None
        self.lines += 1
        self.answers[key] = answer

    def link(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The same fields with their link, which the next line will continue."""
        self.last_link = hashlib.sha256(self.last_link.encode() + spell(fields)).hexdigest()
        self.links.append(self.last_link)
        return {**fields, "link": self.last_link}


@dataclass(slots=True)
class Asking:
    """An open transcript: asks what it does not answer yet."""

    model: Model
    journal: Journal
    transcript: Transcript
    witness: Witness | None = None
    has_sat: bool = False

    def ask(
        self, requests: Iterable[Asked], on_progress: Progress | None = None
    ) -> dict[str, Reply]:
        """Every request's answer by its key; those of an earlier run that failed are asked again.

        Whatever ends the run early (Ctrl-C, a spent budget, a dead server), what was answered is
        in the file, and the same call goes on from there.
        """
        unique = list({request.key: request for request in requests}.values())
        known = self.transcript.answers
        open_ = {r.key for r in unique if not _is_answered(known.get(r.key))}
        done = len(unique) - len(open_)
        if open_ and self.witness is not None:
            self.witness.begin(self.model, self.transcript.links)
        for batch in _answers(self.model, unique, open_):
            self._sit()
            lines = [self.transcript.link(_answer_fields(r.key, answer)) for r, answer in batch]
            self.journal.append(lines)
            if self.witness is not None:
                self.witness.answered(
                    (line["link"], _heard(self.model, request))
                    for line, (request, _) in zip(lines, batch, strict=True)
                )
            for request, answer in batch:
                self.transcript.add(request.key, answer)
            done += len(batch)
            if on_progress is not None:
                on_progress("asking", done, len(unique))
        return {request.key: known[request.key] for request in unique}

    def _sit(self) -> None:
        """Before the first answer of this sitting, say that there is a new one."""
        if not self.has_sat:
            self.has_sat = True
            sittings = self.transcript.sittings
            sittings.append(self.transcript.lines)
            line = self.transcript.link({"sitting": len(sittings)})
            self.journal.append([line])
            if self.witness is not None:
                self.witness.sat(line["link"], len(sittings))

    def end(self, why: str) -> None:
        """Asking ended by itself: `all asked`, `decided` or `budget`."""
        if self.witness is not None:
            self.witness.ended(why, self.transcript.last_link)


def _heard(model: Model, request: Asked) -> dict[str, Any] | None:
    return model.heard(request) if isinstance(model, Telling) else None


@contextmanager
def asking(
    model: Model, path: Path, header: Header, witness: "Witness | None" = None
) -> Iterator[Asking]:
    """Open the transcript of a run, begun or new, and go on with it."""
    with opened(path, KIND, header.to_json()) as journal:
        if witness is not None and not witness.path.exists() and len(journal.lines) == 1:
            begin_anew(journal, header.to_json())  # the model was never reached: nothing was asked
        transcript = _parse(path, journal.lines)
        _check(path, transcript.header, header.to_json())
        if witness is not None:
            witness.of(journal.lines[0])
        yield Asking(model, journal, transcript, witness)


def read(path: Path) -> Transcript:
    """What a transcript holds; a last line that was cut off does not count."""
    try:
        return _parse(path, whole_lines(path.read_bytes()))
    except OSError as exc:
        raise TranscriptError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def pending(requests: Iterable[Asked], path: Path) -> list[Asked]:
    """The requests that `ask` would send, for a dry run; each once."""
    unique = {request.key: request for request in requests}
    begun = path.exists() and b"\n" in path.read_bytes()
    known = read(path).answers if begun else {}
    return [each for key, each in unique.items() if not _is_answered(known.get(key))]


def _is_answered(answer: Reply | None) -> bool:
    return answer is not None and not isinstance(answer, Failure)


def _answers(
    model: Model, unique: Sequence[Asked], open_: set[str]
) -> Iterator[list[tuple[Asked, Reply]]]:
    """Log-probabilities first: a server that tells none is found out before it costs anything."""
    if choices := [each for each in unique if isinstance(each, ChoiceRequest)]:
        if not isinstance(model, Scoring):
            raise ModelError(f"the model {model.name} tells no log-probabilities")
        yield from _in_batches(model.score, choices, open_, model.batch_size)
    completions = [each for each in unique if isinstance(each, Request)]
    if isinstance(model, Streaming):
        asked = [request for request in completions if request.key in open_]
        for arrived in model.stream(asked):
            yield [(asked[index], answer) for index, answer in arrived]
    else:
        yield from _in_batches(model.complete, completions, open_, model.batch_size)


def _in_batches(
    ask: Callable[[Sequence[_Asked]], Sequence[Reply]],
    unique: Sequence[_Asked],
    open_: set[str],
    size: int,
) -> Iterator[list[tuple[Asked, Reply]]]:
    # Batches are cut from all requests, not from the open ones: a resumed run then sees the same
    # batches, and rounding that depends on a batch's shape cannot make its answers differ.
    for start in range(0, len(unique), size):
        asked = [request for request in unique[start : start + size] if request.key in open_]
        if not asked:
            continue
        try:
            yield list(zip(asked, ask(asked), strict=True))
        except BudgetEnded as exc:
            yield [(asked[index], answer) for index, answer in sorted(exc.answers.items())]
            raise


def _parse(path: Path, lines: Sequence[bytes]) -> Transcript:
    first = lines[0] if lines else b""
    header = _parse_header(path, first)
    digest = hashlib.sha256(first).hexdigest()
    transcript = Transcript(header, digest, first=digest)
    for number, line in enumerate(lines[1:], 2):
        try:
            _add_line(transcript, json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
            raise TranscriptError(
                f"{path}:{number}: not a line as it was written ({exc}); the file was changed "
                "afterwards: restore it, or begin a new run in another folder"
            ) from exc
    return transcript


def _add_line(transcript: Transcript, fields: dict[str, Any]) -> None:
    if transcript.is_linked:
        written = fields.pop("link")
        if transcript.link(fields)["link"] != written:
            raise ValueError("it does not follow from the lines before it")
        if "sitting" in fields:
            transcript.sittings.append(transcript.lines)
            return
    transcript.add(*_parse_answer(fields))


def _parse_header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
        version = header["version"] if header["format"] == FORMAT else None
    except (ValueError, TypeError, KeyError, RecursionError):
        version = None
    if version is None:
        raise TranscriptError(f"{path}:1: not the header of a transcript")
    if type(version) is not int or version not in (1, VERSION):
        raise TranscriptError(f"{path}: written by a later PuzzleMark (version {version})")
    assert isinstance(header, dict)
    parts = {"probes": str, "settings": dict, "model": dict, "versions": dict}
    for name, kind in parts.items():
        if not isinstance(header.get(name), kind):
            raise TranscriptError(f"{path}:1: {name} is missing or not as it was written")
    if not isinstance(header.get("source", {}), dict):
        raise TranscriptError(f"{path}:1: source is not as it was written")
    return header


def _parse_answer(fields: Mapping[str, Any]) -> tuple[str, Reply]:
    key = fields["key"]
    if isinstance(key, str) and isinstance(fields.get("logprobs"), list):
        return key, LogProbs(tuple(_number(value) for value in fields["logprobs"]))
    answer = fields["completion"] if "completion" in fields else Failure(fields["failure"])
    reason = answer.reason if isinstance(answer, Failure) else answer
    if not (isinstance(key, str) and isinstance(reason, str)):
        raise TypeError("key and completion must be texts")
    return key, answer


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError("log-probabilities must be numbers")
    return float(value)


def _answer_fields(key: str, answer: Reply) -> dict[str, Any]:
    if isinstance(answer, Failure):
        return {"key": key, "failure": answer.reason}
    if isinstance(answer, LogProbs):
        return {"key": key, "logprobs": list(answer.values)}
    return {"key": key, "completion": answer}


def _check(path: Path, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse another run's transcript, and say what differs."""
    if differing := differences(found, expected):
        raise TranscriptError(
            f"{path}: belongs to another run: {differing}; repeat that run's command, "
            "or choose another output"
        )
