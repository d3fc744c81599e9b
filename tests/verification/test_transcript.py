import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.journal import spell
from puzzlemark.models.base import Answer, BudgetEnded, Failure, ModelError, Request
from puzzlemark.verification.transcript import Header, TranscriptError, pending, read
from tests.verification.asking import ask

ROOT = Path(__file__).parent.parent.parent
REQUESTS = [Request(f"p{n} é\n", 4, 0.2, n) for n in range(7)]
HEADER = Header("abc", {"temperature": 0.2, "stop": ("\n",)}, {"kind": "spy"}, {"python": "3"})


@dataclass
class Spy:
    """Answers with the prompt, and remembers what it was asked."""

    batch_size: int = 3
    name: str = "spy"
    batches: list[list[str]] = field(default_factory=list)
    failing: frozenset[str] = frozenset()

    def describe(self) -> dict[str, Any]:
        return {"kind": "spy"}

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        self.batches.append([request.key for request in requests])
        return [
            Failure("busy") if request.key in self.failing else f"\ud800{request.prompt}"
            for request in requests
        ]

    @property
    def asked(self) -> list[str]:
        return [key for batch in self.batches for key in batch]


EXPECTED = {request.key: f"\ud800{request.prompt}" for request in REQUESTS}


def answers_in(content: bytes) -> list[dict[str, Any]]:
    """The lines of answers that are whole, without their links."""
    lines = [json.loads(line) for line in content.split(b"\n")[1:-1]]
    return [{k: v for k, v in line.items() if k != "link"} for line in lines if "key" in line]


def keys(path: Path) -> list[str]:
    return [answer["key"] for answer in answers_in(path.read_bytes())]


def test_every_answer_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    seen: list[tuple[str, int, int | None]] = []
    told = ask(Spy(), REQUESTS, path, HEADER, lambda *step: seen.append(step))
    assert told == EXPECTED
    assert list(told) == [request.key for request in REQUESTS]
    assert read(path).answers == EXPECTED
    assert seen == [("asking", 3, 7), ("asking", 6, 7), ("asking", 7, 7)]
    first, sitting, second = path.read_bytes().splitlines()[:3]
    assert json.loads(first) == {
        "format": "puzzlemark transcript",
        "version": 2,
        "probes": "abc",
        "settings": {"temperature": 0.2, "stop": ["\n"]},
        "model": {"kind": "spy"},
        "versions": {"python": "3"},
    }
    link = hashlib.sha256(first).hexdigest()
    for line, fields in (
        (sitting, {"sitting": 1}),
        (second, {"key": REQUESTS[0].key, "completion": "\ud800p0 é\n"}),
    ):
        text = json.dumps(fields, separators=(",", ":")) + "\n"
        link = hashlib.sha256((link + text).encode()).hexdigest()
        assert json.loads(line) == {**fields, "link": link}


def test_each_batch_is_on_the_disk_before_the_next_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t"
    synced: list[int] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(path.read_bytes().count(b"\n"))

    class Watching(Spy):
        def complete(self, requests: Sequence[Request]) -> list[Answer]:
            assert synced[-1] == (2 + len(self.asked) if self.asked else 1)
            return super().complete(requests)

    monkeypatch.setattr(os, "fsync", note)
    ask(Watching(), REQUESTS, path, HEADER)
    assert synced == [1, 1, 2, 5, 8, 9]  # header, folder, sitting, batches


def test_the_same_request_is_asked_once(tmp_path: Path) -> None:
    spy = Spy()
    told = ask(spy, [*REQUESTS, *REQUESTS], tmp_path / "t", HEADER)
    assert told == EXPECTED
    assert sorted(spy.asked) == sorted(EXPECTED)


def test_a_finished_run_asks_nothing_and_changes_nothing(tmp_path: Path) -> None:
    path, spy = tmp_path / "t", Spy()
    ask(Spy(), REQUESTS, path, HEADER)
    before = path.read_bytes()
    assert ask(spy, REQUESTS, path, HEADER) == EXPECTED
    assert spy.asked == []
    assert path.read_bytes() == before


