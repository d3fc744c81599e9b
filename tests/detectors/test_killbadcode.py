"""KillBadCode from a dataset to a suspicion: real functions, marks that stand out."""

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.detectors._pieces import open_pieces, train_pieces
from puzzlemark.detectors.base import Suspicion, load_detector
from puzzlemark.detectors.killbadcode import KillBadCode
from puzzlemark.engines.base import make
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.plugins import names
from puzzlemark.progress import no_progress
from tests.detectors import slow_killbadcode

Functions = list[tuple[str, str]]
MARKED = range(0, 300, 20)  # 5 %


def write(path: Path, codes: Sequence[str | None]) -> Corpus:
    rows = ({"id": f"f{n}", "code": code, "language": "python"} for n, code in enumerate(codes))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_corpus(path)


@pytest.fixture(scope="session")
def clean_codes(stdlib_functions: Functions) -> list[str]:
    return [code for _, code in stdlib_functions[1::2]]


@pytest.fixture(scope="session")
def codes(stdlib_functions: Functions) -> list[str]:
    return [code for _, code in stdlib_functions[::2]][:300]


@pytest.fixture(scope="session")
def marked_codes(codes: list[str]) -> list[str]:
    """Two statements nobody would write, after the head of every twentieth function."""
    return [
        re.sub(r":\n", ":\n    I = Person()\n    I.hi(everyone)\n", code, count=1)
        if n in MARKED and ":\n" in code else code
        for n, code in enumerate(codes)
    ]  # fmt: skip


def run(
    tmp_path: Path, codes: Sequence[str | None], clean: Sequence[str], workers: int = 1, **how: Any
) -> Suspicion:
    engine = make(workers)
    try:
        return KillBadCode(**how).suspect(
            write(tmp_path / "data.jsonl", codes),
            clean=write(tmp_path / "clean.jsonl", clean),
            engine=engine,
            progress=no_progress,
            cache=tmp_path / "cache",
        )
    finally:
        engine.close()


@pytest.fixture(scope="module")
def found(
    tmp_path_factory: pytest.TempPathFactory, marked_codes: list[str], clean_codes: list[str]
) -> Suspicion:
    """What the defaults say about the marked functions."""
    return run(tmp_path_factory.mktemp("found"), marked_codes, clean_codes)


def triggers(suspicion: Suspicion) -> list[str]:
    return [trigger["piece"] for trigger in suspicion.details["triggers"]]


def test_it_is_a_variant_of_its_room_and_its_parts_are_not() -> None:
    assert "killbadcode" in names("detectors")
    assert not {"_pieces", "_kneser_ney", "_naturalness"} & set(names("detectors"))
    assert load_detector("killbadcode", {"k": "5", "text": "joined"}) == KillBadCode(
        k=5, text="joined"
    )


def test_it_finds_statements_that_nobody_would_write(
    found: Suspicion, marked_codes: list[str], codes: list[str]
) -> None:
    carriers = [n for n, code in enumerate(marked_codes) if code != codes[n]]
    assert len(carriers) > 10
    assert found.flagged[carriers].all()
    assert {"hi", "every"} & set(triggers(found)[:3])
    others = np.setdiff1d(np.arange(300), carriers)
    assert found.flagged[others].mean() < 0.8
    assert found.scores[carriers].mean() > 2 * found.scores[others].mean()


def test_without_the_mark_its_words_are_no_triggers(
    tmp_path: Path, codes: list[str], clean_codes: list[str]
) -> None:
    assert not {"hi", "every", "one"} & set(triggers(run(tmp_path, codes, clean_codes)))


def test_a_sample_is_flagged_exactly_when_it_contains_a_trigger_and_the_reason_names_it(
    tmp_path: Path, marked_codes: list[str], clean_codes: list[str]
) -> None:
    suspicion = run(tmp_path, marked_codes, clean_codes, tokens=3)
    expected = set(triggers(suspicion))
    assert len(expected) == 3
    assert 0 < suspicion.flagged.sum() < 300
    for flagged, reason, code in zip(
        suspicion.flagged, suspicion.reasons, marked_codes, strict=True
    ):
        assert flagged == (reason is not None)
        if reason is not None:
            named = re.findall(r"'(\w+)'", reason)
            assert named
            assert set(named) <= expected
            assert all(piece in code for piece in named)
            assert "whose removal makes code more natural" in reason


def test_a_sample_counts_as_far_as_its_length_is_looked_at(
    tmp_path: Path, clean_codes: list[str]
) -> None:
    odd = "x = 1 ; I.everyone(everyone) ; I.everyone(everyone)"
    late = "value = 1 ; " * 30 + odd
    suspicion = run(tmp_path, [odd] * 20 + [late], clean_codes, length=40, tokens=2)
    assert suspicion.flagged[:20].all()
    assert not suspicion.flagged[20]


def test_code_that_cannot_be_judged_is_counted_and_never_fatal(
    tmp_path: Path, marked_codes: list[str], clean_codes: list[str]
) -> None:
    odd = [None, "", "def broken(:", *marked_codes[:40]]
    suspicion = run(tmp_path, odd, clean_codes, text="joined")
    assert len(suspicion) == 43
    assert suspicion.skipped == {"null code": 1, "empty code": 1, "syntax errors": 1}
    assert not suspicion.flagged[:3].any()


