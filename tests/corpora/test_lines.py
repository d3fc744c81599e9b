import gzip
from pathlib import Path

import pytest

from puzzlemark.corpora.lines import BLOCK_BYTES, read_blocks, write_blocks
from puzzlemark.errors import CorpusError


def store(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_blocks_are_whole_lines_and_make_up_the_file(tmp_path: Path, name: str) -> None:
    long_line = b"y" * (2 * BLOCK_BYTES + 5) + b"\n"
    content = b"x" * 70 + b"\n" + long_line + b"short\n" * 300_000 + b"no newline at the end"
    blocks = list(read_blocks(store(tmp_path / name, content)))
    assert b"".join(blocks) == content
    assert len(blocks) > 2
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_gzip_of_several_members_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"one\n", mtime=0) + gzip.compress(b"two\n", mtime=0))
    assert b"".join(read_blocks(path)) == b"one\ntwo\n"


@pytest.mark.parametrize("keep", [0.5, 0.999])
def test_a_truncated_gzip_is_an_error_that_names_the_file(tmp_path: Path, keep: float) -> None:
    whole = gzip.compress(bytes(i * 7919 % 251 for i in range(100_000)), mtime=0)
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(CorpusError, match=r"cut\.jsonl\.gz: damaged or truncated gzip.*fetch it"):
        list(read_blocks(path))


@pytest.mark.parametrize(
    "content",
    [b"this is no gzip\n", gzip.compress(b"x" * 99, mtime=0)[:-6] + b"badcrc"],
    ids=["no gzip", "another checksum"],
)
def test_a_damaged_gzip_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"bad\.jsonl\.gz: damaged"):
        list(read_blocks(path))


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    with write_blocks(tmp_path / name) as out:
        out.write(b"one\n")
        out.write(b"two\n" * 1000)
    assert b"".join(read_blocks(tmp_path / name)) == b"one\n" + b"two\n" * 1000


def test_a_gzip_header_tells_neither_time_nor_name(tmp_path: Path) -> None:
    written = []
    for name in ("one.jsonl.gz", "another.jsonl.gz"):
        with write_blocks(tmp_path / name) as out:
            out.write(b"same\n")
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    assert written[0][3] == 0  # no name
    assert written[0][4:8] == bytes(4)  # no time
    assert gzip.decompress(written[0]) == b"same\n"
