"""Changes in a file are those that were written, wherever they are read."""

import pickle
from pathlib import Path

import pytest

from puzzlemark.corpora.filing import Filed
from puzzlemark.snippet import Edit

CHANGES = {
    3: (Edit(0, b"a", b"key_a"), Edit(9, b"a", b"key_a")),
    8: (Edit(4, "é\n".encode(), b'"\\'),),
    2**40: (Edit(2**33, b"", bytes(range(256))),),
}


def test_edits_are_read_as_they_were_written(tmp_path: Path) -> None:
    filed = Filed.write(tmp_path / "new" / "changes", CHANGES, sorted(CHANGES))
    assert dict(filed) == CHANGES
    assert len(filed) == 3
    with pytest.raises(KeyError):
        filed[4]


def test_a_part_is_sent_without_edits_and_without_the_other_rows(tmp_path: Path) -> None:
    many = {row: (Edit(row, b"old", b"a" * 200),) for row in range(1000)}
    filed = Filed.write(tmp_path / "changes", many, many)
    sent = pickle.dumps(filed.part(range(10, 20)))
    assert len(sent) < 1000
    assert dict(pickle.loads(sent)) == {row: many[row] for row in range(10, 20)}  # noqa: S301
