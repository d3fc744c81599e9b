from pathlib import Path

import pytest

from puzzlemark.bench.sampling import Wanted, draw
from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.errors import UsageError

FUNCTION = """def total{n}(first, second):
    result = first + second * {n}
    if result > first:
        return result
    return second
"""


def count_words(code: str) -> int:
    return len(code.split())


def make_corpus(path: Path, projects: int = 20, each: int = 6) -> Corpus:
    records: list[dict[str, str | None]] = [
        {
            "id": f"{p}/{n}",
            "repo": f"p{p}",
            "language": "python",
            "code": FUNCTION.format(n=p * 9 + n),
        }
        for p in range(projects)
        for n in range(each)
    ]
    records += [  # too few names; a duplicate; no code; does not parse
        {**records[0], "code": "def f(x):\n    y = x\n    return y\n\n# nothing else stands here"},
        records[0],
        {**records[0], "code": None},
        {**records[0], "code": "def f(:\n a\n b\n c" + " " * 60},
    ]
    write_records(records, path)
    return open_corpus(path)


def test_no_project_is_on_both_sides(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "c.jsonl.gz")
    drawn = draw(corpus, Wanted(60, 12, longest=40), count_words)
    assert (len(drawn.train), len(drawn.held_out)) == (60, 12)
    sides = [{record["repo"] for record in side} for side in (drawn.train, drawn.held_out)]
    assert not sides[0] & sides[1]


def test_every_function_fits_and_stands_once(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "c.jsonl.gz")
    drawn = draw(corpus, Wanted(100, 18, longest=40), count_words)
    codes = [record["code"] for record in drawn.train + drawn.held_out]
    assert len(set(codes)) == len(codes)
    assert all(code.startswith("def total") for code in codes)


def test_the_same_seed_draws_the_same_bytes(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "c.jsonl.gz")
    first, again, other = (tmp_path / f"{name}.jsonl.gz" for name in ("a", "b", "other"))
    for path in (first, again):
        write_records(draw(corpus, Wanted(50, 5, 40), count_words).train, path)
    write_records(draw(corpus, Wanted(50, 5, 40, seed=1), count_words).train, other)
    assert first.read_bytes() == again.read_bytes()
    assert first.read_bytes() != other.read_bytes()


def test_functions_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "c.jsonl.gz")
    with pytest.raises(UsageError, match="0 functions to train on"):
        draw(corpus, Wanted(5, 5, longest=10), lambda code: 11 if code else 0)


def test_a_dataset_that_is_too_small_is_refused_with_what_it_has(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "c.jsonl.gz", projects=4, each=2)
    with pytest.raises(UsageError, match="pass a larger dataset"):
        draw(corpus, Wanted(100, 10, longest=40), count_words)
