"""Datasets in memory get the marks of the equal file, and stay what they are."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import puzzlemark as pm
from puzzlemark.corpora.writing import write_records
from puzzlemark.errors import EditMismatch, UsageError
from tests.corpora.test_fidelity import answers, functions

OPTIONS: dict[str, Any] = {"watermark": "universal", "tau": 0, "min_rate": 0.5, "max_rate": 0.5}


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    return {**OPTIONS, "secret_file": tmp_path / "secret"}


def in_a_file(folder: Path, options: dict[str, Any]) -> tuple[list[dict[str, Any]], list[bytes]]:
    """The records and marks of the equal file."""
    write_records(functions(30), folder / "a.jsonl")
    pm.embed(folder / "a.jsonl", folder / "b.jsonl", folder / "m.jsonl", **options)
    marked = [dict(record) for record in pm.read(folder / "b.jsonl").records()]
    return marked, (folder / "m.jsonl").read_bytes().splitlines()[1:]


def as_datasets(records: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_list(records)


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (pd.DataFrame, lambda frame: frame.to_dict("records")),
        (pl.DataFrame, lambda frame: frame.to_dicts()),
        (pa.Table.from_pylist, lambda table: table.to_pylist()),
        (as_datasets, lambda dataset: dataset.to_list()),
        (list, list),
        (iter, list),
    ],
    ids=["pandas", "polars", "pyarrow", "datasets", "list", "iterator"],
)
def test_the_same_marks_as_for_the_equal_file(
    tmp_path: Path, options: dict[str, Any], make: Any, read: Any
) -> None:
    expected, marks = in_a_file(tmp_path, options)
    given = make(functions(30))
    done = pm.embed(given, manifest=tmp_path / "held.jsonl", **options)
    assert read(done.dataset) == expected
    assert (tmp_path / "held.jsonl").read_bytes().splitlines()[1:] == marks
    assert (tmp_path / "held.jsonl").stat().st_mode & 0o777 == 0o600
    assert [*pm.load_manifest(tmp_path / "held.jsonl")] == [*done.manifest]
    assert (done.summary.marked, done.summary.records) == (15, 30)
    if not hasattr(given, "__next__"):
        assert type(done.dataset) is type(given)
        assert read(given) == functions(30)  # it was not touched


def test_a_frame_keeps_its_index_types_and_other_columns(options: dict[str, Any]) -> None:
    frame = pd.DataFrame(functions(30), index=range(100, 130))
    frame["mixed"] = [object() if n % 2 else n for n in range(30)]
    frame["when"] = pd.Timestamp("2026-01-01")
    frame["language"] = frame["language"].astype("category")
    done = pm.embed(frame, **options).dataset
    assert list(done.index) == list(frame.index)
    assert done.dtypes.equals(frame.dtypes)
    assert done["mixed"].tolist() == frame["mixed"].tolist()
    assert (done["size"] == done["code"].str.len()).all()


def codes() -> list[str]:
    return [record["code"] for record in functions(30)]


@pytest.mark.parametrize("is_ordered", [False, True])
@pytest.mark.parametrize("order", ["sorted", "first use", "with one unused", "reversed"])
def test_categories_of_a_frame_show_no_carrier(
    options: dict[str, Any], order: str, is_ordered: bool
) -> None:
    kinds = {
        "sorted": sorted(codes()),
        "first use": codes(),
        "with one unused": [*codes()[:7], "pass", *codes()[7:]],
        "reversed": codes()[::-1],
    }
    frame = pd.DataFrame(functions(30))
    plain = pm.embed(frame, **options).dataset["code"].tolist()
    frame["code"] = pd.Categorical(frame["code"], kinds[order], ordered=is_ordered)
    done = pm.embed(frame, **options).dataset["code"]
    assert done.tolist() == plain != codes()
    assert done.cat.ordered is is_ordered
    same = {
        "sorted": sorted(plain),
        "first use": plain,
        "with one unused": [*plain[:7], "pass", *plain[7:]],
        "reversed": plain[::-1],
    }
    assert done.cat.categories.tolist() == same[order]


def test_categories_that_copies_share_stay_for_those_that_use_them(options: dict[str, Any]) -> None:
    records = [*functions(30), *functions(30)]
    frame = pd.DataFrame(records)
    plain = pm.embed(frame, **options).dataset["code"].tolist()
    frame["code"] = pd.Categorical(frame["code"], codes()[::-1])
    done = pm.embed(frame, **options).dataset["code"]
    assert done.tolist() == plain
    assert set(done.cat.categories) == set(plain)


def test_an_enumeration_of_polars_gets_the_new_names(options: dict[str, Any]) -> None:
    frame = pl.DataFrame(functions(30)).with_columns(pl.col("code").cast(pl.Enum(codes())))
    done = pm.embed(frame, **options).dataset["code"]
    plain = pm.embed(functions(30), **options).dataset
    assert done.to_list() == [record["code"] for record in plain] != codes()
    assert isinstance(done.dtype, pl.Enum)
    assert done.dtype.categories.to_list() == done.to_list()


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_pieces_and_dictionaries_of_a_table_show_no_carrier(
    options: dict[str, Any], pieces: int, is_dictionary: bool
) -> None:
    table = pa.Table.from_pylist(functions(30))
    if is_dictionary:
        at = table.schema.get_field_index("code")
        table = table.set_column(at, "code", table["code"].dictionary_encode())
    table = pa.concat_tables([table.slice(n * 30 // pieces, 30 // pieces) for n in range(pieces)])
    done = pm.embed(table, **options).dataset
    assert done.schema == table.schema
    for name in table.schema.names:
        assert [len(each) for each in done[name].chunks] == [30 // pieces] * pieces
    if is_dictionary:
        for chunk in done["code"].chunks:  # in the order of their first use, and no other
            assert chunk.indices.to_pylist() == list(range(30 // pieces))
            assert len(chunk.dictionary) == 30 // pieces


def test_pieces_of_a_dataset_show_no_carrier(options: dict[str, Any]) -> None:
    done = pm.embed(as_datasets(functions(30)), **options).dataset
    assert [len(each) for each in done.data["code"].chunks] == [30]


def test_a_dataset_keeps_features_split_and_format(options: dict[str, Any]) -> None:
    dataset = as_datasets(functions(40)).select(range(30)).with_format("pandas", columns=["code"])
    done = pm.embed(dataset, **options).dataset
    assert (done.features, done.format) == (dataset.features, dataset.format)
    assert len(done) == 30


def test_of_splits_only_train_is_marked(options: dict[str, Any]) -> None:
    datasets = pytest.importorskip("datasets")
    whole = datasets.DatasetDict(train=as_datasets(functions(30)), test=as_datasets(functions(9)))
    done = pm.embed(whole, **options).dataset
    assert type(done) is type(whole)
    assert done["test"] is whole["test"]
    assert done["train"]["code"][:] != whole["train"]["code"][:]
    with pytest.raises(UsageError, match="no split 'train' among test"):
        pm.embed(datasets.DatasetDict(test=whole["test"]), **options)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("fenced", [False, True])
def test_a_callback_for_map_puts_marks_in_and_out(
    options: dict[str, Any], batched: bool, fenced: bool
) -> None:
    if fenced:
        options["code_column"] = "answer:fenced"
    dataset = as_datasets((answers if fenced else functions)(30))
    done = pm.embed(dataset, **options)
    callback = pickle.loads(pickle.dumps(pm.marker(done.manifest)))  # noqa: S301 - our own
    marked = dataset.map(callback, with_indices=True, batched=batched)
    assert marked.to_list() == done.dataset.to_list() != dataset.to_list()
    back = marked.map(pm.marker(done.manifest, undo=True), with_indices=True, batched=batched)
    assert back.to_list() == dataset.to_list()


def test_a_callback_refuses_another_order(options: dict[str, Any]) -> None:
    done = pm.embed(functions(30), **options)
    row = next(iter(done.manifest)).row
    with pytest.raises(EditMismatch, match="in its order"):
        pm.marker(done.manifest)(functions(30)[row - 1], row)


def test_what_is_no_dataset_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"builtins\.int: not a dataset"):
        pm.embed(7, **options)
    with pytest.raises(UsageError, match="leave out the output"):
        pm.embed(functions(3), tmp_path / "x.jsonl", **options)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="pass a path for the marked dataset"):
        pm.embed("a.jsonl", **options)


def test_nothing_is_imported_that_is_not_used() -> None:
    script = (
        "import sys, puzzlemark as pm; pm.embed, pm.marker; "
        "print([m for m in ('pandas', 'polars', 'datasets', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
