import os
import socket
from pathlib import Path

import pytest

from puzzlemark.corpora.shards import extension_of, find_layout
from puzzlemark.errors import CorpusError, UsageError
from tests.corpora.making import as_commoner, open_python, records, write


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", ("jsonl", ".jsonl")),
        ("a.JSONL.GZ", ("jsonl", ".jsonl.gz")),
        ("a.ndjson", ("jsonl", ".ndjson")),
        ("a.parquet", ("parquet", ".parquet")),
        ("a.csv", ("csv", ".csv")),
        ("a.txt", None),
        ("jsonl", None),
    ],
)
def test_the_format_follows_from_the_name(name: str, expected: tuple[str, str] | None) -> None:
    assert extension_of(name) == expected


def test_a_folder_is_searched_to_its_depth_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("train/b.jsonl", "train/a.jsonl.gz", "a.jsonl", "test/z.jsonl"):
        write(tmp_path / name, records(1))
    layout = find_layout(tmp_path, "all")
    names = [shard.name for shard in layout.shards]
    assert names == ["a.jsonl", "test/z.jsonl", "train/a.jsonl.gz", "train/b.jsonl"]
    assert layout.kind == "folder"


def test_other_and_hidden_files_are_copied_not_read(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", records(1))
    for name in ("README.md", "_SUCCESS", ".cache.jsonl", "_old.jsonl"):
        (tmp_path / name).write_text("x")
    layout = find_layout(tmp_path)
    assert [shard.name for shard in layout.shards] == ["a.jsonl"]
    assert [name for name, _ in layout.others] == [
        ".cache.jsonl",
        "README.md",
        "_SUCCESS",
        "_old.jsonl",
    ]
    assert layout.ignored == 0


def test_a_glob_names_its_shards_below_the_folder_before_the_first_wildcard(tmp_path: Path) -> None:
    for name in ("x/train/1.jsonl", "x/train/2.jsonl", "x/test/1.jsonl", "x/train/n.txt"):
        write(tmp_path / name, records(1))
    layout = find_layout(str(tmp_path / "x" / "t*" / "1.*"), "all")
    assert [shard.name for shard in layout.shards] == ["test/1.jsonl", "train/1.jsonl"]
    assert layout.root == tmp_path / "x"
    deep = find_layout(str(tmp_path / "**" / "*.jsonl"), "all")
    assert len(deep.shards) == 3


def test_a_file_whose_name_looks_like_a_glob_is_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "data[1].jsonl", records(1))
    assert find_layout(path).kind == "file"


def test_a_folder_that_mixes_formats_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", records(1))
    write(tmp_path / "a.parquet", records(1))
    with pytest.raises(UsageError, match=r"a\.jsonl and a\.parquet.*pass a glob"):
        find_layout(tmp_path)
    assert len(find_layout(str(tmp_path / "*.parquet")).shards) == 1


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no\.jsonl: no such file or folder"):
        find_layout(tmp_path / "no.jsonl")


def test_an_empty_folder_and_an_empty_glob_are_errors(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"no dataset files.*\.jsonl"):
        find_layout(tmp_path)
    with pytest.raises(CorpusError, match="no dataset files"):
        find_layout(str(tmp_path / "*.jsonl"))


def test_an_unknown_extension_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("code\n")
    with pytest.raises(
        UsageError, match=r"a\.txt: unknown kind.*\.jsonl.*\.parquet.*also with \.gz"
    ):
        find_layout(tmp_path / "a.txt")


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_an_empty_file_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(CorpusError, match="no records"):
        open_python(tmp_path / name)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_a_file_without_permission_is_an_error(open_folder: Path, name: str) -> None:
    path = write(open_folder / name, records(1))
    assert open_python(path).count() == 1
    path.chmod(0)
    with as_commoner(), pytest.raises(CorpusError, match=r"a\..*[Pp]ermission denied"):
        open_python(path)


def test_a_sub_folder_without_permission_is_an_error_not_a_lost_shard(open_folder: Path) -> None:
    write(open_folder / "a.jsonl", records(1))
    write(open_folder / "sub" / "b.jsonl", records(1))
    (open_folder / "sub").chmod(0)
    try:
        with as_commoner(), pytest.raises(CorpusError, match=r"sub: Permission denied"):
            find_layout(open_folder)
    finally:
        (open_folder / "sub").chmod(0o700)


def test_a_pipe_a_socket_and_a_device_are_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "zero.parquet").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s.jsonl.gz"))
        kinds = {"pipe.jsonl": "a pipe", "zero.parquet": "a device", "s.jsonl.gz": "a socket"}
        for name, kind in kinds.items():
            with pytest.raises(CorpusError, match=f"{name}: {kind}, not a file; write its content"):
                open_python(tmp_path / name)


def test_a_shard_that_is_no_file_is_not_left_out_in_silence(tmp_path: Path) -> None:
    write(tmp_path / "a" / "1.jsonl", records(1))
    os.mkfifo(tmp_path / "a" / "2.jsonl")
    with pytest.raises(CorpusError, match=r"2\.jsonl: a pipe"):
        find_layout(tmp_path / "a")
    with pytest.raises(CorpusError, match=r"2\.jsonl: a pipe"):
        find_layout(tmp_path / "a" / "*.jsonl")
    (tmp_path / "a" / "2.jsonl").unlink()
    (tmp_path / "a" / "3.jsonl").symlink_to("nowhere")
    with pytest.raises(CorpusError, match=r"3\.jsonl: a link to a file that is not there"):
        find_layout(tmp_path / "a")


def test_hidden_pipes_are_no_concern_of_ours(tmp_path: Path) -> None:
    write(tmp_path / "1.jsonl", records(1))
    os.mkfifo(tmp_path / ".lock.jsonl")
    assert find_layout(tmp_path).ignored == 0
