"""Numbers that no file of ours can hold: a sentence, and nothing is written."""

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.cli.base import MOST_WORKERS

CODE = "def f(key, item):\n    first = key\n    second = first + item\n    return second\n"
HUGE = 10**30


@pytest.mark.parametrize(
    "words",
    [
        f"probe in.jsonl --manifest m.gz -o p.jsonl --seed {HUGE}",
        f"probe in.jsonl --manifest m.gz -o p.jsonl --seed -{HUGE}",
        f"verify in.jsonl --manifest m.gz --model scripted -o run --seed {HUGE}",
        f"embed in.jsonl -o x.jsonl --mark U1 --marks-per-record {HUGE}",
        f"split in.jsonl --train a.jsonl --test b.jsonl --seed {HUGE}",
        f"score in.jsonl -o s.parquet --workers {HUGE}",
    ],
)
def test_a_number_beyond_64_bits_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    line = orjson.dumps({"id": "1", "language": "python", "code": CODE}) + b"\n"
    Path("in.jsonl").write_bytes(line * 9)
    done = CliRunner().invoke(application(), words.split())
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit)
    option = words.split()[-2]
    assert option in done.output
    assert [each.name for each in tmp_path.iterdir()] == ["in.jsonl"]


def test_workers_are_as_many_as_a_machine_can_have(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b"{}\n")
    words = ["score", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "s.parquet"), "--workers"]
    done = CliRunner().invoke(application(), [*words, str(MOST_WORKERS + 1)])
    assert done.exit_code == 2
    assert "--workers" in done.output
