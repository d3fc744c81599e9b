import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.lines import (
    BLOCK_BYTES,
    Spelling,
    edit_literal,
    find_members,
    find_strings,
    read_blocks,
    write_blocks,
)
from puzzlemark.errors import CorpusError, EditMismatch
from puzzlemark.snippet import Edit, apply_edits


def store(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_blocks_are_whole_lines_and_make_up_the_file(tmp_path: Path, name: str) -> None:
    long_line = b"y" * (2 * BLOCK_BYTES + 5) + b"\n"
    content = b"x" * 70 + b"\n" + long_line + b"short\n" * 300_000 + b"no newline at the end"
    blocks = list(read_blocks(store(tmp_path / name, content)))
    assert b"".join(blocks) == content
    assert len(blocks) > 2
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_gzip_of_several_members_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"one\n", mtime=0) + gzip.compress(b"two\n", mtime=0))
    assert b"".join(read_blocks(path)) == b"one\ntwo\n"


@pytest.mark.parametrize("keep", [0.5, 0.999])
def test_a_truncated_gzip_is_an_error_that_names_the_file(tmp_path: Path, keep: float) -> None:
    whole = gzip.compress(bytes(i * 7919 % 251 for i in range(100_000)), mtime=0)
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(CorpusError, match=r"cut\.jsonl\.gz: damaged or truncated gzip.*fetch it"):
        list(read_blocks(path))


@pytest.mark.parametrize(
    "content",
    [b"this is no gzip\n", gzip.compress(b"x" * 99, mtime=0)[:-6] + b"badcrc"],
    ids=["no gzip", "another checksum"],
)
def test_a_damaged_gzip_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"bad\.jsonl\.gz: damaged"):
        list(read_blocks(path))


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    with write_blocks(tmp_path / name) as out:
        out.write(b"one\n")
        out.write(b"two\n" * 1000)
    assert b"".join(read_blocks(tmp_path / name)) == b"one\n" + b"two\n" * 1000


def test_a_gzip_header_tells_neither_time_nor_name(tmp_path: Path) -> None:
    written = []
    for name in ("one.jsonl.gz", "another.jsonl.gz"):
        with write_blocks(tmp_path / name) as out:
            out.write(b"same\n")
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    assert written[0][3] == 0  # no name
    assert written[0][4:8] == bytes(4)  # no time
    assert gzip.decompress(written[0]) == b"same\n"


