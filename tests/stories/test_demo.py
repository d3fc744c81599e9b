"""What the demonstrations show of the marks."""

from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from examples.story import show_marks

CODE = """def drop(names, table):
    first = names[0]
    second = table[first]
    third = [second]
    return third[0], second, first
"""


def test_brackets_of_the_code_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, marked, marks = (tmp_path / f"{name}.jsonl" for name in ("a", "marked", "marks"))
    data.write_bytes(orjson.dumps({"id": "a", "language": "python", "code": CODE}) + b"\n")
    pm.embed(data, marked, marks, watermark="universal", policy="safe", tau=0, max_rate=1)
    show_marks(marked, marks, 1)
    shown = capsys.readouterr().out
    assert "names_table = [second]" in shown
