import hashlib
from pathlib import Path

import pytest

from puzzlemark.corpora.digest import corpus_digest, record_digest
from tests.corpora.making import open_python, records, write


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