def test_packed_bytes_do_not_depend_on_the_pieces_in_which_they_were_written(
    tmp_path: Path,
) -> None:
    rng = random.Random(1)
    words = ("def", "return", "total", "count", "for", "self", "key", "value", "\n")
    chosen = (rng.choice(words) + str(rng.randrange(1000)) for _ in range(400_000))
    content = " ".join(chosen).encode()
    written = set()
    for size in (len(content), BLOCK_BYTES + 777, 123_456):
        path = tmp_path / f"{size}.jsonl.gz"
        with write_blocks(path) as out:
            for at in range(0, len(content), size):
                out.write(content[at : at + size])
        written.add(path.read_bytes())
    (packed,) = written
    assert gzip.decompress(packed) == content


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_without_end_is_an_error_that_names_it(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("puzzlemark.corpora.lines.LONGEST_LINE", 3 << 20)
    longest = b"x" * (3 << 20)
    short = b"one\n" + b"two\n" * 400_000
    content = short + longest + b"\nend\n"
    assert b"".join(read_blocks(store(tmp_path / name, content))) == content
    for ending in (b"", b"\nend\n"):
        path = store(tmp_path / name, short + longest + b"x" + ending)
        with pytest.raises(CorpusError, match=r"400002: a line of more than 3 MiB; split the"):
            list(read_blocks(path))


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def test_members_are_found_whatever_the_spacing() -> None:
    line = b'{ "a":1 ,\t"b" : [ "}" , {"c":"\\"]"} ],"e":"x\\\\", "f":-1.50e+03,"g":{}, "h":[]}\r'
    found = {key: line[start:end] for key, (start, end) in find_members(line).items()}
    assert found == {
        "a": b"1",
        "b": b'[ "}" , {"c":"\\"]"} ]',
        "e": b'"x\\\\"',
        "f": b"-1.50e+03",
        "g": b"{}",
        "h": b"[]",
    }


def test_an_empty_object_has_no_members() -> None:
    assert find_members(b" { } ") == {}


def test_keys_are_decoded_and_the_last_of_two_wins() -> None:
    line = b'{"caf\\u00e9": 1, "a": 2, "a": 3}'
    spans = find_members(line)
    assert list(spans) == ["café", "a"]
    assert line[slice(*spans["a"])] == b"3"


def test_strings_of_an_array_are_found() -> None:
    line = b'{"x":[ "a" ,"b\\",]" , ""],"y":["z"]}'
    items = [line[start:end] for start, end in find_strings(line, find_members(line)["x"])]
    assert items == [b'"a"', b'"b\\",]"', b'""']


def test_only_the_edited_bytes_change() -> None:
    literal = b'"\\u00e9\\/ \xc3\xa9 \\ud83d\\ude00 \\u0041\\n name \\t name"'
    text = json.loads(literal).encode()
    edits = [Edit(at, b"name", b"key_name") for at in (text.find(b"name"), text.rfind(b"name"))]
    expected = b'"\\u00e9\\/ \xc3\xa9 \\ud83d\\ude00 \\u0041\\n key_name \\t key_name"'
    assert edit_literal(literal, edits, Spelling()) == expected


def test_an_edit_inside_a_character_is_refused() -> None:
    with pytest.raises(EditMismatch, match="byte 1"):
        edit_literal(b'"\\u00e9"', [Edit(1, b"\xa9", b"x")], Spelling())
    with pytest.raises(EditMismatch, match="byte 9"):
        edit_literal(b'"abc"', [Edit(9, b"", b"x")], Spelling())


@pytest.mark.parametrize(
    ("habit", "expected"),
    [
        (b'"plain"', b"\\u00e9\\n<\\ud83d\\ude00"),
        (b'"\xc3\xa8"', "é\\n<\U0001f600".encode()),
        (b'"\\u00E8 \\u003c"', b"\\u00E9\\n\\u003c\\uD83D\\uDE00"),
    ],
)
def test_new_text_is_spelled_as_the_writer_of_the_file_would(habit: bytes, expected: bytes) -> None:
    assert Spelling().learn(habit).spell("é\n<\U0001f600") == expected


def test_letters_of_names_are_never_escaped() -> None:
    assert Spelling().learn(b'"\\u0061\\u005f"').spell("a_b") == b"a_b"


@given(
    text=TEXT,
    new=TEXT,
    cut=st.tuples(st.integers(0, 20), st.integers(0, 20)),
    ascii_only=st.booleans(),
)
def test_an_edited_literal_spells_the_edited_text(
    text: str, new: str, cut: tuple[int, int], ascii_only: bool
) -> None:
    literal = json.dumps(text, ensure_ascii=ascii_only).encode()
    first, last = sorted(min(at, len(text)) for at in cut)
    edit = Edit(len(text[:first].encode()), text[first:last].encode(), new.encode())
    edited = edit_literal(literal, [edit], Spelling().learn(literal))
    assert json.loads(edited).encode() == apply_edits(text.encode(), [edit])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(
    record=st.dictionaries(TEXT, VALUES, max_size=5),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]),
    ascii_only=st.booleans(),
)
def test_members_spell_the_values_of_the_record(
    record: dict[str, object], separators: tuple[str, str], ascii_only: bool
) -> None:
    line = json.dumps(record, separators=separators, ensure_ascii=ascii_only).encode()
    spans = find_members(line)
    assert {key: json.loads(line[start:end]) for key, (start, end) in spans.items()} == record
    for key, value in record.items():
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            items = find_strings(line, spans[key])
            assert [json.loads(line[start:end]) for start, end in items] == value
