"""Was the plan followed? A verdict is confirmatory when nothing deviates, else exploratory.

All of it follows from the files of two folders, the run's and the commitment's: the other side can
find out the same. What a folder cannot show is in docs/evidence.md.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from puzzlemark.evidence.commitment import Commitment, CommitmentError, load_commitment
from puzzlemark.evidence.ledger import Begun, Ledger, LedgerError, enter, enter_verdict, read_ledger
from puzzlemark.evidence.stamping import LineStamp, Stamp, line_stamps, stamp_line, stamps_of
from puzzlemark.verification.chain import (
    FILE as CHAIN,
)
from puzzlemark.verification.chain import (
    REFERENCE_FILE as REFERENCE_CHAIN,
)
from puzzlemark.verification.chain import (
    ChainError,
    Record,
    Witnesses,
    read_chain,
)
from puzzlemark.verification.probes import ProbeSet, load_probes
from puzzlemark.verification.standing import (
    Deviation,
    Place,
    Standing,
    digest_of_file,
    write_standing,
)
from puzzlemark.verification.terms import Terms, read_terms
from puzzlemark.verification.transcript import Transcript, read

CLOCKS = timedelta(minutes=5)  # by which two clocks may differ, and nobody is surprised
COMPARISON = "comparison.json"  # what `puzzlemark compare` writes


@dataclass(frozen=True, slots=True)
class _Found:
    """A run and its commitment, as far as they could be read."""

    folder: Path
    probes: ProbeSet
    transcript: Transcript
    record: Record | None
    why_no_record: str | None  # why the chain cannot be relied on
    stamps: list[LineStamp]
    made: Commitment | None
    commitment_stamps: list[Stamp]
    why_no_stamp: str | None  # why a token of the commitment is none
    ledger: Ledger | None
    why_no_ledger: str | None
    begun: Begun | None
    comparison: dict[str, Any] | None


def witnesses(
    made: Commitment | None,
    folder: Path,
    *,
    authority: str | None = None,
    roots: Path | None = None,
    accept_unlisted: bool = False,
) -> Witnesses:
    """Those of a run: the commitment's list of runs, and an authority that stamps its chain."""

    def stamp(number: int, line: bytes) -> None:
        stamp_line(folder, number, line, authority=authority, roots=roots)

    return Witnesses(
        accept_unlisted,
        None if made is None else lambda name, header: enter(made, name, header),
        None if authority is None else stamp,
    )


def conclude(
    folder: Path, commitment: Path | None, *, word: str, roots: Path | None = None
) -> Standing:
    """After a run was judged: enter the verdict, find out how it stands, write it beside it.

    A run that was asked elsewhere, without the commitment, is entered now, and called late.
    """
    if commitment is not None:
        made = load_commitment(commitment)
        transcript = read(folder / "transcript.jsonl")
        record, _ = _record(folder, transcript)
        ledger = read_ledger(made)
        begun = _begun(ledger, record, transcript)
        number = begun.run if begun is not None else None
        if number is None:
            number = enter(
                made, _name(transcript), transcript.header, transcript=transcript.last_link
            ).run
        verdict = digest_of_file(folder / "verdict.json")
        head = None if record is None else record.head
        enter_verdict(made, number, word, transcript.last_link, head, verdict)
    standing = assess(folder, commitment, roots=roots)
    write_standing(folder, standing)
    return standing


def assess(folder: Path, commitment: Path | None = None, *, roots: Path | None = None) -> Standing:
    """How a verdict stands, from the files of its folder and of its commitment's; writes nothing.

    With `roots` the signatures of timestamps are verified, too.
    """
    found = _read(Path(folder), None if commitment is None else Path(commitment), roots)
    said: dict[str, Any] = {}
    if found.record is not None:
        introductions = found.record.introductions()
        said = {
            "introduced": introductions[-1] if introductions else None,
            **found.record.words(),
        }
    return Standing(
        tuple(_deviations(found)),
        tuple(_notes(found)),
        _about_commitment(found),
        _place(found),
        _about_chain(found),
        said,
        found.comparison,
        found.transcript.last_link,
        digest_of_file(found.folder / "verdict.json"),
    )


