"""Whether a verdict followed a plan that was fixed before: confirmatory, or exploratory and why.

Here is what is said; `puzzlemark.evidence.standing` finds it out. It stands in `standing.json`,
apart from the verdict, which follows from the answers alone.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from puzzlemark.staging import write_text

FORMAT = "puzzlemark standing"
VERSION = 1
FILE = "standing.json"
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
NUMBERS = "one two three four five six seven eight nine ten".split()


@dataclass(frozen=True, slots=True)
class Deviation:
    """One thing that is not as the plan, or as a plan that others can check, would have it."""

    what: str
    sentence: str
    planned: Any = None
    found: Any = None

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "what": self.what,
            "planned": self.planned,
            "found": self.found,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Place:
    """Which run it is under its commitment, and against its model."""

    number: int
    of: int
    number_with_model: int
    of_with_model: int

    @property
    def sentence(self) -> str:
        """`This is the second of two runs under the commitment, the first against this model.`"""
        if self.of == 1:
            return "This is the only run under the commitment."
        which = f"the {_ordinal(self.number)} of {_number(self.of)} runs under the commitment"
        ours = f"the {_ordinal(self.number_with_model)} of {_number(self.of_with_model)}"
        if self.of_with_model == 1:
            ours = "the only one"
        return f"This is {which}, {ours} against this model."


@dataclass(frozen=True, slots=True)
class Standing:
    """What can be said of a verdict beside what it says."""

    deviations: tuple[Deviation, ...]
    notes: tuple[str, ...]
    commitment: dict[str, Any] | None
    run: Place | None
    chain: dict[str, Any] | None
    said: dict[str, Any]  # by the model's server
    comparison: dict[str, Any] | None
    transcript: str  # last link
    verdict: str  # SHA-256 of verdict.json

    @property
    def word(self) -> Literal["confirmatory", "exploratory"]:
        """Confirmatory, unless something deviates."""
        return "exploratory" if self.deviations else "confirmatory"

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of it in words, for people."""
        return tuple(_sentences(self.to_json()))

    def to_json(self) -> dict[str, Any]:
        """Plain values: the content of standing.json."""
        place = None
        if self.run is not None:
            place = {
                "number": self.run.number,
                "of": self.run.of,
                "number_with_model": self.run.number_with_model,
                "of_with_model": self.run.of_with_model,
                "sentence": self.run.sentence,
            }
        return {
            "format": FORMAT,
            "version": VERSION,
            "standing": self.word,
            "deviations": [each.to_json() for each in self.deviations],
            "notes": list(self.notes),
            "commitment": self.commitment,
            "run": place,
            "chain": self.chain,
            "said": self.said,
            "comparison": self.comparison,
            "transcript": self.transcript,
            "verdict": self.verdict,
        }


def write_standing(folder: Path, standing: Standing) -> None:
    """Put it beside the verdict."""
    text = json.dumps(standing.to_json(), indent=2, ensure_ascii=False) + "\n"
    write_text(folder / FILE, text, private=True)


def read_standing(folder: Path) -> dict[str, Any] | None:
    """What stands beside a verdict, as far as it is about that verdict; else None."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        verdict = digest_of_file(folder / "verdict.json")
    except (OSError, ValueError, RecursionError):
        return None
    is_own = isinstance(found, dict) and found.get("verdict") == verdict
    return found if is_own and found.get("format") == FORMAT else None


def digest_of_file(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sentences(found: dict[str, Any]) -> Iterator[str]:
    if found["standing"] == "confirmatory":
        yield "This verdict is confirmatory: it followed the plan that was committed to before."
    else:
        yield "This verdict is exploratory: it did not follow a plan that was committed to before."
    for each in found["deviations"]:
        yield each["sentence"]
    if found["run"] is not None:
        yield found["run"]["sentence"]
    yield from found["notes"]


def _ordinal(number: int) -> str:
    return ORDINALS[number - 1] if number <= len(ORDINALS) else f"run number {number:,}"


def _number(number: int) -> str:
    return NUMBERS[number - 1] if number <= len(NUMBERS) else f"{number:,}"
