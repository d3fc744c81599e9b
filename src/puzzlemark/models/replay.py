"""Completions that came from anywhere, as a file of JSON lines.

Each line is `{"key": ..., "completion": ...}` or `{"prompt": ..., "completion": ...}`. With
`failure` instead of `completion` the request counts as failed. Log-probabilities are looked up by
the key alone: `{"key": ..., "logprobs": [...]}`. A transcript is such a file, too.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puzzlemark.models.base import (
    Answer,
    ChoiceRequest,
    Failure,
    LogProbs,
    ModelError,
    ModelSettings,
    Reply,
    Request,
)

MISSING = Failure("no completion in the file")
NO_SCORES = Failure("no log-probabilities in the file")


class ReplaySettings(ModelSettings):
    """`--model replay --model-args file=completions.jsonl`."""

    file: Path

    def open(self) -> "Replay":
        """Read the file whole; a line that is no answer is refused with its number."""
        path = self.file
        try:
            content = path.read_bytes()
        except OSError as exc:
            raise ModelError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
        known: dict[str, dict[str, Reply]] = {"key": {}, "prompt": {}}
        for number, line in enumerate(content.split(b"\n"), 1):
            if line.strip() and not (number == 1 and _is_header(line)):
                _add(line, f"{path}:{number}", known)
        digest = hashlib.sha256(content).hexdigest()
        return Replay(path.name, digest, known["key"], known["prompt"])


@dataclass(frozen=True, slots=True)
class Replay:
    """Looks answers up, by the request's key first, then by its prompt."""

    name: str
    digest: str
    by_key: Mapping[str, Reply]
    by_prompt: Mapping[str, Reply]
    batch_size: int = 1000

    def describe(self) -> dict[str, Any]:
        """The file's name and what was in it; whoever supplied it vouches for the answers."""
        return {"kind": "replay", "file": self.name, "sha256": self.digest, "supplied": True}

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """The file's answers; one that is not there is a failure."""
        found = (
            self.by_key.get(request.key, self.by_prompt.get(request.prompt, MISSING))
            for request in requests
        )
        return [MISSING if isinstance(answer, LogProbs) else answer for answer in found]

    def score(self, requests: Sequence[ChoiceRequest]) -> list[LogProbs | Failure]:
        """The file's log-probabilities; those that are not there are a failure."""
        found = (self.by_key.get(request.key, NO_SCORES) for request in requests)
        return [NO_SCORES if isinstance(answer, str) else answer for answer in found]


def _is_header(line: bytes) -> bool:
    return line.startswith(b'{"format":')


def _add(line: bytes, where: str, known: Mapping[str, dict[str, Reply]]) -> None:
    try:
        fields = json.loads(line)
    except ValueError as exc:
        raise ModelError(f"{where}: not a line of JSON") from exc
    if isinstance(fields, dict) and "sitting" in fields:  # of a transcript: no answer
        return
    name = "key" if isinstance(fields, dict) and "key" in fields else "prompt"
    answer = _answer(fields, name)
    if answer is None:
        raise ModelError(
            f"{where}: expected an object with 'key' or 'prompt', and 'completion', all texts"
        )
    earlier = known[name].get(fields[name], answer)
    if not isinstance(earlier, Failure) and earlier != answer:
        raise ModelError(f"{where}: another completion for the same {name}; keep one of them")
    known[name][fields[name]] = answer


def _answer(fields: Any, name: str) -> Reply | None:
    """What a line answers; None when it is no answer."""
    if not isinstance(fields, dict) or not isinstance(fields.get(name), str):
        return None
    if name == "key" and "logprobs" in fields:
        try:
            return LogProbs(tuple(map(float, fields["logprobs"])))
        except (TypeError, ValueError):
            return None
    completion, failure = fields.get("completion"), fields.get("failure")
    if isinstance(completion, str):
        return completion
    return Failure(failure) if isinstance(failure, str) else None


PLUGIN = ReplaySettings
