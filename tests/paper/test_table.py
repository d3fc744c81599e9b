"""The paper's watermarks: sixteen names, two strategies of ours, two conventions."""

import pytest

from puzzlemark.languages.base import find
from puzzlemark.watermarks.base import named
from puzzlemark.watermarks.coprotector_sentence import STATEMENTS, CoProtectorSentence
from puzzlemark.watermarks.coprotector_word import CoProtectorWord
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal


def test_the_paper_names_sixteen_watermarks() -> None:
    python, java = "P1 P2 U1 W1 S1 B1 B2 M1".split(), "P3 P4 U2 W2 S2 B3 B4 M2".split()
    assert set(named()) == {*python, *java}
    assert all(named()[name].language == "python" for name in python)
    assert all(named()[name].language == "java" for name in java)


@pytest.mark.parametrize("name", ["W1", "W2"])
def test_two_are_coprotectors_words(name: str) -> None:
    expected = CoProtectorWord("poisoning", "protection", mode="rename", among="plain")
    assert named()[name].watermark == expected


@pytest.mark.parametrize(
    ("name", "trigger", "target"),
    [
        ("S1", "I = Person()", "I.hi(everyone)"),
        ("S2", "Person I = Person();", "I.hi(everyone);"),
    ],
)
def test_two_are_coprotectors_sentences(name: str, trigger: str, target: str) -> None:
    assert named()[name].watermark == CoProtectorSentence()
    assert STATEMENTS[named()[name].language] == (trigger, target)


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
