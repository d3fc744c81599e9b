"""Every check can fail: plant its leak, and the audit names it. Without a leak nothing is named."""

import gzip
import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark import plugins
from tests.auditing.making import Marked, pack, records, set_time, unpack, write, write_shards

SHAPES = ["a.jsonl", "a.jsonl.gz", "a.parquet", "shards.jsonl", "shards.jsonl.gz", "shards.parquet"]
shape = pytest.mark.parametrize


@shape("marked", SHAPES, indirect=True)
def test_nothing_tells_the_marks_of_a_dataset_as_it_was_written(marked: Marked) -> None:
    outcomes = marked.audit()
    assert "tells" not in outcomes.values()
    assert outcomes["rewriting"] == "ok"
    assert len(marked.carriers()) > 20
    without_manifest = pm.audit(marked.original, marked.marked)
    assert not without_manifest.telling
    assert without_manifest.carriers == len(marked.carriers())


def replant(line: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    return orjson.dumps(change(orjson.loads(line))) + b"\n"


def plant_code(lines: list[bytes], rows: list[int]) -> None:
    other = next(row for row in range(len(lines)) if row not in rows)
    lines[other] = replant(lines[other], lambda r: {**r, "code": r["code"] + "\n# more\n"})


def plant_field(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[3]] = replant(lines[rows[3]], lambda r: {**r, "repo": "elsewhere"})


def plant_missing_field(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[3]] = replant(lines[rows[3]], lambda r: {k: r[k] for k in r if k != "repo"})


def plant_order(lines: list[bytes], rows: list[int]) -> None:
    lines[5], lines[6] = lines[6], lines[5]


def plant_key_order(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = replant(lines[rows[0]], lambda r: dict(sorted(r.items())))


def plant_space(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = lines[rows[0]].replace(b'"code":', b'"code": ')


def plant_line_end(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = lines[rows[0]].replace(b"\n", b"\r\n")


def plant_escape(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = lines[rows[0]].replace(b"def ", rb"d\u0065f ", 1)


def plant_slash(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = lines[rows[0]].replace(b"def ", rb"def\u0020", 1)


def plant_size(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = replant(lines[rows[0]], lambda r: {**r, "size": r["size"] - 3})


def plant_digest(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = replant(lines[rows[0]], lambda r: {**r, "sha": "0" * 16})


def plant_blank_line(lines: list[bytes], rows: list[int]) -> None:
    lines[rows[0]] = b"\n" + lines[rows[0]]


def plant_end(lines: list[bytes], rows: list[int]) -> None:
    lines[-1] = lines[-1].rstrip(b"\n")


@shape("marked", ["a.jsonl", "a.jsonl.gz"], indirect=True)
@pytest.mark.parametrize(
    ("plant", "check"),
    [
        (plant_code, "changed_code"),
        (plant_field, "fields"),
        (plant_missing_field, "fields"),
        (plant_order, "order"),
        (plant_key_order, "key_order"),
        (plant_space, "spelling"),
        (plant_line_end, "spelling"),
        (plant_escape, "spelling"),
        (plant_size, "derived_columns"),
        (plant_digest, "derived_columns"),
        (plant_blank_line, "lines"),
        (plant_end, "lines"),
    ],
)
def test_a_leak_in_a_line_is_named(
    marked: Marked, plant: Callable[[list[bytes], list[int]], None], check: str
) -> None:
    marked.edit_lines(lambda lines: plant(lines, marked.carriers()))
    assert check in marked.telling()


def test_every_check_has_a_test_here_that_makes_it_fail() -> None:
    text = Path(__file__).read_text()
    missing = [name for name in plugins.names("auditing.checks") if f'"{name}"' not in text]
    assert not missing


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_the_old_code_in_a_nested_field_is_named(
    tmp_path: Path, functions: list[dict[str, Any]], ending: str
) -> None:
    made = Marked(tmp_path, f"a{ending}")
    rows = [{**row, "chat": [{"role": "user", "text": row["code"]}]} for row in functions]
    write(made.original, rows)
    assert made.embed().telling() == {"leftovers"}


def test_a_column_that_cannot_be_checked_is_named_but_does_not_tell(
    tmp_path: Path, functions: list[dict[str, Any]]
) -> None:
    import hashlib

    made = Marked(tmp_path, "a.jsonl")
    write(
        made.original,
        [{**r, "key": hashlib.md5(b"salt" + r["code"].encode()).hexdigest()} for r in functions],  # noqa: S324
    )
    (warning,) = made.embed().summary.warnings
    assert warning.startswith("column 'key': looks like a digest of something we do not know; if")
    found = pm.audit(made.original, made.marked, made.manifest)
    assert not found.telling
    (opaque,) = [f for f in found.findings if f.check == "opaque_columns"]
    assert opaque.outcome == "not applicable"
    assert "column 'key' may be computed from the code" in opaque.sentence


@shape("marked", ["shards.jsonl.gz", "shards.parquet"], indirect=True)
def test_a_file_that_the_original_does_not_have_is_named(marked: Marked) -> None:
    shutil.copy(marked.manifest, marked.marked / "manifest.jsonl.bak")
    assert marked.telling() == {"files"}


@shape("marked", ["shards.jsonl"], indirect=True)
def test_a_renamed_file_is_named(marked: Marked) -> None:
    first = marked.shards()[0]
    first.rename(first.with_name("0000.jsonl"))
    assert "files" in marked.telling()


@shape("marked", ["shards.jsonl"], indirect=True)
def test_permissions_of_the_files_with_carriers_are_named(marked: Marked) -> None:
    for path in marked.shards_with_carriers():
        path.chmod(0o600)
    assert marked.telling() == {"modes"}


@shape("marked", ["shards.jsonl", "shards.parquet"], indirect=True)
def test_files_that_kept_their_time_because_nothing_changed_in_them_are_named(
    marked: Marked,
) -> None:
    with_carriers = marked.shards_with_carriers()
    assert 0 < len(with_carriers) < len(marked.shards())
    for path in marked.shards():
        set_time(marked.original / path.name, 1e9)
        set_time(path, 1.1e9 if path in with_carriers else 1e9)
    assert marked.telling() == {"times"}


@shape("marked", ["shards.jsonl"], indirect=True)
def test_files_that_took_longer_because_of_their_carriers_are_named(marked: Marked) -> None:
    rows, start, now = marked.carriers(), 0, 1e9
    for path in marked.shards():
        size = len(records(path))
        count = sum(start <= row < start + size for row in rows)
        now += (1 + 100 * count) * path.stat().st_size / 1e4
        set_time(path, now)
        start += size
    assert marked.telling() == {"times"}


def test_files_of_one_size_but_for_those_with_carriers_are_named(tmp_path: Path) -> None:
    made = Marked(tmp_path, "shards")
    rows = [{"id": f"{n:04}", "language": "python", "code": f"x = {n:04}\n"} for n in range(60)]
    write_shards(made.original, rows, 5, ".jsonl")
    for row in (7, 8, 33, 58):
        rows[row]["code"] = "key_" + str(rows[row]["code"])
    write_shards(made.marked, rows, 5, ".jsonl")
    found = pm.audit(made.original, made.marked)
    assert "sizes" in {finding.check for finding in found.telling}


def test_carriers_at_the_start_of_a_dataset_are_named(
    tmp_path: Path, functions: list[dict[str, Any]]
) -> None:
    made = Marked(tmp_path, "a.jsonl")
    write(made.original, functions)
    assert made.embed(order="dataset").telling() == {"positions"}


@shape("marked", ["shards.jsonl.gz"], indirect=True)
def test_gzip_headers_of_the_files_with_carriers_are_named(marked: Marked) -> None:
    for path in marked.shards_with_carriers():
        pack(path, unpack(path), time=1_700_000_000)
        set_time(path, 1e9)
    for path in marked.shards():
        set_time(path, 1e9)
    assert "gzip_headers" in marked.telling()


@shape("marked", ["a.jsonl.gz"], indirect=True)
def test_a_gzip_member_that_begins_at_each_carrier_is_named(marked: Marked) -> None:
    lines = unpack(marked.marked).splitlines(keepends=True)
    starts = [0, *marked.carriers(), len(lines)]
    pieces = [b"".join(lines[a:b]) for a, b in itertools.pairwise(starts) if a < b]
    marked.marked.write_bytes(b"".join(gzip.compress(piece, mtime=0) for piece in pieces))
    outcomes = marked.audit()
    assert {check for check, outcome in outcomes.items() if outcome == "tells"} == {"gzip_members"}
    assert outcomes["rewriting"] == "not applicable"


@shape("marked", ["a.parquet"], indirect=True)
def test_pages_that_begin_at_carriers_are_named(marked: Marked) -> None:
    table = pq.read_table(marked.marked).combine_chunks()
    # as an edit of single rows leaves it: a piece before, the row, a piece after
    starts = sorted({0, len(table), *marked.carriers(), *(row + 1 for row in marked.carriers())})
    spans = itertools.pairwise(starts)
    pieces = pa.concat_tables([table.slice(a, b - a) for a, b in spans])
    pq.write_table(pieces, marked.marked, row_group_size=250, data_page_size=1)
    outcomes = marked.audit()
    assert {check for check, outcome in outcomes.items() if outcome == "tells"} == {"parquet_pages"}
    assert outcomes["rewriting"] == "not applicable"


@shape("marked", ["a.parquet"], indirect=True)
def test_row_groups_that_begin_at_carriers_are_named(marked: Marked) -> None:
    table = pq.read_table(marked.marked)
    starts = [0, *marked.carriers(), len(table)]
    with pq.ParquetWriter(marked.marked, table.schema) as writer:
        for a, b in itertools.pairwise(starts):
            writer.write_table(table.slice(a, b - a))
    found = pm.audit(marked.original, marked.marked, marked.manifest)
    told = [f.sentence for f in found.telling if f.check == "parquet_groups"]
    assert any("of other sizes than before" in sentence for sentence in told)
    assert any("beside a row group's end are carriers" in sentence for sentence in told)


@shape("marked", ["a.parquet"], indirect=True)
def test_another_schema_and_another_note_in_the_footer_are_named(marked: Marked) -> None:
    table = pq.read_table(marked.marked)
    size = pq.ParquetFile(marked.marked).metadata.row_group(0).num_rows
    noted = table.replace_schema_metadata({"made by": "somebody else"})
    pq.write_table(noted, marked.marked, row_group_size=size)
    assert marked.telling() == {"parquet_schema"}
    with pq.ParquetWriter(marked.marked, table.schema) as writer:
        writer.write_table(table, row_group_size=size)
        writer.add_key_value_metadata({"marks": "many"})
    assert marked.telling() == {"parquet_schema"}


@shape("marked", ["shards.parquet"], indirect=True)
@pytest.mark.parametrize(
    "options",
    [{"use_dictionary": False}, {"write_page_index": True}, {"compression": "zstd"}],
)
def test_other_settings_of_the_files_with_carriers_are_named(
    marked: Marked, options: dict[str, Any]
) -> None:
    for path in marked.shards_with_carriers():
        pq.write_table(pq.read_table(path), path, **options)
    for path in marked.shards():
        set_time(path, 1e9)
    assert marked.telling() == {"parquet_settings"}


@shape("marked", ["a.parquet"], indirect=True)
def test_old_code_in_a_dictionary_is_named(marked: Marked) -> None:
    before, after = pq.read_table(marked.original), pq.read_table(marked.marked)
    for path, table in ((marked.original, before), (marked.marked, after)):
        codes = table["code"].combine_chunks().dictionary_encode()
        if path == marked.marked:  # those of the carriers as they were, unused, at the end
            old = before["code"].take(marked.carriers()).unique()
            values = pa.concat_arrays([codes.dictionary, old])
            codes = pa.DictionaryArray.from_arrays(codes.indices, values)
        pq.write_table(table.set_column(3, "code", codes), path)
    assert marked.telling() == {"parquet_values"}


@shape("marked", ["a.parquet"], indirect=True)
def test_a_statistic_of_the_old_code_is_named(marked: Marked) -> None:
    whole = marked.marked.read_bytes()
    size = int.from_bytes(whole[-8:-4], "little")
    footer = whole[-8 - size :]
    largest = pq.ParquetFile(marked.marked).metadata.row_group(0).column(3).statistics.max
    old = largest.encode()
    assert old in footer
    new = old.replace(b"def ", b"DEF ", 1) if b"def " in old else old.swapcase()
    marked.marked.write_bytes(whole[: -8 - size] + footer.replace(old, new))
    assert marked.telling() == {"parquet_values"}


@shape("marked", ["a.parquet", "a.jsonl.gz"], indirect=True)
def test_bytes_of_another_writer_are_no_proof_of_anything(marked: Marked) -> None:
    if marked.marked.suffix == ".gz":
        pack(marked.marked, unpack(marked.marked))
    else:
        size = pq.ParquetFile(marked.marked).metadata.row_group(0).num_rows
        table = pq.read_table(marked.marked)
        options: dict[str, Any] = {"write_batch_size": 64, "data_page_size": 4096}
        pq.write_table(table, marked.marked, row_group_size=size, use_dictionary=False, **options)
    outcomes = marked.audit()
    assert "tells" not in outcomes.values()
    assert outcomes["rewriting"] == "not applicable"
