"""Folders of the Hugging Face hub: other files, sizes, splits; `datasets` is the judge."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.hub import Growth, mend, split_of
from puzzlemark.errors import UsageError
from tests.corpora.making import write
from tests.corpora.test_fidelity import functions

README = """---
license: mit
dataset_info:
  features:
  - name: code
    dtype: string
  - name: num_bytes
    dtype: int64
  splits:
  - name: train
    num_bytes: 1000
    num_examples: 40
  - name: test
    num_bytes: 50
    num_examples: 5
  download_size: {download}
  dataset_size: 1050
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*
  - split: test
    path: data/test-*
---
# Ours

num_bytes: 1000
"""
OPTIONS: dict[str, Any] = {
    "watermark": "universal",
    "tau": 0,
    "min_rate": 1,
    "max_rate": 1,
}


def make_folder(folder: Path, ending: str) -> Path:
    write(folder / f"data/train-00000-of-00001{ending}", functions(40))
    write(folder / f"data/test-00000-of-00001{ending}", functions(5))
    size = sum(path.stat().st_size for path in folder.rglob("*.*"))
    (folder / "README.md").write_text(README.format(download=size), encoding="utf-8")
    (folder / ".gitattributes").write_bytes(b"*.parquet filter=lfs\n")
    (folder / "pictures").mkdir()
    (folder / "pictures/a.png").write_bytes(b"\x89PNG\0")
    (folder / ".git").mkdir()
    (folder / ".git/HEAD").write_bytes(b"main")
    return folder


def embed(folder: Path, out: Path, **options: Any) -> pm.Summary:
    marks = out.with_suffix(".jsonl")
    return pm.embed(folder, out, marks, secret_file=out.with_suffix(".s"), **OPTIONS, **options)


@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_a_folder_is_the_same_folder(tmp_path: Path, ending: str) -> None:
    folder = make_folder(tmp_path / "in", ending)
    summary = embed(folder, tmp_path / "out")
    assert (summary.marked, summary.records) == (40, 40)
    assert any("other splits were copied" in warning for warning in summary.warnings)
    assert any("1 other files" in warning for warning in summary.warnings)  # of .git
    for name in (".gitattributes", "pictures/a.png", f"data/test-00000-of-00001{ending}"):
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()
    assert not (tmp_path / "out/.git").exists()
    texts = [
        sum(
            len(r[c].encode())
            for r in open_corpus(each, split="train").records()
            for c in ("code",)
        )
        for each in (folder, tmp_path / "out")
    ]
    grown = texts[1] - texts[0]
    sizes = sum(path.stat().st_size for path in (tmp_path / "out/data").iterdir())
    before = (folder / "README.md").read_text(encoding="utf-8")
    old = sum(path.stat().st_size for path in (folder / "data").iterdir())
    expected = before.replace("    num_bytes: 1000\n", f"    num_bytes: {1000 + grown}\n", 1)
    expected = expected.replace("size: 1050", f"size: {1050 + grown}").replace(f"{old}", f"{sizes}")
    assert grown > 0
    assert (tmp_path / "out/README.md").read_text(encoding="utf-8") == expected
    pm.revert(tmp_path / "out", tmp_path / "back", tmp_path / "out.jsonl")
    assert (tmp_path / "back/README.md").read_text(encoding="utf-8") == before
    # once more over itself: its own README does not stand in the way
    embed(folder, tmp_path / "out", overwrite=True)


@pytest.mark.skipif(os.name == "nt", reason="needs links and permissions")
@pytest.mark.parametrize("private", ["secret", "manifest", "packed manifest", "link", "linked key"])
def test_what_is_private_is_not_copied_into_a_dataset_that_is_published(
    tmp_path: Path, private: str
) -> None:
    data, secret, key = tmp_path / "in", tmp_path / "s", tmp_path / "id_rsa"
    write(data / "a.jsonl", functions(30))
    secret.write_text("a secret that is long enough\n")
    key.write_text("another program's key")
    for path in (secret, key):
        path.chmod(0o600)
    beside = data / "notes.txt"
    if private == "secret":
        secret = beside
        secret.write_text("a secret that is long enough\n")
        secret.chmod(0o600)
    elif private == "link":
        beside.symlink_to(secret)
    elif private == "linked key":
        beside.symlink_to(key)
    else:
        text = b'{"format":"puzzlemark manifest","version":3}\n'
        beside.write_bytes(gzip.compress(text) if private == "packed manifest" else text)
    with pytest.raises(UsageError, match=r"notes\.txt.*would be copied into the output"):
        pm.embed(
            data, tmp_path / "out", tmp_path / "m.jsonl", watermark="universal", tau=0,
            secret_file=secret,
        )  # fmt: skip
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "m.jsonl").exists()


@pytest.mark.skipif(os.name == "nt", reason="needs links and permissions")
def test_links_of_a_cache_are_followed(tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.jsonl", functions(30))
    (tmp_path / "blobs").mkdir()
    for name in ("public.txt", "blobs/private"):
        (tmp_path / name).write_text(name)
    (tmp_path / "blobs" / "private").chmod(0o600)
    (tmp_path / "in" / "README.md").symlink_to(tmp_path / "blobs" / "private")
    (tmp_path / "in" / "LICENSE").symlink_to(tmp_path / "public.txt")
    pm.embed(tmp_path / "in", tmp_path / "out", watermark="universal", tau=0)
    assert (tmp_path / "out" / "README.md").read_text() == "blobs/private"
    assert (tmp_path / "out" / "LICENSE").read_text() == "public.txt"


def test_all_splits_can_be_asked_for_and_reverted(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "in", ".jsonl")
    assert embed(folder, tmp_path / "out", split="all").records == 45
    pm.revert(tmp_path / "out", tmp_path / "back", tmp_path / "out.jsonl")
    for name in ("train", "test"):
        name = f"data/{name}-00000-of-00001.jsonl"
        assert (tmp_path / "back" / name).read_bytes() == (folder / name).read_bytes()
        assert (tmp_path / "out" / name).read_bytes() != (folder / name).read_bytes()
    assert pm.audit(folder, tmp_path / "out", tmp_path / "out.jsonl").telling == ()


@pytest.mark.parametrize(
    ("names", "split", "read"),
    [
        (["train", "test", "extra"], None, {"train", "extra"}),
        (["train", "extra"], None, {"train", "extra"}),
        (["test-1", "test-2"], None, {"test-1", "test-2"}),  # not told apart
        (["train", "dev", "test"], "validation", {"dev"}),
        (["train", "test"], "all", {"train", "test"}),
    ],
)
def test_the_split_decides_which_files_are_read(
    tmp_path: Path, names: list[str], split: str | None, read: set[str]
) -> None:
    for name in names:
        write(tmp_path / f"{name}.jsonl", functions(1))
    found = open_corpus(tmp_path, split=split).shards
    assert {shard.name.removesuffix(".jsonl") for shard in found} == read


def test_a_split_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for name in ("dev", "test"):
        write(tmp_path / f"{name}.jsonl", functions(1))
    for split in (None, "train"):
        with pytest.raises(UsageError, match=r"split train; there are test, validation; pass"):
            open_corpus(tmp_path, split=split)
    with pytest.raises(UsageError, match="one file, which has no splits"):
        open_corpus(tmp_path / "dev.jsonl", split="train")


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("data/train-00000-of-00002.parquet", "train"),
        ("python/test/0.jsonl", "test"),
        ("dev.jsonl", "validation"),
        ("contest.jsonl", None),
        ("latest/part-1.jsonl", None),
        ("test/train.jsonl", "train"),
    ],
)
def test_splits_are_words_of_the_name(name: str, split: str | None) -> None:
    assert split_of(name) == split


def test_only_the_numbers_of_infos_change() -> None:
    infos = '{"a" : {"splits":{"train":{"num_bytes" :10,"num_examples":1}},"download_size": 100,'
    infos += ' "dataset_size": 10 ,"size_in_bytes":110, "features":{"num_bytes": 3}},\n'
    infos += '"b":{"splits":{"train":{"num_bytes":7}}, "dataset_size":7, "download_size":1}}'
    growths = [Growth("a/train.parquet", 5, 100, 104), Growth("b/train.parquet", 1, 9, 9)]
    mended = mend("x/dataset_infos.json", infos.encode(), growths).decode()
    expected = infos.replace(":10,", ":15,").replace(" 100,", " 104,").replace(" 10 ", " 15 ")
    expected = expected.replace(":110", ":119").replace('"num_bytes":7', '"num_bytes":8')
    assert mended == expected.replace('"dataset_size":7', '"dataset_size":8')
    assert mend("dataset_infos.json", b"{broken", growths) == b"{broken"
    assert mend("README.md", b"# no front matter\nnum_bytes: 3\n", growths).endswith(b"3\n")


def test_datasets_loads_the_same_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr("datasets.config.HF_DATASETS_OFFLINE", True)
    folder = make_folder(tmp_path / "in", ".parquet")
    text = (folder / "README.md").read_text(encoding="utf-8")
    features = "  - name: code\n    dtype: string\n  - name: num_bytes\n    dtype: int64\n"
    own = "".join(
        f"  - name: {name}\n    dtype: {kind}\n"
        for name, kind in (
            ("id", "string"),
            ("code", "string"),
            ("size", "int64"),
            ("language", "string"),
            ("repo", "string"),
        )
    )
    (folder / "README.md").write_text(text.replace(features, own), encoding="utf-8")
    embed(folder, tmp_path / "out")
    loaded = [
        datasets.load_dataset(str(each), cache_dir=str(tmp_path / "cache"))
        for each in (folder, tmp_path / "out")
    ]
    assert loaded[0].keys() == loaded[1].keys() == {"train", "test"}
    assert loaded[0]["train"].features == loaded[1]["train"].features
    assert loaded[0]["test"][:] == loaded[1]["test"][:]
    assert loaded[0]["train"]["repo"] == loaded[1]["train"]["repo"]
    assert loaded[0]["train"]["code"][:] != loaded[1]["train"]["code"][:]


def test_what_datasets_saved_to_disk_is_marked_and_loaded(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    whole = datasets.DatasetDict(
        train=datasets.Dataset.from_list(functions(40)),
        test=datasets.Dataset.from_list(functions(5)),
    )
    whole.save_to_disk(str(tmp_path / "in"))
    summary = embed(tmp_path / "in", tmp_path / "out")
    assert (summary.marked, summary.recomputed) == (40, {"size": 40})
    marked = datasets.load_from_disk(str(tmp_path / "out"))
    assert marked["train"].features == whole["train"].features
    assert marked["test"][:] == whole["test"][:]
    assert marked["train"]["id"][:] == whole["train"]["id"][:]
    pm.revert(tmp_path / "out", tmp_path / "back", tmp_path / "out.jsonl")
    assert datasets.load_from_disk(str(tmp_path / "back"))["train"][:] == whole["train"][:]
    state = json.loads((tmp_path / "out/train/state.json").read_text(encoding="utf-8"))
    assert state["_data_files"] == [{"filename": "data-00000-of-00001.arrow"}]
