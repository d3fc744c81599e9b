"""Files of answers: which of them are counted, and why the others are not."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from puzzlemark.studying.key import Key

Why = Literal["unreadable", "foreign", "tampered", "incomplete", "duplicate", "conflicting"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


# What a page writes, and nothing longer: these texts are shown in messages
Label = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
Seal = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=r"^p[0-9]{2,6}$")]


class Answer(_Part):
    """What was said of one snippet, and how long it was in sight."""

    snippet: Label
    suspicious: bool
    milliseconds: NonNegativeInt


class AnsweredRound(_Part):
    """One round, finished or not."""

    round: Literal[1, 2]
    answers: Annotated[tuple[Answer, ...], Field(min_length=1)]


class AnswerFile(_Part):
    """What a page exports."""

    format: Literal["study answers"]
    version: Literal[1]
    study: Label
    participant: Name
    rounds: tuple[AnsweredRound, ...]
    seal: Seal

    def seal_with(self, token: str) -> str:
        """The seal that a page with this token sets.

        It notices a hand that changes an answer. A page can hold no secret from its reader, so it
        does not stop somebody who computes a new one.
        """
        lines = [
            f"{each.round} {said.snippet} {said.suspicious:d} {said.milliseconds}\n"
            for each in self.rounds
            for said in each.answers
        ]
        text = f"{token}\n{self.study}\n{self.participant}\n{''.join(lines)}"
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Problem:
    """A file, or a round of it, that is not counted."""

    path: str
    why: Why
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.why}: {self.what}"


@dataclass(frozen=True, slots=True)
class Collected:
    """The rounds that count, by participant and number; and all that does not."""

    rounds: Mapping[tuple[str, int], Mapping[str, Answer]]
    problems: tuple[Problem, ...]


def read_answers(paths: Iterable[Path | str], key: Key) -> Collected:
    """Read files, in this order. A round counts when every snippet of it is answered, once."""
    problems: list[Problem] = []
    parts: dict[tuple[str, int], list[tuple[str, dict[str, Answer]]]] = {}
    for path in map(str, paths):
        found = _read(path, key)
        if isinstance(found, Problem):
            problems.append(found)
            continue
        for each in found.rounds:
            answers = {said.snippet: said for said in each.answers}
            parts.setdefault((found.participant, each.round), []).append((path, answers))
    rounds: dict[tuple[str, int], Mapping[str, Answer]] = {}
    for (who, number), read in sorted(parts.items()):
        chosen = _choose(who, number, read, len(key.participants[who].shown), problems)
        if chosen is not None:
            rounds[who, number] = chosen
    return Collected(rounds, tuple(problems))


def _read(path: str, key: Key) -> AnswerFile | Problem:
    try:
        read = AnswerFile.model_validate_json(Path(path).read_bytes())
    except OSError as exc:
        return Problem(path, "unreadable", exc.strerror or "cannot be read")
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        return Problem(path, "unreadable", f"no file of answers: {place}: {first['msg']}")
    if read.study != key.study:
        return Problem(path, "foreign", f"of the study {read.study}, the key is of {key.study}")
    participant = key.participants.get(read.participant)
    if participant is None:
        return Problem(path, "foreign", f"the study has no participant {read.participant}")
    if read.seal != read.seal_with(participant.token):
        return Problem(path, "tampered", "the seal does not fit the answers")
    if wrong := _impossible(read, participant.shown.keys(), key.design.rounds):
        return Problem(path, "tampered", wrong)
    return read if read.rounds else Problem(path, "incomplete", "no answer in it")


def _impossible(read: AnswerFile, shown: Iterable[str], rounds: int) -> str | None:
    """What no page exports, although it is sealed."""
    known = set(shown)
    numbers = [each.round for each in read.rounds]
    if len(set(numbers)) < len(numbers) or max(numbers, default=1) > rounds:
        return "rounds that the study does not have"
    for each in read.rounds:
        said = [answer.snippet for answer in each.answers]
        if len(set(said)) < len(said):
            return f"two answers to one snippet in round {each.round}"
        if not known.issuperset(said):
            return f"a snippet in round {each.round} that the participant was not shown"
    return None


def _choose(
    who: str,
    number: int,
    read: Sequence[tuple[str, dict[str, Answer]]],
    wanted: int,
    problems: list[Problem],
) -> Mapping[str, Answer] | None:
    """The round as it counts: the complete one, unless two complete ones disagree."""
    where = f"round {number} of {who}"
    complete = [(path, answers) for path, answers in read if len(answers) == wanted]
    for path, answers in read:
        if len(answers) < wanted:
            instead = f"; {complete[0][0]} has all of it" if complete else ""
            told = f"{len(answers)} of {wanted} answers in {where}{instead}"
            problems.append(Problem(path, "incomplete", told))
    if not complete:
        return None
    first, answers = complete[0]
    if any(_said(other) != _said(answers) for _, other in complete[1:]):
        for path, _ in complete:
            told = f"{len(complete)} files give different answers in {where}; pass one of them"
            problems.append(Problem(path, "conflicting", told))
        return None
    for path, _ in complete[1:]:
        told = f"the same answers in {where} as {first}, counted once"
        problems.append(Problem(path, "duplicate", told))
    return answers


def _said(answers: Mapping[str, Answer]) -> dict[str, bool]:
    return {snippet: answer.suspicious for snippet, answer in answers.items()}