def test_more_requests_are_added_to_a_finished_run(tmp_path: Path) -> None:
    path, spy = tmp_path / "t", Spy()
    ask(Spy(), REQUESTS[:2], path, HEADER)
    assert ask(spy, REQUESTS, path, HEADER) == EXPECTED
    assert spy.asked == [request.key for request in REQUESTS[2:]]


def test_a_run_cut_at_any_byte_resumes_to_the_same_answers(tmp_path: Path) -> None:
    whole_path = tmp_path / "whole"
    ask(Spy(), REQUESTS, whole_path, HEADER)
    whole = whole_path.read_bytes()
    for size in range(len(whole) + 1):
        path, spy = tmp_path / "t", Spy()
        path.write_bytes(whole[:size])
        recorded = answers_in(whole[:size])
        assert ask(spy, REQUESTS, path, HEADER) == EXPECTED
        assert answers_in(path.read_bytes()) == answers_in(whole)
        assert len(spy.asked) == len(REQUESTS) - len(recorded)
        assert len(read(path).sittings) <= 2
        assert not {answer["key"] for answer in recorded} & set(spy.asked)


def test_a_resumed_run_sees_the_same_batches(tmp_path: Path) -> None:
    undisturbed, resumed = Spy(), Spy()
    ask(undisturbed, REQUESTS, tmp_path / "a", HEADER)
    ask(Spy(), REQUESTS[:3], tmp_path / "b", HEADER)
    ask(resumed, REQUESTS, tmp_path / "b", HEADER)
    assert resumed.batches == undisturbed.batches[1:]


def test_failures_are_kept_and_asked_again_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "t"
    failing = frozenset({REQUESTS[1].key, REQUESTS[5].key})
    told = ask(Spy(failing=failing), REQUESTS, path, HEADER)
    assert {key for key, answer in told.items() if answer == Failure("busy")} == failing
    assert read(path).answers == told
    assert pending(REQUESTS, path) == [REQUESTS[1], REQUESTS[5]]
    spy = Spy(failing=frozenset({REQUESTS[5].key}))
    told = ask(spy, REQUESTS, path, HEADER)
    assert set(spy.asked) == failing
    assert told == EXPECTED | {REQUESTS[5].key: Failure("busy")}
    assert read(path).retried == 2
    assert ask(Spy(), REQUESTS, path, HEADER) == EXPECTED
    assert read(path).retried == 3


class Interrupted(Spy):
    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        if len(self.batches) == 1:
            raise KeyboardInterrupt
        return super().complete(requests)


def test_ctrl_c_keeps_what_was_answered(tmp_path: Path) -> None:
    path, spy = tmp_path / "t", Spy()
    with pytest.raises(KeyboardInterrupt):
        ask(Interrupted(), REQUESTS, path, HEADER)
    assert len(keys(path)) == 3
    assert ask(spy, REQUESTS, path, HEADER) == EXPECTED
    assert len(spy.asked) == 4


class Poor(Spy):
    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        if self.batches:
            raise BudgetEnded("spent", {1: super().complete(requests)[1]})
        return super().complete(requests)


def test_what_came_before_the_budget_ended_is_kept(tmp_path: Path) -> None:
    path, spy = tmp_path / "t", Spy()
    with pytest.raises(BudgetEnded, match="spent"):
        ask(Poor(), REQUESTS, path, HEADER)
    assert keys(path) == [REQUESTS[index].key for index in (0, 1, 2, 4)]
    assert ask(spy, REQUESTS, path, HEADER) == EXPECTED
    assert spy.asked == [REQUESTS[index].key for index in (3, 5, 6)]


class Streamer(Spy):
    """Answers backwards, one by one, and breaks after some."""

    breaks_after: int = 99

    def stream(self, requests: Sequence[Request]) -> Any:
        for count, index in enumerate(reversed(range(len(requests)))):
            if count == self.breaks_after:
                raise ModelError("the server is gone")
            yield [(index, super().complete([requests[index]])[0])]


