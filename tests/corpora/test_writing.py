import errno
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from puzzlemark.corpora.base import Rewritten
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.staging import staged
from tests.corpora.making import as_commoner, open_python, records, tree, write

NAMES = ["a.jsonl", "a.jsonl.gz", "a.parquet"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 kilobytes."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a tmpfs here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def incompressible(count: int) -> list[dict[str, str]]:
    # digits of squares: hardly smaller when packed
    return [{"id": str(n), "code": f"x = {(n + 10**40) ** 7 % 10**250}"} for n in range(count)]


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, tiny_disk: Path, name: str
) -> None:
    corpus = open_python(write(tmp_path / name, incompressible(4000)))
    with pytest.raises(CorpusError, match=r"no space left on the disk; .*nothing was written"):
        corpus.rewrite(tiny_disk / name, {}, {})
    assert tree(tiny_disk) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_no_half_written_folder(
    tmp_path: Path, tiny_disk: Path, name: str
) -> None:
    write(tmp_path / "d" / "0" / name, records(3))
    write(tmp_path / "d" / "1" / name, incompressible(4000))
    with pytest.raises(CorpusError, match="no space left"):
        open_python(tmp_path / "d").rewrite(tiny_disk / "deep" / "out", {}, {})
    assert tree(tiny_disk) == []


def test_a_write_that_fails_is_explained(tmp_path: Path) -> None:
    def fill() -> None:
        with staged(tmp_path / "out.jsonl") as place:
            place.write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CorpusError, match=r"out\.jsonl: no space left"):
        fill()
    assert tree(tmp_path) == []


def test_a_folder_without_permission_is_an_error(open_folder: Path) -> None:
    source = write(open_folder / "a.jsonl", records(1))
    (open_folder / "locked").mkdir(mode=0o555)
    corpus = open_python(source)
    with as_commoner(), pytest.raises(CorpusError, match=r"locked/b\.jsonl: permission denied"):
        corpus.rewrite(open_folder / "locked" / "b.jsonl", {}, {})
    assert tree(open_folder) == ["a.jsonl", "locked"]


@pytest.mark.parametrize("name", NAMES)
def test_a_check_that_raises_leaves_nothing(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / name, records(3))
    seen: list[Rewritten] = []

    def refuse(result: Rewritten) -> None:
        seen.append(result)
        assert not (tmp_path / "new").exists() or not list((tmp_path / "new").glob("a*"))
        raise ValueError("not good")

    with pytest.raises(ValueError, match="not good"):
        open_python(source).rewrite(tmp_path / "new" / name, {}, {}, check=refuse)
    assert seen[0].records == 3
    assert tree(tmp_path) == [name]


def test_a_check_that_raises_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", records(3))
    (tmp_path / "b.jsonl").write_text("precious")

    def refuse(_: Rewritten) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_python(source).rewrite(tmp_path / "b.jsonl", {}, {}, overwrite=True, check=refuse)
    assert (tmp_path / "b.jsonl").read_text() == "precious"
    assert tree(tmp_path) == ["a.jsonl", "b.jsonl"]


def test_an_existing_output_is_replaced_only_when_asked(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", records(3))
    (tmp_path / "b.jsonl").write_text("old")
    with pytest.raises(UsageError, match=r"b\.jsonl: already there; pass --force"):
        open_python(source).rewrite(tmp_path / "b.jsonl", {}, {})
    assert (tmp_path / "b.jsonl").read_text() == "old"
    open_python(source).rewrite(tmp_path / "b.jsonl", {}, {}, overwrite=True)
    assert (tmp_path / "b.jsonl").read_bytes() == source.read_bytes()


def test_an_existing_folder_is_replaced_whole(tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.jsonl", records(3))
    write(tmp_path / "out" / "stale.jsonl", records(1))
    with pytest.raises(UsageError, match="already there"):
        open_python(tmp_path / "d").rewrite(tmp_path / "out", {}, {})
    open_python(tmp_path / "d").rewrite(tmp_path / "out", {}, {}, overwrite=True)
    assert tree(tmp_path) == ["d", "d/a.jsonl", "out", "out/a.jsonl"]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("a.jsonl", "b.jsonl.gz"),
        ("a.jsonl.gz", "b.jsonl"),
        ("a.jsonl", "b.parquet"),
        ("a.parquet", "b.jsonl"),
        ("a.jsonl", "b"),
    ],
)
def test_the_output_of_a_file_is_a_file_of_its_kind(
    tmp_path: Path, source: str, output: str
) -> None:
    corpus = open_python(write(tmp_path / source, records(1)))
    with pytest.raises(UsageError, match=r"must be a file ending in \."):
        corpus.rewrite(tmp_path / output, {}, {})


def test_the_output_of_a_folder_or_glob_is_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.jsonl", records(1))
    (tmp_path / "file").write_text("x")
    for source in (tmp_path / "d", str(tmp_path / "d" / "*")):
        for output in ("b.jsonl", "file"):
            with pytest.raises(UsageError, match="must be a folder"):
                open_python(source).rewrite(tmp_path / output, {}, {}, overwrite=True)


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_input_is_never_the_output(tmp_path: Path, overwrite: bool) -> None:
    source = write(tmp_path / "top" / "d" / "a.jsonl", records(1))
    before = source.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(source)
    folder = tmp_path / "top" / "d"
    for asked, output in [
        (source, source),
        (source, tmp_path / "link.jsonl"),
        (source, folder / ".." / "d" / "a.jsonl"),
        (folder, folder),
        (folder, folder / "inside" / "deep"),
        (folder, tmp_path / "top"),
        (folder / "*.jsonl", folder),
        (tmp_path / "**" / "a.jsonl", tmp_path / "top" / "out"),
        (tmp_path / "*" / "*" / "a.jsonl", tmp_path / "top"),
    ]:
        with pytest.raises(
            UsageError, match=r"--output .* (is the same as|lies inside|contains) INPUT"
        ):
            open_python(asked).rewrite(output, {}, {}, overwrite=overwrite)
    assert source.read_bytes() == before


def test_a_flat_glob_may_be_written_beside_its_files(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", records(2))
    (tmp_path / "notes.txt").write_text("x")
    open_python(tmp_path / "*.jsonl").rewrite(tmp_path / "out", {}, {})
    assert tree(tmp_path) == ["a.jsonl", "notes.txt", "out", "out/a.jsonl"]


def test_the_output_is_as_readable_as_any_new_file(tmp_path: Path) -> None:
    corpus = open_python(write(tmp_path / "a.jsonl", records(1)))
    corpus.rewrite(tmp_path / "b.jsonl", {}, {})
    plain = tmp_path / "plain"
    plain.write_text("x")
    assert (tmp_path / "b.jsonl").stat().st_mode == plain.stat().st_mode
