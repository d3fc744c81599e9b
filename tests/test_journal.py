import multiprocessing
import os
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from puzzlemark.errors import PuzzleMarkError
from puzzlemark.journal import Kind, differences, opened, spell

HEADER = {"format": "diary", "seed": 1}


class DiaryError(PuzzleMarkError):
    pass


DIARY = Kind("a diary", DiaryError, mode=0o600)


def test_what_was_appended_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "diary.jsonl"
    with opened(path, DIARY, HEADER) as journal:
        assert journal.lines == [b'{"format":"diary","seed":1}']
        journal.append([{"a": 1}, {"b": 2}])
    with opened(path, DIARY, HEADER) as journal:
        assert journal.lines[1:] == [b'{"a":1}', b'{"b":2}']
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kept", range(len(spell(HEADER) + spell({"a": 1})) + 1))
def test_a_line_that_was_cut_off_anywhere_never_counts(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "diary.jsonl"
    whole = spell(HEADER) + spell({"a": 1})
    path.write_bytes(whole[:kept])
    with opened(path, DIARY, HEADER) as journal:
        assert len(journal.lines) == (2 if kept == len(whole) else 1)
        journal.append([{"b": 2}])
    assert path.read_bytes().splitlines()[-1] == b'{"b":2}'
    assert path.read_bytes().startswith(spell(HEADER))


def test_somebody_elses_text_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    with (
        pytest.raises(DiaryError, match=r"not a diary; choose another"),
        opened(path, DIARY, HEADER),
    ):
        pass
    assert path.read_text() == "dear diary"


def test_a_device_is_no_file() -> None:
    with pytest.raises(DiaryError, match="not a file"), opened(Path(os.devnull), DIARY, HEADER):
        pass


def _hold(path: Path, held: Event, done: Event) -> None:
    with opened(path, DIARY, HEADER):
        held.set()
        done.wait()


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held, done = context.Event(), context.Event()
    path = tmp_path / "diary.jsonl"
    other = context.Process(target=_hold, args=(path, held, done))
    other.start()
    try:
        assert held.wait(60)
        with pytest.raises(DiaryError, match="another run is writing"), opened(path, DIARY, HEADER):
            pass
    finally:
        done.set()
        other.join()
    with opened(path, DIARY, HEADER):
        pass


def test_headers_are_compared_name_by_name() -> None:
    found = {"format": "diary", "terms": {"seed": 0, "longest": 5}, "gone": 1}
    expected = {"format": "diary", "terms": {"seed": 1, "longest": 5}}
    assert differences(found, expected) == "terms.seed was 0, is 1; gone was 1, is None"
    assert differences(found, found) == ""
