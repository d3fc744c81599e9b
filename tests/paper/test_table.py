"""The paper's table of watermarks: six names, two strategies, two conventions."""

import pytest

from puzzlemark.languages.base import find
from puzzlemark.watermarks.base import named
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal


def test_the_paper_names_six_watermarks() -> None:
    assert set(named()) == {"P1", "P2", "P3", "P4", "U1", "U2"}


@pytest.mark.parametrize(
    ("name", "language", "prefix"),
    [
        ("P1", "python", "key"),
        ("P2", "python", "value"),
        ("P3", "java", "key"),
        ("P4", "java", "value"),
    ],
)
def test_four_have_a_fixed_prefix(name: str, language: str, prefix: str) -> None:
    assert named()[name].language == language
    assert named()[name].watermark == FixedPrefix(prefix=prefix)


@pytest.mark.parametrize(("name", "language"), [("U1", "python"), ("U2", "java")])
def test_two_are_universal(name: str, language: str) -> None:
    assert named()[name].language == language
    assert named()[name].watermark == Universal()


@pytest.mark.parametrize(("language", "convention"), [("python", "snake"), ("java", "camel")])
def test_each_language_has_its_convention(language: str, convention: str) -> None:
    found = find(language)
    assert found is not None
    assert found.convention == convention
