"""Datasets in memory: tables of pandas, polars, pyarrow and `datasets`, and plain records.

They get the same marks as the equal file would: the records are written to a temporary file, that
is marked, and the cells that changed are put into a copy. No library is imported that the caller
has not imported already.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar, overload

import numpy as np

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.corpora.derived import change_cell
from puzzlemark.corpora.records import Columns, Record, recognise
from puzzlemark.corpora.revising import Reviser
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding import run
from puzzlemark.embedding.manifest import (
    Carrier,
    Dataset,
    Header,
    Manifest,
    load_manifest,
    write_manifest,
)
from puzzlemark.embedding.run import Summary
from puzzlemark.errors import EditMismatch, UsageError
from puzzlemark.snippet import Edit, invert_edits
from puzzlemark.staging import staged

Held = TypeVar("Held")
Cells: TypeAlias = Mapping[str, Mapping[int, Any]]  # column -> row -> what stands there now


@dataclass(frozen=True, slots=True)
class Embedded(Generic[Held]):
    """A marked dataset of the same kind as the one that was passed, and its private manifest."""

    dataset: Held
    manifest: Manifest
    summary: Summary

    def save_manifest(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write the manifest (mode 0600): without it no model can be verified, nothing reverted."""
        with staged(Path(path), overwrite=overwrite) as place:
            write_manifest(self.manifest, place)


