"""The case: who says what against whom, in the owner's words, from a file beside the evidence.

    title = "Example Ltd. against Example AI Inc."
    reference = "12 O 345/26"
    owner = "Example Ltd., Berlin"
    other_side = "Example AI Inc., Dover"
    dataset = "Example Functions, version 3"
    model = "example-coder-7b, as offered on 1 November 2026"
    prepared_by = "J. Doe, Example Ltd."
    contact = "jd@example.org"
    note = "For the expert appointed by both sides."

    [published]
    date = 2026-03-02
    where = "https://data.example.org/functions-v3"

Nothing of it is needed, and nothing of it is checked: a page quotes it as the owner's words.
"""

import tomllib
from dataclasses import dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

from puzzlemark.errors import PuzzleMarkError

LONGEST = 2_000  # characters of a field
LARGEST_FILE = 1 << 16


class CaseError(PuzzleMarkError):
    """A file about a case cannot be read."""


@dataclass(frozen=True, slots=True)
class Case:
    """What the owner says of the case; an empty text is not shown."""

    title: str = ""
    reference: str = ""
    owner: str = ""
    other_side: str = ""
    dataset: str = ""
    model: str = ""
    prepared_by: str = ""
    contact: str = ""
    note: str = ""
    published: str = ""  # a date, as the owner states it
    where: str = ""  # the dataset was published

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What there is to show, by its name, but for the title: `("Other side", "...")`."""
        shown = [each.name for each in fields(self) if each.name not in ("title", "published")]
        named = [(_called(name), getattr(self, name)) for name in shown]
        return [(name, text) for name, text in named if text]


def _called(name: str) -> str:
    names = {"where": "Published at"}
    return names.get(name, name.replace("_", " ").capitalize())


def read_case(path: Path) -> Case:
    """A case from its file."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CaseError(f"{path}: larger than {LARGEST_FILE:,} bytes; a case is a few lines")
        return parse_case(path.read_text(encoding="utf-8"))
    except CaseError as exc:
        raise CaseError(f"{path}: {exc}") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise CaseError(f"{path}: cannot be read: {exc}") from exc


def parse_case(text: str) -> Case:
    """The same from its text; a word that would be ignored is an error."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as exc:
        raise CaseError(f"cannot be read as TOML: {exc}") from exc
    published = content.pop("published", {})
    if not isinstance(published, dict) or set(published) - {"date", "where"}:
        raise CaseError("[published] is a table with a date and where")
    known = {each.name for each in fields(Case)} - {"published", "where"}
    if unknown := sorted(set(content) - known):
        raise CaseError(f"unknown: {', '.join(unknown)}; a case has {', '.join(sorted(known))}")
    found = {**content, "where": published.get("where", "")}
    texts = {name: _text(name, value) for name, value in found.items()}
    return Case(**texts, published=_date(published.get("date")))


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise CaseError(f"{name}: a text of at most {LONGEST:,} characters")
    return value


def _date(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(" ", "minutes")
    if isinstance(value, date):
        return value.isoformat()
    raise CaseError("[published] date: a date of TOML, without quotes: 2026-03-02")
