"""Completions that came from anywhere, as a file of JSON lines.

Each line is `{"key": ..., "completion": ...}` or `{"prompt": ..., "completion": ...}`. With
`failure` instead of `completion` the request counts as failed. A transcript is such a file, too.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puzzlemark.models.base import Answer, Failure, ModelError, ModelSettings, Request

MISSING = Failure("no completion in the file")


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
        known: dict[str, dict[str, Answer]] = {"key": {}, "prompt": {}}
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
    by_key: Mapping[str, Answer]
    by_prompt: Mapping[str, Answer]
    batch_size: int = 1000

    def describe(self) -> dict[str, Any]:
        """The file's name and what was in it; whoever supplied it vouches for the answers."""
        return {"kind": "replay", "file": self.name, "sha256": self.digest, "supplied": True}

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """The file's answers; one that is not there is a failure."""
        return [
            self.by_key.get(request.key, self.by_prompt.get(request.prompt, MISSING))
            for request in requests
        ]


def _is_header(line: bytes) -> bool:
    return line.startswith(b'{"format":')


def _add(line: bytes, where: str, known: Mapping[str, dict[str, Answer]]) -> None:
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
    if isinstance(earlier, str) and earlier != answer:
        raise ModelError(f"{where}: another completion for the same {name}; keep one of them")
    known[name][fields[name]] = answer


def _answer(fields: Any, name: str) -> Answer | None:
    """What a line answers; None when it is no answer."""
    if not isinstance(fields, dict) or not isinstance(fields.get(name), str):
        return None
    completion, failure = fields.get("completion"), fields.get("failure")
    if isinstance(completion, str):
        return completion
    return Failure(failure) if isinstance(failure, str) else None


PLUGIN = ReplaySettings
