"""What is found out about a bundle: claims, and whether each holds."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from puzzlemark.corpora.base import Corpus
from puzzlemark.embedding.manifest import Header
from puzzlemark.errors import PuzzleMarkError
from puzzlemark.evidence.archive import BundleError
from puzzlemark.evidence.bundle import (
    PLACE,
)
from puzzlemark.evidence.commitment import Commitment
from puzzlemark.evidence.revealing import Leaf, Opened
from puzzlemark.evidence.stamping import Stamp
from puzzlemark.pages.timeline import Event

Status = Literal["ok", "failed", "unknown"]
NOTHING_WRONG, WRONG, NOT_ALL = 0, 1, 3  # exit codes; 2 is a wrong call

MOST_RUNS = 200
ODD = (
    PuzzleMarkError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OSError,
    RecursionError,
    OverflowError,
    ArithmeticError,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a bundle says, and whether it holds."""

    about: str  # the part of the bundle: `file`, `commitment`, `run 1`, ...
    claim: str
    status: Status
    why: str


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """What can be said of one run."""

    number: int
    word: str
    standing: str
    is_stamped: bool  # by an authority that the reader trusts
    lead: str
    model: str
    events: tuple[Event, ...]
    deviations: tuple[str, ...]

    @property
    def stands(self) -> str:
        """For people: whoever signs his own timestamps can make any verdict confirmatory."""
        doubt = self.standing == "confirmatory" and not self.is_stamped
        return f"{self.standing}, if its timestamp is believed" if doubt else self.standing


@dataclass(frozen=True, slots=True)
class Checked:
    """All that was found about a bundle."""

    path: Path
    sha256: str
    commitment: str | None
    claims: tuple[Claim, ...]
    runs: tuple[CheckedRun, ...]
    limits: tuple[str, ...]  # what no bundle can show
    title: str = ""

    @property
    def failed(self) -> list[Claim]:
        """What does not hold."""
        return [each for each in self.claims if each.status == "failed"]

    @property
    def unknown(self) -> list[Claim]:
        """What could not be checked here."""
        return [each for each in self.claims if each.status == "unknown"]

    @property
    def exit_code(self) -> int:
        """0: all holds; 1: something does not; 3: nothing is wrong, and not all was checked."""
        return WRONG if self.failed else NOT_ALL if self.unknown else NOTHING_WRONG

    @property
    def sentence(self) -> str:
        """The result in one breath; it says nothing of guilt."""
        wrong, open_, all_ = len(self.failed), len(self.unknown), len(self.claims)
        if wrong:
            return f"{wrong:,} of {all_:,} claims do not hold; do not rely on this bundle."
        if open_:
            return (
                f"No claim was found wrong; {all_ - open_:,} of {all_:,} hold, and {open_:,} could "
                "not be checked here."
            )
        return f"All {all_:,} claims hold. What no bundle can show stands below."

    def to_json(self) -> dict[str, Any]:
        """Plain values, for machines."""
        result = {WRONG: "failed", NOT_ALL: "incomplete", NOTHING_WRONG: "ok"}[self.exit_code]
        return {
            "bundle": str(self.path),
            "sha256": self.sha256,
            "commitment": self.commitment,
            "result": result,
            "sentence": self.sentence,
            "claims": [
                {"about": c.about, "claim": c.claim, "status": c.status, "why": c.why}
                for c in self.claims
            ],
            "runs": [
                {
                    "run": r.number,
                    "word": r.word,
                    "standing": r.standing,
                    "stamped": r.is_stamped,
                    "model": r.model,
                    "sentence": r.lead,
                    "deviations": list(r.deviations),
                }
                for r in self.runs
            ],
            "limits": list(self.limits),
        }


@dataclass
class Checking:
    """What is known while a bundle is checked."""

    files: dict[str, bytes]
    folder: Path
    dataset: str | None
    roots: Path | None
    hash: str | None
    claims: list[Claim] = field(default_factory=list)
    made: Commitment | None = None
    opened: Opened | None = None
    leaves: list[Leaf] = field(default_factory=list)
    header: Header | None = None
    stamps: list[Stamp] = field(default_factory=list)
    corpus: Corpus | None = None
    manifest: Path | None = None  # where all of it was opened
    limits: list[str] = field(default_factory=list)
    # what the list of runs must have entered last about each run in the bundle, by its number there
    verdicts: dict[int, dict[str, Any]] = field(default_factory=dict)
    links: dict[int, set[str]] = field(default_factory=dict)  # of its transcript, by that number

    def say(self, about: str, claim: str, status: Status, why: str = "") -> None:
        """Add a claim."""
        self.claims.append(Claim(about, claim, status, why))

    def test(self, about: str, claim: str, find: Callable[[], str | None], why: str = "") -> bool:
        """A claim that holds when nothing is found against it; an error is found, too."""
        try:
            wrong = find()
        except ODD as exc:
            wrong = in_words(exc)
        self.say(about, claim, "ok" if wrong is None else "failed", why if wrong is None else wrong)
        return wrong is None


def in_words(exc: Exception) -> str:
    """An error of any kind, for a reader who did not write the program."""
    if isinstance(exc, PuzzleMarkError):
        return str(exc)
    if isinstance(exc, RecursionError):
        return "it is nested too deeply to be read"
    return f"it cannot be read: {type(exc).__name__}: {str(exc)[:200]}"


def shorter(text: str, found: Checking) -> str:
    """Without the name of the folder that was unpacked to, which says nothing to anybody."""
    return text.replace(f"{found.folder}/", "")


def parse_object(content: bytes) -> dict[str, Any]:
    """A JSON object in which no key stands twice; anything else is an error.

    Of two equal keys one program reads the first and another the last.
    """
    parsed = json.loads(content, object_pairs_hook=_unique)
    if not isinstance(parsed, dict):
        raise BundleError("not a JSON object")
    return parsed


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BundleError("a key stands twice in an object")
    return found


def numbers_of(files: Mapping[str, bytes]) -> list[int]:
    """The numbers of the runs in a bundle."""
    parts = [name.split("/") for name in files]
    found = {each[1] for each in parts if len(each) > 2 and each[0] == PLACE}
    numbers = sorted(int(each) for each in found if each.isdecimal() and len(each) < 5)
    return numbers[:MOST_RUNS]
