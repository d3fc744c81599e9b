"""An archive is the same on every day, and a hostile one is met with a sentence."""

import io
import random
import struct
import subprocess
import warnings
import zipfile
from pathlib import Path

import pytest

from puzzlemark.evidence import archive
from puzzlemark.evidence.archive import BundleError, pack, read_archive, unpack, why_changed

FILES = {"README.md": b"# it\n", "runs/1/verdict.json": b"{}", "a.txt": bytes(range(256))}


def written(folder: Path, content: bytes) -> Path:
    (folder / "x.zip").write_bytes(content)
    return folder / "x.zip"


def test_the_same_files_give_the_same_bytes_in_any_order() -> None:
    assert pack(FILES) == pack(dict(reversed(FILES.items())))


def test_what_was_packed_is_read_and_any_tool_can_check_it(tmp_path: Path) -> None:
    path = written(tmp_path, pack(FILES))
    files, is_ours = read_archive(path)
    assert is_ours
    assert {name: files[name] for name in FILES} == FILES
    assert why_changed(files) == []
    with zipfile.ZipFile(path) as opened:
        opened.extractall(tmp_path / "out")
        assert opened.testzip() is None
    subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path / "out", check=True)


def test_every_changed_byte_is_noticed() -> None:
    whole = pack(FILES)
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= random.Random(place).randrange(1, 256)
        try:
            files, is_ours = unpack(bytes(changed))
        except BundleError:
            continue
        assert not is_ours or why_changed(files), place


def test_what_is_hidden_between_files_or_behind_them_is_noticed(tmp_path: Path) -> None:
    whole = pack(FILES)
    for content in (whole + b"x", b"#!/bin/sh\n" + whole):
        assert not read_archive(written(tmp_path, content))[1]


def hostile(**entries: bytes) -> bytes:
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w") as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return place.getvalue()


def twice() -> bytes:
    place = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(place, "w") as made:
        warnings.simplefilter("ignore")
        made.writestr("a", "1")
        made.writestr("a", "2")
    return place.getvalue()


def bomb() -> bytes:
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a", bytes(50_000_000))
    return place.getvalue()


def overlapping() -> bytes:
    """Three entries of the directory that say to be one large file."""
    whole = bytearray(hostile(a=bytes(5000), b=b"", c=b""))
    start = struct.unpack("<I", whole[-6:-2])[0]
    for _ in range(3):
        name, extra, comment = struct.unpack("<HHH", whole[start + 28 : start + 34])
        whole[start + 20 : start + 28] = struct.pack("<II", 5000, 5000)
        start += 46 + name + extra + comment
    return bytes(whole)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a zip"),
        (b"PK\x03\x04 and no more", "not a zip"),
        (hostile(**{"../../etc/passwd": b""}), "no name of a file"),
        (hostile(**{"/etc/passwd": b""}), "no name of a file"),
        (hostile(**{"a/../b": b""}), "no name of a file"),
        (hostile(**{"a\\b": b""}), "no name of a file"),
        (hostile(**{"a\nb": b""}), "no name of a file"),
        (hostile(**{".hidden": b""}), "no name of a file"),
        (hostile(**{"a/": b""}), "no name of a file"),
        (hostile(**{"a" * 300: b""}), "no name of a file"),
        (twice(), "twice"),
        (bomb(), "compressed"),
        (overlapping(), "overlap"),
        (hostile(**{f"f{n}": b"" for n in range(archive.MOST_FILES + 1)}), "more than"),
    ],
)
def test_a_hostile_zip_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    with pytest.raises(BundleError, match=reason):
        read_archive(written(tmp_path, content))


def test_a_file_that_is_too_large_or_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BundleError, match=r"a folder, not a bundle.*--test-only"):
        read_archive(tmp_path)
    with pytest.raises(BundleError, match="cannot be read"):
        read_archive(tmp_path / "none.zip")
    monkeypatch.setattr(archive, "LARGEST", 10)
    with pytest.raises(BundleError, match="larger than"):
        read_archive(written(tmp_path, pack(FILES)))


def test_a_file_too_many_or_too_few_is_named() -> None:
    files = {**FILES, archive.SUMS: archive.sums_of(FILES)}
    assert why_changed({**files, "b.txt": b""}) == ["b.txt"]
    assert why_changed({name: each for name, each in files.items() if name != "a.txt"}) == ["a.txt"]
    assert why_changed({**files, archive.SUMS: b""}) == sorted(FILES)
