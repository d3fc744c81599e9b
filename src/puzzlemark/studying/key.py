"""The private key of a study: which snippets are marked, and for whom. Nobody who takes part, and
nobody who hands out the pages, needs it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.studying.design import Design

FORMAT: Literal["puzzlemark study key"] = "puzzlemark study key"
VERSION = 1


class StudyError(PuzzleMarkError):
    """A file of a study cannot be used."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Mark(_Part):
    """A watermark of the study."""

    language: str
    scheme: str
    settings: dict[str, Any]
    carriers: int  # that could have been drawn
    snippets: tuple[int, ...]  # their numbers, in the order that the assignment counts in


class Origin(_Part):
    """Where a snippet comes from; `code` is a digest of its bare text."""

    dataset: int
    row: int
    id: str
    code: str


class Shown(_Part):
    """A snippet as one participant sees it."""

    snippet: int
    is_marked: bool


class Participant(_Part):
    """One page: who it is for, and what its ids mean."""

    language: str
    token: str
    shown: dict[str, Shown]  # by the id on the page


class Key(_Part):
    """All that `study score` needs beside the answers."""

    format: Literal["puzzlemark study key"]
    version: Literal[1]
    versions: dict[str, str]
    study: str
    name: str
    design: Design
    policy: str
    secret_fingerprint: str
    datasets: tuple[str, ...]  # digests
    marks: dict[str, Mark]
    snippets: tuple[Origin, ...]
    participants: dict[str, Participant]

    def to_text(self) -> str:
        """The content of the file."""
        return json.dumps(self.model_dump(mode="json"), indent=1) + "\n"

    def group(self, language: str) -> list[str]:
        """The participants who read a language, in the order of the assignment."""
        return [name for name, each in self.participants.items() if each.language == language]

    def mark_of(self) -> Mapping[int, str]:
        """The watermark of each snippet."""
        return {number: name for name, mark in self.marks.items() for number in mark.snippets}


def load_key(path: Path | str) -> Key:
    """Read the key that `study make` wrote."""
    try:
        text = Path(path).read_bytes()
    except OSError as exc:
        raise StudyError(f"{path}: cannot read the key: {exc.strerror}") from exc
    try:
        return Key.model_validate_json(text)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise StudyError(f"{path}: not the key of a study: {place}: {first['msg']}") from exc
