"""What stands by nature where a mark could be, counted before anything is drawn."""

from pathlib import Path

import numpy as np
import orjson
import pytest

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.embedding.counting import Counted, count_places
from puzzlemark.engines.base import open_engine
from puzzlemark.errors import UsageError
from puzzlemark.watermarks._counting import Counts
from puzzlemark.watermarks.synonyms import Synonyms

LOOP = "def {0}(rows):\n    for {1} in rows:\n        print({1}, '{0}')\n"
# project, function, the loop's variable by nature
RECORDS = [
    ("a", "one", "i"),
    ("a", "two", "idx"),
    ("a", "three", "i"),
    ("b", "four", "index"),
    ("b", "one", "idx"),  # a fork of the first one, with another name
    ("b", "five", "row"),  # in no set of loops
    ("c", "six", "key"),
]


def write(path: Path, column: str = "repo") -> Corpus:
    lines = (
        orjson.dumps(
            {"id": str(n), "language": "python", "code": LOOP.format(name, value), column: project}
        )
        for n, (project, name, value) in enumerate(RECORDS)
    )
    path.write_bytes(b"\n".join(lines) + b"\n")
    return open_corpus(path)


def count(corpus: Corpus, scheme: Synonyms | None = None, key: bytes | None = b"order") -> Counted:
    with open_engine(None, 1) as engine:
        return count_places(
            corpus,
            np.arange(len(RECORDS)),
            scheme or Synonyms(entropy=0.0),
            engine,
            records=len(RECORDS),
            policy="safe",
            order_key=key,
        )


def counts_of(counted: Counted) -> Counts:
    assert isinstance(counted.watermark, Synonyms)
    return counted.watermark.counts


def test_a_hand_counted_dataset(tmp_path: Path) -> None:
    counts = counts_of(count(write(tmp_path / "d.jsonl").with_projects()))
    assert counts.everywhere == {
        "python/1/i": {"i": 2, "idx": 2, "index": 1},
        "python/1/key": {"key": 1},
    }
    assert counts.within["a"] == {"python/1/i": {"i": 2, "idx": 1}}
    assert counts.within["b"] == {"python/1/i": {"index": 1, "idx": 1}}
    assert list(counts.homes.values()) == ["a"]  # the fork belongs to the first project


def test_a_fork_has_the_place_and_the_draw_of_its_original(tmp_path: Path) -> None:
    counted = count(write(tmp_path / "d.jsonl").with_projects())
    assert counted.order[0] == counted.order[4]
    assert len(set(counted.order[counted.eligible].tolist())) == 5


def test_a_set_without_a_choice_makes_no_record_eligible(tmp_path: Path) -> None:
    corpus = write(tmp_path / "d.jsonl").with_projects()
    eligible = count(corpus, Synonyms(entropy=0.1)).eligible
    assert eligible.tolist() == [True, True, True, True, True, False, False]
    assert count(corpus, Synonyms(entropy=0.1, share=0.5)).most == 2


def test_without_a_column_of_projects_the_dataset_is_one(tmp_path: Path) -> None:
    corpus = write(tmp_path / "d.jsonl", column="colour").with_projects()
    assert corpus.columns.project is None
    assert list(counts_of(count(corpus)).within) == [""]
    named = corpus.with_projects("colour")
    assert list(counts_of(count(named)).within) == ["a", "b", "c"]
    with pytest.raises(UsageError, match="no column 'nothing' for the project"):
        corpus.with_projects("nothing")


def test_the_key_of_the_symbols_changes_no_count_no_order_and_nobody(tmp_path: Path) -> None:
    corpus = write(tmp_path / "d.jsonl").with_projects()
    one, other = (count(corpus, Synonyms(entropy=0.1).with_key(key)) for key in (b"1", b"2"))
    assert one.digest == other.digest
    assert one.order.tolist() == other.order.tolist()
    assert one.eligible.tolist() == other.eligible.tolist()
    assert count(corpus, key=b"another").order.tolist() != one.order.tolist()
    assert count(corpus, key=None).order.tolist() == [0, 1, 2, 3, 4, 0, 6]
