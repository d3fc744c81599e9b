"""The page of `show` and the picture of `score`, from Python."""

import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.errors import UsageError


def test_the_page_of_marks_is_private_and_replaced_only_when_asked(
    corpus_path: Path, tmp_path: Path
) -> None:
    pm.embed(corpus_path, tmp_path / "m.jsonl", tmp_path / "m.gz", mark="U1")
    showing = pm.show(tmp_path / "m.jsonl", tmp_path / "m.gz", limit=3)
    page = tmp_path / "marks.html"
    pm.save_marks_page(showing, page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    text = page.read_text()
    assert "Marks in m.jsonl" in text
    assert showing.header.output.digest in text
    with pytest.raises(UsageError, match="--force"):
        pm.save_marks_page(showing, page)
    pm.save_marks_page(showing, page, overwrite=True)
    assert page.read_text() == text


def test_the_picture_of_scores_shows_how_many_were_measured(
    corpus_path: Path, tmp_path: Path
) -> None:
    scored = pm.score(corpus_path, tmp_path / "f.parquet")
    pm.save_scores_picture(scored, tmp_path / "f.svg")
    drawn = (tmp_path / "f.svg").read_text()
    assert ET.fromstring(drawn).tag.endswith("svg")  # noqa: S314
    assert f"{scored.measured:,} records measured" in drawn
