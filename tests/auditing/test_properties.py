"""Whatever dataset is marked, in whatever format: the audit finds nothing, and revert all."""

import base64
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import puzzlemark as pm
from puzzlemark.corpora.writing import write_records
from tests.auditing.making import Marked, records, unpack, write, write_shards
from tests.corpora.writers import WRITERS

COLUMNS: dict[str, Callable[[str], Any]] = {
    "again": lambda code: code,
    "prompt": lambda code: f"# write this\n{code}\n# end",
    "tokens": lambda code: code.split(),
    "chars": len,
    "lines": lambda code: len(code.splitlines()),
    "md5": lambda code: hashlib.md5(code.encode()).hexdigest(),  # noqa: S324
    "short": lambda code: hashlib.sha1(code.encode()).hexdigest()[:8],  # noqa: S324
    "b64": lambda code: base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
}


@st.composite
def datasets(draw: st.DrawFn) -> tuple[int, dict[str, int], str, bytes]:
    """How many functions, which columns with how many wrong values in a hundred, what shape."""
    columns = draw(st.dictionaries(st.sampled_from(sorted(COLUMNS)), st.sampled_from([0, 3, 30])))
    shape = draw(
        st.sampled_from(
            ["one.jsonl", "one.jsonl.gz", "one.parquet", "many.jsonl.gz", "many.parquet"]
        )
    )
    return draw(st.integers(150, 400)), columns, shape, draw(st.binary(min_size=32, max_size=32))


# seeded: one audit in a hundred may name something by accident, and a test may not
@settings(
    derandomize=True,
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(drawn=datasets())
def test_nothing_tells_the_marks_and_everything_comes_back(
    drawn: tuple[int, dict[str, int], str, bytes],
    functions: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count, columns, shape, secret = drawn
    monkeypatch.setenv("PUZZLEMARK_SECRET", secret.hex())
    rows = [make(nth, row, columns) for nth, row in enumerate(functions[:count])]
    with tempfile.TemporaryDirectory() as name:
        one, _, ending = shape.partition(".")
        made = Marked(Path(name), shape if one == "one" else "many")
        if one == "one":
            write(made.original, rows)
        else:
            write_shards(made.original, rows, 60, f".{ending}")
        made.embed()
        assert made.telling() == set()
        back = Path(name, "back" if one == "many" else shape)
        pm.revert(made.marked, back, made.manifest)
        assert content(back) == content(made.original)


def make(nth: int, row: dict[str, Any], columns: dict[str, int]) -> dict[str, Any]:
    derived = {name: COLUMNS[name](row["code"]) for name in columns}
    other = f"def other{nth}():\n    return {nth}\n"
    # a wrong value is one that another code would have
    wrong = {k: COLUMNS[k](other) for k, share in columns.items() if (nth * 37) % 100 < share}
    return {"id": row["id"], "language": "python", "code": row["code"], **derived, **wrong}


def content(path: Path) -> Any:
    paths = [path] if path.is_file() else sorted(path.iterdir())
    return [records(p) if p.suffix == ".parquet" else unpack(p) for p in paths]


@pytest.mark.parametrize("writer", sorted(WRITERS))
def test_nothing_tells_the_marks_whoever_wrote_the_parquet_file(
    tmp_path: Path, functions: list[dict[str, Any]], writer: str
) -> None:
    made = Marked(tmp_path, "a.parquet")
    made.original.parent.mkdir()
    WRITERS[writer](pa.Table.from_pylist(functions * 5), made.original)
    made.embed(max_rate=0.05)
    outcomes = made.audit()
    assert "tells" not in outcomes.values()
    assert outcomes["rewriting"] == "ok"


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_nothing_tells_the_marks_among_views_of_texts(
    tmp_path: Path, functions: list[dict[str, Any]], ending: str
) -> None:
    made = Marked(tmp_path, f"a{ending}")
    made.original.parent.mkdir()
    table = pa.Table.from_pylist(functions)
    at = table.schema.get_field_index("code")
    table = table.set_column(at, "code", table["code"].cast(pa.string_view()))
    if ending == ".parquet":
        pq.write_table(table, made.original)
    else:
        with pa.OSFile(str(made.original), "wb") as file, pa.ipc.new_file(file, table.schema) as to:
            to.write_table(table, max_chunksize=50)
    made.embed()
    assert made.telling() == set()


@pytest.mark.parametrize("ending", ["json", "csv", "tsv.gz", "arrow", "jsonl.zst"])
def test_nothing_tells_the_marks_in_other_formats(
    tmp_path: Path, functions: list[dict[str, Any]], ending: str
) -> None:
    made = Marked(tmp_path, f"a.{ending}")
    made.original.parent.mkdir()
    columns = {"again": 0, "prompt": 3, "chars": 3, "md5": 0, "short": 30, "b64": 3}
    write_records([make(n, each, columns) for n, each in enumerate(functions[:200])], made.original)
    made.embed()
    assert made.carriers()
    assert made.telling() == set()
    back = tmp_path / "back" / made.original.name
    back.parent.mkdir()
    pm.revert(made.marked, back, made.manifest)
    old, new = (list(pm.read(path).records()) for path in (made.original, back))
    assert old == new


@pytest.mark.parametrize("name", ["csn_python_exact", "csn_java_exact"])
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".parquet"])
def test_nothing_tells_the_marks_of_real_datasets(
    tmp_path: Path, real_data: Path, name: str, ending: str
) -> None:
    made = Marked(tmp_path, f"a{ending}")
    rows = [orjson.loads(line) for line in unpack(real_data / f"{name}.jsonl.gz").splitlines()]
    write(made.original, rows)
    mark = "U1" if "python" in name else "U2"
    workers = os.cpu_count()
    pm.embed(made.original, made.marked, made.manifest, mark=mark, workers=workers)
    assert made.telling() == set()