@overload
def embed(
    data: Path | str | Corpus,
    output: Path | str,
    manifest: Path | str | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> Summary: ...


@overload
def embed(
    data: Held,
    output: None = None,
    manifest: Path | str | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> Embedded[Held]: ...


def embed(
    data: Any,
    output: Path | str | None = None,
    manifest: Path | str | None = None,
    *,
    overwrite: bool = False,
    **options: Any,
) -> Any:
    """Watermark a dataset: `embed("train.jsonl.gz", "marked.jsonl.gz", mark="U1")`.

    Or one in memory: `done = embed(frame, mark="U1")` leaves the frame as it is; `done.dataset` is
    the marked one, `done.manifest` what a model is verified with later. For the options see
    `puzzlemark.embedding.run.embed`.
    """
    if isinstance(data, str | Path | Corpus):
        if output is None:
            raise UsageError("pass a path for the marked dataset as well: embed(path, output)")
        return run.embed(data, output, manifest, overwrite=overwrite, **options)
    if output is not None:
        raise UsageError("a dataset in memory is returned, not written; leave out the output")
    return embed_held(data, manifest, overwrite, **options)


def embed_held(
    held: Held, manifest: Path | str | None, overwrite: bool, **options: Any
) -> Embedded[Held]:
    """Mark a dataset in memory; see `embed`."""
    kind = _find_kind(held)
    if isinstance(held, Mapping):
        of_splits: Embedded[Held] = _embed_split(held, manifest, overwrite, options)
        return of_splits
    data: Any = list(held) if kind is RECORDS else held  # type: ignore[call-overload]
    with tempfile.TemporaryDirectory() as folder:
        source, output = (Path(folder, name + kind.ending) for name in ("data", "marked"))
        kind.spool(data, source)
        record = Path(folder, "marks.jsonl")
        summary = run.embed(source, output, record, **options)
        made = load_manifest(record)
        header = made.header.model_copy(
            update={"input": _unfiled(made.header.input), "output": _unfiled(made.header.output)}
        )
        made = Manifest(header, made.lines)
        before, after = (_open(path, header) for path in (source, output))
        marked = kind.put(data, _changed_cells(before, after, made))
    name = f"{type(held).__module__.partition('.')[0]} {type(held).__name__} in memory"
    where = "in memory" if manifest is None else str(manifest)
    summary = replace(summary, input=name, output=name, manifest=where)
    done: Embedded[Held] = Embedded(marked, made, summary)
    if manifest is not None:
        done.save_manifest(manifest, overwrite=overwrite)
    return done


def _embed_split(
    held: Any, manifest: Path | str | None, overwrite: bool, options: dict[str, Any]
) -> Any:
    """A dictionary of splits: `train` is marked, the others stay."""
    if "train" not in held:
        raise UsageError(
            f"no split 'train' among {', '.join(map(str, held))}; pass the split that is to be "
            "marked"
        )
    done = embed_held(held["train"], manifest, overwrite, **options)
    return replace(done, dataset=type(held)({**held, "train": done.dataset}))


def _unfiled(dataset: Dataset) -> Dataset:
    return dataset.model_copy(update={"shards": ()})


def _open(path: Path, header: Header) -> Corpus:
    return open_corpus(
        path,
        code_column=header.columns["code"],
        id_column=header.columns["id"],
        language_column=header.columns["language"],
        language=header.language,
    )


def _changed_cells(before: Corpus, after: Corpus, manifest: Manifest) -> Cells:
    rows = np.asarray([row for row, edits in manifest.edits().items() if edits], np.int64)
    cells: dict[str, dict[int, Any]] = {}
    for old, new in zip(
        before.batches(rows, whole=True), after.batches(rows, whole=True), strict=True
    ):
        owners, _ = new.owners()
        for row, a, b in zip(owners, old.records(), new.records(), strict=True):
            for name in a:
                if a[name] != b[name]:
                    cells.setdefault(name, {})[row] = b[name]
    return cells


@dataclass(frozen=True, slots=True)
class Kind:
    """How one kind of dataset is written to a file, and given other cells."""

    ending: str
    spool: Callable[[Any, Path], None]
    put: Callable[[Any, Cells], Any]


def _find_kind(held: Any) -> Kind:
    name = f"{type(held).__module__.partition('.')[0]}.{type(held).__name__}"
    if isinstance(held, Mapping) or name in KINDS:
        return KINDS.get(name, RECORDS)
    if isinstance(held, Iterable) and not isinstance(held, str | bytes):
        return RECORDS
    raise UsageError(
        f"{name}: not a dataset; pass a path, a table of pandas, polars or pyarrow, a dataset of "
        "`datasets`, or records"
    )


def _write_arrow(table: Any, path: Path) -> None:
    import pyarrow as pa

    with path.open("wb") as stream, pa.ipc.new_stream(stream, table.schema) as out:
        out.write_table(table)


def _spool_pandas(frame: Any, path: Path) -> None:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in frame.columns:
        try:
            columns[str(name)] = pa.Array.from_pandas(frame[name])
        except (pa.ArrowException, TypeError, ValueError):
            continue  # of mixed types: no code, and nothing that we could compute again
    _write_arrow(pa.table(columns), path)


def _put_pandas(frame: Any, cells: Cells) -> Any:
    marked = frame.copy(deep=False)
    names = {str(name): name for name in frame.columns}
    for column, changed in cells.items():
        series = frame[names[column]]
        before, kind = list(series), series.dtype
        values = _with(list(before), changed)
        if type(kind).__name__ == "CategoricalDtype":
            old = kind.categories
            anew = _categories(list(old), before, values, old.is_monotonic_increasing)
            kind = type(kind)(type(old)(anew, dtype=old.dtype), ordered=kind.ordered)
        marked[names[column]] = type(series)(values, index=series.index, dtype=kind)
    return marked


def _put_polars(frame: Any, cells: Cells) -> Any:
    return frame.with_columns(
        [_put_series(frame[column], changed) for column, changed in cells.items()]
    )


def _put_series(series: Any, changed: Mapping[int, Any]) -> Any:
    before, kind = series.to_list(), series.dtype
    values = _with(list(before), changed)
    if type(kind).__name__ == "Enum":
        old = kind.categories.to_list()
        kind = type(kind)(_categories(old, before, values, old == sorted(old)))
    return type(series)(series.name, values, kind)


def _categories(
    old: list[Any], before: Sequence[Any], after: Sequence[Any], is_sorted: bool
) -> list[Any]:
    """What a column's values are among when some have changed, in the order in which it was.

    What no cell has any more would show the old code, and what stands last the new one.
    """
    used = [each for each in dict.fromkeys(before) if _is_there(each)]
    uses = [each for each in dict.fromkeys(after) if _is_there(each)]
    idle = set(old) - set(used)  # nobody had it before either
    if is_sorted:
        return sorted([*uses, *idle])
    if [each for each in old if each not in idle] == used:  # in the order of their first use
        waiting = iter(uses)
        anew = [each if each in idle else next(waiting, None) for each in old]
        return [*(each for each in anew if each is not None), *waiting]
    instead: dict[Any, dict[Any, None]] = {}  # what became of each
    for one, other in zip(before, after, strict=True):
        instead.setdefault(one, {})[other] = None
    anew = [new for each in old for new in ((each,) if each in idle else instead[each])]
    return list(dict.fromkeys(anew))


def _is_there(value: Any) -> bool:
    return value is not None and value == value  # not None, and not NaN


def _put_arrow(table: Any, cells: Cells) -> Any:
    from puzzlemark.corpora.tables import replace_within

    for column, changed in cells.items():
        at = table.schema.get_field_index(column)
        table = table.set_column(
            at, table.schema.field(at), replace_within(table.column(at), changed)
        )
    return table


def _spool_datasets(dataset: Any, path: Path) -> None:
    _write_arrow(dataset.with_format("arrow")[:], path)


def _put_datasets(dataset: Any, cells: Cells) -> Any:
    table = _put_arrow(dataset.with_format("arrow")[:], cells)
    marked = type(dataset)(table, info=dataset.info.copy(), split=dataset.split)
    shown = {**dataset.format}
    return marked.with_format(shown["type"], columns=shown["columns"], **shown["format_kwargs"])


def _put_records(records: Sequence[Record], cells: Cells) -> list[Record]:
    marked: list[Record] = list(records)
    for column, changed in cells.items():
        for row, value in changed.items():
            marked[row] = {**marked[row], column: value}
    return marked


def _with(values: list[Any], changed: Mapping[int, Any]) -> list[Any]:
    for row, value in changed.items():
        is_array = isinstance(values[row], np.ndarray)
        values[row] = np.array(value, values[row].dtype) if is_array else value
    return values


def _write_lines(records: Iterable[Record], path: Path) -> None:
    write_records(records, path)


RECORDS = Kind(".jsonl", _write_lines, _put_records)
KINDS = {
    "pandas.DataFrame": Kind(".arrow", _spool_pandas, _put_pandas),
    "polars.DataFrame": Kind(
        ".arrow", lambda f, path: _write_arrow(f.to_arrow(), path), _put_polars
    ),
    "pyarrow.Table": Kind(".arrow", _write_arrow, _put_arrow),
    "datasets.Dataset": Kind(".arrow", _spool_datasets, _put_datasets),
}


@dataclass(frozen=True)
class Marker:
    """Puts the marks of a manifest into the records it is shown, or takes them out.

    `dataset.map(marker(manifest), with_indices=True)`, with or without `batched=True`. It can be
    sent to other processes. A record is known by its row and its id.
    """

    manifest: Manifest
    undo: bool = False

    @cached_property
    def _by_record(self) -> dict[str, dict[int, tuple[str, tuple[Edit, ...]]]]:
        """Where records hold several snippets: the edits of each by record and number."""
        found: dict[str, dict[int, tuple[str, tuple[Edit, ...]]]] = {}
        for carrier in self.manifest:
            record, _, number = carrier.id.rpartition("#")
            if found.setdefault(record, {}).setdefault(
                int(number), (carrier.id, self._edits(carrier))
            ) != (carrier.id, self._edits(carrier)):
                raise UsageError(f"two records have the id {record!r}, so a row does not tell them")
        return found

    def _edits(self, carrier: Carrier) -> tuple[Edit, ...]:
        return invert_edits(carrier.edits) if self.undo else carrier.edits

    def __call__(self, record: Mapping[str, Any], row: Any) -> dict[str, Any]:
        """The cells of a record, or of a batch of them, that change."""
        if not isinstance(row, int):
            records = [
                {name: cells[at] for name, cells in record.items()} for at in range(len(row))
            ]
            done = [{**one, **self(one, at)} for one, at in zip(records, row, strict=True)]
            return {name: [each[name] for each in done] for name in record}
        named = self.manifest.header.columns
        columns = recognise(
            record, "the dataset", code=named["code"], id=named["id"], language=named["language"]
        )
        changes = self._changes(record, row, columns)
        if not changes:
            return {}
        reviser = Reviser(columns, {row: changes}, self.manifest.header.derived, [row])
        cells = reviser.revise(row, record, f"row {row}").cells
        return {name: change_cell(record[name], change) for name, change in cells.items()}

    def _changes(self, record: Mapping[str, Any], row: int, columns: Columns) -> Any:
        cell = record.get(columns.id) if columns.id is not None else None
        name = f"row:{row}" if cell is None else str(cell)
        if columns.inner is not None:
            numbers = self._by_record.get(name, {})
            return {number: edits for number, (_, edits) in numbers.items() if edits}
        line = self.manifest.lines.get(row)
        if line is None:
            return ()
        carrier = Carrier.from_line(line)
        if carrier.id != name:
            raise EditMismatch(
                f"row {row} is the record {name!r}, not {carrier.id!r}; pass the dataset that the "
                "manifest was made for, in its order"
            )
        return self._edits(carrier)


def marker(manifest: Manifest | Path | str, *, undo: bool = False) -> Marker:
    """A callback for `datasets.Dataset.map` that puts the marks of a manifest in, or out."""
    return Marker(manifest if isinstance(manifest, Manifest) else load_manifest(manifest), undo)
