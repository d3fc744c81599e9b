"""Numbers and lines on disk are those that were written."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from puzzlemark.embedding.columns import Column, Lines


@pytest.mark.parametrize("in_memory", [0, 1 << 20])
def test_a_column_gives_its_numbers_back(
    in_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzlemark.embedding.columns._IN_MEMORY", in_memory)
    numbers = np.arange(60, dtype=np.int32).reshape(20, 3)
    column: Column[np.int32] = Column(np.int32, 3, folder=tmp_path / "not" / "there")
    for part in np.array_split(numbers, 4):
        column.append(part)
        assert column[:1].tolist() == [[0, 1, 2]]  # to read does not disturb what is written next
    assert len(column) == 20
    assert column[:].tolist() == numbers.tolist()
    assert column[7:9].tolist() == numbers[7:9].tolist()
    assert column[20:30].tolist() == []
    assert not list(tmp_path.iterdir()), "a file without a name"


def test_only_accepted_lines_are_there_by_row() -> None:
    lines = Lines()
    for row in (4, 9, 30):
        lines.write(row, b"first %d" % row)
    lines.accept(np.array([4, 30]))
    for row in (1, 12):
        lines.write(row, b"second %d" % row)
    lines.accept()
    assert dict(lines) == {1: b"second 1", 4: b"first 4", 12: b"second 12", 30: b"first 30"}
    assert 9 not in lines
    with pytest.raises(KeyError):
        lines[9]
    assert pickle.loads(pickle.dumps(lines)) == lines  # noqa: S301
    lines.leave_out([4, 12])
    assert list(lines) == [1, 30]
