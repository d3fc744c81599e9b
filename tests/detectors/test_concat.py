"""The detector of one who has read the paper."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact, norm

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors._concat_audit import (
    Join,
    Tally,
    audit,
    exact_order_z,
    exact_z,
    find_joins,
)
from puzzlemark.detectors.base import Suspicion
from puzzlemark.detectors.concat import Concat
from puzzlemark.engines.serial import Serial
from puzzlemark.errors import UsageError
from puzzlemark.languages.base import Convention
from puzzlemark.progress import no_progress
from puzzlemark.syntax.naming import concatenate


def levels(*names: str, convention: Convention = "snake") -> list[str]:
    return [join.level for join in find_joins(names, convention)]


@pytest.mark.parametrize(
    ("names", "level"),
    [
        (("key", "it", "x", "key_it"), "first_two"),
        (("x", "key", "it", "key_it"), "adjacent"),
        (("key", "x", "it", "key_it"), "in_order"),
        (("it", "key", "key_it"), "any"),
    ],
)
def test_a_join_has_the_strictest_level_that_holds(names: tuple[str, ...], level: str) -> None:
    assert levels(*names) == [level]


def test_a_join_must_come_after_both_of_its_parts() -> None:
    assert levels("key_it", "key", "it") == []
    assert levels("key", "key_it", "it") == []


def test_camel_case_is_joined_with_a_capital() -> None:
    assert levels("key", "it", "keyIt", convention="camel") == ["first_two"]
    assert levels("key", "URL", "keyURL", convention="camel") == ["first_two"]
    assert levels("key", "it", "keyit", convention="camel") == []


def test_a_name_is_no_join_of_itself_twice() -> None:
    assert levels("a", "b", "a_a") == []


PARTS = st.sampled_from(["a", "b", "ab", "_a", "b_", "a_b", "a_b_a", "aB", "AB", "aAB", "bA", "a1"])


@given(st.lists(PARTS, unique=True, max_size=8), st.sampled_from(["snake", "camel"]))
def test_joins_are_those_of_trying_every_pair(names: list[str], convention: Convention) -> None:
    slow = {
        Join(names[i], names[j], names[k], i, j)
        for k in range(len(names))
        for i, j in permutations(range(k), 2)
        if names[k] == concatenate(names[i], names[j], convention)
    }
    found = list(find_joins(names, convention))
    assert len(found) == len(slow)
    assert set(found) == slow


def test_the_tally_of_one_function_is_counted_by_hand() -> None:
    names = ["key", "it", "x", "key_it", "it_key"]
    tally = Tally()
    tally.add(names, list(find_joins(names, "snake")))
    assert tally.chances == {"key": 3, "it": 2, "x": 1}
    assert tally.hits == {"key": 1}
    assert (tally.forward, tally.backward) == (1, 1)
    assert tally.position_hits == {0: 1}


@given(st.integers(1, 40), st.integers(1, 500), st.integers(0, 40), st.integers(1, 5000))
def test_the_z_score_is_that_of_the_exact_test(hits: int, n: int, others: int, m: int) -> None:
    p = binom.sf(hits - 1, hits + others, n / (n + m))
    wanted = max(0.0, float(norm.isf(p)))
    assert exact_z(hits, n, others, m) == pytest.approx(wanted, abs=1e-6)


def test_a_z_score_beyond_the_smallest_float_is_still_told() -> None:
    assert 60 < exact_z(1000, 10, 10, 1_000_000) < 200


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_the_order_is_judged_by_fishers_test(a: int, b: int, c: int, d: int) -> None:
    p = fisher_exact([[a, b], [c, d]], alternative="greater").pvalue
    assert exact_order_z(a, a + b, c, c + d) == pytest.approx(max(0.0, norm.isf(p)), abs=1e-6)


def tally_of(functions: Sequence[Sequence[str]]) -> Tally:
    tally = Tally()
    for names in functions:
        tally.add(names, list(find_joins(names, "snake")))
    return tally


NATURAL = [[f"p{n % 40}", f"q{n % 7}", "x", f"y{n % 3}", "z"] for n in range(400)]
DATES = [["date", "time", "date_time"]] * 3


def test_a_secret_prefix_stands_out_against_the_rest_of_the_dataset() -> None:
    marked = [["key", f"q{n}", "x", f"key_q{n}"] for n in range(30)]
    found = audit(tally_of([*NATURAL, *DATES, *marked]))
    assert found.prefixes[0].value == "key"
    assert found.prefixes[0].hits == 30
    assert found.prefixes[0].z > 8
    assert found.positions[0].value == "1"
    assert found.order is not None
    assert found.order.z > 4  # 33 of 33 in order


def test_a_clean_dataset_explains_what_is_joined_by_nature() -> None:
    seen, clean = tally_of([*NATURAL, *DATES]), tally_of([*NATURAL, *DATES])
    assert audit(seen).prefixes[0].value == "date"
    assert audit(seen).prefixes[0].z > 3
    assert audit(seen, clean).prefixes[0].z < 1


def test_a_dataset_without_joins_has_nothing_that_stands_out() -> None:
    found = audit(tally_of(NATURAL))
    assert found.prefixes == ()
    assert found.order is None
    assert all(each.z == 0 for each in found.positions)


def suspect(path: Path, cache: Path, detector: Concat, clean: Path | None = None) -> Suspicion:
    return detector.suspect(
        open_corpus(path),
        clean=None if clean is None else open_corpus(clean),
        engine=Serial(),
        progress=no_progress,
        cache=cache,
    )


def test_marks_with_a_fixed_prefix_are_all_found_and_the_prefix_with_them(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = tmp_path / "m.jsonl", tmp_path / "m.manifest.jsonl"
    pm.embed(corpus_path, marked, manifest, mark="P1", min_rate=0.05, order="dataset")
    rows = set(pm.load_manifest(manifest).lines)
    found = suspect(marked, tmp_path / "cache", Concat())
    everything = set(found.flagged.nonzero()[0].tolist())
    assert rows <= everything
    assert found.details["prefixes"][0]["value"] == "key"
    assert "the prefix key is joined" in found.details["findings"][0]
    narrow = suspect(marked, tmp_path / "cache", Concat(standing_out=6.0), corpus_path)
    assert rows <= set(narrow.flagged.nonzero()[0].tolist()) <= everything
    assert narrow.details["reference"] == "clean"


def function(*names: str) -> str:
    return f"def f({', '.join(names)}):\n    return 0\n"


def write(path: Path, codes: Sequence[str]) -> Path:
    lines = (orjson.dumps({"code": code, "language": "python"}) for code in codes)
    path.write_bytes(b"\n".join(lines))
    return path


def test_only_what_stands_out_is_flagged_when_asked(tmp_path: Path) -> None:
    natural = [function("z", "date", "time", "date_time"), function("c", "d", "e", "g", "h")]
    planted = [function("u", f"v{n}", f"u_v{n}") for n in range(20)]
    path = write(tmp_path / "a.jsonl", [*planted, natural[0], *natural[1:] * 200])
    every = suspect(path, tmp_path / "cache", Concat())
    assert every.flagged.tolist() == [True] * 21 + [False] * 200
    some = suspect(path, tmp_path / "cache", Concat(standing_out=4.0))
    assert some.flagged.tolist() == [True] * 20 + [False] * 201


def test_scores_rise_with_the_level_and_with_what_stands_out(tmp_path: Path) -> None:
    codes = [function("a", "b"), function("it", "key", "key_it"), function("key", "it", "key_it")]
    codes += [function("u", f"v{n}", f"u_v{n}") for n in range(20)]
    codes += [function("c", "d", "e", "g", "h")] * 200
    path = write(tmp_path / "a.jsonl", codes)
    found = suspect(path, tmp_path / "cache", Concat(level="any"))
    assert found.flagged.tolist() == [False, *[True] * 22, *[False] * 200]
    nothing, backward, natural, planted = found.scores[:4].tolist()
    assert nothing == 0 < backward < 2 < 4 <= natural < planted < 5
    strict = suspect(path, tmp_path / "cache", Concat(level="first_two"))
    assert strict.flagged.tolist() == [False, False, *[True] * 21, *[False] * 200]


def test_a_negative_z_score_is_refused() -> None:
    with pytest.raises(UsageError, match="standing_out"):
        Concat(standing_out=-1)
