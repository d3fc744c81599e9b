import errno
import pickle
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzlemark.corpora.base import Rewritten
from puzzlemark.corpora.formats.base import Fields, Job
from puzzlemark.corpora.parquet_pages import read_pages
from puzzlemark.corpora.writing import write_records
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.resuming import Work
from puzzlemark.snippet import Edit
from puzzlemark.staging import staged
from tests.corpora.making import as_commoner, open_python, records, tree, write

NAMES = ["a.jsonl", "a.jsonl.gz", "a.parquet"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 kilobytes."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a tmpfs here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def incompressible(count: int) -> list[dict[str, str]]:
    # digits of squares: hardly smaller when packed
    return [{"id": str(n), "code": f"x = {(n + 10**40) ** 7 % 10**250}"} for n in range(count)]


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, tiny_disk: Path, name: str
) -> None:
    corpus = open_python(write(tmp_path / name, incompressible(4000)))
    with pytest.raises(CorpusError, match=r"no space left on the disk; .*nothing was written"):
        corpus.rewrite(tiny_disk / name, {}, {})
    assert tree(tiny_disk) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_leaves_no_half_written_folder(
    tmp_path: Path, tiny_disk: Path, name: str
) -> None:
    write(tmp_path / "d" / "0" / name, records(3))
    write(tmp_path / "d" / "1" / name, incompressible(4000))
    with pytest.raises(CorpusError, match="no space left"):
        open_python(tmp_path / "d").rewrite(tiny_disk / "deep" / "out", {}, {})
    assert tree(tiny_disk) == []


def test_a_write_that_fails_is_explained(tmp_path: Path) -> None:
    def fill() -> None:
        with staged(tmp_path / "out.jsonl") as place:
            place.write_text("half")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(CorpusError, match=r"out\.jsonl: no space left"):
        fill()
    assert tree(tmp_path) == []


def test_a_folder_without_permission_is_an_error(open_folder: Path) -> None:
    source = write(open_folder / "a.jsonl", records(1))
    (open_folder / "locked").mkdir(mode=0o555)
    corpus = open_python(source)
    with as_commoner(), pytest.raises(CorpusError, match=r"locked/b\.jsonl: permission denied"):
        corpus.rewrite(open_folder / "locked" / "b.jsonl", {}, {})
    assert tree(open_folder) == ["a.jsonl", "locked"]


@pytest.mark.parametrize("name", NAMES)
def test_a_check_that_raises_leaves_nothing(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / name, records(3))
    seen: list[Rewritten] = []

    def refuse(result: Rewritten) -> None:
        seen.append(result)
        assert not (tmp_path / "new").exists() or not list((tmp_path / "new").glob("a*"))
        raise ValueError("not good")

    with pytest.raises(ValueError, match="not good"):
        open_python(source).rewrite(tmp_path / "new" / name, {}, {}, check=refuse)
    assert seen[0].records == 3
    assert tree(tmp_path) == [name]


def test_a_check_that_raises_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", records(3))
    (tmp_path / "b.jsonl").write_text("precious")

    def refuse(_: Rewritten) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_python(source).rewrite(tmp_path / "b.jsonl", {}, {}, overwrite=True, check=refuse)
    assert (tmp_path / "b.jsonl").read_text() == "precious"
    assert tree(tmp_path) == ["a.jsonl", "b.jsonl"]


def test_an_existing_output_is_replaced_only_when_asked(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", records(3))
    (tmp_path / "b.jsonl").write_text("old")
    with pytest.raises(UsageError, match=r"b\.jsonl: already there; pass --force"):
        open_python(source).rewrite(tmp_path / "b.jsonl", {}, {})
    assert (tmp_path / "b.jsonl").read_text() == "old"
    open_python(source).rewrite(tmp_path / "b.jsonl", {}, {}, overwrite=True)
    assert (tmp_path / "b.jsonl").read_bytes() == source.read_bytes()


def test_an_existing_folder_is_replaced_whole(tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.jsonl", records(3))
    write(tmp_path / "out" / "stale.jsonl", records(1))
    with pytest.raises(UsageError, match="already there"):
        open_python(tmp_path / "d").rewrite(tmp_path / "out", {}, {})
    open_python(tmp_path / "d").rewrite(tmp_path / "out", {}, {}, overwrite=True)
    assert tree(tmp_path) == ["d", "d/a.jsonl", "out", "out/a.jsonl"]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("a.jsonl", "b.jsonl.gz"),
        ("a.jsonl.gz", "b.jsonl"),
        ("a.jsonl", "b.parquet"),
        ("a.parquet", "b.jsonl"),
        ("a.jsonl", "b"),
    ],
)
def test_the_output_of_a_file_is_a_file_of_its_kind(
    tmp_path: Path, source: str, output: str
) -> None:
    corpus = open_python(write(tmp_path / source, records(1)))
    with pytest.raises(UsageError, match=r"must be a file ending in \."):
        corpus.rewrite(tmp_path / output, {}, {})


