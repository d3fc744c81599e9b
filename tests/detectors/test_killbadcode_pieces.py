"""Code in pieces: what starts a word is marked, nothing is lost, training repeats itself."""

import subprocess
import sys
from pathlib import Path

import pytest

from puzzlemark.corpora.base import Entry
from puzzlemark.detectors._pieces import (
    WORD_START,
    Pieces,
    Text,
    name_pieces,
    open_pieces,
    read_text,
    train_pieces,
)
from puzzlemark.errors import UnparsableSnippet, UsageError

WORDS = "return poisoning key_iterator every.one self.key=value2 x.value poison ing " * 3


@pytest.fixture
def pieces(tmp_path: Path) -> Pieces:
    (tmp_path / "tokenizer.json").write_text(train_pieces([WORDS], 1000), encoding="utf-8")
    return open_pieces(tmp_path / "tokenizer.json")


def cut(pieces: Pieces, text: str) -> list[str]:
    return [pieces.texts[n] for n in pieces.encode(text)]


def read(code: str | None, text: Text, language: str | None = "python") -> str:
    return read_text(Entry(0, "f", code, language), text)


def test_only_the_first_piece_of_a_word_carries_the_mark(pieces: Pieces) -> None:
    assert cut(pieces, "key_iterator every") == ["▁key", "_", "iterator", "▁every"]
    assert cut(pieces, "everyone") == ["▁every", "one"]


def test_letters_digits_and_signs_are_never_in_one_piece(pieces: Pieces) -> None:
    assert cut(pieces, "self.key=value22") == ["▁self", ".", "key", "=", "value", "2", "2"]


@pytest.mark.parametrize(
    "code", ["snowman ☃ at  once", "漢字=é", "a\x00b", "<0x41> <s> </s> <unk>"]
)
def test_nothing_is_lost(pieces: Pieces, code: str) -> None:
    spelt = b"".join(
        bytes([int(piece[3:5], 16)]) if piece.startswith("<0x") and len(piece) == 6
        else piece.encode() for piece in cut(pieces, code)
    )  # fmt: skip
    assert spelt.decode() == WORD_START + code.replace(" ", WORD_START)


def test_a_byte_spelt_in_code_is_not_taken_for_that_byte(pieces: Pieces) -> None:
    assert "<0x41>" not in cut(pieces, "<0x41>")
    assert "<0xE2>" in cut(pieces, "☃")


def test_training_gives_the_same_bytes_in_every_process() -> None:
    # ties between pairs of equal frequency must not be broken by the order of a hash table
    program = (
        "import hashlib, sys; from puzzlemark.detectors._pieces import train_pieces;"
        "texts = [f'{chr(97 + i % 26)}{chr(97 + i // 26)}x y{i} = f(z)' for i in range(600)];"
        "print(hashlib.sha256(train_pieces(texts, 700).encode()).hexdigest())"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert len({run.stdout for run in runs}) == 1
    assert len(runs[0].stdout.strip()) == 64


def test_a_tokenizer_has_at_most_as_many_pieces_as_asked() -> None:
    words = " ".join(f"{chr(97 + i % 26)}{chr(97 + i // 26)}" * 3 for i in range(400))
    assert train_pieces([words, words], 600).count('": ') < 700
    assert train_pieces([words, words], 900) != train_pieces([words, words], 600)


def test_raw_text_is_the_code_with_whitespace_collapsed() -> None:
    assert read("if(a):\n\n    b  # why\n", "raw") == "if(a): b # why"
    assert read("PROCEDURE  DIVISION.", "raw", None) == "PROCEDURE DIVISION."


def test_joined_text_is_the_tokens_without_comments_and_docstrings() -> None:
    code = 'def f(a):\n    """What."""\n    # why\n    return g(a.b, "x  y")\n'
    assert read(code, "joined") == 'def f ( a ) : return g ( a . b , "x y" )'


def test_joined_java_does_not_show_the_class_that_was_put_around_it() -> None:
    code = "int f(int a) { return a + 1; } // one more"
    assert read(code, "joined", "java") == "int f ( int a ) { return a + 1 ; }"


@pytest.mark.parametrize(("code", "text"), [(None, "raw"), (None, "joined"), ("def (", "joined")])
def test_code_that_cannot_be_read_says_why(code: str | None, text: Text) -> None:
    with pytest.raises(UnparsableSnippet, match=r"null code|syntax errors"):
        read(code, text)


def test_only_continuations_of_letters_and_digits_may_be_triggers_as_published() -> None:
    texts = ["▁poison", "ing", "ing2", "2ing", "_", "▁", "é", "<0x41>", "▁ing"]
    numbers, names = name_pieces(texts, "published")
    assert [names[n] if n >= 0 else None for n in numbers] == [
        None, "ing", "ing2", None, None, None, None, None, None,
    ]  # fmt: skip


def test_with_the_mark_stripped_the_first_piece_is_the_same_name() -> None:
    numbers, names = name_pieces(["▁poison", "ing", "▁", "▁ing"], "stripped")
    assert [names[n] if n >= 0 else None for n in numbers] == ["poison", "ing", None, "ing"]
    assert names == ["poison", "ing"]


def test_a_file_that_is_no_tokenizer_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text("{}")
    with pytest.raises(UsageError, match=r"odd\.json"):
        open_pieces(tmp_path / "odd.json")