def _read(folder: Path, commitment: Path | None, roots: Path | None) -> _Found:
    probes = load_probes(folder / "probes.jsonl")
    transcript = read(folder / "transcript.jsonl")
    record, why_no_record = _record(folder, transcript)
    if why_no_record is None and transcript.header["settings"].get("reference") is not None:
        why_no_record = _record(folder, read(folder / "reference.jsonl"), REFERENCE_CHAIN)[1]
    stamps: list[LineStamp] = []
    if record is not None and why_no_record is None:
        try:
            stamps = line_stamps(folder, record, roots)
        except CommitmentError as exc:
            why_no_record = str(exc)
    made, why_no_stamp = None, None
    commitment_stamps: list[Stamp] = []
    ledger, why_no_ledger, begun = None, None, None
    if commitment is not None:
        made = load_commitment(commitment)
        try:
            commitment_stamps = stamps_of(made, roots)
        except CommitmentError as exc:
            why_no_stamp = str(exc)
        try:
            ledger = read_ledger(made)
            begun = _begun(ledger, record, transcript)
        except LedgerError as exc:
            why_no_ledger = str(exc)
    return _Found(
        folder,
        probes,
        transcript,
        record,
        why_no_record,
        stamps,
        made,
        commitment_stamps,
        why_no_stamp,
        ledger,
        why_no_ledger,
        begun,
        _comparison(folder, probes),
    )


def _record(
    folder: Path, transcript: Transcript, name: str = CHAIN
) -> tuple[Record | None, str | None]:
    """The chain of a run, if it is one, and why it is not to be relied on."""
    path = folder / name
    if not path.exists():
        return None, f"there is no {name}: when the answers came is not known"
    try:
        record = read_chain(path)
    except ChainError as exc:
        return None, str(exc)
    if record.header.get("transcript") != transcript.first:
        return record, f"{name} belongs to another transcript"
    if record.links != transcript.links:
        missing = len(transcript.links) - len(record.links)
        if missing and record.links == transcript.links[: len(record.links)]:
            return record, f"{name} is cut: it does not know the last {missing} answers"
        return record, f"{name} and its transcript do not belong together, line by line"
    return record, None


def _begun(ledger: Ledger, record: Record | None, transcript: Transcript) -> Begun | None:
    number = None if record is None else record.header.get("run")
    found = ledger.find(number) if isinstance(number, int) else None
    return found or ledger.find_late(transcript.last_link)


def _name(transcript: Transcript) -> str:
    """What a model is called by, where only its description is there."""
    about = transcript.header["model"]
    names = (about.get(name) for name in ("model", "pretrained", "name", "file"))
    return str(next((name for name in names if name), "unnamed"))