def test_a_streaming_model_is_written_as_it_answers(tmp_path: Path) -> None:
    path, broken, spy = tmp_path / "t", Streamer(), Streamer()
    broken.breaks_after = 2
    with pytest.raises(ModelError, match="gone"):
        ask(broken, REQUESTS, path, HEADER)
    assert keys(path) == [REQUESTS[6].key, REQUESTS[5].key]
    told = ask(spy, REQUESTS, path, HEADER)
    assert told == EXPECTED
    assert list(told) == list(EXPECTED)
    assert len(spy.asked) == 5


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (replace(HEADER, probes="abd"), "probes was 'abc', is 'abd'"),
        (replace(HEADER, settings={"stop": ["\n"], "temperature": 1.0}), r"temperature was 0\.2, "),
        (replace(HEADER, model={"kind": "spy", "sha256": "1"}), "model.sha256 was None, is '1'"),
        (replace(HEADER, model={}), "model.kind was 'spy', is None"),
        (replace(HEADER, versions={"python": "4"}), "versions.python was '3', is '4'"),
    ],
)
def test_another_runs_transcript_is_refused_with_what_differs(
    tmp_path: Path, header: Header, told: str
) -> None:
    path, spy = tmp_path / "t", Spy()
    ask(Spy(), REQUESTS[:3], path, HEADER)
    before = path.read_bytes()
    with pytest.raises(TranscriptError, match=told):
        ask(spy, REQUESTS, path, header)
    assert spy.asked == []
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        b'{"key": "a", "comple',
        b"\0\0\0\0",
        b"",
        b"[]",
        b'{"completion": "a"}',
        b'{"key": "a"}',
        b'{"key": 1, "completion": "a"}',
        b'{"key": "a", "completion": null}',
        b'{"key": "a", "failure": 3}',
        b"\xff",
    ],
)
def test_a_corrupt_line_in_the_middle_is_refused_with_its_number(
    tmp_path: Path, line: bytes
) -> None:
    path, spy = tmp_path / "t", Spy()
    ask(Spy(), REQUESTS, path, HEADER)
    lines = path.read_bytes().split(b"\n")
    lines[3] = line
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(TranscriptError, match=r"t:4: not a line as it was written"):
        ask(spy, REQUESTS, path, HEADER)
    assert spy.asked == []


def rewritten(path: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


CHANGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a line is taken out": lambda lines: lines[:4] + lines[5:],
    "a line is changed": lambda lines: [
        *lines[:4], lines[4].replace(b'"completion":"', b'"completion":"key_'), *lines[5:],
    ],
    "two lines change places": lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]],
    "a line is added again": lambda lines: [*lines, lines[4]],
    "an unlinked line is added": lambda lines: [*lines, b'{"key":"a","completion":"b"}\n'],
    "the header has another alpha": lambda lines: [
        lines[0].replace(b'"temperature":0.2', b'"temperature":0.3'), *lines[1:],
    ],
    "the header says version 1": lambda lines: [
        lines[0].replace(b'"version":2', b'"version":1'), *lines[1:],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_transcript_that_was_changed_afterwards_is_refused(tmp_path: Path, name: str) -> None:
    path, spy = tmp_path / "t", Spy()
    ask(Spy(), REQUESTS, path, HEADER)
    before = path.read_bytes()
    rewritten(path, CHANGES[name])
    assert path.read_bytes() != before
    with pytest.raises(TranscriptError, match="the file was changed afterwards"):
        read(path)
    with pytest.raises(TranscriptError):
        ask(spy, REQUESTS, path, HEADER)
    assert spy.asked == []


def test_an_end_that_was_cut_off_and_asked_again_shows_as_a_sitting(tmp_path: Path) -> None:
    path = tmp_path / "t"
    ask(Spy(), REQUESTS, path, HEADER)
    assert read(path).sittings == [0]
    ask(Spy(), REQUESTS, path, HEADER)  # nothing is asked, so nobody sat down
    assert read(path).sittings == [0]
    rewritten(path, lambda lines: lines[:-3])
    ask(Spy(), REQUESTS, path, HEADER)
    assert read(path).sittings == [0, len(REQUESTS) - 3]


def test_a_transcript_of_the_first_version_is_read_and_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "t"
    fields = {**HEADER.to_json(), "version": 1}
    answer = {"key": REQUESTS[0].key, "completion": "x"}
    path.write_bytes(spell(fields) + spell(answer))
    old = read(path)
    assert old.answers == {REQUESTS[0].key: "x"}
    assert not old.is_linked
    with pytest.raises(TranscriptError, match="version was 1, is 2"):
        ask(Spy(), REQUESTS, path, HEADER)


@pytest.mark.parametrize("content", [b"hello", b"hello\n", b'{"a": 1}\n', b"[]\n", b"\n"])
def test_a_file_that_is_no_transcript_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match="not "):
        ask(Spy(), REQUESTS, path, HEADER)
    assert path.read_bytes() == content


