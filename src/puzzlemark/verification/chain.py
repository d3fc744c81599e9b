"""The chain: when each answer came, and what the model's server said of itself.

It stands beside the transcript and apart from it, because a verdict must come out the same whenever
it is computed. Every line names the one before it by its SHA-256, and by their links the lines of
the transcript that it vouches for: docs/verification/run-folder.md has every field. It is the
record of whoever asked. What makes others believe it is a timestamp, or a witness.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.journal import Chain, Kind, continue_chain, opened, whole_lines, why_broken
from puzzlemark.models.base import Introduced, Model, ModelError

FORMAT = "puzzlemark chain"
VERSION = 1
FILE, REFERENCE_FILE = "chain.jsonl", "reference-chain.jsonl"
TOKENS = "tokens"  # the folder of timestamps of its lines
LINKED = ("sitting", "answered", "late")  # events that vouch for a line of the transcript


class ChainError(PuzzleMarkError):
    """A chain cannot be read or gone on with."""


KIND = Kind("a chain of times", ChainError, mode=0o600)


@dataclass(frozen=True, slots=True)
class Entry:
    """A run in the list of runs of a commitment."""

    run: int  # its number
    line: str  # SHA-256 of the line that enters it


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Who else learns of a run, and what is asked of the model first."""

    accept_unlisted: bool = False  # also a name that the server does not list
    # called before the first question of a run, once the model was reached, with the model's name
    # and the first line of the transcript
    enter: Callable[[str, Mapping[str, Any]], Entry] | None = None
    # called with the number of a line of the chain, and the line, when asking begins and ends
    stamp: Callable[[int, bytes], None] | None = None


def utc_now() -> str:
    """`"2026-11-18T03:50:00.123Z"`, by the clock of this machine."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class Witness:
    """Writes the chain of one transcript; nothing is written before there is a question."""

    path: Path
    source: Mapping[str, str] | None
    witnesses: Witnesses
    now: Callable[[], str]
    closing: ExitStack
    first_line: bytes = b""  # of the transcript
    chain: Chain | None = field(default=None, init=False)

    def of(self, first_line: bytes) -> None:
        """Say which transcript it is of."""
        self.first_line = first_line

    @property
    def transcript(self) -> str:
        """SHA-256 of the transcript's first line."""
        return hashlib.sha256(self.first_line).hexdigest()

    def begin(self, model: Model, links: Sequence[str]) -> None:
        """Before the first question of a sitting: reach the model, enter the run, open the chain.

        Lines of the transcript that a process left without a time, when it was killed in between,
        are named as late; lines that are no longer there are named as lost.
        """
        if self.chain is not None:
            return
        said = introduce(model, accept_unlisted=self.witnesses.accept_unlisted)
        entry = None
        if not self.path.exists() and self.witnesses.enter is not None:
            entry = self.witnesses.enter(model.name, json.loads(self.first_line))
        header = {
            "format": FORMAT,
            "version": VERSION,
            "time": self.now(),
            "transcript": self.transcript,
            "source": None if self.source is None else dict(self.source),
            "run": None if entry is None else entry.run,
            "entry": None if entry is None else entry.line,
        }
        journal = self.closing.enter_context(opened(self.path, KIND, header))
        self.chain = continue_chain(journal)
        known = _parse(self.path, journal.lines)
        if known.header.get("transcript") != self.transcript:
            raise ChainError(f"{self.path}: belongs to another transcript; choose another --output")
        kept = _shared(known.links, links)
        lost = len(known.links) - kept
        if lost and kept < len(links):
            raise ChainError(
                f"{self.path}: does not belong to the transcript as it is now: one of them was "
                "changed; restore them, or begin a new run in another folder"
            )
        gone = [self._event("lost", lines=lost)] if lost else []
        late = [self._event("late", link=link) for link in links[kept:]]
        self.chain.append([*gone, *late, self._event("introduced", said=said)])
        self._stamp()

    def sat(self, link: str, number: int) -> None:
        """A sitting began."""
        self._append([self._event("sitting", link=link, sitting=number)])

    def answered(self, lines: Iterable[tuple[str, Mapping[str, Any] | None]]) -> None:
        """Lines of the transcript were written."""
        self._append([self._event("answered", link=link, said=said) for link, said in lines])

    def ended(self, why: str, link: str) -> None:
        """Asking ended by itself; nothing is written where nothing was asked."""
        if self.chain is not None:
            self._append([self._event("ended", why=why, link=link)])
            self._stamp()

    def _event(self, event: str, **fields: Any) -> dict[str, Any]:
        return {"time": self.now(), "event": event, **fields}

    def _append(self, entries: list[dict[str, Any]]) -> None:
        assert self.chain is not None, "asking began"
        self.chain.append(entries)

    def _stamp(self) -> None:
        if self.witnesses.stamp is not None and self.chain is not None:
            self.witnesses.stamp(self.chain.length, self.chain.last)


