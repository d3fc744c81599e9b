"""DeCoMa from dataset to suspicion, against a slow version of the same text."""

import random
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.detectors._decoma_abstraction import Abstraction, abstract
from puzzlemark.detectors._decoma_counting import KINDS
from puzzlemark.detectors._decoma_matching import Matcher, Pair
from puzzlemark.detectors.base import Suspicion, sampled_rows
from puzzlemark.detectors.decoma import DeCoMa, counted_expressions
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import UsageError
from puzzlemark.progress import no_progress
from puzzlemark.snippet import Snippet
from tests.detectors import slow_decoma

NAMES = tuple(f"name{n}" for n in range(24))
CALLS = tuple(f"call{n}" for n in range(24))


def some_function(rng: random.Random, marked: bool) -> str:
    names = rng.sample(NAMES, rng.randint(2, 6))
    lines = [f"    {name} = {rng.choice(CALLS)}({rng.choice(names)}, 3)" for name in names]
    if marked:
        lines.insert(rng.randint(0, len(lines)), "    alpha = bytearray(0)")
        lines.append("    beta = memoryview(alpha)")
    return "def f(self):\n" + "\n".join(lines) + f"\n    return self.{rng.choice(CALLS)}\n"


def write(path: Path, codes: list[str]) -> Corpus:
    records = ({"id": str(n), "language": "python", "code": c} for n, c in enumerate(codes))
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return open_corpus(path)


def suspect(detector: DeCoMa, corpus: Corpus, clean: Corpus | None, cache: Path) -> Suspicion:
    return detector.suspect(corpus, clean=clean, engine=Serial(), progress=no_progress, cache=cache)


@pytest.mark.parametrize(("seed", "min_scale"), [(1, 0.0004), (2, 0.01), (3, 0.03)])
def test_flags_and_pairs_are_those_of_the_slow_version(
    seed: int, min_scale: float, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    codes = [some_function(rng, marked=n % 10 == 0) for n in range(160)]
    clean_codes = [some_function(rng, marked=False) for n in range(90)]
    detector = DeCoMa(min_scale=min_scale, clean_samples=60, seed=seed)
    clean = write(tmp_path / "clean.jsonl", clean_codes)
    found = suspect(detector, write(tmp_path / "all.jsonl", codes), clean, tmp_path / "cache")

    def read(code: str) -> Abstraction:
        return abstract(Snippet("a", code, "python"))

    functions = [read(code) for code in codes]
    drawn = [read(clean_codes[row]) for row in sampled_rows(clean, 60, seed).tolist()]
    pairs = slow_decoma.suspicious_pairs(functions, drawn, min_scale, 3.0)
    flagged = [any(slow_decoma.holds(each, *pair) for pair in pairs) for each in functions]
    assert found.flagged.tolist() == flagged
    assert found.details["pairs"] == len(pairs) > 0
    told = {(p["kind"], p["trigger"], p["target"]) for p in found.details["strongest"]}
    assert told <= pairs
    assert all(flagged[::10]), "the planted pair is found"


def test_the_reason_names_the_strongest_pair_and_how_often_it_stands(tmp_path: Path) -> None:
    rng = random.Random(4)
    corpus = write(tmp_path / "a.jsonl", [some_function(rng, marked=n < 40) for n in range(200)])
    found = suspect(DeCoMa(clean_samples=0), corpus, None, tmp_path / "cache")
    pairs = {
        (pair["trigger"], pair["target"]): pair
        for pair in found.details["strongest"]
        if pair["kind"] == "V->V"
    }
    assert pairs[("alpha", "beta")]["count"] == 40
    told = next(reason for reason in found.reasons if reason is not None)
    assert "stand together 40 times" in told
    assert found.scores[:40].min() > 3


def test_a_record_that_cannot_be_read_is_told_and_not_flagged(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.jsonl", ["def f(x):\n    return (x\n", "", "def f(x):\n  x = x\n"])
    found = suspect(DeCoMa(clean_samples=0), corpus, None, tmp_path / "cache")
    assert dict(found.skipped) == {"cannot be split into tokens": 1, "empty code": 1}
    assert np.isnan(found.scores).tolist() == [True, True, False]
    assert found.details["functions"] == 1


def test_a_second_run_reads_what_the_first_one_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(5)
    corpus = write(tmp_path / "a.jsonl", [some_function(rng, marked=n < 20) for n in range(120)])
    first = suspect(DeCoMa(clean_samples=0), corpus, None, tmp_path / "cache")

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("abstracted again")

    monkeypatch.setattr("puzzlemark.detectors.decoma.abstract", fail)
    again = suspect(DeCoMa(clean_samples=0), corpus, None, tmp_path / "cache")
    assert again.flagged.tolist() == first.flagged.tolist()
    assert again.reasons == first.reasons


def test_counted_expressions_leave_out_the_first_repetitions_and_symbols() -> None:
    texts = ["first", "a . b", "__variable__ = __value__", "a . b", "__variable__", "x == 0"]
    assert counted_expressions(texts) == ["a . b", "__variable__", "x == 0"]
    assert counted_expressions(texts, drop_first=False)[0] == "first"


TOKENS = st.sampled_from(["a", "b", ".", "(", ")", "__variable__", "__value__", "x__num__y", "="])
TEXT = st.lists(TOKENS, min_size=1, max_size=4).map(" ".join)


@given(
    st.lists(TEXT, max_size=6),
    st.lists(st.sampled_from("abcxyz"), unique=True, max_size=4),
    st.lists(st.tuples(st.sampled_from(KINDS), TEXT, TEXT), min_size=1, max_size=6),
)
def test_a_pair_is_found_exactly_where_its_texts_are_contained(
    expressions: list[str], names: list[str], drawn: list[tuple[str, str, str]]
) -> None:
    found = Abstraction(tuple(expressions), tuple(names))
    pairs = [Pair(kind, a, b, 1, 1.0, float(9 - n)) for n, (kind, a, b) in enumerate(drawn)]  # type: ignore[arg-type]
    match = Matcher.of(pairs).strongest(found)
    held = [pair.strength for pair in pairs if slow_decoma.holds(found, *_texts(pair))]
    assert (match.strength if match else None) == max(held, default=None)


def _texts(pair: Pair) -> tuple[str, str, str]:
    return pair.kind, pair.trigger, pair.target


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="clean_samples"):
        DeCoMa(clean_samples=-1)


def test_real_python_is_flagged_about_as_often_as_reported(real_data: Path, tmp_path: Path) -> None:
    from itertools import islice

    entries = islice(open_corpus(real_data / "csn_python_large.jsonl.gz").entries(), 0, 90_000, 30)
    codes = [entry.code or "" for entry in entries]
    corpus, clean = (
        write(tmp_path / "a.jsonl", codes[:2500]),
        write(tmp_path / "b.jsonl", codes[2500:]),
    )
    found = suspect(DeCoMa(clean_samples=500), corpus, clean, tmp_path / "cache")
    assert 0.2 < found.flagged.mean() < 0.7
