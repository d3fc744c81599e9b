"""Packed bytes follow from the content alone; lines without end are refused."""

import gzip
import random
from pathlib import Path

import pytest

from puzzlemark.corpora.lines import BLOCK_BYTES, read_blocks, write_blocks
from puzzlemark.errors import CorpusError
from tests.corpora.test_lines import store


def test_packed_bytes_do_not_depend_on_the_pieces_in_which_they_were_written(
    tmp_path: Path,
) -> None:
    rng = random.Random(1)
    words = ("def", "return", "total", "count", "for", "self", "key", "value", "\n")
    chosen = (rng.choice(words) + str(rng.randrange(1000)) for _ in range(400_000))
    content = " ".join(chosen).encode()
    written = set()
    for size in (len(content), BLOCK_BYTES + 777, 123_456):
        path = tmp_path / f"{size}.jsonl.gz"
        with write_blocks(path) as out:
            for at in range(0, len(content), size):
                out.write(content[at : at + size])
        written.add(path.read_bytes())
    (packed,) = written
    assert gzip.decompress(packed) == content


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_without_end_is_an_error_that_names_it(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzlemark.corpora.lines.LONGEST_LINE", 3 << 20)
    longest = b"x" * (3 << 20)
    short = b"one\n" + b"two\n" * 400_000
    content = short + longest + b"\nend\n"
    assert b"".join(read_blocks(store(tmp_path / name, content))) == content
    for ending in (b"", b"\nend\n"):
        path = store(tmp_path / name, short + longest + b"x" + ending)
        with pytest.raises(CorpusError, match=r"400002: a line of more than 3 MiB; split the"):
            list(read_blocks(path))