@contextmanager
def witnessing(
    path: Path,
    source: Mapping[str, str] | None,
    witnesses: Witnesses,
    now: Callable[[], str] = utc_now,
) -> Iterator[Witness]:
    """A witness for one transcript, whose file is held until the end."""
    with ExitStack() as closing:
        yield Witness(path, source, witnesses, now, closing)


def introduce(model: Model, *, accept_unlisted: bool = False) -> dict[str, Any] | None:
    """What a model says of itself; None where it cannot be asked. An unknown name is refused."""
    if not isinstance(model, Introduced):
        return None
    said = model.introduce()
    if said.get("listed") is False and not accept_unlisted:
        names = ", ".join(map(str, said.get("names", ()))) or "none"
        raise ModelError(
            f"the server does not list a model {model.name!r}; it lists: {names}. It may answer "
            "with another one: correct the name, or pass --accept-unlisted"
        )
    return said


@dataclass(frozen=True, slots=True)
class Record:
    """What a chain says, read and found whole."""

    header: dict[str, Any]
    lines: tuple[bytes, ...]
    events: tuple[dict[str, Any], ...]
    links: list[str]  # of the transcript's lines, in order

    @property
    def head(self) -> str:
        """SHA-256 of the last line."""
        return hashlib.sha256(self.lines[-1]).hexdigest()

    @property
    def first_time(self) -> str:
        """When the first sitting was about to begin."""
        return str(self.header["time"])

    @property
    def last_time(self) -> str:
        """When the last line was written."""
        return str((self.events[-1] if self.events else self.header)["time"])

    def count(self, event: str) -> int:
        """How many lines say this."""
        return sum(each["event"] == event for each in self.events)

    @property
    def lost(self) -> int:
        """How many lines had been written, and were no longer there when asking went on."""
        return sum(each["lines"] for each in self.events if each["event"] == "lost")

    def words(self) -> dict[str, dict[str, int]]:
        """What came with the answers, counted: `{"model": {"m-2026": 500}}`."""
        found: dict[str, Counter[str]] = {}
        for said in (each["said"] for each in self.events if each.get("said")):
            for name in ("model", "system_fingerprint", "server"):
                if name in said:
                    found.setdefault(name, Counter())[str(said[name])] += 1
            for name in ("model", "system_fingerprint"):
                for word in said.get(f"{name}s", ()) if "calls" in said else ():
                    found.setdefault(name, Counter())[str(word)] += 1
        return {name: dict(counts.most_common()) for name, counts in found.items()}

    def introductions(self) -> list[dict[str, Any] | None]:
        """What the model said of itself before each sitting."""
        return [each.get("said") for each in self.events if each["event"] == "introduced"]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many links two records have in common, from the first on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _links(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Of all lines that the transcript has; those that were lost are not among them."""
    links: list[str] = []
    for each in events:
        if each["event"] in LINKED:
            links.append(each["link"])
        elif each["event"] == "lost":
            if type(each["lines"]) is not int or not 0 < each["lines"] <= len(links):
                raise ValueError("more lines were lost than there were")
            del links[len(links) - each["lines"] :]
    return links


def read_chain(path: Path) -> Record:
    """A chain; one that is edited, or is none, is an error that says where."""
    try:
        content = path.read_bytes()
    except OSError as exc:
        raise ChainError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    if not content.endswith(b"\n"):
        raise ChainError(f"{path}: its last line is cut off")
    return _parse(path, whole_lines(content))


def _parse(path: Path, lines: Sequence[bytes]) -> Record:
    if reason := why_broken(lines):
        raise ChainError(f"{path}: {reason}")
    try:
        header = json.loads(lines[0])
        known = header["format"] == FORMAT and header["version"] == VERSION
        events = tuple(json.loads(line) for line in lines[1:])
        times = [datetime.fromisoformat(each["time"]) for each in (header, *events)]
        links = _links(events)
        said_well = all(isinstance(each.get("said") or {}, dict) for each in events)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as exc:
        raise ChainError(f"{path}: not a chain as it was written ({exc})") from exc
    if not known or not said_well or any(time.tzinfo is None for time in times):
        raise ChainError(f"{path}: not a chain of this version, as it was written")
    return Record(header, tuple(lines), events, links)
