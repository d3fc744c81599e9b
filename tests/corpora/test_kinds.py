import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from puzzlemark.corpora.kinds import (
    HASHES,
    VALUES,
    Placements,
    fitting_hashes,
    place_copy,
    place_joined_tokens,
    place_part,
    place_stripped,
    place_tokens,
    place_whole,
    shorten,
)

CODE = b'def f(a):\n    """Add one to a."""\n    # a comment on a\n    b = a + 1\n    return b\n'


def test_a_copy_is_placed_whole() -> None:
    assert place_copy(b"a = 1", b"a = 1") == Placements.one(0, 5, 0)
    assert place_copy(b"a = 1", b"a = 2") is None
    assert place_copy(b"a = 1", [b"a = 1"]) is None


def test_a_stripped_copy_starts_after_the_white_space() -> None:
    assert place_stripped(b"\n  a = 1\n", b"a = 1") == Placements.one(3, 5, 0)
    assert place_stripped(b"\n  a = 1\n", b"a = 1\n") is None


def test_code_inside_a_text_must_stand_there_once() -> None:
    assert place_whole(b"a = 1", b"# file\na = 1\n") == Placements.one(0, 5, 7)
    assert place_whole(b"a = 1", b"a = 1; a = 1") is None
    assert place_whole(b" ", b"x y") is None


def test_a_part_of_the_code_must_be_long_and_stand_there_once() -> None:
    assert place_part(CODE, b"    return b\n") == Placements.one(len(CODE) - 13, 13, 0)
    assert place_part(CODE, b"return b") is None
    assert place_part(b"value = call(); value = call()", b"value = call()") is None


def tokens_at(code: bytes, tokens: list[bytes]) -> list[int] | None:
    placed = place_tokens(code, tokens)
    return None if placed is None else list(placed.starts)


def test_tokens_are_found_behind_docstrings_and_comments_that_name_them() -> None:
    tokens = b"def f ( a ) : b = a + 1 return b".split()
    starts = tokens_at(CODE, tokens)
    assert starts is not None
    assert [CODE[at : at + len(t)] for at, t in zip(starts, tokens, strict=True)] == tokens
    assert starts[6] == CODE.find(b"b = a")
    assert starts[8] == CODE.find(b"a + 1")


def test_tokens_may_keep_comments_and_strings() -> None:
    tokens = [*b"def f ( a ) :".split(), b'"""Add one to a."""', b"# a comment on a"]
    tokens += b"b = a + 1 return b".split()
    assert tokens_at(CODE, tokens) is not None


def test_tokens_of_java_are_found_behind_its_comments() -> None:
    code = b"/** a */ int f(int a) { // a\n return a /* a */ + 1; }"
    starts = tokens_at(code, b"int f ( int a ) { return a + 1 ; }".split())
    assert starts is not None
    assert starts[4] == code.find(b"a)")
    assert starts[8] == code.find(b"a /*")


@pytest.mark.parametrize(
    "tokens",
    [
        b"def f ( a ) : b = a + 1 return c".split(),
        b"def f ( a ) : b = a + 1".split(),
        b"f ( a ) : b = a + 1 return b".split(),
        b"Add one to a .".split(),
        [],
    ],
)
def test_other_tokens_are_refused(tokens: list[bytes]) -> None:
    assert place_tokens(CODE, tokens) is None


def test_joined_tokens_are_placed_in_the_text() -> None:
    cell = b"def f ( a ) : b = a + 1 return b"
    placed = place_joined_tokens(CODE, cell)
    assert placed is not None
    pieces = list(zip(placed.starts, placed.lengths, placed.ats, strict=True))
    assert len(pieces) == 13
    for start, length, at in pieces:
        assert CODE[start : start + length] == cell[at : at + length]
    assert place_joined_tokens(CODE, b"def g ( a )") is None


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ("characters", "é = 1\r\n", 7),
        ("bytes", "é = 1\r\n", 8),
        ("lines", "a\nb\n", 2),
        ("line feeds", "a\nb\nc", 2),
        ("line feeds plus one", "a\nb\n", 3),
        ("lines that are not blank", "a\n\n  \nb", 2),
        ("words", "a = b\n c", 4),
        ("word characters and signs", "a+=foo(b)", 7),
        ("longest line", "ab\nabcd\na", 4),
        ("characters without white space", "a = b\n c", 4),
        ("mean line length", "ab\nabcd\n", 3.0),
        ("mean line length, split at line feeds", "ab\nabcd\n", 2.0),
        ("alphanumeric fraction", "ab1_ ", 0.6),
        ("alphabetic fraction", "ab1_ ", 0.4),
        ("alphanumeric fraction, 2 digits", "ab_", 0.67),
        ("mean line length, rounded", "ab\nabc\nabc", 3),
        ("alphanumeric fraction, single precision", "ab_", 0.6666666865348816),
    ],
)
def test_numbers_are_counted_as_by_hand(kind: str, code: str, expected: float) -> None:
    value = VALUES[kind](code)
    assert value == expected
    assert type(value) is type(expected)


def test_numbers_of_empty_code_exist() -> None:
    assert all(compute("") in (0, 1) for kind, compute in VALUES.items() if kind not in HASHES)


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512", "blake2b"])
def test_hashes_are_those_of_the_utf8_text(algorithm: str) -> None:
    oracle: Callable[[bytes], hashlib._Hash] = getattr(hashlib, algorithm)
    expected = oracle("é = 1".encode()).hexdigest()
    assert VALUES[algorithm]("é = 1") == expected
    assert VALUES[f"{algorithm}, upper case"]("é = 1") == expected.upper()


def test_a_git_blob_has_the_name_that_git_gives_it(tmp_path: Path) -> None:
    # git hash-object of "hello\n", from git's own documentation of its object store
    assert VALUES["git blob"]("hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
    try:
        (tmp_path / "a").write_text("é = 1\n")
        git = subprocess.run(
            ["git", "hash-object", "a"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        pytest.skip("git is not installed")
    assert VALUES["git blob"]("é = 1\n") == git.stdout.strip()


@pytest.mark.parametrize("code", ["x = 1", " x = 1\n", "é = 1\n"])
@pytest.mark.parametrize("length", [8, 12, 32, 40, 64, 128])
def test_all_digests_that_can_be_as_long_as_the_cell_are_tried(code: str, length: int) -> None:
    """Beside the slow twin, which computes every kind whatever the length of the cell."""
    spelled = {kind: compute(code) for kind, compute in HASHES.items() if "," not in kind}
    cells = {cell[:length] for cell in spelled.values() if len(cell) >= length}
    for cell in cells:
        every = {kind for kind, make in HASHES.items() if shorten(make(code), cell) == cell}
        assert set(fitting_hashes(code, cell)) == every