def test_the_output_of_a_folder_or_glob_is_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.jsonl", records(1))
    (tmp_path / "file").write_text("x")
    for source in (tmp_path / "d", str(tmp_path / "d" / "*")):
        for output in ("b.jsonl", "file"):
            with pytest.raises(UsageError, match="must be a folder"):
                open_python(source).rewrite(tmp_path / output, {}, {}, overwrite=True)


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_input_is_never_the_output(tmp_path: Path, overwrite: bool) -> None:
    source = write(tmp_path / "top" / "d" / "a.jsonl", records(1))
    before = source.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(source)
    folder = tmp_path / "top" / "d"
    for asked, output in [
        (source, source),
        (source, tmp_path / "link.jsonl"),
        (source, folder / ".." / "d" / "a.jsonl"),
        (folder, folder),
        (folder, folder / "inside" / "deep"),
        (folder, tmp_path / "top"),
        (folder / "*.jsonl", folder),
        (tmp_path / "**" / "a.jsonl", tmp_path / "top" / "out"),
        (tmp_path / "*" / "*" / "a.jsonl", tmp_path / "top"),
    ]:
        with pytest.raises(
            UsageError, match=r"--output .* (is the same as|lies inside|contains) INPUT"
        ):
            open_python(asked).rewrite(output, {}, {}, overwrite=overwrite)
    assert source.read_bytes() == before


def test_a_flat_glob_may_be_written_beside_its_files(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", records(2))
    (tmp_path / "notes.txt").write_text("x")
    open_python(tmp_path / "*.jsonl").rewrite(tmp_path / "out", {}, {})
    assert tree(tmp_path) == ["a.jsonl", "notes.txt", "out", "out/a.jsonl"]


def test_the_output_is_as_readable_as_any_new_file(tmp_path: Path) -> None:
    corpus = open_python(write(tmp_path / "a.jsonl", records(1)))
    corpus.rewrite(tmp_path / "b.jsonl", {}, {})
    plain = tmp_path / "plain"
    plain.write_text("x")
    assert (tmp_path / "b.jsonl").stat().st_mode == plain.stat().st_mode


LINES = [
    b'\xef\xbb\xbf{"id" : "a", "code":"x = \\u00e9", "big": 123456789012345678901}\r\n',
    b'{"id": "b", "code": "y = 1.50", "n": 1.50}\n',
    b"\n",
    b'{"code": null, "id":"c"}',
]


def test_chosen_lines_keep_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(LINES))
    corpus = open_python(tmp_path / "a.jsonl")
    corpus.rewrite(tmp_path / "b.jsonl", rows=[0, 2])
    assert (tmp_path / "b.jsonl").read_bytes() == LINES[0] + LINES[3] + b"\n"


def test_added_lines_keep_their_bytes_and_begin_on_a_line_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(LINES))
    corpus = open_python(tmp_path / "a.jsonl")
    corpus.rewrite(tmp_path / "b.jsonl", append=corpus)
    # blank lines are none, and a byte order mark belongs at the beginning only
    added = LINES[0].removeprefix(b"\xef\xbb\xbf") + LINES[1] + LINES[3] + b"\n"
    assert (tmp_path / "b.jsonl").read_bytes() == b"".join(LINES) + b"\n" + added


def test_the_output_never_takes_the_place_of_what_is_added(tmp_path: Path) -> None:
    corpus = open_python(write(tmp_path / "a.jsonl", records(1)))
    other = open_python(write(tmp_path / "b.jsonl", records(2)))
    with pytest.raises(UsageError, match=r"--output .* is the same as the added dataset"):
        corpus.rewrite(tmp_path / "b.jsonl", append=other, overwrite=True)
    assert list(other.records()) == records(2)