def test_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text('{"format": "puzzlemark transcript", "version": 9}\n')
    with pytest.raises(TranscriptError, match="version 9"):
        read(path)


def test_two_runs_cannot_write_one_transcript(tmp_path: Path) -> None:
    path = tmp_path / "t"

    class Nested(Spy):
        def complete(self, requests: Sequence[Request]) -> list[Answer]:
            with pytest.raises(TranscriptError, match="another run is writing"):
                ask(Spy(), REQUESTS, path, HEADER)
            return super().complete(requests)

    assert ask(Nested(), REQUESTS, path, HEADER) == EXPECTED


def test_a_process_that_died_holds_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "t"
    program = (
        "import os, sys; from pathlib import Path\n"
        "from tests.verification.asking import ask\n"
        "from tests.verification.test_transcript import HEADER, REQUESTS, Spy\n"
        "spy = Spy()\n"
        "complete = spy.complete\n"
        "spy.complete = lambda asked: os._exit(9) if spy.batches else complete(asked)\n"
        "ask(spy, REQUESTS, Path(sys.argv[1]), HEADER)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], cwd=ROOT, check=False)
    assert done.returncode == 9
    assert len(keys(path)) == 3
    assert ask(Spy(), REQUESTS, path, HEADER) == EXPECTED


def test_a_dry_run_counts_what_is_left_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t"
    assert pending(REQUESTS * 2, path) == REQUESTS
    assert not path.exists()
    path.write_bytes(b'{"format":"puzz')
    assert pending(REQUESTS, path) == REQUESTS
    path.unlink()
    ask(Spy(), REQUESTS[2:4], path, HEADER)
    assert pending(REQUESTS, path) == REQUESTS[:2] + REQUESTS[4:]


def test_a_full_disk_is_an_error_of_ours_and_can_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "t"
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from puzzlemark.verification.transcript import TranscriptError\n"
        "from tests.verification.asking import ask\n"
        "from tests.verification.test_transcript import HEADER, REQUESTS, Spy\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: ask(Spy(), REQUESTS, Path(sys.argv[1]), HEADER)\n"
        "except TranscriptError as exc: print(exc)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{path}: cannot be written: File too large\n"
    assert path.stat().st_size == 1000
    kept, spy = len(keys(path)), Spy()
    assert 0 < kept < len(REQUESTS)
    assert ask(spy, REQUESTS, path, HEADER) == EXPECTED
    assert len(spy.asked) == len(REQUESTS) - kept


def test_a_device_is_refused() -> None:
    with pytest.raises(TranscriptError, match="not a file"):
        ask(Spy(), REQUESTS, Path(os.devnull), HEADER)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="cannot be opened"):
        ask(Spy(), REQUESTS, tmp_path / "nowhere" / "t", HEADER)
    with pytest.raises(TranscriptError, match="cannot be read"):
        read(tmp_path / "nowhere")


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_any_interruptions_give_the_answers_of_an_undisturbed_run(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t"
        for _ in range(data.draw(st.integers(0, 4))):
            failing = frozenset(data.draw(st.sets(st.sampled_from(sorted(EXPECTED)))))
            ask(Spy(data.draw(st.integers(1, 9)), failing=failing), REQUESTS, path, HEADER)
            os.truncate(path, data.draw(st.integers(0, path.stat().st_size)))
        spy = Spy(data.draw(st.integers(1, 9)))
        answered = {r.key for r in REQUESTS} - {r.key for r in pending(REQUESTS, path)}
        assert ask(spy, REQUESTS, path, HEADER) == EXPECTED
        assert set(spy.asked) == set(EXPECTED) - answered
        assert len(spy.asked) == len(set(spy.asked))
