"""Deduplication, held against an oracle that compares every pair."""

import random
import re
from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.attacks._run import Attacked
from puzzlemark.attacks.dedup import Sketch, _Seen
from puzzlemark.errors import UsageError
from tests.attacks.making import attack_codes, codes, mark, store

WORDS = 5
THRESHOLD = 0.7


def runs(code: str) -> set[tuple[str, ...]]:
    """The runs of words of a code, as plain sets of texts."""
    words = re.findall(r"\w+", code)
    return {tuple(words[n : n + WORDS]) for n in range(max(1, len(words) - WORDS + 1))}


def are_alike(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> bool:
    return len(one & other) / len(one | other) >= THRESHOLD


def slow_dedup(own: list[str], reference: list[str]) -> list[int]:
    """The rows that stay: each is compared with every one that stayed before it."""
    seen = [runs(code) for code in reference]
    kept = []
    for row, code in enumerate(own):
        here = runs(code)
        if not any(are_alike(here, other) for other in seen):
            kept.append(row)
            seen.append(here)
    return kept


def vary(code: str, rng: random.Random) -> str:
    """The code with some words changed: sometimes few enough to be alike, sometimes not."""
    words = re.split(r"(\W+)", code)
    for _ in range(rng.randrange(1, max(2, len(words) // 25))):
        words[2 * rng.randrange((len(words) + 1) // 2)] = f"other{rng.randrange(9)}"
    return "".join(words)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_keeps_what_the_slow_oracle_keeps(
    tmp_path: Path, stdlib_functions: list[tuple[str, str]], seed: int
) -> None:
    rng = random.Random(seed)
    real = [code for _, code in rng.sample(stdlib_functions, 60)]
    own = [*real[:40], *(vary(code, rng) for code in real[:40]), *real[30:50]]
    reference = [vary(code, rng) for code in real[45:60]]
    source, other = store(tmp_path / "a.jsonl", own), store(tmp_path / "b.jsonl", reference)
    attacked = pm.attack(source, tmp_path / "c.jsonl", attack="dedup", others=[other])
    expected = slow_dedup(own, reference)
    assert attacked.kept_rows.tolist() == expected
    assert 45 < len(expected) < 95  # some varied ones are alike, some are not
    assert sum(attacked.counts.values()) == attacked.dropped


def test_exact_copies_only(tmp_path: Path) -> None:
    code = "def f(a, b):\n    return a + b\n"
    near = code.replace("+", "-")  # the same words
    after, attacked = attack_codes(tmp_path, "dedup:kind=exact", [code, near, code, None, None])
    assert after == [code, near, None, None]
    assert attacked.counts == {"exact copies of earlier records": 1}
    after, attacked = attack_codes(tmp_path, "dedup", [code, near, code])
    assert after == [code]
    assert attacked.counts["near-duplicates of earlier records"] == 1


def test_a_marked_copy_beside_its_original_goes(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.1, min_rate=0.1)
    half = store(tmp_path / "half.jsonl", codes(corpus_path)[::2])
    attacked = pm.attack(
        marked, tmp_path / "left.jsonl", attack="dedup:threshold=0.4", others=[half]
    )
    damage = pm.count_damage(attacked, manifest)
    known = {row for row in pm.load_manifest(manifest).lines if row % 2 == 0}
    assert damage.marks == damage.survived + damage.dropped
    assert damage.dropped > 0.5 * len(known)
    assert damage.survived > 0.6 * (damage.marks - len(known))


@pytest.mark.parametrize("settings", ["threshold=0", "threshold=2", "words=0", "permutations=1"])
def test_settings_out_of_range_are_refused(tmp_path: Path, settings: str) -> None:
    with pytest.raises(UsageError, match="dedup: "):
        attack_codes(tmp_path, f"dedup:{settings}", ["x = 1\n"])


@pytest.mark.parametrize("kind", ["near", "exact"])
def test_records_that_were_compared_are_not_compared_again(
    tmp_path: Path,
    stdlib_functions: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    rng, each = random.Random(2), 10
    real = [code for _, code in rng.sample(stdlib_functions, 20)]
    own = [*real, *(vary(code, rng) for code in real[:10]), *real[:10]]
    (tmp_path / "in").mkdir()
    for shard in range(4):
        store(tmp_path / "in" / f"{shard}.jsonl", own[shard * each : (shard + 1) * each])
    other = store(tmp_path / "other.jsonl", real[5:8])

    def run(output: str) -> Attacked:
        source = tmp_path / "in"
        return pm.attack(source, tmp_path / output, attack=f"dedup:kind={kind}", others=[other])

    looked: list[Sketch] = []
    find = _Seen.find

    def watched(self: _Seen, sketch: Sketch) -> str | None:
        looked.append(sketch)
        if len(looked) == 2 * each + 5:
            raise KeyboardInterrupt
        return find(self, sketch)

    expected = run("undisturbed")
    monkeypatch.setattr(_Seen, "find", watched)
    with pytest.raises(KeyboardInterrupt):
        run("left")
    done = run("left")
    assert len(looked) == 2 * each + 5 + 2 * each  # two shards were kept, and five of the third not
    assert (done.counts, done.spared) == (expected.counts, expected.spared)
    assert done.kept_rows.tolist() == expected.kept_rows.tolist()
    assert done.dropped > 10
    for path in (tmp_path / "undisturbed").iterdir():
        assert (tmp_path / "left" / path.name).read_bytes() == path.read_bytes()
