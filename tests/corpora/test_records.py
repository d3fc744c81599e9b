import hashlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzlemark.corpora.base import Entry, open_corpus
from puzzlemark.corpora.records import CODE, Columns, corpus_digest, recognise, record_digest
from puzzlemark.errors import CorpusError, UsageError
from tests.corpora.making import open_python, records, write

NAMES = ["a.jsonl", "a.jsonl.gz", "a.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_every_record_is_an_entry_and_unusable_code_has_a_reason(tmp_path: Path, name: str) -> None:
    rows: list[dict[str, Any]] = [
        {"id": 7, "code": "x = 'é'\r\n\tpass", "language": "python"},
        {"id": 7, "code": None, "language": "python"},
        {"id": None, "code": "", "language": None},
        {"id": 9, "code": " \n", "language": "java"},
    ]
    path = write(tmp_path / name, rows)
    assert list(open_python(path).entries()) == [
        Entry(0, "7", "x = 'é'\r\n\tpass", "python", None),
        Entry(1, "7", None, "python", "null code"),
        Entry(2, "row:2", "", "python", "empty code"),
        Entry(3, "9", " \n", "java", "empty code"),
    ]


def test_a_record_that_says_no_language_has_a_reason_unless_one_is_given(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"code": "x", "language": "java"},
        {"code": "y", "language": None},
    ]
    path = write(tmp_path / "a.jsonl", rows)
    assert [e.reason for e in open_corpus(path).entries()] == [None, "no language"]
    assert [e.language for e in open_python(path).entries()] == ["java", "python"]


@pytest.mark.parametrize("name", NAMES)
def test_a_record_that_says_no_language_has_that_of_its_path(tmp_path: Path, name: str) -> None:
    rows: list[dict[str, Any]] = [
        {"code": "x", "language": "JS", "path": "a.go"},
        {"code": "y", "language": None, "path": "b/c.TS"},
        {"code": "z", "language": "", "path": "README"},
        {"code": "v", "language": None, "path": None},
    ]
    path = write(tmp_path / name, rows)
    assert [e.language for e in open_python(path).entries()] == [
        "JS",
        "typescript",
        "python",
        "python",
    ]


def test_code_that_is_not_text_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"code": "x"}\n{"code": ["x"]}\n{"code": "\\ud800"}\n')
    reasons = [entry.reason for entry in open_python(tmp_path / "a.jsonl").entries()]
    assert reasons == [None, "code is not text", "code is not valid Unicode"]


def test_binary_code_is_read_as_utf8(tmp_path: Path) -> None:
    table = pa.table({"code": pa.array(["é = 1".encode(), b"\xff"], pa.binary())})
    pq.write_table(table, tmp_path / "a.parquet")
    entries = list(open_python(tmp_path / "a.parquet").entries())
    assert [(e.code, e.reason) for e in entries] == [
        ("é = 1", None),
        (None, "code is not valid UTF-8"),
    ]


def test_an_id_beyond_64_bits_keeps_its_digits(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": 123456789012345678901234567890, "code": "x"}\n')
    assert next(open_python(tmp_path / "a.jsonl").entries()).id == "123456789012345678901234567890"


def test_ids_without_a_column_are_row_numbers_of_the_whole_dataset(tmp_path: Path) -> None:
    for name in ("p/a.jsonl", "p/b.jsonl"):
        write(tmp_path / name, [{"code": "x"}, {"code": "y"}])
    entries = list(open_python(tmp_path).entries())
    assert [(entry.row, entry.id) for entry in entries] == [
        (0, "row:0"),
        (1, "row:1"),
        (2, "row:2"),
        (3, "row:3"),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_survives_pickling(tmp_path: Path, name: str) -> None:
    corpus = open_python(write(tmp_path / name, records(5)))
    (batch,) = corpus.batches()
    assert pickle.loads(pickle.dumps(batch)).entries() == batch.entries()  # noqa: S301


@pytest.mark.parametrize("name", NAMES)
def test_chosen_rows_are_the_same_entries_as_in_the_whole(tmp_path: Path, name: str) -> None:
    for part in range(3):
        write(tmp_path / "d" / f"{part}{name}", records(1100))
    corpus = open_python(tmp_path / "d")
    whole = list(corpus.entries())
    assert [entry.row for entry in whole] == list(range(3300))
    for chosen in ([], [0], [1099, 1100, 3299], list(range(5, 3300, 7))):
        rows = np.array(chosen, dtype=np.int64)
        assert list(corpus.entries(rows)) == [whole[row] for row in chosen]


@pytest.mark.parametrize("name", NAMES)
def test_batches_are_small_and_in_order(tmp_path: Path, name: str) -> None:
    corpus = open_python(write(tmp_path / name, records(2500)))
    sizes = [len(batch.rows) for batch in corpus.batches()]
    assert sum(sizes) == 2500
    assert max(sizes) <= 1024
    assert corpus.count() == 2500


def test_an_error_survives_the_way_from_a_worker() -> None:
    error = CorpusError("train.jsonl:812: not a JSON object; repair it")
    back = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert isinstance(back, CorpusError)
    assert str(back) == str(error)


@pytest.mark.parametrize("name", NAMES)
def test_snippets_carry_the_whole_record_and_leave_out_unusable_code(
    tmp_path: Path, name: str
) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "code": "x = 1", "language": "python", "stars": 3},
        {"id": "b", "code": None, "language": "python", "stars": 4},
    ]
    corpus = open_corpus(write(tmp_path / name, rows))
    (snippet,) = corpus
    assert (snippet.id, snippet.code, snippet.language) == ("a", "x = 1", "python")
    assert snippet.record == rows[0]
    assert list(corpus) == [snippet]  # again and again


