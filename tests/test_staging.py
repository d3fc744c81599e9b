"""Outputs appear whole, together, once, and a killed run leaves nothing that matters."""

import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import staging_folder
from puzzlemark.staging import NOTE, OURS, staged, staged_together, write_text
from tests.corpora.making import tree


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_an_output_is_there_when_the_block_ends_and_not_before(tmp_path: Path) -> None:
    output = tmp_path / "new" / "a.txt"
    with staged(output) as place:
        assert place.name == "a.txt"
        place.write_text("x")
        assert not output.exists()
    assert output.read_text() == "x"
    assert tree(tmp_path) == ["new", "new/a.txt"]


def test_an_error_names_the_file_that_it_is_about(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with (
        pytest.raises(CorpusError, match=r"input: No such file or directory; nothing was written"),
        staged_together((one, two)),
    ):
        (tmp_path / "input").read_bytes()
    with (
        pytest.raises(CorpusError, match=r"one: cannot be written: No such file or directory"),
        staged_together((one, two)) as places,
    ):
        (places[0] / "inside").write_text("x")
    with (
        pytest.raises(CorpusError, match=r"two: no space left on the disk"),
        staged_together((one, two)),
    ):
        raise OSError(28, "No space left on device")
    assert tree(tmp_path) == []


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with staged(tmp_path / "new" / "a.txt") as place:
            place.write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert tree(tmp_path) == []


def test_what_exists_is_replaced_only_when_asked(tmp_path: Path) -> None:
    output = write(tmp_path / "a.txt", "old")
    with pytest.raises(UsageError, match="already there; pass --force"), staged(output):
        pass
    with staged(output, overwrite=True) as place:
        place.write_text("new")
    assert output.read_text() == "new"
    assert tree(tmp_path) == ["a.txt"]


def test_a_file_and_a_folder_never_take_each_others_place(tmp_path: Path) -> None:
    write(tmp_path / "folder" / "mine", "precious")
    with (
        pytest.raises(CorpusError, match="folder: cannot be written: it is a folder"),
        staged(tmp_path / "folder", overwrite=True) as place,
    ):
        place.write_text("x")
    write(tmp_path / "file", "precious")
    with (
        pytest.raises(CorpusError, match="file: cannot be written: it is a file"),
        staged(tmp_path / "file", overwrite=True) as place,
    ):
        place.mkdir()
    assert tree(tmp_path) == ["file", "folder", "folder/mine"]


def test_a_block_that_makes_nothing_replaces_nothing(tmp_path: Path) -> None:
    output = write(tmp_path / "a.txt", "old")
    with pytest.raises(CorpusError, match="nothing was made"), staged(output, overwrite=True):
        pass
    assert output.read_text() == "old"


def test_outputs_come_together_or_not_at_all(tmp_path: Path) -> None:
    one, two = tmp_path / "1" / "a.txt", tmp_path / "2" / "b.txt"

    def make(last: str | None) -> None:
        with staged_together((one, two), overwrite=True) as places:
            places[0].write_text("new one")
            if last is not None:
                places[1].write_text(last)

    with pytest.raises(CorpusError, match=r"b\.txt: cannot be written"):
        make(None)
    assert tree(tmp_path) == []
    make("new two")
    assert (one.read_text(), two.read_text()) == ("new one", "new two")


@pytest.mark.parametrize("failing", range(4))
def test_a_rename_that_fails_takes_the_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    one, two = write(tmp_path / "a", "old one"), write(tmp_path / "b", "old two")
    done: list[tuple[Path, Path]] = []

    def fail_once(method: str) -> None:
        real = getattr(Path, method)

        def rename(path: Path, target: Path) -> Path:
            if path.name != f"{NOTE}.partial":
                done.append((path, target))
                if len(done) == failing + 1:
                    raise OSError(28, "No space left on device")
            moved: Path = real(path, target)
            return moved

        monkeypatch.setattr(Path, method, rename)

    def replace_both() -> None:
        with staged_together((one, two), overwrite=True) as places:
            for place in places:
                place.write_text("new")

    fail_once("rename")
    fail_once("replace")
    with pytest.raises(CorpusError, match="no space left"):
        replace_both()
    assert len(done) > failing
    assert (one.read_text(), two.read_text()) == ("old one", "old two")
    assert tree(tmp_path) == ["a", "b"]


def test_the_second_run_to_an_output_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "a.txt"
    with staged(output) as place:
        place.write_text("first")
        with (
            pytest.raises(CorpusError, match=r"a\.txt: another run is writing it; wait"),
            staged(output, overwrite=True),
        ):
            pass
        with (
            pytest.raises(CorpusError, match=r"a\.txt: another run is writing it; wait"),
            staged_together((tmp_path / "b.txt", output), overwrite=True),
        ):
            pass
    assert output.read_text() == "first"
    assert tree(tmp_path) == ["a.txt"]


def _hold(output: Path, held: Event) -> None:
    with staged(output) as place:
        place.write_text("half")
        held.set()
        signal.pause()


def test_another_process_is_waited_for_while_it_lives_and_swept_up_when_it_was_killed(
    tmp_path: Path,
) -> None:
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    output = tmp_path / "new" / "a.txt"
    other = context.Process(target=_hold, args=(output, held))
    other.start()
    try:
        assert held.wait(60)
        with pytest.raises(CorpusError, match="another run is writing"), staged(output):
            pass
        assert staging_folder(output).is_dir()
        assert list(staging_folder(output).rglob("a.txt")), "a living run keeps its files"
    finally:
        assert other.pid is not None
        os.kill(other.pid, signal.SIGKILL)
        other.join()
    assert tree(tmp_path) != ["new"]
    with staged(output) as place:
        place.write_text("whole")
    assert output.read_text() == "whole"
    assert tree(tmp_path) == ["new", "new/a.txt"]


@pytest.mark.parametrize("content", [{"mine": "x"}, {"lock": "my key"}, {"lock": "", "mine": "x"}])
def test_a_folder_of_somebody_else_is_named_and_left_alone(
    tmp_path: Path, content: dict[str, str]
) -> None:
    output = tmp_path / "a.txt"
    for name, text in content.items():
        write(staging_folder(output) / name, text)
    before = tree(tmp_path)
    with pytest.raises(CorpusError, match=r"\.a\.txt\.partial: .*did not make it"), staged(output):
        pass
    assert tree(tmp_path) == before


def test_a_file_and_a_link_in_the_place_of_the_hidden_folder_are_left_alone(tmp_path: Path) -> None:
    write(staging_folder(tmp_path / "a"), "mine")
    write(tmp_path / "mine" / "lock", "")
    staging_folder(tmp_path / "b").symlink_to(tmp_path / "mine", target_is_directory=True)
    for name in ("a", "b"):
        with pytest.raises(CorpusError, match="did not make it"), staged(tmp_path / name):
            pass
    assert tree(tmp_path / "mine") == ["lock"]


def test_what_a_run_replaced_comes_back_when_its_note_is_gone(tmp_path: Path) -> None:
    """Somebody moved the folder after a kill: what is left is still the only copy."""
    output = tmp_path / "out"
    write(staging_folder(output) / "0123.replaced" / "a.jsonl", "old")
    (staging_folder(output) / "lock").write_bytes(OURS + b"/gone/renames.json")
    with pytest.raises(UsageError, match="already there"), staged(output):
        pass
    assert tree(tmp_path) == ["out", "out/a.jsonl"]


@pytest.mark.parametrize(
    "note", ["{", "[1]", "[[1, 2, 3]]", '[["{mine}", "{mine}.old", "{stolen}"]]']
)
def test_a_note_that_somebody_planted_moves_nothing(tmp_path: Path, note: str) -> None:
    output, mine = tmp_path / "out", write(tmp_path / "mine", "precious")
    hidden = staging_folder(output)
    text = note.replace("{mine}", str(mine)).replace("{stolen}", str(tmp_path / "stolen"))
    write(hidden / "renames.json", text)
    (hidden / "lock").write_bytes(OURS + os.fsencode(hidden / "renames.json"))
    before = tree(tmp_path)
    with pytest.raises(CorpusError, match="did not make it"), staged(output):
        pass
    assert tree(tmp_path) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_hidden_folder_of_another_user_is_left_alone(tmp_path: Path) -> None:
    hidden = staging_folder(tmp_path / "out")
    write(hidden / "lock", "")
    os.chown(hidden, 12345, 12345)
    with pytest.raises(CorpusError, match="did not make it"), staged(tmp_path / "out"):
        pass
    assert tree(hidden) == ["lock"]


@pytest.mark.parametrize("kind", ["files", "folders"])
@pytest.mark.parametrize("before", ["nothing", "old outputs"])
def test_a_kill_at_any_point_leaves_old_or_new_outputs_and_no_mixture(
    tmp_path: Path, kind: str, before: str
) -> None:
    """See tests/killing.py: every change of a file is the last one once."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.killing", "staging", str(tmp_path), kind, before],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert seen["kills"] > 15
    assert seen["completed by the next run"] > 0
    unchanged = "swept up" if before == "nothing" else "kept"
    assert seen[f"{unchanged} by the next run"] > 5


@pytest.mark.parametrize(("private", "readable"), [(True, 0), (False, stat.S_IRGRP)])
def test_only_its_owner_reads_a_private_page(tmp_path: Path, private: bool, readable: int) -> None:
    path = tmp_path / "new" / "page.html"
    write_text(path, "é", private=private)
    assert path.read_bytes() == "é".encode()
    assert path.stat().st_mode & stat.S_IRGRP == readable


def test_a_private_page_replaces_a_public_one_and_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o644)
    write_text(path, "new", private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "new"


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.mkdir()
    with pytest.raises(CorpusError, match="cannot be written"):
        write_text(path, "x")
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match=r"page\.html: cannot be written"):
        write_text(tmp_path / "file" / "page.html", "x")
