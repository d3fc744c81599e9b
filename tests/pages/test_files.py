"""Files appear whole, and private ones are private."""

import stat
from pathlib import Path

import pytest

from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.pages.files import refuse_existing, write_text


@pytest.mark.parametrize(("private", "readable"), [(True, 0), (False, stat.S_IRGRP)])
def test_only_its_owner_reads_a_private_page(tmp_path: Path, private: bool, readable: int) -> None:
    path = tmp_path / "new" / "page.html"
    write_text(path, "é", private=private)
    assert path.read_bytes() == "é".encode()
    assert path.stat().st_mode & stat.S_IRGRP == readable


def test_a_private_page_replaces_a_public_one_and_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o644)
    write_text(path, "new", private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "new"


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.mkdir()
    with pytest.raises(CorpusError, match="cannot be written"):
        write_text(path, "x")
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_an_error_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match=r"page\.html: cannot be written"):
        write_text(tmp_path / "file" / "page.html", "x")


def test_what_exists_is_refused_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    refuse_existing(path, overwrite=False)
    path.write_text("x")
    refuse_existing(path, overwrite=True)
    with pytest.raises(UsageError, match="--force"):
        refuse_existing(path, overwrite=False)
    with pytest.raises(UsageError, match="is a folder"):
        refuse_existing(tmp_path, overwrite=True)
