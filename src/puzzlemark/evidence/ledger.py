"""The list of runs under a commitment: whoever shows one run shows how many there were.

It lies beside the commitment, only grows, and every line names the one before it by its SHA-256.
A run is entered before its first question, so that one which nobody liked is counted, too. It is
the owner's own list: a copy of the folder from before a run knows nothing of it, and nothing here
can show that.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from puzzlemark.evidence.commitment import RUNS, Commitment, CommitmentError
from puzzlemark.journal import Chain, Kind, continue_chain, opened, whole_lines, why_broken
from puzzlemark.verification.chain import Entry, utc_now

FORMAT = "puzzlemark runs"
VERSION = 1


class LedgerError(CommitmentError):
    """A list of runs cannot be read or written, or was changed."""


KIND = Kind("a list of runs", LedgerError)


@dataclass(frozen=True, slots=True)
class Begun:
    """A run as it was entered."""

    run: int
    time: str
    probes: str  # digest of the file
    settings: Mapping[str, Any]
    model: Mapping[str, Any]  # its description
    name: str  # the model's
    line: str  # SHA-256 of the line that enters it
    transcript: str | None = None  # of a run that was entered late: the last link that it had

    @property
    def is_late(self) -> bool:
        """Whether it was entered when the answers were there already."""
        return self.transcript is not None

    def asked_same_model(self, other: "Begun") -> bool:
        """Whether two runs asked one model, as far as names and digests tell."""
        weights = self.model.get("sha256")
        return self.name == other.name or (
            weights is not None and weights == other.model.get("sha256")
        )


@dataclass(frozen=True, slots=True)
class Ledger:
    """All runs, in the order in which they began."""

    runs: tuple[Begun, ...]
    judged: tuple[dict[str, Any], ...]

    def find(self, run: int | None) -> Begun | None:
        """A run by its number."""
        return next((each for each in self.runs if each.run == run), None)

    def find_late(self, transcript: str) -> Begun | None:
        """A run that was entered late, by the last link of its transcript."""
        return next((each for each in self.runs if each.transcript == transcript), None)

    def with_model(self, run: Begun) -> list[Begun]:
        """The runs against the model of this one."""
        return [each for each in self.runs if each.asked_same_model(run)]


def enter(
    made: Commitment, name: str, header: Mapping[str, Any], *, transcript: str | None = None
) -> Entry:
    """Enter a run, by the first line of its transcript; late, with the last link that it has."""
    with _open(made) as chain:
        number = 1 + sum(b'"event":"begun"' in line for line in chain.journal.lines)
        fields = {
            "time": utc_now(),
            "event": "begun",
            "run": number,
            "probes": header["probes"],
            "settings": header["settings"],
            "model": header["model"],
            "name": name,
            **({} if transcript is None else {"late": True, "transcript": transcript}),
        }
        chain.append([fields])
        return Entry(number, chain.head)


def enter_verdict(
    made: Commitment, run: int, word: str, transcript: str, chain_head: str | None, verdict: str
) -> None:
    """Enter how a run was judged; the same again is not entered twice."""
    fields = {
        "event": "judged",
        "run": run,
        "word": word,
        "transcript": transcript,
        "chain": chain_head,
        "verdict": verdict,
    }
    with _open(made) as chain:
        earlier = [json.loads(line) for line in chain.journal.lines[1:]]
        of_run = [each for each in earlier if each["event"] == "judged" and each["run"] == run]
        if not of_run or any(of_run[-1].get(name) != value for name, value in fields.items()):
            chain.append([{"time": utc_now(), **fields}])


@contextmanager
def _open(made: Commitment) -> Iterator[Chain]:
    header = {"format": FORMAT, "version": VERSION, "commitment": made.hash}
    path = made.folder / RUNS
    with opened(path, KIND, header) as journal:
        _refuse_other(path, journal.lines[0], made.hash)
        yield continue_chain(journal)


def read_ledger(made: Commitment) -> Ledger:
    """All runs under a commitment, none where no model was asked; an edited list is an error."""
    path = made.folder / RUNS
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Ledger((), ())
    except OSError as exc:
        raise LedgerError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    lines = whole_lines(content)
    if not lines or not content.endswith(b"\n"):
        raise LedgerError(f"{path}: its last line is cut off")
    _refuse_other(path, lines[0], made.hash)
    if reason := why_broken(lines):
        raise LedgerError(f"{path}: {reason}")
    try:
        events = [(json.loads(line), hashlib.sha256(line).hexdigest()) for line in lines[1:]]
        runs = tuple(_begun(each, line) for each, line in events if each["event"] == "begun")
        judged = tuple(each for each, _ in events if each["event"] == "judged")
    except (ValueError, TypeError, KeyError, RecursionError) as exc:
        raise LedgerError(f"{path}: not a list of runs as it was written ({exc})") from exc
    if [each.run for each in runs] != list(range(1, len(runs) + 1)):
        raise LedgerError(f"{path}: its runs are not numbered one after the other")
    return Ledger(runs, judged)


def _begun(fields: Mapping[str, Any], line: str) -> Begun:
    late = fields["transcript"] if fields.get("late") else None
    if not isinstance(fields["settings"], dict) or not isinstance(fields["model"], dict):
        raise TypeError("settings and model are objects")
    return Begun(
        fields["run"],
        fields["time"],
        fields["probes"],
        fields["settings"],
        fields["model"],
        fields["name"],
        line,
        late,
    )


def _refuse_other(path: Path, line: bytes, commitment: str) -> None:
    try:
        header = json.loads(line)
        is_own = (header["format"], header["version"]) == (FORMAT, VERSION)
        named = header["commitment"]
    except (ValueError, TypeError, KeyError, RecursionError):
        is_own, named = False, None
    if not is_own or named != commitment:
        raise LedgerError(f"{path}: not the list of runs of this commitment")
