"""The chain says when each answer came, goes on where it ended, and shows what was changed."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.models.base import Model, ModelError, Request
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.chain import ChainError, Entry, Witnesses, read_chain, witnessing
from puzzlemark.verification.transcript import Header, asking, read

SOURCE = {"dataset": "a" * 64, "manifest": "b" * 64}
HEADER = Header("c" * 64, {"seed": 0}, {"kind": "test"}, {}, SOURCE)
ECHO = Scripted("echo", lambda request: f"{request.prompt} done", batch_size=2)
REQUESTS = [Request(f"prompt {n}", 4, 0.0, n) for n in range(5)]


class Clock:
    """A second passes whenever somebody looks."""

    def __init__(self) -> None:
        self.seconds = count()

    def __call__(self) -> str:
        return f"2026-11-18T03:00:{next(self.seconds):02d}.000Z"


def asked(
    folder: Path,
    requests: list[Request],
    witnesses: Witnesses = Witnesses(),  # noqa: B008
    clock: Clock | None = None,
    model: Model = ECHO,
) -> None:
    with (
        witnessing(folder / "chain.jsonl", SOURCE, witnesses, clock or Clock()) as witness,
        asking(model, folder / "transcript.jsonl", HEADER, witness) as session,
    ):
        session.ask(requests)
        session.end("all asked")


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "chain.jsonl").read_bytes().splitlines()]


def test_every_line_of_the_transcript_has_its_time_and_each_line_names_the_one_before(
    tmp_path: Path,
) -> None:
    asked(tmp_path, REQUESTS)
    first, *events = lines(tmp_path)
    assert (first["format"], first["source"]) == ("puzzlemark chain", SOURCE)
    header = (tmp_path / "transcript.jsonl").read_bytes().splitlines()[0]
    assert first["transcript"] == hashlib.sha256(header).hexdigest()
    assert [each["event"] for each in events] == [
        "introduced", "sitting", *["answered"] * 5, "ended"
    ]  # fmt: skip
    assert sorted(each["time"] for each in events) == [each["time"] for each in events]
    links = [each["link"] for each in events if each["event"] in ("sitting", "answered")]
    transcript = (tmp_path / "transcript.jsonl").read_text().splitlines()[1:]
    assert links == [json.loads(line)["link"] for line in transcript]
    raw = (tmp_path / "chain.jsonl").read_bytes().splitlines()
    for before, after in zip(raw, events, strict=False):
        assert after["previous"] == hashlib.sha256(before).hexdigest()
    assert read_chain(tmp_path / "chain.jsonl").head == hashlib.sha256(raw[-1]).hexdigest()


def test_a_resumed_run_goes_on_with_the_chain_and_one_with_nothing_to_ask_adds_nothing(
    tmp_path: Path,
) -> None:
    asked(tmp_path, REQUESTS[:2])
    asked(tmp_path, REQUESTS)
    record = read_chain(tmp_path / "chain.jsonl")
    assert (record.count("sitting"), record.count("answered")) == (2, 5)
    assert record.links == read(tmp_path / "transcript.jsonl").links
    before = (tmp_path / "chain.jsonl").read_bytes()
    asked(tmp_path, REQUESTS)
    assert (tmp_path / "chain.jsonl").read_bytes() == before


def test_the_times_do_not_touch_the_transcript(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        asked(tmp_path / name, REQUESTS, clock=Clock() if name == "a" else _later())
    first, second = ((tmp_path / name / "transcript.jsonl").read_bytes() for name in "ab")
    assert first == second


def _later() -> Clock:
    clock = Clock()
    for _ in range(30):
        clock()
    return clock


def test_answers_of_a_process_that_was_killed_in_between_are_late(tmp_path: Path) -> None:
    asked(tmp_path, REQUESTS[:3])
    chain = tmp_path / "chain.jsonl"
    chain.write_bytes(b"".join(chain.read_bytes().splitlines(keepends=True)[:-2]))
    asked(tmp_path, REQUESTS)
    record = read_chain(chain)
    assert record.count("late") == 1
    assert record.links == read(tmp_path / "transcript.jsonl").links


def test_answers_that_are_no_longer_there_are_lost_and_asked_again(tmp_path: Path) -> None:
    asked(tmp_path, REQUESTS)
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    asked(tmp_path, REQUESTS)
    record = read_chain(tmp_path / "chain.jsonl")
    assert (record.lost, record.count("sitting"), record.count("answered")) == (2, 2, 7)
    assert record.links == read(path).links


def test_a_run_is_entered_once_and_only_when_the_model_was_reached(tmp_path: Path) -> None:
    entered: list[tuple[str, Any]] = []

    def enter(name: str, header: Any) -> Entry:
        entered.append((name, header["probes"]))
        return Entry(3, "d" * 64)

    class Unreachable(Scripted):
        def introduce(self) -> dict[str, Any]:
            raise PuzzleMarkError("nobody there")

    with pytest.raises(PuzzleMarkError, match="nobody there"):
        asked(tmp_path, REQUESTS, Witnesses(enter=enter), model=Unreachable("x", ECHO.function))
    assert not entered
    assert not (tmp_path / "chain.jsonl").exists()
    asked(tmp_path, REQUESTS[:2], Witnesses(enter=enter))
    asked(tmp_path, REQUESTS, Witnesses(enter=enter))
    assert entered == [("echo", "c" * 64)]
    assert (lines(tmp_path)[0]["run"], lines(tmp_path)[0]["entry"]) == (3, "d" * 64)


def test_the_chain_is_stamped_when_asking_begins_and_ends(tmp_path: Path) -> None:
    stamped: list[tuple[int, bytes]] = []
    asked(tmp_path, REQUESTS, Witnesses(stamp=lambda n, line: stamped.append((n, line))))
    raw = (tmp_path / "chain.jsonl").read_bytes().splitlines()
    assert stamped == [(2, raw[1]), (len(raw), raw[-1])]


def changes(raw: list[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    yield "an earlier time", [*raw[:3], raw[3].replace(b"03:00", b"02:00"), *raw[4:]]
    yield "a line taken out", [*raw[:3], *raw[4:]]
    yield "a line twice", [*raw[:4], *raw[3:]]
    yield "no JSON", [*raw[:3], b"{", *raw[4:]]
    yield "no object", [*raw[:3], b"[]", *raw[4:]]
    yield "the first line", [raw[0].replace(b'"version":1', b'"version": 1'), *raw[1:]]
    yield "another format", [b'{"format":"puzzlemark probes","version":1,"time":"2026-11-18"}']
    yield "more lost than there was", [*raw, _after(raw[-1], event="lost", lines=99)]
    yield "less than nothing lost", [*raw, _after(raw[-1], event="lost", lines=-1)]
    yield "a time of no zone", [*raw, _after(raw[-1], event="introduced", time="2026-11-18")]
    yield "no time", [*raw, _after(raw[-1], event="introduced", time=7)]
    yield "nothing", []


def _after(line: bytes, **fields: Any) -> bytes:
    """A line that follows well, whatever it says."""
    previous = hashlib.sha256(line).hexdigest()
    return json.dumps({"previous": previous, "time": "2026-11-18T04:00:00Z", **fields}).encode()


def test_a_chain_that_was_changed_is_refused_and_not_gone_on_with(tmp_path: Path) -> None:
    asked(tmp_path, REQUESTS[:4])
    path = tmp_path / "chain.jsonl"
    raw = path.read_bytes().splitlines()
    for name, changed in changes(raw):
        path.write_bytes(b"".join(line + b"\n" for line in changed))
        with pytest.raises(ChainError):
            read_chain(path)
        if changed:
            with pytest.raises(ChainError):
                asked(tmp_path, REQUESTS)
        assert len(read(tmp_path / "transcript.jsonl").answers) == 4, name


def test_a_chain_beside_another_transcript_is_refused(tmp_path: Path) -> None:
    for name, requests in (("a", REQUESTS[:2]), ("b", REQUESTS[1:3])):
        (tmp_path / name).mkdir()
        asked(tmp_path / name, requests)
    (tmp_path / "a" / "chain.jsonl").replace(tmp_path / "b" / "chain.jsonl")
    with pytest.raises(ChainError, match="does not belong to the transcript"):
        asked(tmp_path / "b", REQUESTS)


class Unreached(Scripted):
    """A server on a port where nobody listens."""

    def introduce(self) -> dict[str, Any]:
        raise ModelError("connection refused")


def test_a_model_that_was_never_reached_leaves_the_folder_to_another(tmp_path: Path) -> None:
    other = replace(HEADER, model={"kind": "on a wrong port"})
    for _ in range(2):
        with (
            pytest.raises(ModelError, match="refused"),
            witnessing(tmp_path / "chain.jsonl", SOURCE, Witnesses(), Clock()) as witness,
            asking(
                Unreached("x", lambda _: ""), tmp_path / "transcript.jsonl", other, witness
            ) as session,
        ):
            session.ask(REQUESTS)
    asked(tmp_path, REQUESTS)
    assert len(read(tmp_path / "transcript.jsonl").answers) == len(REQUESTS)
    with pytest.raises(PuzzleMarkError, match="belongs to another run"), asked_for(tmp_path, other):
        pass


@contextmanager
def asked_for(folder: Path, header: Header) -> Iterator[None]:
    with (
        witnessing(folder / "chain.jsonl", SOURCE, Witnesses(), Clock()) as witness,
        asking(ECHO, folder / "transcript.jsonl", header, witness),
    ):
        yield
