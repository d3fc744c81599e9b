"""A run of an attack, from path to path, and the command that starts it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.errors import CorpusError, UsageError
from tests.attacks.making import codes, load, mark, store

JOINED = "def f(key, value):\n    a = key\n    key_value = a\n    return key_value\n"
PLAIN = "def f(key, value):\n    a = key\n    other = a\n    return other\n"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(application(), ["attack", *map(str, arguments), "--workers", "1"])


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return store(tmp_path / "few.jsonl", (JOINED, PLAIN, "def f(:", JOINED))


def test_the_command_says_what_it_did(few: Path, tmp_path: Path) -> None:
    done = run(few, "-a", "rename:detector=concat", "-o", tmp_path / "left.jsonl")
    assert done.exit_code == 0, done.stderr
    assert "rename: 4 records written of 4: 0 dropped, 2 changed, 0 added" in done.stdout
    assert "2  variables renamed" in done.stdout
    assert "recomputed column 'copy' in 2 records" in done.stdout
    assert load(tmp_path / "left.jsonl")[0]["code"] == JOINED.replace("key_value", "v0")


def test_json_is_what_python_returns_and_the_truth_adds_up(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.05)
    done = run(marked, "-a", "truncate", "--set", "lines=9", "-o", tmp_path / "a.jsonl", "--json",
               "--truth", manifest)  # fmt: skip
    told = json.loads(done.stdout)
    attacked = pm.attack(marked, tmp_path / "b.jsonl", attack="truncate:lines=9", workers=2)
    damage = told.pop("damage")
    assert told == {**json.loads(json.dumps(attacked.to_json())), "output": told["output"]}
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert damage == pm.count_damage(attacked, manifest).to_json()
    assert damage["marks"] == damage["survived"] + damage["broken"] + damage["dropped"]
    assert damage["broken"] > 0
    assert damage["survived"] > 0


def test_after_a_second_attack_marks_are_found_by_their_ids(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.05)
    half = store(tmp_path / "half.jsonl", codes(corpus_path)[::2])
    one = pm.attack(marked, tmp_path / "one.jsonl", attack="dedup:threshold=0.4", others=[half])
    two = pm.attack(tmp_path / "one.jsonl", tmp_path / "two.jsonl", attack="rename:detector=concat")
    first, second = (pm.count_damage(each, manifest) for each in (one, two))
    assert second.dropped == first.dropped > 0
    assert second.broken == first.survived > 0
    assert second.survived == 0
    assert second.clean == first.clean - first.clean_dropped
    assert two.changed == second.broken + second.clean_changed


def test_a_wrong_truth_is_an_error_before_any_work(few: Path, tmp_path: Path) -> None:
    done = run(few, "-a", "comments", "-o", tmp_path / "x.jsonl", "--truth", few)
    assert done.exit_code == 1
    assert not (tmp_path / "x.jsonl").exists()


def test_the_manifest_of_another_dataset_is_an_error_before_any_work(
    corpus_path: Path, few: Path, tmp_path: Path
) -> None:
    _, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.05)
    done = run(few, "-a", "comments", "-o", tmp_path / "x.jsonl", "--truth", manifest)
    assert done.exit_code == 1
    assert "no marked record of the manifest is in it" in " ".join(done.stderr.split())
    assert not (tmp_path / "x.jsonl").exists()


def test_a_bare_record_with_the_id_of_a_marked_one_is_not_taken_for_it_after_a_second_attack(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.05)
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    pm.attack(marked, one, attack="dilution:rate=0.5", others=[corpus_path])
    dropped = pm.attack(one, two, attack="removal:detector=concat")  # the marked ones go
    with pytest.raises(CorpusError, match="stands in several records"):
        pm.count_damage(dropped, manifest)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("-a", "comments"), "pass --output"),
        (("-a", "nothing", "-o", "x.jsonl"), "no 'nothing' among attacks"),
        (("-a", "truncate:lines=x", "-o", "x.jsonl"), "lines='x'"),
        (("-a", "comments", "-o", "few.jsonl", "--force"), "is the same as INPUT"),
        (("-a", "comments", "-o", "x.jsonl", "--cache", "few.jsonl"), "--cache"),
        (("-a", "comments", "-o", "x.jsonl", "--truth", "x.jsonl"), "--truth"),
        (("-a", "comments", "-o", "x.parquet"), "must be a file ending in .jsonl"),
    ],
)
def test_a_wrong_call_exits_with_two(
    few: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: tuple[str, ...],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = few.read_bytes()
    done = run("few.jsonl", *more)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert few.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.jsonl"]


def test_a_cache_that_was_asked_for_stays(few: Path, tmp_path: Path) -> None:
    pm.attack(few, tmp_path / "x.jsonl", attack="removal:detector=concat", cache=tmp_path / "c")
    assert list((tmp_path / "c").glob("removal-*/detector"))


def test_an_attack_object_is_used_as_it_is(few: Path, tmp_path: Path) -> None:
    from puzzlemark.attacks.rename import Rename

    attacked = pm.attack(few, tmp_path / "x.jsonl", attack=Rename(scope="all"))
    assert attacked.settings == {"scope": "all", "detector": None, "policy": "safe"}
    with pytest.raises(UsageError, match="leave it out"):
        pm.attack(few, tmp_path / "y.jsonl", attack=Rename(scope="all"), clean=few)
