"""From a source tree to a dataset."""

import gzip
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.harvesting import functions, run
from puzzlemark.harvesting.functions import FIELDS
from puzzlemark.harvesting.run import Harvested, harvest, harvest_to


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "shelf"
    (root / "deep").mkdir(parents=True)
    (root / "b.py").write_text("def b(x):\n    return x\n\ndef b2(): pass\n")
    (root / "deep" / "a.py").write_text('class A:\n    def f(self):\n        "Doc."\n        "é"\n')
    (root / "broken.py").write_text("def (:\n")
    (root / "Main.java").write_text("class Main { int f() { return 1; } }")
    return root


def test_records_come_in_the_order_of_paths_and_lines(tree: Path) -> None:
    urls = [record["url"] for record in harvest(tree, "python")]
    assert urls == ["b.py::b", "b.py::b2", "deep/a.py::A.f"]


def test_a_language_may_be_called_by_its_alias(tree: Path) -> None:
    assert len(list(harvest(tree, "Py"))) == 3
    assert [record["repo"] for record in harvest(tree, "java")] == ["shelf"]


def test_what_is_left_out_is_counted(tree: Path) -> None:
    tally = Harvested(str(tree), "python")
    list(harvest(tree, "python", min_lines=2, tally=tally))
    assert (tally.records, tally.files) == (2, 3)
    assert tally.skipped_files == {"syntax errors": 1}
    assert tally.skipped_functions == {"fewer than 2 lines": 1}


def test_workers_change_nothing_but_the_time(tree: Path) -> None:
    assert list(harvest(tree, "python", workers=2)) == list(harvest(tree, "python"))


def test_a_zip_gives_the_same_functions_as_its_folder(tree: Path, tmp_path: Path) -> None:
    packed = tmp_path / "shelf.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in tree.rglob("*.py"):
            archive.write(path, path.relative_to(tree).as_posix())
    assert list(harvest(packed, "python")) == list(harvest(tree, "python"))


@pytest.mark.parametrize("name", ["out.jsonl.gz", "out.parquet"])
def test_a_run_that_is_interrupted_goes_on_to_the_same_bytes(
    tree: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "BATCH_FILES", 1)
    once, twice = tmp_path / "once" / name, tmp_path / "twice" / name
    expected = harvest_to(tree, once, "python", workers=1).to_json()
    asked: list[str] = []

    def stop(stage: str, _done: int, _total: int | None) -> None:
        asked.append(stage)
        if len(asked) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        harvest_to(tree, twice, "python", workers=1, progress=stop)
    with pytest.raises(UsageError, match="min_lines was 1 then, and is 2 now"):
        harvest_to(tree, twice, "python", workers=1, min_lines=2)
    collect, parsed = functions.collect, list[str]()

    def noting(path: str, *more: Any) -> None:
        parsed.append(path)
        collect(path, *more)

    monkeypatch.setattr(functions, "collect", noting)
    told = harvest_to(tree, twice, "python", workers=1).to_json()
    assert told == {**expected, "output": str(twice)}
    assert twice.read_bytes() == once.read_bytes()
    assert parsed == []  # the third batch, the last one, was kept before it was told
    assert [path.name for path in twice.parent.iterdir()] == [name]


def test_a_changed_tree_is_not_gone_on_with(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "BATCH_FILES", 1)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        harvest_to(tree, tmp_path / "out.jsonl", "python", workers=1, progress=stop)
    (tree / "deep" / "a.py").write_text("def other():\n    return 1\n")
    with pytest.raises(UsageError, match=r"deep/a\.py was another file then"):
        harvest_to(tree, tmp_path / "out.jsonl", "python", workers=1)


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.parquet"])
def test_each_format_holds_the_same_records(tree: Path, tmp_path: Path, name: str) -> None:
    output = tmp_path / "new" / name
    summary = harvest_to(tree, output, "python", workers=1)
    if name.endswith(".parquet"):
        table = pq.read_table(output)
        assert tuple(table.column_names) == FIELDS
        written = table.to_pylist()
    else:
        content = output.read_bytes()
        lines = gzip.decompress(content) if name.endswith(".gz") else content
        written = [orjson.loads(line) for line in lines.splitlines()]
    assert written == list(harvest(tree, "python"))
    assert summary.records == 3
    assert [path.name for path in output.parent.iterdir()] == [name]


def test_the_dataset_is_recognised_as_one(tree: Path, tmp_path: Path) -> None:
    harvest_to(tree, tmp_path / "out.jsonl.gz", "python", workers=1)
    corpus = open_corpus(tmp_path / "out.jsonl.gz")
    assert (corpus.columns.code, corpus.columns.id) == ("code", "url")
    assert corpus.columns.language == "language"


def test_the_same_tree_gives_the_same_bytes(tree: Path, tmp_path: Path) -> None:
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        harvest_to(tree, tmp_path / name, "python", workers=1)
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()


def test_an_existing_output_is_kept_unless_told_otherwise(tree: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("precious")
    with pytest.raises(UsageError, match="--force"):
        harvest_to(tree, output, "python", workers=1)
    assert output.read_text() == "precious"
    harvest_to(tree, output, "python", workers=1, overwrite=True)
    assert output.read_text().count("\n") == 3


def test_an_unknown_ending_is_refused_before_any_work(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end in one of .*\.jsonl, .*\.parquet, \.pq"):
        harvest_to(tree, tmp_path / "out.xls", "python")


def test_an_empty_folder_says_what_was_missing(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with pytest.raises(CorpusError, match="no file has the language's extension"):
        harvest_to(folder, tmp_path / "out.jsonl", "python", workers=1)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_tree_without_usable_functions_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "a.py").write_text("def (:\n")
    with pytest.raises(CorpusError, match="left out: 1 x syntax errors"):
        harvest_to(folder, tmp_path / "out.jsonl", "python", workers=1)


def test_a_missing_path_and_an_unknown_language_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such file or folder"):
        harvest(tmp_path / "none", "python")
    with pytest.raises(UsageError, match="puzzlemark list"):
        harvest(tmp_path, "cobol")


def test_harvested_code_is_never_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "__init__.py").write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'sprung')!r}).touch()\ndef f(): return 1\n"
    )
    assert len(list(harvest(trap, "python"))) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["__init__.py", "trap"]
