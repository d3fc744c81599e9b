"""A manifest that lies where `embed` and `protect` put it needs no option."""

from pathlib import Path

import pytest

from puzzlemark.cli.base import find_manifest
from puzzlemark.errors import UsageError


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("marked.jsonl", "marked.jsonl.manifest.jsonl.gz"),
        ("folder", "folder.manifest.jsonl.gz"),
        ("folder/", "folder.manifest.jsonl.gz"),
        ("folder/.", "folder.manifest.jsonl.gz"),
        ("folder/..", None),
        ("folder/*.jsonl", None),
        ("other.jsonl", None),
        ("-", None),
        ("/", None),
    ],
)
def test_the_manifest_beside_the_dataset_is_found(
    typed: str, found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("marked.jsonl", "folder", "-"):
        (tmp_path / f"{name}.manifest.jsonl.gz").touch()
    monkeypatch.chdir(tmp_path)
    if found is not None:
        assert find_manifest(typed, None).resolve() == tmp_path / found
        return
    with pytest.raises(UsageError, match="pass --manifest"):
        find_manifest(typed, None)


def test_here_is_called_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "project"
    here.mkdir()
    (tmp_path / "project.manifest.jsonl.gz").touch()
    monkeypatch.chdir(here)
    assert find_manifest(".", None).resolve() == tmp_path / "project.manifest.jsonl.gz"


def test_a_named_manifest_is_taken_at_its_word() -> None:
    assert find_manifest("marked.jsonl", Path("nowhere.gz")) == Path("nowhere.gz")
