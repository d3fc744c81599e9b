"""Truncation keeps whole lines, as long as they fit."""

from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.errors import UsageError
from tests.attacks.making import attack_codes, codes, store_records

CODE = "def f(a):\n    b = a + 1\n    return b\n"  # lines of 9, 13 and 12; of 6, 5 and 2 tokens


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ("lines=1", 1),
        ("lines=2", 2),
        ("lines=3", 3),
        ("lines=9", 3),
        ("characters=8", 1),  # the first line stays
        ("characters=22", 1),
        ("characters=23", 2),
        ("characters=36", 3),
        ("tokens=10", 1),
        ("tokens=11", 2),
        ("tokens=13", 3),
    ],
)
def test_lines_that_fit_stay(tmp_path: Path, settings: str, lines: int) -> None:
    after, attacked = attack_codes(tmp_path, f"truncate:{settings}", [CODE])
    assert after == ["".join(CODE.splitlines(keepends=True)[:lines])]
    assert attacked.counts.get("lines cut", 0) == 3 - lines


def test_code_in_any_language_is_cut_at_whole_characters(tmp_path: Path) -> None:
    record = {"id": "a", "language": "cobol", "code": "MOVE Ä.\r\nMOVE ü."}
    source = store_records(tmp_path / "a.jsonl", [record])
    pm.attack(source, tmp_path / "b.jsonl", attack="truncate:characters=7")
    assert codes(tmp_path / "b.jsonl") == ["MOVE Ä.\r\n"]


@pytest.mark.parametrize("spec", ["truncate", "truncate:lines=0", "truncate:lines=1,tokens=1"])
def test_one_limit_is_needed(tmp_path: Path, spec: str) -> None:
    with pytest.raises(UsageError, match="one of characters, lines and tokens"):
        attack_codes(tmp_path, spec, [CODE])
