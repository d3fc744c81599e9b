import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.literals import Spelling, edit_literal, find_members, find_strings
from puzzlemark.errors import EditMismatch
from puzzlemark.snippet import Edit, apply_edits

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
