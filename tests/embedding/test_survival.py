"""Marks are found again in a changed dataset by the ids of their records."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding.manifest import Manifest, load_manifest
from puzzlemark.embedding.run import embed
from puzzlemark.embedding.survival import judge_mark, survey_marks
from puzzlemark.errors import CorpusError
from puzzlemark.snippet import Edit, apply_edits, invert_edits
from puzzlemark.watermarks.base import Mark, Part

NAMES = "alpha beta gamma delta count total index value first second third fourth".split()


def function(n: int) -> str:
    a, b, c = (NAMES[(n + k) % len(NAMES)] for k in (0, 3, 7))
    return (
        f"def f{n}(items):\n    {a} = {n}\n    {b} = {a} + len(items)\n"
        f"    {c} = {a} * {b}\n    for item in items:\n        {c} += item\n    return {c}\n"
    )


def mark(folder: Path, records: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], Manifest]:
    """The records of the marked dataset, and its manifest."""
    write_records(records, folder / "all.jsonl")
    embed(
        folder / "all.jsonl",
        folder / "marked.jsonl",
        folder / "manifest.jsonl",
        watermark="universal",
        order="dataset",
        min_rate=0.4,
        max_rate=0.5,
        tau=0,
        language="python",
    )
    lines = (folder / "marked.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines], load_manifest(folder / "manifest.jsonl")


def store(records: list[dict[str, Any]], path: Path) -> Corpus:
    write_records(records, path, overwrite=True)
    return open_corpus(path, language="python")


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], Manifest]:
    records = [{"id": f"r{n}", "code": function(n)} for n in range(40)]
    found, manifest = mark(tmp_path_factory.mktemp("marked"), records)
    assert len(manifest) >= 16
    assert sum(bool(carrier.edits) for carrier in manifest) >= 10
    return found, manifest


def edited_rows(manifest: Manifest) -> list[int]:
    return [carrier.row for carrier in manifest if carrier.edits]


def test_every_mark_of_the_marked_dataset_survives(
    tmp_path: Path, marked: tuple[list[dict[str, Any]], Manifest]
) -> None:
    records, manifest = marked
    seen = survey_marks(manifest, store(records, tmp_path / "same.parquet"))
    assert (seen.survived, seen.broken, seen.dropped) == (len(manifest), 0, 0)
    assert seen.is_unchanged
    assert [row for row, _ in seen.fates] == list(manifest.lines)


def test_marks_are_found_when_rows_are_dropped_moved_added_and_edited(
    tmp_path: Path, marked: tuple[list[dict[str, Any]], Manifest]
) -> None:
    records, manifest = marked
    rows = edited_rows(manifest)
    dropped, broken, emptied, shifted = rows[0], rows[1], rows[2], rows[3]
    changed = [dict(record) for record in records]
    for edit in _undo(manifest, broken):  # one occurrence gets another name
        code = changed[broken]["code"].encode()
        changed[broken]["code"] = (code[: edit.start] + b"zz" + code[edit.end :]).decode()
        break
    changed[emptied]["code"] = None
    changed[shifted]["code"] = "# a line above\n" + changed[shifted]["code"]
    del changed[dropped]
    changed.reverse()
    changed.insert(3, {"id": "new", "code": function(77)})
    seen = survey_marks(manifest, store(changed, tmp_path / "changed.jsonl"))
    fates = dict(seen.fates)
    assert fates.pop(dropped) == "dropped"
    assert fates.pop(broken) == "broken"
    assert fates.pop(emptied) == "broken"
    assert set(fates.values()) == {"survived"}
    assert fates[shifted] == "survived"
    assert (seen.survived, seen.broken, seen.dropped) == (len(manifest) - 3, 2, 1)
    assert (seen.records, seen.is_unchanged) == (40, False)


def _undo(manifest: Manifest, row: int) -> tuple[Edit, ...]:
    return manifest.edits(undo=True)[row]


def test_the_original_dataset_has_lost_every_mark_that_was_edited(
    tmp_path: Path, marked: tuple[list[dict[str, Any]], Manifest]
) -> None:
    records, manifest = marked
    original = [dict(record) for record in records]
    for row in edited_rows(manifest):
        code = apply_edits(original[row]["code"].encode(), _undo(manifest, row))
        original[row]["code"] = code.decode()
    fates = dict(survey_marks(manifest, store(original, tmp_path / "o.jsonl")).fates)
    assert {fates[row] for row in edited_rows(manifest)} == {"broken"}


def drop_ids(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"code": record["code"]} for record in records]


def repeat_ids(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**record, "id": "same"} for record in records]


def empty_ids(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**record, "id": None} for record in records]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (drop_ids, "no column holds ids"),
        (repeat_ids, "the id 'same' stands in several marked records"),
        (empty_ids, r"the marked record of row \d+ has no id"),
    ],
)
def test_without_ids_only_the_unchanged_dataset_is_surveyed(
    tmp_path: Path, spoil: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], reason: str
) -> None:
    records, manifest = mark(tmp_path, spoil([{"id": n, "code": function(n)} for n in range(20)]))
    seen = survey_marks(manifest, store(records, tmp_path / "same.jsonl"))
    assert (seen.survived, seen.is_unchanged) == (len(manifest), True)
    with pytest.raises(CorpusError, match=rf"{reason}, so marks cannot be found by id; nor by row"):
        survey_marks(manifest, store(records[:-1], tmp_path / "fewer.jsonl"))


def test_an_id_that_was_given_to_another_record_is_refused(
    tmp_path: Path, marked: tuple[list[dict[str, Any]], Manifest]
) -> None:
    records, manifest = marked
    row = edited_rows(manifest)[0]
    changed = [*records, {**records[row], "code": "x = 1"}]
    with pytest.raises(CorpusError, match=f"the id '{records[row]['id']}' stands in several"):
        survey_marks(manifest, store(changed, tmp_path / "twice.jsonl"))


def test_ids_of_another_column_are_refused(
    tmp_path: Path, marked: tuple[list[dict[str, Any]], Manifest]
) -> None:
    records, manifest = marked
    renamed = [{"uid": record["id"], "code": record["code"]} for record in records[1:]]
    with pytest.raises(CorpusError, match="ids are read from column 'uid', not 'id'"):
        survey_marks(manifest, store(renamed, tmp_path / "renamed.jsonl"))


def fate(before: str, edits: tuple[Edit, ...], after: str, *parts: Part) -> str:
    apply_edits(before.encode(), edits)  # they fit
    return judge_mark(Mark(parts, edits), invert_edits(edits), after.encode())


def test_a_mark_is_known_again_by_its_names_and_never_by_less() -> None:
    target = Part("target", "key_x", "a")
    edits = (Edit(0, b"a", b"key_x"), Edit(6, b"a", b"key_x"))
    assert fate("a = 1\na += 2", edits, "key_x = 1\nkey_x += 2", target) == "survived"
    assert fate("a = 1\na += 2", edits, "pass\nkey_x = 1\nprint(key_x)", target) == "survived"
    assert fate("a = 1\na += 2", edits, "key_x = 1\nb += 2", target) == "broken"
    assert fate("a = 1\na += 2", edits, "my_key_x = 1\nkey_xy += 2", target) == "broken"
    form = Part("target", "range(0, ...)", "range(...)")
    start = (Edit(6, b"", b"0, "),)
    assert fate("range(n)", start, "range(0, n)", form) == "survived"
    assert fate("range(n)", start, "f(0, 1)\nrange(n)", form) == "broken"  # too plain


def test_a_mark_that_needed_no_edit_lives_by_the_names_of_its_parts() -> None:
    parts = (Part("prefix", "key"), Part("suffix", "x"), Part("target", "key_x"))
    assert fate("key = x = key_x", (), "x = key\nreturn key_x", *parts) == "survived"
    assert fate("key = x = key_x", (), "xs = key\nreturn key_x", *parts) == "broken"