def _comparison(folder: Path, probes: ProbeSet) -> dict[str, Any] | None:
    """What `puzzlemark compare` found, if it was about these probes."""
    try:
        found = json.loads((folder / COMPARISON).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    is_own = isinstance(found, dict) and found.get("probes") == probes.digest
    return found if is_own and isinstance(found.get("sentence"), str) else None


def _deviations(found: _Found) -> Iterator[Deviation]:
    if found.made is None:
        yield Deviation("commitment", "No commitment was passed: no plan is known to have been "
                        "fixed before the first question.")  # fmt: skip
    else:
        yield from _of_commitment(found, found.made)
        yield from _of_probes(found, found.made)
        yield from _of_terms(found, found.made)
    yield from _of_model(found)
    if found.why_no_record is not None:
        yield Deviation("chain", f"The record of times is not to be relied on: "
                        f"{found.why_no_record}.")  # fmt: skip
    if found.record is not None and (lost := found.record.lost):
        yield Deviation(
            "chain",
            f"{lost:,} lines that had been written were no longer in the transcript when asking "
            "went on: what they held was asked again.",
            found=lost,
        )
    for each in found.stamps:
        line = json.loads(found.record.lines[each.line - 1]) if found.record else {}
        if "time" in line and each.stamp.time < datetime.fromisoformat(line["time"]) - CLOCKS:
            yield Deviation(
                "chain",
                f"Line {each.line} of the chain says a time after the one at which it was stamped.",
                line["time"],
                each.stamp.to_json()["time"],
            )
    if found.made is not None:
        yield from _of_ledger(found, found.made)


def _of_commitment(found: _Found, made: Commitment) -> Iterator[Deviation]:
    source = found.probes.header.source
    named = None if source is None else source.commitment
    if named != made.hash:
        says = "name none" if named is None else "name another one"
        yield Deviation(
            "commitment",
            f"The probes were not made under this commitment: they {says}.",
            made.hash,
            named,
        )
    asked = None if found.record is None else found.record.first_time
    earliest = min((each.time for each in found.commitment_stamps), default=None)
    if found.why_no_stamp is not None:
        yield Deviation("stamp", f"A timestamp of the commitment is none: {found.why_no_stamp}.")
    elif earliest is None:
        yield Deviation(
            "stamp",
            "No authority has stamped the commitment: that the plan is older than the answers is "
            "the owner's word.",
        )
    elif asked is not None and earliest > datetime.fromisoformat(asked):
        yield Deviation(
            "stamp",
            "The commitment was stamped only after the first question.",
            asked,
            found.commitment_stamps[0].to_json()["time"],
        )


def _of_probes(found: _Found, made: Commitment) -> Iterator[Deviation]:
    header, plan, content = found.probes.header, made.plan, made.content
    source = header.source
    if source is None or source.dataset != content.dataset.digest:
        yield Deviation(
            "dataset",
            "The probes were made from another dataset than the one that was committed to.",
            content.dataset.digest,
            None if source is None else source.dataset,
        )
    if content.manifest is not None and (
        source is None or source.salt is None or not _opens(content.manifest, source)
    ):
        yield Deviation(
            "manifest",
            "That the probes were made from the committed manifest is not shown: what they name "
            "does not open the commitment.",
            content.manifest,
            None if source is None else source.manifest,
        )
    if header.strategy != plan.design:
        yield _other("design", plan.design, header.strategy, "The probes follow another design")
    if header.seed != plan.probe_seed:
        yield _other("probe_seed", plan.probe_seed, header.seed, "The marks were drawn by another "
                     "seed")  # fmt: skip
    tried = header.pairs + sum(header.refused.values())
    if header.pairs < plan.pairs and tried < header.marks:
        yield _other("pairs", plan.pairs, header.pairs, "Fewer pairs were asked about")
    names = "paper" if plan.terms.mode == "paper" else "drawn"
    if header.names != names:
        yield _other("names", names, header.names, "The prompts have other names")
    if content.questions not in (None, found.probes.questions):
        yield Deviation(
            "questions",
            "The questions are not those that were committed to: the probes were changed, drawn "
            "otherwise, or made by another version.",
            content.questions,
            found.probes.questions,
        )
    elif content.judge != found.probes.judge:
        if content.judge is None:  # an owner may write the commitment of an earlier version
            sentence = "The commitment does not fix which key judges the answers."
        else:
            sentence = (
                "The probes name another key than the one that was committed to, and it judges "
                "the answers."
            )
        yield Deviation("key", sentence, content.judge, found.probes.judge)
    if found.comparison is not None and not found.comparison.get("same"):
        yield Deviation(
            "questions",
            "The probes do not follow from the dataset and the manifest: see comparison.json.",
        )


def _opens(committed: str, source: Any) -> bool:
    opened = hashlib.sha256(bytes.fromhex(source.salt) + source.manifest.encode()).hexdigest()
    return opened == committed


def _of_terms(found: _Found, made: Commitment) -> Iterator[Deviation]:
    planned, asked = made.plan.terms, read_terms(found.transcript.header["settings"])
    for each in fields(Terms):
        before, after = getattr(planned, each.name), getattr(asked, each.name)
        if before != after:
            yield _other(each.name, before, after, f"{each.name} is another one")
    if planned.mode != asked.mode:
        before, after = (each.decision(found.probes.design).test for each in (planned, asked))
        if before != after:
            yield _other("test", before, after, "Another test decides")


def _other(what: str, planned: Any, found: Any, sentence: str) -> Deviation:
    return Deviation(what, f"{sentence}: {_say(planned)} was planned, {_say(found)} was used.",
                     planned, found)  # fmt: skip


def _say(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _of_model(found: _Found) -> Iterator[Deviation]:
    if found.transcript.header["model"].get("supplied"):
        yield Deviation("model", "The answers were supplied by the owner: no model was asked here.")
    named = {} if found.record is None else found.record.words().get("model", {})
    if len(named) > 1:
        counted = ", ".join(f"{name} ({count:,})" for name, count in named.items())
        yield Deviation("model", f"The server named more than one model: {counted}.",
                        found=list(named))  # fmt: skip


def _of_ledger(found: _Found, made: Commitment) -> Iterator[Deviation]:
    if found.ledger is None:
        yield Deviation("ledger", f"The list of runs is not to be relied on: "
                        f"{found.why_no_ledger}.")  # fmt: skip
        return
    begun = found.begun
    if begun is None:
        yield Deviation("ledger", "The run is not in the list of runs of the commitment.")
        return
    if begun.is_late:
        yield Deviation("ledger", "The run was entered in the list of runs only after it was "
                        "asked: others could have been left out.")  # fmt: skip
    elif found.record is not None and found.record.header.get("entry") != begun.line:
        yield Deviation("ledger", "The list of runs is not the one in which this run was entered.")
    header = found.transcript.header
    for name in ("probes", "settings", "model"):
        if getattr(begun, name) != header[name]:
            yield Deviation("ledger", f"The run was entered with other {name} than were used.",
                            getattr(begun, name), header[name])  # fmt: skip
    place = _place(found)
    assert place is not None, "it is entered"
    if place.number_with_model > made.plan.runs:
        yield Deviation(
            "runs",
            f"{place.sentence} The plan has {made.plan.runs:,}.",
            made.plan.runs,
            place.number_with_model,
        )


def _place(found: _Found) -> Place | None:
    if found.ledger is None or found.begun is None:
        return None
    ours = found.ledger.with_model(found.begun)
    return Place(
        found.begun.run,
        len(found.ledger.runs),
        1 + ours.index(found.begun),
        len(ours),
    )


def _notes(found: _Found) -> Iterator[str]:
    unverified = sum(not each.is_verified for each in found.commitment_stamps)
    if unverified:
        yield (
            f"The signatures of {unverified:,} timestamps of the commitment were not verified "
            "here; pass the authority's root certificate (--roots)."
        )
    record = found.record
    if record is not None:
        if late := record.count("late"):
            yield (
                f"{late:,} answers have no time of their own: the program was stopped before it "
                "could write it."
            )
        if not found.stamps:
            yield "Nobody has stamped the record of times: it is that of whoever asked."
        yield from _words(found, record)
    if found.comparison is None:
        yield (
            "The probes were not compared with the dataset and the manifest here (puzzlemark "
            "compare)."
        )
    elif found.comparison.get("same"):
        yield f"The probes were compared with dataset and manifest: {found.comparison['sentence']}"


def _words(found: _Found, record: Record) -> Iterator[str]:
    """What the server said of itself, as its words."""
    asked_for = found.transcript.header["model"].get("model")
    named = list(record.words().get("model", {}))
    if len(named) == 1 and asked_for is not None:
        yield f"The server was asked for {asked_for!r}; it says that {named[0]!r} answered."
    said = next((each for each in reversed(record.introductions()) if each), None)
    if said is None:
        return
    if "unlisted" in said:
        yield f"Before the run nothing was known of the model: {said['unlisted']}."
    elif said.get("listed") is False:
        yield f"The server does not list a model {asked_for!r}."
    if len(prints := record.words().get("system_fingerprint", {})) > 1:
        yield f"The server's system_fingerprint changed during the run: {', '.join(prints)}."


def _about_commitment(found: _Found) -> dict[str, Any] | None:
    if found.made is None:
        return None
    stamps = [each.to_json() for each in found.commitment_stamps]
    return {"hash": found.made.hash, "stamps": stamps}


def _about_chain(found: _Found) -> dict[str, Any] | None:
    if found.record is None:
        return None if not (found.folder / CHAIN).exists() else {"broken": found.why_no_record}
    record = found.record
    return {
        "head": record.head,
        "lines": len(record.lines),
        "first": record.first_time,
        "last": record.last_time,
        "answered": record.count("answered"),
        "late": record.count("late"),
        "sittings": record.count("sitting"),
        "stamps": [each.to_json() for each in found.stamps],
        **({} if found.why_no_record is None else {"broken": found.why_no_record}),
    }
