"""Nothing marked is an error that says why; too little is a warning.

A record whose old code could be read elsewhere is not marked.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.columns import Column, Lines
from puzzlemark.embedding.plan import (
    BELOW_THRESHOLD,
    NOT_FOR_IT,
    NOT_NEEDED,
    TOO_FEW_NAMES,
    Plan,
    Settings,
)
from puzzlemark.embedding.unmarked import REMEDIES, REPEATED, refuse_no_marks, warn_of_missed_rate
from puzzlemark.errors import NothingMarked
from puzzlemark.watermarks import _concatenation, codemark, coprotector_sentence, coprotector_word
from puzzlemark.watermarks.base import Refusal
from puzzlemark.watermarks.universal import Universal
from tests.corpora.making import tree

GOOD = "def f(key, item):\n    first = key\n    second = first + item\n    return second\n"
ONLY_PARAMETERS = "def f(key, item, other):\n    return key + item + other\n"


def write(tmp_path: Path, codes: Sequence[str | None], **columns: str) -> Path:
    path = tmp_path / "in.jsonl"
    records = ({"id": str(n), "code": code, **columns} for n, code in enumerate(codes))
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


@pytest.mark.parametrize(
    ("codes", "columns", "options", "message"),
    [
        (
            [GOOD] * 1200,
            {"language": "python"},
            {"mark": "B3"},
            "all 1,200 records are Python; B3 is for Java: try B1 or B2 or M1",
        ),
        (
            [GOOD] * 3,
            {"language": "python"},
            {"mark": "M2"},
            "all 3 records are Python; M2 is for Java: try B1 or B2 or M1",
        ),
        (
            [GOOD] * 3,
            {"language": "cobol"},
            {},
            "all 3 records say that their language is 'cobol'; PuzzleMark marks go, java, ",
        ),
        (
            ["not code ("] * 3 + [None],
            {},
            {"language": "python"},
            r"3 of 4 records have syntax errors: pass --language .*\(other .*: null code \(1\)\)",
        ),
        (
            [None] * 3,
            {},
            {"language": "python"},
            r"all 3 records have no usable code \(null code\): pass --code-column",
        ),
        (
            [GOOD] * 3,
            {"language": ""},
            {"language_column": "language"},
            "all 3 records do not say their language: pass --language",
        ),
        (
            ["def f(a):\n    return a\n"] * 3,
            {"language": "python"},
            {"mark": "U1"},
            r"all 3 records have too few variables for U1 .* needs no variables \(S1 or S2\)",
        ),
        (
            [ONLY_PARAMETERS] * 3,
            {"language": "python"},
            {"mark": "U1"},
            "all 3 records have no variable that policy safe renames .*--policy paper",
        ),
        (
            [GOOD] * 3,
            {"language": "python"},
            {"mark": "B1"},
            "all 3 records hold nothing that B1 could use .*try another mark",
        ),
    ],
)
def test_nothing_marked_names_the_main_reason_and_what_to_do(
    tmp_path: Path,
    codes: list[str | None],
    columns: dict[str, str],
    options: dict[str, Any],
    message: str,
) -> None:
    source = write(tmp_path, codes, **columns)
    with pytest.raises(NothingMarked, match=f"in.jsonl: no record was marked, .*{message}"):
        pm.embed(source, tmp_path / "m.jsonl", tau=0, max_rate=1, **options)
    assert tree(tmp_path) == ["in.jsonl"]


@pytest.mark.parametrize(
    ("records", "max_rate", "remedy"),
    [(10, 0.05, "--max-rate 0.1 or more"), (3, 0.0, "--max-rate 0.3334 or more")],
)
def test_a_rate_that_is_less_than_one_record_says_which_would_do(
    tmp_path: Path, records: int, max_rate: float, remedy: str
) -> None:
    source = write(tmp_path, [GOOD] * records, language="python")
    with pytest.raises(NothingMarked, match=f"of {records} records allows no mark; pass {remedy}"):
        pm.embed(source, tmp_path / "m.jsonl", tau=0, max_rate=max_rate)
    rate = float(remedy.split()[1])
    assert pm.embed(source, tmp_path / "m.jsonl", tau=0, max_rate=rate).marked == 1


def test_a_threshold_that_leaves_nobody_says_so(tmp_path: Path) -> None:
    simple, complex_ = GOOD, GOOD.replace("return", "if key:\n        first = item\n    return")
    source = write(tmp_path, ["def f(a): pass\n", *[complex_] * 5, simple], language="python")
    with pytest.raises(NothingMarked, match="below the threshold: pass a --tau below 1"):
        pm.embed(source, tmp_path / "m.jsonl", tau=1, max_rate=1)


def test_nothing_marked_leaves_what_was_there(tmp_path: Path) -> None:
    source = write(tmp_path, [GOOD] * 3, language="python")
    output, manifest = tmp_path / "m.jsonl", tmp_path / "m.gz"
    pm.embed(source, output, manifest, tau=0, max_rate=1)
    before = output.read_bytes(), manifest.read_bytes()
    with pytest.raises(NothingMarked):
        pm.embed(source, output, manifest, mark="U2", overwrite=True)
    assert (output.read_bytes(), manifest.read_bytes()) == before


def every_refusal() -> list[str]:
    """The reasons that are written down in the watermarks' files, and the plan's own."""
    rooms = (_concatenation, codemark, coprotector_sentence, coprotector_word)
    constants = (each for room in rooms for each in vars(room).values())
    reasons = {each.reason for each in constants if isinstance(each, Refusal)}
    own = {BELOW_THRESHOLD, TOO_FEW_NAMES, NOT_FOR_IT, "syntax errors", "names are visible to x"}
    return sorted(reasons | own)


def plan_of(records: int, marked: int, kept: dict[str, int]) -> Plan:
    digests: Column[np.void] = Column("V16")
    digests.append(bytes(16 * records))
    lines = Lines.of((row, b"") for row in range(marked))
    return Plan(digests, {}, lines=lines, kept=Counter(kept))


@pytest.mark.parametrize("reason", every_refusal())
def test_every_reason_has_a_remedy(reason: str) -> None:
    planned = plan_of(3, 0, {reason: 2, "null code": 1})
    with pytest.raises(NothingMarked, match=r": (pass|try|--policy)"):
        refuse_no_marks(Path("in.jsonl"), planned, Settings(Universal(), max_rate=1), None)


def test_some_remedies_are_for_one_reason() -> None:
    assert len(REMEDIES) > 8
    pattern, _ = REMEDIES[-1]
    assert pattern.search("anything")


def test_a_missed_minimum_rate_is_a_warning_with_its_reason(tmp_path: Path) -> None:
    source = write(tmp_path, [GOOD] * 2 + [ONLY_PARAMETERS] * 8, language="python")
    summary = pm.embed(source, tmp_path / "m.jsonl", tau=0, min_rate=0.5, max_rate=0.6)
    assert summary.marked == 2
    (warning,) = summary.to_json()["warnings"]
    assert warning == (
        "2 of 10 records could be marked (20.00%), fewer than the 5 of --min-rate 0.5; the main "
        "reason: no variable after the suffix may be renamed (8 records)"
    )


JAVA = "int f(int key, int item) { int first = key; return first + item; }"


@pytest.mark.parametrize(
    ("columns", "options"),
    [({"language": "python"}, {"mark": "U1"}), ({}, {"mark": "U1", "language": "python"})],
)
def test_a_language_that_was_said_is_not_doubted(
    tmp_path: Path, columns: dict[str, str], options: dict[str, Any]
) -> None:
    path = write(tmp_path, [GOOD] * 6 + [JAVA] * 4, **columns)
    done = pm.embed(path, tmp_path / "out.jsonl", tau=0.0, max_rate=1.0, **options)
    assert not done.warnings


def test_records_that_are_hardly_in_the_language_of_the_mark_are_warned_of(tmp_path: Path) -> None:
    path = write(tmp_path, [GOOD] * 6 + [JAVA] * 4)
    done = pm.embed(path, tmp_path / "out.jsonl", mark="U1", tau=0.0, max_rate=1.0)
    (warning,) = done.warnings
    assert warning.startswith("no record says its language, so all were read as Python, that of U1")
    assert "4 of 10 have syntax errors" in warning
    assert "--language" in warning


def test_a_rate_that_was_reached_is_no_reason_to_warn() -> None:
    planned = plan_of(10, 1, {NOT_NEEDED: 9})
    assert not warn_of_missed_rate(planned, Settings(Universal(), min_rate=0.1, max_rate=0.2))
    assert warn_of_missed_rate(
        plan_of(10, 1, {"syntax errors": 9}),
        Settings(Universal(), min_rate=0.2, max_rate=0.2),
    )


@pytest.fixture
def rows(corpus_bytes: bytes) -> list[dict[str, Any]]:
    found = [orjson.loads(line) for line in corpus_bytes.splitlines()[:300]]
    return [{key: row[key] for key in ("id", "language", "code")} for row in found]


def embed(folder: Path, rows: list[dict[str, Any]]) -> tuple[Any, list[int]]:
    (folder / "in.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    secret = folder / "secret"
    secret.write_text("0123456789abcdef" * 4)
    secret.chmod(0o600)
    summary = pm.embed(
        folder / "in.jsonl",
        folder / "out.jsonl",
        folder / "manifest.jsonl.gz",
        mark="U1",
        max_rate=0.2,
        secret_file=secret,
        overwrite=True,
    )
    manifest = pm.load_manifest(folder / "manifest.jsonl.gz")
    assert len(manifest) == summary.marked == manifest.header.counts["marked"]
    assert summary.marked + sum(summary.kept.values()) == summary.records == len(rows)
    return summary, [carrier.row for carrier in manifest]


def test_a_carrier_whose_changed_line_is_quoted_elsewhere_loses_its_mark(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    _, before = embed(tmp_path, rows)
    quoting = before[:3]
    for nth, row in enumerate(rows):
        row["notes"] = [f"Example: {row['code']}" if nth in quoting else "none"]
    summary, after = embed(tmp_path, rows)
    assert after == [row for row in before if row not in quoting]
    assert summary.kept[REPEATED] == len(quoting)
    assert summary.warnings == ()
    back = tmp_path / "back.jsonl"
    pm.revert(tmp_path / "out.jsonl", back, tmp_path / "manifest.jsonl.gz")
    assert back.read_bytes() == (tmp_path / "in.jsonl").read_bytes()


def test_a_column_that_repeats_the_code_of_all_records_is_warned_of(
    tmp_path: Path, rows: list[dict[str, Any]]
) -> None:
    _, before = embed(tmp_path, rows)
    for row in rows:
        row["chat"] = [{"text": row["code"]}]
    summary, after = embed(tmp_path, rows)
    assert after == before
    assert [warning.partition(":")[0] for warning in summary.warnings] == ["column 'chat'"]


def test_a_missed_rate_of_which_no_record_is_the_reason_is_a_warning_too() -> None:
    """A watermark that hides marks a share of the records that could carry."""
    planned = plan_of(10, 1, {})
    (warning,) = warn_of_missed_rate(planned, Settings(Universal(), min_rate=0.2, max_rate=0.2))
    assert warning.endswith("universal marks a share of the eligible records only")


@pytest.mark.parametrize("column", ["id", "repo", "path"])
@pytest.mark.parametrize("mark", ["universal", "synonyms:share=1,entropy=0"])
def test_a_name_that_is_no_text_is_kept_and_named(tmp_path: Path, column: str, mark: str) -> None:
    loop = (
        "def f{n}(key, items):\n    first = key + {n}\n"
        "    for item in items:\n        first += item\n"
    )
    lines = [
        {"id": str(n), "language": "python", "code": loop.format(n=n), "repo": "r", "path": "p"}
        for n in range(40)
    ]
    for line in lines[::2]:
        line[column] = f"{line[column]}\ud800"
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = pm.embed(
        path, tmp_path / "out.jsonl", tmp_path / "m", watermark=mark, tau=0, min_rate=0, max_rate=1
    )
    assert done.marked > 0
    if column == "id":
        assert done.kept["id is not valid Unicode"] == 20
    pm.revert(tmp_path / "out.jsonl", tmp_path / "back.jsonl", tmp_path / "m")
    assert (tmp_path / "back.jsonl").read_bytes() == path.read_bytes()