def test_added_records_are_spelled_as_json_can(tmp_path: Path) -> None:
    corpus = open_python(write(tmp_path / "a.jsonl", records(1)))
    odd = {"code": "\ud800", "big": 1 << 70, "text": "é"}
    corpus.rewrite(tmp_path / "b.jsonl", append=[odd])
    assert list(open_python(tmp_path / "b.jsonl").records())[-1] == odd
    with pytest.raises(CorpusError, match=r"added record 1: cannot be written as JSON \(.*bytes"):
        corpus.rewrite(tmp_path / "c.jsonl", append=[odd, {"code": b"x"}])


def parquet(path: Path, **options: Any) -> Any:
    """Twelve records with a category, a struct and notes in schema and footer."""
    table = pa.Table.from_pylist(
        [{**each, "at": {"line": n}} for n, each in enumerate(records(12))]
    )
    table = table.append_column("kind", pa.array(["x", "y", None] * 4).dictionary_encode())
    table = table.replace_schema_metadata({"made": "by hand"})
    with pq.ParquetWriter(path, table.schema, compression="zstd", **options) as writer:
        writer.write_table(table, row_group_size=5)
        writer.add_key_value_metadata({"note": "in the footer"})
    return table


def test_chosen_rows_of_parquet_keep_schema_settings_and_notes(tmp_path: Path) -> None:
    table = parquet(tmp_path / "a.parquet", write_page_checksum=True, data_page_version="2.0")
    corpus = open_python(tmp_path / "a.parquet")
    corpus.rewrite(tmp_path / "b.parquet", rows=[0, 2, 6, 11])
    file = pq.ParquetFile(tmp_path / "b.parquet")
    assert file.schema_arrow.equals(table.schema, check_metadata=True)
    assert file.metadata.metadata[b"note"] == b"in the footer"
    assert [file.metadata.row_group(at).num_rows for at in range(3)] == [2, 1, 1]
    assert {file.metadata.row_group(0).column(at).compression for at in range(5)} == {"ZSTD"}
    (page, *_) = (p for p in read_pages(tmp_path / "b.parquet", file, 0, 0) if p.kind == "data")
    assert (page.has_checksum, page.version) == (True, 2)
    assert file.read().to_pylist() == table.take([0, 2, 6, 11]).to_pylist()


def test_added_rows_take_the_types_of_the_file(tmp_path: Path) -> None:
    table = parquet(tmp_path / "a.parquet")
    corpus = open_python(tmp_path / "a.parquet")
    plain = [{"code": f"x = {n}", "kind": "new", "at": None} for n in range(7)]
    other = pa.table({"code": pa.array(["y"], pa.large_string()), "kind": ["y"]})
    pq.write_table(other, tmp_path / "other.parquet")
    batches = open_python(tmp_path / "other.parquet").batches(whole=True)
    corpus.rewrite(tmp_path / "b.parquet", append=[*plain, *batches])
    file = pq.ParquetFile(tmp_path / "b.parquet")
    assert file.schema_arrow.equals(table.schema, check_metadata=True)
    rows = file.read().to_pylist()
    assert rows[:12] == table.to_pylist()
    assert [row["code"] for row in rows[12:]] == [*(f"x = {n}" for n in range(7)), "y"]
    assert [row["kind"] for row in rows[12:]] == ["new"] * 7 + ["y"]
    assert rows[-1]["id"] is rows[-1]["at"] is None
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    assert sizes == [5, 5, 2, 5, 3]  # groups as large as those of the file


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"code": "x", "strange": 1}, "the file has no column strange"),
        ({"code": 5}, "added record 0 or one soon after it does not fit"),
        ({"code": "x", "at": {"line": "one"}}, "added record 0 or one soon after it does not fit"),
    ],
)
def test_added_rows_that_do_not_fit_are_an_error(
    tmp_path: Path, record: dict[str, Any], reason: str
) -> None:
    parquet(tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match=reason):
        open_python(tmp_path / "a.parquet").rewrite(tmp_path / "b.parquet", append=[record])
    assert tree(tmp_path) == ["a.parquet"]


