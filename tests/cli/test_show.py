"""`puzzlemark show`, as it is typed."""

import json
import stat
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli.__main__ import application

CODE = "def f(key, item, a):\n    # <script>\n\n\n    '\x1b[2J'\n    a = key\n    return a"


def show(*arguments: str | Path) -> Result:
    return CliRunner().invoke(application(), ["show", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Seven records, all marked."""
    records = [
        {"id": f"r{number}", "language": "python", "code": CODE + f"  # {number}"}
        for number in range(7)
    ]
    (tmp_path / "o.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in records))
    pm.embed(
        tmp_path / "o.jsonl",
        tmp_path / "m.jsonl",
        tmp_path / "marks.jsonl.gz",
        watermark="fixed_prefix:prefix=key",
        policy="paper",
        tau=0,
        min_rate=1,
        max_rate=1,
    )
    return tmp_path


def test_show_prints_a_unified_diff_of_each_mark(folder: Path) -> None:
    done = show(folder / "m.jsonl", "--manifest", folder / "marks.jsonl.gz", "--limit", "1")
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        "key + item -> key_item (target was a)\n"
        "row 0  r0\n"
        "    1 - def f(key, item, a):\n"
        "    1 + def f(key, item, key_item):\n"
        "    2       # <script>\n"
        "       ... 2 more\n"
        "    5       '\u241b[2J'\n"
        "    6 -     a = key\n"
        "    7 -     return a  # 0\n"
        "    6 +     key_item = key\n"
        "    7 +     return key_item  # 0\n"
        "\n"
        "1 of 7 marks; --limit shows more\n"
    )


def test_a_manifest_beside_the_dataset_need_not_be_named(folder: Path) -> None:
    done = show(folder / "m.jsonl")
    assert done.exit_code == 2
    assert "pass --manifest" in done.stderr
    (folder / "marks.jsonl.gz").rename(folder / "m.jsonl.manifest.jsonl.gz")
    assert show(folder / "m.jsonl").stdout.count("key + item") == 5


def test_show_prints_five_marks_unless_told_otherwise(folder: Path) -> None:
    options = ("--manifest", folder / "marks.jsonl.gz")
    assert show(folder / "o.jsonl", *options).stdout.count("key + item") == 5
    assert show(folder / "o.jsonl", *options, "--limit", "0").stdout.count("key + item") == 7
    chosen = show(folder / "o.jsonl", *options, "--id", "r6", "--id", "r2").stdout
    assert [line for line in chosen.splitlines() if line.startswith("row")] == [
        "row 2  r2",
        "row 6  r6",
    ]


def test_show_writes_a_private_page_with_all_marks(folder: Path) -> None:
    page = folder / "marks.html"
    options = ("--manifest", folder / "marks.jsonl.gz", "--html", page)
    done = show(folder / "m.jsonl", *options)
    assert "7 of 7 marks" in done.stdout
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    text = page.read_text()
    assert text.count("<article") == 7
    assert "&lt;script&gt;" in text
    assert "<script>" not in text
    assert "the marked one" in text
    assert show(folder / "m.jsonl", *options).exit_code == 2
    assert show(folder / "m.jsonl", *options, "--force", "--limit", "2").exit_code == 0
    assert page.read_text().count("<article") == 2


def test_show_speaks_json(folder: Path) -> None:
    done = show(folder / "o.jsonl", "--manifest", folder / "marks.jsonl.gz", "--json")
    told = json.loads(done.stdout)
    assert (told["side"], told["total"], told["shown"]) == ("original", 7, 5)
    assert told["marks"][0]["before"] == CODE + "  # 0"
    assert told["marks"][0]["parts"][-1] == {"role": "target", "text": "key_item", "was": "a"}


def test_show_refuses_another_dataset(folder: Path) -> None:
    (folder / "x.jsonl").write_bytes(
        (folder / "o.jsonl").read_bytes().replace(b"return a", b"return b")
    )
    done = show(folder / "x.jsonl", "--manifest", folder / "marks.jsonl.gz")
    assert done.exit_code == 1
    assert "neither the original nor the marked dataset" in done.output.replace("\n", " ")
