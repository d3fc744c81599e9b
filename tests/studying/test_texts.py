"""What participants read."""

from dataclasses import fields
from pathlib import Path

import pytest

from puzzlemark import plugins
from puzzlemark.errors import UsageError
from puzzlemark.studying.texts import OTHER_WAY, Texts, load_texts, ways_of


def test_our_texts_can_be_written_changed_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "texts.toml"
    path.write_text(Texts().to_toml())
    assert load_texts(path) == Texts()
    odd = Texts(question='Is "this" \\ odd?', consent='One.\n\nTwo """quoted""" \\n.')
    path.write_text(odd.to_toml())
    assert load_texts(path) == odd


def test_a_file_replaces_some_of_them(tmp_path: Path) -> None:
    path = tmp_path / "texts.toml"
    path.write_text('question = "Odd?"\n')
    found = load_texts(path)
    assert found.question == "Odd?"
    assert found.consent == Texts().consent


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('qestion = "Odd?"', "no text 'qestion'; known: title, consent"),
        ("question = 3", "question must be a text"),
        ('question = " "', "question must be a text"),
        ("question", "cannot read the texts"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "texts.toml"
    path.write_text(content)
    with pytest.raises(UsageError, match=told):
        load_texts(path)


def test_numbers_are_filled_in() -> None:
    texts = Texts().fill(snippets="140", language="Java", rounds="2", ways="- a\n- b")
    assert "140 functions in Java" in texts.instructions
    assert "- a\n- b" in texts.disclosure
    for field in fields(Texts):
        assert "{" not in getattr(texts, field.name)


def test_the_first_round_does_not_tell_what_the_second_discloses() -> None:
    before = " ".join(
        getattr(Texts(), field.name) for field in fields(Texts) if field.name != "disclosure"
    ).lower()
    assert not [word for word in ("rename", "variable", "join", "statement") if word in before]


def test_the_disclosure_tells_each_way_once_and_gives_no_mark_away() -> None:
    told = ways_of(["universal", "fixed_prefix", "coprotector_word"])
    assert told.count("\n- ") == 1
    assert "joined" in told
    every = ways_of(plugins.names("watermarks")).lower()
    secrets = ("key", "iterator", "poison", "protection", "person", "__call__", "range(")
    assert not [word for word in secrets if word in every]


def test_a_scheme_without_words_is_disclosed_in_general(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = plugins.load("watermarks", "universal")
    monkeypatch.delattr(module, "DISCLOSURE")
    assert ways_of(["universal"]) == f"- {OTHER_WAY}"