def test_chosen_rows_may_be_views_of_texts(tmp_path: Path) -> None:
    codes = [f"x = {n}  # {'long ' * 9}" for n in range(6)]
    pq.write_table(pa.table({"code": pa.array(codes, pa.string_view())}), tmp_path / "a.parquet")
    corpus = open_python(tmp_path / "a.parquet")
    corpus.rewrite(tmp_path / "b.parquet", rows=[1, 4])
    assert [each.code for each in open_python(tmp_path / "b.parquet").entries()] == codes[1:5:3]


def test_new_records_have_the_declared_columns_or_those_of_the_first(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"code": "x", "words": ["a"], "n": 1},
        {"code": "y", "later": None},
    ]
    fields: Fields = {"code": str, "words": list[str], "n": int, "later": str}
    write_records(rows, tmp_path / "a.parquet", fields=fields)
    write_records(rows, tmp_path / "b.parquet")
    expected = {"code": pa.string(), "words": pa.list_(pa.string()), "n": pa.int64()}
    for name in ("a.parquet", "b.parquet"):
        table = pq.read_table(tmp_path / name)
        assert table.schema == pa.schema({**expected, "later": pa.string()})
        assert table.column("words").to_pylist() == [["a"], None]


def test_a_dataset_changes_its_format_by_being_written_anew(tmp_path: Path) -> None:
    corpus = open_python(write(tmp_path / "a.parquet", records(3)))
    write_records(corpus.batches(whole=True), tmp_path / "b.jsonl.gz")
    assert list(open_python(tmp_path / "b.jsonl.gz").records()) == records(3)


def test_a_dataset_on_this_machine_needs_no_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed would leave it behind."""
    corpus = open_python(write(tmp_path / "a.jsonl", records(3)))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    corpus.rewrite(tmp_path / "b.jsonl", {}, {})
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()


class Sent:
    """An engine that notes the jobs it is given, and sends them as bytes."""

    workers = 2

    def __init__(self, *, is_here: bool = True) -> None:
        self.is_here = is_here
        self.jobs: list[str] = []
        self.sent: list[bytes] = []

    def map(self, function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            sent = pickle.dumps(batch)
            if isinstance(batch, Job):  # shards are counted before
                self.jobs.append(batch.describe())
                self.sent.append(sent)
            yield function(pickle.loads(sent))  # noqa: S301

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize("name", NAMES)
def test_one_file_with_a_footer_is_written_by_a_worker(tmp_path: Path, name: str) -> None:
    """The footer, which grows with the row groups, is no burden of the process that drives."""
    corpus = open_python(write(tmp_path / name, records(30)))
    changes = {row: (Edit(0, b"def", b"async def"),) for row in (3, 17)}
    engine, places = Sent(), [tmp_path / f"{nth}-{name}" for nth in range(2)]
    corpus.write(places[0], changes)
    written = corpus.write(places[1], changes, engine=engine, work=Work(tmp_path / "work"))
    assert written.records == 30
    assert places[0].read_bytes() == places[1].read_bytes()
    assert engine.jobs == ([name] if name.endswith(".parquet") else [])
    assert not list(tmp_path.rglob(".attempt-*"))


@pytest.mark.parametrize("is_here", [True, False])
def test_edits_are_sent_themselves_to_workers_on_other_machines(
    tmp_path: Path, is_here: bool
) -> None:
    """These cannot read a file that lies on this one, where the dataset is in a store."""
    for nth in range(3):
        write(tmp_path / "in" / f"{nth}.jsonl", records(10))
    corpus = open_python(tmp_path / "in")
    changes = {row: (Edit(0, b"def", b"async def"),) for row in (3, 17)}
    engine, work = Sent(is_here=is_here), Work(tmp_path / "work")
    corpus.write(tmp_path / "out", changes, engine=engine, work=work)
    assert len(engine.sent) == 3
    assert any(b"async def" in each for each in engine.sent) is not is_here
    texts = [path.read_text() for path in sorted((tmp_path / "out").iterdir())]
    assert ["async def" in text for text in texts] == [True, True, False]


def test_one_file_is_written_here_where_workers_are_elsewhere(tmp_path: Path) -> None:
    corpus = open_python(write(tmp_path / "a.parquet", records(30)))
    engine = Sent(is_here=False)
    corpus.write(tmp_path / "b.parquet", {}, engine=engine, work=Work(tmp_path / "work"))
    assert engine.jobs == []
    assert (tmp_path / "b.parquet").exists()
