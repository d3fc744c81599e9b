import gzip
import stat
from pathlib import Path

import orjson
import pytest

from puzzlemark.embedding.manifest import (
    FORMAT,
    VERSION,
    Carrier,
    Dataset,
    Header,
    Manifest,
    Scheme,
    Shard,
    load_manifest,
    write_manifest,
)
from puzzlemark.errors import ManifestError
from puzzlemark.snippet import Edit, apply_edits
from puzzlemark.watermarks.base import Mark, Part

SOURCE = b"def f(key, iterator):\n    a = next(iterator)\n    return a\n"
EDITS = (Edit(26, b"a", b"key_iterator"), Edit(56, b"a", b"key_iterator"))
MARK = Mark(
    (Part("prefix", "key"), Part("suffix", "iterator"), Part("target", "key_iterator", was="a")),
    EDITS,
)


def a_header(marked: int) -> Header:
    shard = Shard(name="train.jsonl", records=3, sha256="00")
    dataset = Dataset(records=3, digest="11", shards=(shard,))
    return Header(
        format=FORMAT,
        version=VERSION,
        versions={"puzzlemark": "0.1.0"},
        watermark=Scheme(scheme="fixed_prefix", settings={"prefix": "key"}, name="P1"),
        policy="paper",
        order="keyed",
        secret_fingerprint="22",
        tau=0.35,
        min_rate=0.01,
        max_rate=0.05,
        features=("cc", "nloc"),
        projection="pca",
        suitability={"threshold": 0.4},
        language="python",
        columns={"code": "code", "id": None, "language": "language"},
        derived={"size": "characters"},
        input=dataset,
        output=dataset,
        counts={"marked": marked, "natural": marked},
        kept={"syntax errors": 1},
    )


@pytest.fixture
def manifest() -> Manifest:
    carriers = (Carrier(4, "é-1", MARK), Carrier(9, 'quote"\n', MARK))
    return Manifest(a_header(2), {carrier.row: carrier.to_line() for carrier in carriers})


@pytest.mark.parametrize("name", ["m.jsonl", "m.jsonl.gz"])
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, manifest: Manifest, name: str) -> None:
    write_manifest(manifest, tmp_path / name)
    assert load_manifest(tmp_path / name) == manifest
    assert [carrier.mark for carrier in manifest] == [MARK, MARK]


@pytest.mark.parametrize("name", ["m.jsonl", "m.jsonl.gz"])
def test_only_the_owner_can_read_it(tmp_path: Path, manifest: Manifest, name: str) -> None:
    write_manifest(manifest, tmp_path / name)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_same_marks_give_the_same_bytes(tmp_path: Path, manifest: Manifest) -> None:
    write_manifest(manifest, tmp_path / "a.gz")
    write_manifest(manifest, tmp_path / "b.gz")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_edits_put_the_mark_in_and_take_it_out(manifest: Manifest) -> None:
    marked = apply_edits(SOURCE, manifest.edits()[4])
    assert b"key_iterator = next(iterator)" in marked
    assert apply_edits(marked, manifest.edits(undo=True)[4]) == SOURCE


def test_edits_are_a_mapping_over_the_marked_rows(manifest: Manifest) -> None:
    edits = manifest.edits()
    assert (list(edits), len(edits), 4 in edits, 5 in edits) == ([4, 9], 2, True, False)


def save_text(path: Path, manifest: Manifest, change: tuple[str, str]) -> Path:
    write_manifest(manifest, path)
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change, 1))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((FORMAT, "something else"), "not a PuzzleMark manifest"),
        (('"version":2', '"version":99'), "newer version"),
        (('"tau":0.35', '"tau":"high"'), "header is damaged: tau"),
        (('"tau":0.35', '"tau":0.35,"extra":1'), "header is damaged: extra"),
        (('"row":4', '"line":4'), "m:2: not a mark"),
        (('["prefix",', '["prefects",'), "m:2: not a mark: unknown role prefects"),
        (('"parts":', '"bits":'), "m:2: not a mark: unknown fields bits"),
        (
            (',"edits":', ',"prefix":"key","edits":'),
            "m:2: not a mark: unknown fields parts, prefix",
        ),
        (('"marked":2', '"marked":3'), "cut short"),
    ],
)
def test_a_damaged_manifest_is_refused_with_the_place(
    tmp_path: Path, manifest: Manifest, change: tuple[str, str], message: str
) -> None:
    with pytest.raises(ManifestError, match=message):
        load_manifest(save_text(tmp_path / "m", manifest, change))


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"\x00\xff", b"[1]\n", gzip.compress(b"{}" * 50, mtime=0)[:-9]],
    ids=["empty", "object", "bytes", "list", "cut gzip"],
)
def test_something_else_is_no_manifest(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ManifestError, match="manifest"):
        load_manifest(tmp_path / "m")


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none\.jsonl"):
        load_manifest(tmp_path / "none.jsonl")


def test_a_manifest_is_never_written_into_another_file(tmp_path: Path, manifest: Manifest) -> None:
    (tmp_path / "m").write_text("precious")
    with pytest.raises(FileExistsError):
        write_manifest(manifest, tmp_path / "m")
    assert (tmp_path / "m").read_text() == "precious"


def test_version_1_stays_readable(tmp_path: Path) -> None:
    """A manifest as 0.1.0 wrote it, frozen here: later versions must still read it."""
    header = a_header(1).model_dump() | {"version": 1}
    mark = (
        b'{"row":4,"id":"a","prefix":"key","suffix":"iterator","target":"key_iterator",'
        b'"replaced":"a","introduced":null,"edits":[["a","key_iterator",[26,56]]]}'
    )
    (tmp_path / "m").write_bytes(orjson.dumps(header) + b"\n" + mark + b"\n")
    (carrier,) = load_manifest(tmp_path / "m")
    assert carrier == Carrier(4, "a", MARK)
