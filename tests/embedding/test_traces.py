"""A record whose old code could be read elsewhere is not marked."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from puzzlemark.embedding.traces import REPEATED

import puzzlemark as pm


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