@pytest.mark.parametrize("first", range(len(CODE)))
def test_code_columns_are_recognised_in_their_order(first: int) -> None:
    head = dict.fromkeys(reversed(CODE[first:]), "x")
    assert recognise(head, "a.jsonl").code == CODE[first]


def test_the_columns_of_both_codesearchnet_layouts_are_recognised() -> None:
    original = ["repo", "original_string", "code", "code_tokens", "sha", "url", "language"]
    assert recognise(dict.fromkeys(original, ""), "a") == Columns("code", "url", "language")
    hub = ["repository_name", "whole_func_string", "language", "func_code_string", "func_code_url"]
    expected = Columns("func_code_string", "func_code_url", "language")
    assert recognise(dict.fromkeys(hub, ""), "a") == expected


def test_a_column_that_is_no_text_is_not_taken_for_code() -> None:
    head: dict[str, Any] = {"code": 404, "content": "x = 1"}
    assert recognise(head, "a.jsonl").code == "content"


def test_named_columns_win() -> None:
    head = {"code": "x", "body": "y", "id": "1", "key": "2", "lang": "java", "tongue": "java"}
    found = recognise(head, "a", code="body", id="key", language="tongue")
    assert found == Columns("body", "key", "tongue")


def test_a_missing_column_is_an_error_that_lists_the_columns() -> None:
    head = {"source": "x", "id": 1}
    with pytest.raises(
        UsageError, match=r"a\.jsonl: no column looks like code.*source, id.*--code"
    ):
        recognise(head, "a.jsonl")
    with pytest.raises(UsageError, match="no column 'nope' for --id-column"):
        recognise(head, "a.jsonl", code="source", id="nope")


@pytest.mark.parametrize(
    ("head", "option"),
    [
        ({"instruction": "a", "output": "b"}, "--code-column output, and --fenced if"),
        (
            {"messages": [{"role": "user", "content": "a"}], "output": "b"},
            r"--code-column 'messages\[\].content' --fenced",
        ),
    ],
)
def test_a_column_that_may_hold_answers_is_proposed(head: dict[str, Any], option: str) -> None:
    with pytest.raises(UsageError, match=option):
        recognise(head, "a.jsonl")


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_without_any_language_one_must_be_named(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, [{"code": "x = 1"}])
    with pytest.raises(UsageError, match="pass --language"):
        open_corpus(path)
    assert [e.language for e in open_corpus(path, language="java").entries()] == ["java"]


def test_a_record_digest_has_sixteen_bytes() -> None:
    assert len(record_digest("a", "x = 1")) == 16


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", None), ("a", "")),
        (("ab", "c"), ("a", "bc")),
        (("a", "x"), ("b", "x")),
        (("a", "x"), ("a", "y")),
        (("", "a"), ("a", "")),
        (("a", "\ud800"), ("a", "\ud801")),
    ],
)
def test_different_records_have_different_digests(
    one: tuple[str, str | None], other: tuple[str, str | None]
) -> None:
    assert record_digest(*one) != record_digest(*other)


def test_a_corpus_digest_is_the_sha256_of_the_concatenated_records() -> None:
    pieces = [record_digest("a", "x"), record_digest("b", None)]
    expected = hashlib.sha256(b"".join(pieces)).hexdigest()
    assert corpus_digest(pieces) == corpus_digest(b"".join(pieces)) == expected


def test_a_corpus_digest_does_not_depend_on_format_compression_or_shards(tmp_path: Path) -> None:
    rows = records(5)
    write(tmp_path / "shards" / "a.jsonl", rows[:2])
    write(tmp_path / "shards" / "b.jsonl.gz", rows[2:])
    places = [
        write(tmp_path / "one.jsonl", rows),
        write(tmp_path / "one.jsonl.gz", rows),
        write(tmp_path / "one.parquet", rows),
        tmp_path / "shards",
    ]
    assert len({open_python(place).digest() for place in places}) == 1


def test_a_corpus_digest_depends_on_the_order(tmp_path: Path) -> None:
    rows = records(3)
    one = write(tmp_path / "one.jsonl", rows)
    other = write(tmp_path / "other.jsonl", rows[::-1])
    assert open_python(one).digest() != open_python(other).digest()
