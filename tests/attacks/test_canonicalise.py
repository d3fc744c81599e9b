"""Canonicalising: one name for each set of synonyms where that is safe, and programs run on."""

from pathlib import Path

import puzzlemark as pm
from tests.attacks.making import attack_codes, codes, store
from tests.programs.marking import own_programs
from tests.programs.running import run_python

RESULT = "def f(a):\n    result = a + 1\n    return result\n"
RES = RESULT.replace("result", "res")
OUT = "def g(a):\n    for out in a:\n        print(out)\n"


def test_the_most_frequent_name_of_the_dataset_is_taken(tmp_path: Path) -> None:
    after, attacked = attack_codes(tmp_path, "canonicalise", [RES, RES, RESULT, OUT])
    assert after == [RES, RES, RES, OUT.replace("out", "res")]
    assert attacked.counts == {"variables renamed": 2}
    assert attacked.changed == 2


def test_the_first_name_of_the_table_is_taken_when_that_is_said(tmp_path: Path) -> None:
    after, _ = attack_codes(tmp_path, "canonicalise:to=first", [RES, RES, RESULT, OUT])
    assert after == [RESULT, RESULT, RESULT, OUT.replace("out", "result")]


def test_parameters_and_names_that_are_taken_stay_as_they_are(tmp_path: Path) -> None:
    parameter = "def f(res):\n    return res\n"
    taken = 'def f(a):\n    res = a\n    return {"result": res}\n'
    both = "def f(a):\n    res = a\n    out = res\n    return out\n"
    after, attacked = attack_codes(
        tmp_path, "canonicalise:to=first", [parameter, taken, both, "def f(:"]
    )
    assert after == [parameter, taken, both.replace("res", "result"), "def f(:"]
    assert attacked.spared["no new name is free"] == 2
    assert attacked.spared["syntax errors"] == 1


def test_java_has_its_own_table(tmp_path: Path) -> None:
    code = "int f(int[] a) {\n  int cnt = 0;\n  for (int v : a) { cnt += v; }\n  return cnt;\n}\n"
    after, _ = attack_codes(tmp_path, "canonicalise:to=first", [code], "java")
    assert after == [
        code.replace("cnt", "count").replace("int v ", "int val ").replace("+= v", "+= val")
    ]


def test_a_second_time_changes_nothing(tmp_path: Path, corpus_bytes: bytes) -> None:
    (tmp_path / "once.jsonl").write_bytes(b"".join(corpus_bytes.splitlines(keepends=True)[:300]))
    first = pm.attack(tmp_path / "once.jsonl", tmp_path / "twice.jsonl", attack="canonicalise")
    again = pm.attack(tmp_path / "twice.jsonl", tmp_path / "thrice.jsonl", attack="canonicalise")
    assert first.changed >= 15
    assert again.changed == 0


def test_programs_behave_as_before(tmp_path: Path) -> None:
    programs = own_programs("python")
    source = store(tmp_path / "programs.jsonl", programs.values())
    attacked = pm.attack(source, tmp_path / "after.jsonl", attack="canonicalise:to=first")
    after = codes(tmp_path / "after.jsonl")
    changed = [row for row, code in enumerate(programs.values()) if after[row] != code]
    assert len(changed) == attacked.changed >= 10
    endings = run_python([list(programs.values())[row] for row in changed])
    for row, before, now in zip(
        changed, endings, run_python([after[row] for row in changed]), strict=True
    ):
        assert now.same_as(before), f"{list(programs)[row]}: {now.error}"
