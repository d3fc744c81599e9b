import gzip
import os
import stat
from dataclasses import replace
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
    manifest_digest,
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
    function=0,
)
OTHER = Mark(
    (Part("prefix", "key", was="k"), Part("suffix", "b"), Part("target", "key_b", was="c")),
    (Edit(70, b"k", b"key"), Edit(80, b"c", b"key_b")),
    function=2,
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
    carriers = (Carrier(4, "é-1", (MARK,)), Carrier(9, 'quote"\n', (MARK, OTHER)))
    return Manifest(a_header(2), {carrier.row: carrier.to_line() for carrier in carriers})


@pytest.mark.parametrize("name", ["m.jsonl", "m.jsonl.gz"])
def test_what_is_saved_is_what_is_loaded(tmp_path: Path, manifest: Manifest, name: str) -> None:
    write_manifest(manifest, tmp_path / name)
    assert load_manifest(tmp_path / name) == manifest
    assert [carrier.marks for carrier in manifest] == [(MARK,), (MARK, OTHER)]


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


def test_edits_are_those_of_the_carriers(manifest: Manifest) -> None:
    assert dict(manifest.edits()) == {carrier.row: carrier.edits for carrier in manifest}


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
        (('"version":3', '"version":99'), "newer version"),
        (('"version":3', '"version":[]'), "newer version"),
        (('"tau":0.35', '"tau":"high"'), "header is damaged: tau"),
        (('"tau":0.35', '"tau":0.35,"extra":1'), "header is damaged: extra"),
        (('"marked":2', '"marked":"2"'), "header is damaged: counts.marked"),
        (('"language":"language"', '"tongue":"language"'), "header is damaged: columns"),
        (('"row":4', '"line":4'), "m:2: not a mark: row: Field required"),
        (('"row":4', '"row":"4"'), "m:2: not a mark: row: .*valid integer"),
        (('"row":4', '"row":4.0'), "m:2: not a mark: row: .*valid integer"),
        (('"row":4', '"row":-4'), "m:2: not a mark: row: .*greater than or equal to 0"),
        (('"row":9', f'"row":{1 << 63}'), "m:3: not a mark: row: .*less than or equal to"),
        (("[26,56]", f"[26,{10**400}]"), "m:2: not a mark"),
        (('"records":3', f'"records":{1 << 64}'), "header is damaged: input"),
        (('"marked":2', f'"marked":2,"natural":{1 << 64}'), "header is damaged: counts.natural"),
        (('"marked":2', '"marked":1'), "more than the 1 that the header counts"),
        (('"row":9', '"row":4'), "m:3: row 4 stands after row 4"),
        (('"row":4', '"row":10'), "m:3: row 9 stands after row 10"),
        (('"id":"é-1"', '"id":null'), "m:2: not a mark: id: .*valid string"),
        (('"id":"é-1"', '"id":7'), "m:2: not a mark: id: .*valid string"),
        (('"function":0', '"function":"0"'), "m:2: not a mark: marks.0.function"),
        (('"function":0', '"function":-1'), "m:2: not a mark: marks.0.function"),
        (('"function":2', '"function":0'), "m:3: not a mark: two marks in one function"),
        (('"function":2', '"function":null'), "m:3: not a mark: a mark of the whole snippet"),
        (('["prefix",', '["prefects",'), "m:2: not a mark: marks.0.parts.0.0: .*'prefix'"),
        (('["prefix","key",null]', '["prefix","key"]'), "m:2: not a mark: marks.0.parts.0"),
        (('["target",', '["suffix",'), "m:2: not a mark: a mark without a target"),
        (('"parts":', '"bits":'), "m:2: not a mark: marks.0.parts: Field required"),
        ((',"edits":', ',"prefix":"key","edits":'), "m:2: not a mark: marks.0.prefix: Extra"),
        (('"id":"é-1"', '"id":"é-1","more":1'), "m:2: not a mark: more: Extra"),
        (("[26,56]", '["26",56]'), "m:2: not a mark: marks.0.edits.0.2.0: .*valid integer"),
        (("[26,56]", "[-26,56]"), "m:2: not a mark: marks.0.edits.0.2.0: .*greater than"),
        (("[26,56]", "[56,56]"), "m:2: not a mark: edits overlap at byte 56"),
        (("[26,56]", "[]"), "m:2: not a mark: marks.0.edits.0.2"),
        (('[["a","key_iterator"', '[["a","a"'), "m:2: not a mark: an edit that changes nothing"),
        (("[70]", "[56]"), "m:3: not a mark: edits overlap at byte 56"),
        (('}\n{"row"', '}\n[]\n{"row"'), "m:2: not a mark"),
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


def test_a_line_without_an_end_is_not_read_whole(
    tmp_path: Path, manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzlemark.embedding.manifest.LONGEST_LINE", 5_000)
    path = tmp_path / "m"
    path.write_bytes(gzip.compress(b"{" + b" " * 10_000_000))
    with pytest.raises(ManifestError, match=r"m:1: longer than 5,000 bytes"):
        load_manifest(path)
    write_manifest(manifest, tmp_path / "n")
    with (tmp_path / "n").open("ab") as file:
        file.write(b" " * 10_000)
    with pytest.raises(ManifestError, match=r"n:4: longer than 5,000 bytes"):
        load_manifest(tmp_path / "n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_no_manifest_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for read in (load_manifest, manifest_digest):
        with pytest.raises(ManifestError, match="pipe: not a file"):
            read(tmp_path / "pipe")


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
    assert carrier == Carrier(4, "a", (replace(MARK, function=None),))


def test_version_2_stays_readable_and_its_marks_name_no_function(tmp_path: Path) -> None:
    """A manifest as the version before 3 wrote it, frozen here."""
    header = a_header(1).model_dump(exclude={"marks_per_record", "key_fingerprint"})
    line = (
        b'{"row":4,"id":"a","parts":[["prefix","key",null],["suffix","iterator",null],'
        b'["target","key_iterator","a"]],"edits":[["a","key_iterator",[26,56]]]}'
    )
    (tmp_path / "m").write_bytes(orjson.dumps(header | {"version": 2}) + b"\n" + line + b"\n")
    loaded = load_manifest(tmp_path / "m")
    assert list(loaded) == [Carrier(4, "a", (replace(MARK, function=None),))]
    assert loaded.header.marks_per_record == 1
    assert loaded.edits()[4] == EDITS


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_line_of_another_version_is_refused(tmp_path: Path, version: int) -> None:
    header = a_header(1).model_dump() | {"version": version}
    lines = {
        1: b'{"row":4,"id":"a","marks":[]}',
        2: Carrier(4, "a", (MARK,)).to_line(),
        3: b'{"row":4,"id":"a","parts":[["target","b","a"]],"edits":[["a","b",[2]]]}',
    }
    (tmp_path / "m").write_bytes(orjson.dumps(header) + b"\n" + lines[version] + b"\n")
    with pytest.raises(ManifestError, match="m:2: not a mark"):
        load_manifest(tmp_path / "m")


def test_a_fingerprint_is_written_only_where_there_is_a_key() -> None:
    header = a_header(1)
    assert b"key_fingerprint" not in header.to_line()
    keyed = header.model_copy(update={"key_fingerprint": "33"})
    assert Header.model_validate_json(keyed.to_line()) == keyed
