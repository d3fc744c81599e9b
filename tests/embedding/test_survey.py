"""One pass over a dataset: what is noted of every record, whatever the batches."""

from pathlib import Path

import numpy as np
import orjson
import pytest

from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.records import corpus_digest
from puzzlemark.embedding.survey import Wanted, _pack, _unpack, survey, survey_batch
from puzzlemark.engines.base import make
from puzzlemark.engines.serial import Serial
from puzzlemark.features.measure import measure
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.watermarks.fixed_prefix import FixedPrefix

KEY = bytes(range(32))


def test_every_snippet_is_measured(
    corpus_path: Path, stdlib_functions: list[tuple[str, str]]
) -> None:
    seen = survey(open_corpus(corpus_path), Wanted(), Serial())
    expected = [measure(parse(Snippet(id_, code, "python"))) for id_, code in stdlib_functions]
    assert [tuple(row) for row in seen.values[:].tolist()] == expected
    assert seen.measured.all()
    assert len(seen) == len(stdlib_functions)


def test_the_digests_are_those_of_the_corpus(corpus_path: Path) -> None:
    corpus = open_corpus(corpus_path)
    seen = survey(corpus, Wanted(), Serial())
    assert corpus_digest(seen.digests[:].tobytes()) == corpus.digest()


def test_the_prefix_is_looked_for_as_a_word(
    corpus_path: Path, stdlib_functions: list[tuple[str, str]]
) -> None:
    import re

    seen = survey(open_corpus(corpus_path), Wanted(FixedPrefix("name")), Serial())
    expected = [bool(re.search(r"\bname\b", code)) for _, code in stdlib_functions]
    assert seen.may_occur.tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_the_secret_order_is_by_id_and_spread_out(corpus_path: Path) -> None:
    corpus = open_corpus(corpus_path)
    one, other = (
        survey(corpus, Wanted(order_key=key), Serial()).order[:] for key in (KEY, bytes(32))
    )
    assert len(set(one.tolist())) == len(one)
    assert one.tolist() != other.tolist()
    half = np.argsort(one)[: len(one) // 2]
    assert 0.3 < (half < len(one) // 2).mean() < 0.7


def test_workers_see_the_same(corpus_path: Path) -> None:
    corpus = open_corpus(corpus_path)
    engine = make(2)
    one, two = (survey(corpus, Wanted(order_key=KEY), each) for each in (Serial(), engine))
    engine.close()
    assert one.values[:].tolist() == two.values[:].tolist()
    assert one.order[:].tolist() == two.order[:].tolist()
    assert one.digests[:].tobytes() == two.digests[:].tobytes()
    assert one.moments == two.moments


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"code": None}, "null code"),
        ({"code": "  \n"}, "empty code"),
        ({"code": "def f(:"}, "syntax errors"),
        ({"code": "x", "language": "cobol"}, "language 'cobol' is not supported"),
        ({"code": "int x;", "language": "java"}, "language 'java' is not the mark's"),
    ],
)
def test_what_cannot_be_measured_is_counted_with_its_reason(
    tmp_path: Path, record: dict[str, str | None], reason: str
) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(orjson.dumps({"id": "1", "language": "python", **record}))
    seen = survey(open_corpus(path), Wanted(language="python"), Serial())
    assert seen.unmeasured == {reason: 1}
    assert not seen.measured.any()


def test_a_part_that_was_kept_is_the_part(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows: list[dict[str, object]] = [
        {"id": "a", "language": "python", "code": "def f(name):\n    return name\n"},
        {"id": "b", "language": "java", "code": "class A { int f(int a) { return a; } }"},
        {"id": "c", "language": "python", "code": "def f(:"},
        {"id": "d", "language": "klingon", "code": "x"},
        {"id": "e", "language": "python", "code": None},
    ]
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    wanted = Wanted(FixedPrefix("name"), KEY)
    (batch,) = open_corpus(path).batches()
    (one, two), whole = batch.split()[:2], survey_batch(batch, wanted)
    parts = [survey_batch(one, wanted), survey_batch(two, wanted)]
    for packed, number in (([whole], len(rows)), (parts, 2)):
        (found,) = _unpack(_pack(packed))
        assert np.array_equal(found.table.values, whole.table.values[:number])
        assert np.array_equal(found.table.measured, whole.table.measured[:number])
        assert np.array_equal(found.may_occur, whole.may_occur[:number])
        assert np.array_equal(found.order, whole.order[:number])
        assert found.digests == whole.digests[: 16 * number]
        assert found.spoken == whole.spoken[:number]
        assert found.unmeasured == (whole.unmeasured if number == len(rows) else {})


def test_a_part_keeps_large_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        orjson.dumps({"language": "python", "code": "def f(a):\n    return a"}) + b"\n"
    )
    (batch,) = open_corpus(path).batches()
    part = survey_batch(batch, Wanted())
    for largest in (65_535, 65_536, 2**31 - 1):
        part.table.values[0, 0] = largest
        (found,) = _unpack(_pack([part]))
        assert np.array_equal(found.table.values, part.table.values)
        assert found.table.values.dtype == np.int32
