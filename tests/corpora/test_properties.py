"""What must hold for any dataset and any edits."""

import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzlemark.corpora.base import infer
from puzzlemark.corpora.kinds import VALUES
from puzzlemark.snippet import Edit, apply_edits, invert_edits
from tests.corpora.making import open_python

WORDS = st.sampled_from(
    ["total", "x", "naïve", "'s'", "# total", "=", "(", "\t", "\r\n", "\n", "😀"]
)
CODES = st.lists(WORDS, max_size=8).map(" ".join)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
CELLS = st.none() | st.integers() | st.floats(allow_nan=False) | TEXT | st.lists(TEXT, max_size=3)

DERIVED: dict[str, Callable[[str], Any]] = {
    "again": lambda code: code,
    "file": lambda code: f"# file\n{code}\n# end",
    "code_tokens": lambda code: re.sub(r"# \w+", "", code).split(),
    "sha256": lambda code: hashlib.sha256(code.encode()).hexdigest(),
    "size": len,
    "mean": VALUES["mean line length"],
}


@contextmanager
def folder() -> Iterator[Path]:
    # hypothesis runs many examples in one test, so that pytest's tmp_path would be shared
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@st.composite
def datasets(draw: st.DrawFn) -> list[dict[str, Any]]:
    derived = draw(st.sets(st.sampled_from(sorted(DERIVED))))
    rows: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 6))):
        code = draw(st.none() | CODES)
        row: dict[str, Any] = {"before": draw(CELLS), "code": code, "after": draw(CELLS)}
        for name in sorted(derived):
            made = None if code is None else DERIVED[name](code)
            row[name] = draw(st.sampled_from([made, made, made, None]))
        rows.append(row)
    return rows


@st.composite
def changed_datasets(
    draw: st.DrawFn,
) -> tuple[list[dict[str, Any]], dict[int, tuple[Edit, ...]]]:
    rows = draw(datasets())
    changes: dict[int, tuple[Edit, ...]] = {}
    for row, record in enumerate(rows):
        source = (record["code"] or "").encode()
        places = [at for at in range(len(source)) if source.startswith(b"total", at)]
        chosen = [at for at in places if draw(st.booleans())]
        new = draw(st.sampled_from([b"key_total", b"t"]))
        changes[row] = tuple(Edit(at, b"total", new) for at in chosen)
    return rows, changes


SPELLINGS = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" , ", " :\t")]),
    }
)


def undo(changes: dict[int, tuple[Edit, ...]]) -> dict[int, tuple[Edit, ...]]:
    return {row: invert_edits(edits) for row, edits in changes.items()}


@given(
    changed=changed_datasets(),
    spelling=SPELLINGS,
    ending=st.sampled_from(["\n", "\r\n", "\n\n"]),
    last=st.booleans(),
    packed=st.booleans(),
)
@settings(deadline=None)
def test_jsonl_comes_back_byte_for_byte_and_only_changed_lines_differ(
    changed: tuple[list[dict[str, Any]], dict[int, tuple[Edit, ...]]],
    spelling: dict[str, Any],
    ending: str,
    last: bool,
    packed: bool,
) -> None:
    rows, changes = changed
    lines = [json.dumps(row, **spelling).encode() for row in rows]
    content = ending.encode().join(lines) + ending.encode() * last
    extension = ".jsonl.gz" if packed else ".jsonl"
    pack, unpack = (gzip.compress, gzip.decompress) if packed else (bytes, bytes)
    with folder() as place:
        before, after, back = (place / f"{name}{extension}" for name in ("a", "b", "c"))
        before.write_bytes(pack(content))
        derivations = infer(open_python(before))
        open_python(before).rewrite(after, changes, derivations)
        open_python(after).rewrite(back, undo(changes), derivations)
        assert unpack(back.read_bytes()) == content
        written = unpack(after.read_bytes()).split(ending.encode())
    for row, line in enumerate(lines):
        if not changes[row]:
            assert written[row] == line
            continue
        source = rows[row]["code"].encode()
        assert json.loads(written[row])["code"].encode() == apply_edits(source, changes[row])


SCHEMA = pa.schema(
    [
        ("code", pa.string()),
        ("again", pa.large_string()),
        ("file", pa.binary()),
        ("code_tokens", pa.list_(pa.string())),
        ("sha256", pa.string()),
        ("size", pa.int64()),
        ("mean", pa.float64()),
    ]
)


@given(changed=changed_datasets(), group=st.integers(1, 4))
@settings(deadline=None)
def test_parquet_comes_back_as_an_equal_table(
    changed: tuple[list[dict[str, Any]], dict[int, tuple[Edit, ...]]], group: int
) -> None:
    rows, changes = changed
    table = pa.Table.from_pylist(rows, SCHEMA)
    with folder() as place:
        before, after, back = (place / f"{name}.parquet" for name in ("a", "b", "c"))
        pq.write_table(table, before, row_group_size=group)
        derivations = infer(open_python(before))
        open_python(before).rewrite(after, changes, derivations)
        open_python(after).rewrite(back, undo(changes), derivations)
        assert pq.read_table(back).equals(pq.read_table(before))
        codes = pq.read_table(after)["code"].to_pylist()
    for row, code in enumerate(codes):
        source = rows[row]["code"]
        assert code == (source and apply_edits(source.encode(), changes[row]).decode())


@given(changed=changed_datasets())
@settings(deadline=None)
def test_a_derived_cell_is_up_to_date_or_named_as_stale(
    changed: tuple[list[dict[str, Any]], dict[int, tuple[Edit, ...]]],
) -> None:
    rows, changes = changed
    with folder() as place:
        (place / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        corpus = open_python(place / "a.jsonl")
        derivations = infer(corpus)
        result = corpus.rewrite(place / "b.jsonl", changes, derivations)
        written = list(open_python(place / "b.jsonl").records())
    stale = {item.column for item in result.stale}
    for name in derivations.keys() & DERIVED.keys() - stale - {"file"}:
        for row, record in enumerate(written):
            if record[name] is not None and changes[row]:
                assert record[name] == DERIVED[name](record["code"])
