"""Renaming: what was flagged, or every local variable, and never what must keep its name."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark.errors import UsageError
from tests.attacks.making import attack_codes, codes, mark, store

BEFORE = '''def total(prices, rate):
    """Adds `prices`; total is v1."""
    count = 0
    for price in prices:
        count += price * rate
    return [price for price in (count,)]
'''
AFTER = '''def total(prices, rate):
    """Adds `prices`; total is v1."""
    v0 = 0
    for v2 in prices:
        v0 += v2 * rate
    return [v2 for v2 in (v0,)]
'''
JAVA = """int total(int[] prices, int rate) {
    int count = 0;
    for (int price : prices) {
        count += price * rate;
    }
    return count;
}
"""


def test_every_local_variable_gets_a_number_that_the_snippet_does_not_use(tmp_path: Path) -> None:
    after, attacked = attack_codes(tmp_path, "rename:scope=all", [BEFORE, "def f(:", None, BEFORE])
    assert after == [AFTER, "def f(:", None, AFTER]
    assert attacked.counts == {"variables renamed": 4}
    assert attacked.spared["syntax errors"] == 1
    assert attacked.spared["null code"] == 1
    assert attacked.changed == 2
    assert attacked.recomputed == {"copy": 2, "size": 2}


def test_what_a_closure_shares_with_the_function_around_it_is_renamed_once(tmp_path: Path) -> None:
    before = "function f() { let a = 1; return [2].map((b) => { let c = b; return c + a; }); }"
    after, attacked = attack_codes(tmp_path, "rename:scope=all", [before], "javascript")
    assert after == [
        "function f() { let v0 = 1; return [2].map((b) => { let v1 = b; return v1 + v0; }); }"
    ]
    assert attacked.counts == {"variables renamed": 2}


def test_java_too(tmp_path: Path) -> None:
    after, _ = attack_codes(tmp_path, "rename:scope=all", [JAVA], "java")
    assert after == [JAVA.replace("count", "v0").replace("price ", "v1 ")]


def test_parameters_change_only_when_it_is_said(tmp_path: Path) -> None:
    code = "def f(first, second):\n    third = first\n    return third + second\n"
    safe, _ = attack_codes(tmp_path, "rename:scope=all", [code])
    careless, _ = attack_codes(tmp_path, "rename:scope=all,policy=paper", [code])
    assert safe == [code.replace("third", "v0")]
    assert careless == ["def f(v0, v1):\n    v2 = v0\n    return v2 + v1\n"]


def test_what_reads_its_own_variables_is_left_alone_with_a_reason(tmp_path: Path) -> None:
    code = "def f():\n    name = 1\n    return locals()\n"
    after, attacked = attack_codes(tmp_path, "rename:scope=all", [code])
    assert after == [code]
    assert sum(attacked.spared.values()) == 1


def test_only_the_target_of_a_flagged_record_is_renamed(tmp_path: Path) -> None:
    joined = "def f(key, value):\n    a = key\n    key_value = a\n    return key_value\n"
    plain = "def f(key, value):\n    a = key\n    other_value = a\n    return other_value\n"
    after, attacked = attack_codes(tmp_path, "rename:detector=concat", [joined, plain])
    assert after == [joined.replace("key_value", "v0"), plain]
    assert (attacked.changed, attacked.counts) == (1, {"variables renamed": 1})


def test_all_targets_of_a_record_are_renamed_not_only_the_one_in_its_reason(
    tmp_path: Path,
) -> None:
    one = "def f(key, value):\n    a = key\n    key_value = a\n    return key_value\n"
    two = one.replace("def f(key, value)", "def g(box, item)").replace("key_value", "box_item")
    two = two.replace("a = key", "a = box")
    after, attacked = attack_codes(tmp_path, "rename:detector=concat", [one + two])
    assert "key_value" not in after[0]
    assert "box_item" not in after[0]
    assert attacked.counts == {"variables renamed": 2}


def test_the_adaptive_attacker_breaks_every_mark_and_little_else(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.1, min_rate=0.1)
    pm.detect(marked, tmp_path / "s.parquet", method="concat")
    left = tmp_path / "left.jsonl"
    attacked = pm.attack(marked, left, attack="rename", suspicion=tmp_path / "s.parquet")
    damage = pm.count_damage(attacked, manifest)
    assert (damage.survived, damage.dropped) == (0, 0)
    assert damage.broken == damage.marks > 20
    assert attacked.changed - damage.clean_changed == damage.broken
    assert damage.clean_changed < damage.clean / 50
    again = pm.attack(marked, tmp_path / "again.jsonl", attack="rename:detector=concat")
    assert again.output_digest == attacked.output_digest
    before, after = codes(marked), codes(left)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == attacked.changed


def test_a_suspicion_without_names_is_refused_and_one_of_before_can_be_read(
    tmp_path: Path,
) -> None:
    few, old = store(tmp_path / "few.jsonl", [BEFORE]), tmp_path / "old.parquet"
    pm.detect(few, tmp_path / "s.parquet", method="concat")
    pq.write_table(pq.read_table(tmp_path / "s.parquet").drop_columns(["names"]), old)
    with pytest.raises(UsageError, match="does not say which names"):
        pm.attack(few, tmp_path / "x.jsonl", attack="rename", suspicion=old)
    assert not (tmp_path / "x.jsonl").exists()
    attacked = pm.attack(few, tmp_path / "x.jsonl", attack="removal", suspicion=old)
    assert attacked.written == 1
