"""What stands by nature where a mark could be, counted before anything is drawn."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.embedding.counting import Counted, count_places
from puzzlemark.engines.base import open_engine
from puzzlemark.errors import UsageError
from puzzlemark.watermarks._counting import PARTS, Counts
from puzzlemark.watermarks.synonyms import Synonyms

BY_PROJECT = Synonyms(entropy=0.0, prior="project")
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
    counts = counts_of(count(write(tmp_path / "d.jsonl").with_projects(), BY_PROJECT))
    assert not counts.learnt
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
    scheme = Synonyms(entropy=0.1, prior="project")
    eligible = count(corpus, scheme).eligible
    assert eligible.tolist() == [True, True, True, True, True, False, False]
    assert count(corpus, replace(scheme, share=0.5)).most == 2


def test_without_a_column_of_projects_the_dataset_is_one(tmp_path: Path) -> None:
    corpus = write(tmp_path / "d.jsonl", column="colour").with_projects()
    assert corpus.columns.project is None
    assert list(counts_of(count(corpus, BY_PROJECT)).within) == [""]
    named = corpus.with_projects("colour")
    assert list(counts_of(count(named, BY_PROJECT)).within) == ["a", "b", "c"]
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


def test_what_is_learnt_is_a_chance_of_every_name_for_every_class(tmp_path: Path) -> None:
    counts = counts_of(count(write(tmp_path / "d.jsonl").with_projects()))
    assert not counts.everywhere
    # five loops over indices, of which two are forks, and one over keys
    assert sorted(group for group, _ in counts.learnt) == ["python/1/i"] * 4 + ["python/1/key"]
    for (group, _), parts in counts.learnt.items():
        assert len(parts) == {"python/1/i": 3, "python/1/key": 2}[group]
        assert abs(sum(parts) - PARTS) <= len(parts)


def write_habit(path: Path, odd: int | None = None) -> Corpus:
    """What is counted is called `i` and what is found `idx`; `odd` is a row with the other name."""
    lines = []
    for row in range(160):
        call = ("range", "find")[row % 2]
        name = ("i", "idx")[(row + (row == odd)) % 2]
        code = f"def f{row}(rows):\n    for {name} in {call}(rows):\n        use({name}, {row})\n"
        lines.append(orjson.dumps({"id": str(row), "language": "python", "code": code}))
    path.write_bytes(b"\n".join(lines) + b"\n")
    return open_corpus(path)


def learnt_of(corpus: Corpus, workers: int = 1) -> dict[tuple[str, str], tuple[int, ...]]:
    with open_engine(None, workers) as engine:
        counted = count_places(
            corpus, np.arange(160), Synonyms(), engine, records=160, policy="safe"
        )
    return dict(counts_of(counted).learnt)


def test_chances_follow_what_a_variable_is_bound_to(tmp_path: Path) -> None:
    learnt = list(learnt_of(write_habit(tmp_path / "d.jsonl")).values())
    assert all(parts[0] > 900 for parts in learnt[::2])
    assert all(parts[1] > 900 for parts in learnt[1::2])


def test_the_chances_of_a_place_do_not_know_the_name_that_stands_there(tmp_path: Path) -> None:
    usual = list(learnt_of(write_habit(tmp_path / "d.jsonl")).values())[40]
    other = list(learnt_of(write_habit(tmp_path / "o.jsonl", odd=40)).values())[40]
    # the fit of 160 names feels one of them a little; the place itself is not favoured
    assert other[0] > 850
    assert abs(usual[0] - other[0]) < 100


def test_any_number_of_workers_learns_the_same(tmp_path: Path) -> None:
    corpus = write_habit(tmp_path / "d.jsonl")
    assert learnt_of(corpus) == learnt_of(corpus, 2)
