"""Code deeper than a column, and between fences."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.base import infer, open_corpus
from puzzlemark.corpora.nested import (
    NO_ANSWER,
    NO_CELL,
    NO_FENCE,
    UNSAID,
    CodePath,
    Items,
    find_blocks,
    named_around,
    parse_steps,
)
from puzzlemark.corpora.records import recognise
from puzzlemark.corpora.revising import Unrestorable
from puzzlemark.errors import EditMismatch, UsageError
from puzzlemark.snippet import Edit, apply_edits
from tests.corpora.making import rename, write

TALK = [
    {"role": "user", "content": "Explain:\n```python\nasked = 1\n```"},
    {"role": "assistant", "content": "So é:\n```py\ntotal = 1\n```\nand\n```go\nx := 1\n```\n"},
    {"role": "assistant", "content": "Nothing."},
    {"role": "assistant", "content": "1. See\n\n   ~~~ {.python .x}\n   total = 2\n\n   ~~~"},
]


def talks() -> list[dict[str, Any]]:
    return [
        {"id": "a", "messages": TALK, "answer": TALK[1]["content"], "n": 4},
        {"id": "b", "messages": TALK[:1], "answer": "?", "n": 1},
        {"id": "c", "messages": TALK[2:3], "answer": "Nothing.", "n": 1},
        {"id": "d", "messages": [], "answer": "", "n": 0},
    ]


def test_a_path_is_names_and_brackets() -> None:
    assert parse_steps("messages[].content") == ("messages", Items(), "content")
    assert parse_steps("a.b[-1][*]") == ("a", "b", Items(nth=-1), Items(every=True))
    one = Items(key="role", values=frozenset({"user", "system"}))
    assert parse_steps("m[role=user|system].x") == ("m", one, "x")


@pytest.mark.parametrize("path", ["a[", "[].a", "a..b", "a]", "a[=x]", "a[x=]", "a[b"])
def test_anything_else_is_refused_with_examples(path: str) -> None:
    with pytest.raises(UsageError, match="spell it like 'messages"):
        parse_steps(path)


def test_a_column_of_that_very_name_comes_first() -> None:
    assert recognise({"a.b": "x", "id": 1}, "t", code="a.b").inner is None
    assert CodePath.parse("a.b:fenced", ["a.b"]).steps == ()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("messages[].content", ["m1", "m2"]),
        ("messages[*].content", ["m0", "m1", "m2"]),
        ("messages[role=user].content", ["m0"]),
        ("messages[0].content", ["m0"]),
        ("messages[-1].content", ["m2"]),
        ("messages[7].content", []),
        ("messages[].nothing", []),
        ("plain[]", ["p0", "p1"]),
        ("deep.er.code", ["d"]),
    ],
)
def test_a_path_leads_to_texts(path: str, found: list[str]) -> None:
    record = {
        "messages": [
            {"role": "user", "content": "m0"},
            {"role": "Assistant", "content": "m1"},
            {"from": "gpt", "content": "m2"},
        ],
        "plain": ["p0", None, "p1"],
        "deep": {"er": {"code": "d"}},
    }
    assert [cell.value for cell in CodePath.parse(path).cells(record)] == found


BLOCKS = [
    ("```python\nx = 1\n```", [("python", "x = 1\n")]),
    ("```\nx\n```\n```py\ny\n```", [(None, "x\n"), ("py", "y\n")]),
    ("~~~ Java title=1\na\n```\nb\n~~~", [("java", "a\n```\nb\n")]),
    ("````md\n```python\nx\n```\n````", [("md", "```python\nx\n```\n")]),
    ("``` {.python .line}\nx\n```  ", [("python", "x\n")]),
    ("```python:main.py\nx\n```", [("python", "x\n")]),
    ("- a\n  ```go\n  x\n\n    y\n z\n  ```", [("go", "x\n\n  y\nz\n")]),
    ("```python\r\nx = 1\r\n```\r\n", [("python", "x = 1\r\n")]),
    ("```python\n```", [("python", "")]),
    ("```python\nx = 1", []),  # cut off
    ("```not a fence```\nx", []),
    ("> ```python\n> x\n> ```", []),
    ("no code", []),
]


@pytest.mark.parametrize(("text", "blocks"), BLOCKS)
def test_blocks_are_found_as_commonmark_says(
    text: str, blocks: list[tuple[str | None, str]]
) -> None:
    assert [(block.language, block.code) for block in find_blocks(text)] == blocks


def test_each_snippet_has_an_id_and_a_language_or_a_reason(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "a.jsonl", talks()), code_column=":fenced")
    assert corpus.columns.code == "messages[].content:fenced"
    seen = [(e.row, e.id, e.code, e.language, e.reason) for e in corpus.entries()]
    assert seen == [
        (0, "a#0", "total = 1\n", "py", None),
        (1, "a#1", "x := 1\n", "go", None),
        (2, "a#2", "total = 2\n\n", "python", None),
        (3, "b#0", None, None, NO_ANSWER),
        (4, "c#0", None, None, NO_FENCE),
        (5, "d#0", None, None, NO_CELL),
    ]
    assert (corpus.count(), corpus.count_records()) == (6, 4)
    assert [len(part.entries()) for batch in corpus.batches() for part in batch.split()] == [1] * 6
    some = [entry.id for entry in corpus.entries(corpus.firsts[[0, 2]] + 0)]
    assert some == ["a#0", "c#0"]


def test_a_fence_without_a_language_takes_the_one_that_is_passed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"id": 1, "text": "```\nx = 1\n```"}])
    (entry,) = open_corpus(path, code_column="text:fenced").entries()
    assert (entry.language, entry.reason) == (None, UNSAID)
    (entry,) = open_corpus(path, code_column="text:fenced", language="python").entries()
    assert (entry.language, entry.reason) == ("python", None)


def test_languages_stand_beside_the_code_or_in_a_list_of_their_own(tmp_path: Path) -> None:
    rows = [
        {
            "s": [{"code": "x", "language": "go"}, {"code": "y", "language": "java"}],
            "t": {"code": ["z", "w"], "kind": ["python", "go"]},
        }
    ]
    path = write(tmp_path / "a.parquet", rows)
    beside = open_corpus(path, code_column="s[].code")
    assert [entry.language for entry in beside.entries()] == ["go", "java"]
    parallel = open_corpus(path, code_column="t.code[]", language_column="t.kind[]")
    assert [entry.language for entry in parallel.entries()] == ["python", "go"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_only_the_bytes_of_the_snippet_change_and_come_back(tmp_path: Path, name: str) -> None:
    corpus = open_corpus(write(tmp_path / name, talks()), code_column="messages[].content:fenced")
    changes = {
        0: rename("total = 1\n", "total", "key_total"),
        2: rename("total = 2\n\n", "total", "key_total"),
    }
    derived = infer(corpus)
    done = corpus.rewrite(tmp_path / f"b{name}", changes, derived)
    marked = open_corpus(tmp_path / f"b{name}", code_column="messages[].content:fenced")
    (first, *others) = marked.records()
    expected = [dict(message) for message in TALK]
    for nth in (1, 3):
        expected[nth]["content"] = expected[nth]["content"].replace("total", "key_total")
    assert list(first["messages"]) == expected
    assert first["answer"] == expected[1]["content"]  # a copy of the first answer
    assert others == [dict(each) for each in talks()[1:]]
    assert done.recomputed == {"answer": 1}
    undo = {0: rename("key_total = 1\n", "key_total", "total")}
    undo[2] = rename("key_total = 2\n\n", "key_total", "total")
    marked.rewrite(tmp_path / f"c{name}", undo, derived)
    corpus.rewrite(tmp_path / f"d{name}", {}, derived)
    assert (tmp_path / f"c{name}").read_bytes() == (tmp_path / f"d{name}").read_bytes()
    assert name != "a.jsonl" or corpus.path.read_bytes() == (tmp_path / f"c{name}").read_bytes()


def test_other_snippets_are_refused(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "a.jsonl", talks()), code_column=":fenced")
    for changes in ({0: rename("sum = 1", "sum", "x")}, {3: (Edit(0, b"a", b"b"),)}):
        with pytest.raises(EditMismatch, match="not the dataset of the edits"):
            corpus.rewrite(tmp_path / "b.jsonl", changes, {})
    with pytest.raises(EditMismatch, match="no snippet 9 among 6"):
        corpus.rewrite(tmp_path / "b.jsonl", {9: (Edit(0, b"a", b"b"),)}, {})
    with pytest.raises(UsageError, match="can be edited, but not left out"):
        corpus.rewrite(tmp_path / "b.jsonl", rows=[0])


def test_an_edit_that_makes_a_fence_cannot_be_restored(tmp_path: Path) -> None:
    corpus = open_corpus(write(tmp_path / "a.jsonl", talks()), code_column=":fenced")
    reviser = corpus.reviser({0: (Edit(0, b"total", b"\n```\ntotal"),)}, {})
    with pytest.raises(Unrestorable, match="would not come back"):
        reviser.preview(0, 0, next(corpus.records()), "a")


def test_names_in_the_text_around_are_seen() -> None:
    text = "`total` is the sum.\n```py\nkey = total\n```"
    assert named_around([text], ["total"])
    assert not named_around([text], ["key", "sum", "tot"])


words = st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"]), max_size=12)
lines = words.map(lambda text: text.replace("\n", " ").replace("`", "'").replace("~", "-"))


@given(
    st.lists(lines, max_size=3),
    st.sampled_from(["", "  ", "\t", "    "]),
    st.sampled_from(["```", "~~~~"]),
    st.lists(lines, min_size=1, max_size=4),
    st.lists(lines, max_size=3),
    st.data(),
)
def test_edits_reach_the_code_through_any_text_around_it(
    before: list[str],
    indent: str,
    fence: str,
    code: list[str],
    after: list[str],
    data: st.DataObject,
) -> None:
    inside = "".join(indent + line + "\n" for line in code)
    parts = [*before, f"{indent}{fence} python\n{inside}{indent}{fence}", *after]
    record = {"text": "\n".join(parts)}
    path = CodePath.parse("text:fenced", record)
    (piece,) = path.pieces(record)
    assert piece.code == "".join(line + "\n" for line in code)
    source = piece.code.encode()
    name = data.draw(st.sampled_from([line for line in code if line] or [""]))
    start = source.find(name.encode())
    edit = Edit(start, name.encode(), "neu_é".encode())
    cell = record["text"].encode()
    revised = apply_edits(cell, piece.in_cell(cell, [edit])).decode()
    (again,) = path.pieces({"text": revised})
    assert again.code.encode() == apply_edits(source, [edit])
    undo = Edit(start, edit.new, edit.old)
    assert apply_edits(revised.encode(), again.in_cell(revised.encode(), [undo])) == cell


def test_spelling_inside_nested_json_stays(tmp_path: Path) -> None:
    line = '{"m" : [ {"role":"assistant", "content":"\\u00e9 ```py\\n"},{"role":"gpt","content":'
    line += '"```py\\na = \\"\\/\\" \\u00e9\\n```" , "n":1.0}] }\r\n'
    (tmp_path / "a.jsonl").write_bytes(line.encode())
    corpus = open_corpus(tmp_path / "a.jsonl", code_column="m[].content:fenced")
    (_entry,) = corpus.entries()
    corpus.rewrite(tmp_path / "b.jsonl", {0: (Edit(0, b"a", b"key"),)}, {})
    expected = line.replace("\\na = ", "\\nkey = ")
    assert (tmp_path / "b.jsonl").read_bytes() == expected.encode()


def test_the_error_for_a_conversation_says_what_to_pass(tmp_path: Path) -> None:
    rows = [{"conversations": [{"from": "human", "value": "hi"}]}]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(UsageError, match=r"'conversations\[\]\.value' --fenced"):
        open_corpus(path, language="python")