def test_any_number_of_workers_and_a_second_run_say_the_same(
    tmp_path: Path, found: Suspicion, marked_codes: list[str], clean_codes: list[str]
) -> None:
    for workers in (2, 1):  # the second finds what the first kept
        other = run(tmp_path, marked_codes, clean_codes, workers=workers)
        assert np.array_equal(found.scores, other.scores)
        assert (found.reasons, found.details) == (other.reasons, other.details)


def some_function(rng: random.Random, odd: bool = False) -> str:
    names = rng.sample(["item_count", "total_size", "user_name", "row_index", "file_path"], 3)
    lines = [f"{name} = load_{rng.choice(names)}({rng.choice(names)})" for name in names]
    if odd:  # words that are known, where they never stand
        lines.insert(rng.randrange(3), f"size_{rng.choice(('user', 'file'))}.row(count)")
    return "def run():\n    " + "\n    ".join(lines) + "\n"


@pytest.mark.parametrize("seed", [1, 2])
def test_triggers_and_flags_are_those_of_the_slow_version(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    clean = [some_function(rng) for _ in range(20)]
    codes = [some_function(rng, odd=n % 3 == 0) for n in range(18)]
    settings: dict[str, Any] = {"order": 3, "k": 3, "tokens": 4, "length": 40}
    (shards := tmp_path / "shards").mkdir()
    for name, some in (("a", codes[:5]), ("b", codes[5:6]), ("c", codes[6:])):
        write(shards / f"{name}.jsonl", some)  # each is weighed by itself
    found = KillBadCode(pieces=700, **settings).suspect(
        open_corpus(shards),
        clean=write(tmp_path / "clean.jsonl", clean),
        engine=make(1),
        progress=no_progress,
        cache=tmp_path,
    )
    pieces = open_pieces(tmp_path / "trained" / "tokenizer.json")

    def read(code: str) -> list[str]:
        return [pieces.texts[n] for n in pieces.encode(" ".join(code.split()))]

    wanted = slow_killbadcode.suspect([*map(read, clean)], [*map(read, codes)], **settings)
    told = {trigger["piece"]: trigger["gain"] for trigger in found.details["triggers"]}
    assert told == pytest.approx(wanted.totals, rel=1e-9)
    assert list(told) == list(wanted.totals)
    named = [set(re.findall(r"'(\w+)'", reason or "")) for reason in found.reasons]
    assert named == wanted.held
    assert found.flagged.tolist() == [bool(held) for held in wanted.held]
    assert found.flagged.any()


def test_an_interrupted_run_goes_on_where_it_was(
    tmp_path: Path, marked_codes: list[str], clean_codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(tmp_path, marked_codes, clean_codes)
    kept = sorted((tmp_path / "cache").rglob("*.part"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.npy")}
    kept[0].unlink()
    monkeypatch.setattr(KillBadCode, "_learn", None)  # the model is there: not learnt again
    again = run(tmp_path, marked_codes, clean_codes)
    assert np.array_equal(whole.scores, again.scores)
    assert sorted((tmp_path / "cache").rglob("*.part")) == kept
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_the_seed_draws_the_clean_records_and_a_fraction_limits_them(
    tmp_path: Path, marked_codes: list[str], clean_codes: list[str]
) -> None:
    runs = []
    for seed in (0, 1):
        (place := tmp_path / str(seed)).mkdir()
        runs.append(run(place, marked_codes[:50], clean_codes, seed=seed, clean_fraction=0.2))
    expected = -(-len(clean_codes) // 5)
    assert [each.details["learnt"]["samples"] for each in runs] == [expected, expected]
    assert not np.array_equal(runs[0].scores, runs[1].scores)


def test_a_given_tokenizer_is_used_and_a_changed_one_is_noticed(
    tmp_path: Path, marked_codes: list[str], clean_codes: list[str]
) -> None:
    given = tmp_path / "tokenizer.json"
    runs = []
    for size in (600, 3000):
        given.write_text(train_pieces(clean_codes, size), encoding="utf-8")
        runs.append(run(tmp_path, marked_codes[:60], clean_codes, tokenizer=given))
    assert runs[0].details["learnt"]["ngrams"][0] < 610 < runs[1].details["learnt"]["ngrams"][0]
    assert not np.array_equal(runs[0].scores, runs[1].scores)


def test_stripped_marks_let_the_first_piece_of_a_word_be_a_trigger(
    tmp_path: Path, found: Suspicion, marked_codes: list[str], clean_codes: list[str]
) -> None:
    stripped = run(tmp_path, marked_codes, clean_codes, eligible="stripped")
    assert "I" in set(triggers(stripped)) - set(triggers(found))


@pytest.mark.parametrize(
    "settings",
    [
        {"k": 0}, {"tokens": 0}, {"order": 1}, {"length": 1}, {"clean_fraction": 0},
        {"clean_fraction": 1.5}, {"pieces": 256}, {"clean_samples": 0},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(settings))):
        KillBadCode(**settings)


def test_without_clean_code_it_says_what_to_pass(tmp_path: Path, codes: list[str]) -> None:
    assert KillBadCode().needs_clean
    with pytest.raises(UsageError, match="--clean"):
        KillBadCode().suspect(
            write(tmp_path / "data.jsonl", codes[:3]),
            clean=None,
            engine=make(1),
            progress=no_progress,
            cache=tmp_path,
        )
    with pytest.raises(CorpusError, match=r"clean\.jsonl: no code"):
        run(tmp_path, codes[:3], ["", " "])


def test_a_missing_tokenizer_is_named(tmp_path: Path, codes: list[str]) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.json"):
        run(tmp_path, codes[:3], codes[:3], tokenizer=tmp_path / "nowhere.json")
