"""Dilution mixes other records in, exactly as many as the rate asks for."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark.errors import UsageError
from tests.attacks.making import load, mark, store, store_records


def codes_of(name: str, count: int) -> list[str]:
    return [f"def {name}{n}():\n    return {n}\n" for n in range(count)]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return store(tmp_path / "own.jsonl", codes_of("own", 6))


@pytest.fixture
def others(tmp_path: Path) -> list[Path]:
    one = store(tmp_path / "one.jsonl", codes_of("one", 40))
    return [one, store(tmp_path / "two.jsonl", codes_of("two", 60))]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("rate=0.1", (6, 54)),
        ("rate=0.07", (6, 80)),  # 6 / 86 is the highest rate below 0.07
        ("rate=1", (6, 0)),
        ("rate=0.05,marked=3", (6, 54)),
        ("rate=0.25,size=20", (5, 15)),
    ],
)
def test_the_rate_is_reached_to_the_record(
    own: Path, others: list[Path], tmp_path: Path, settings: str, expected: tuple[int, int]
) -> None:
    output = tmp_path / "mixed.jsonl"
    attacked = pm.attack(own, output, attack=f"dilution:{settings}", others=others)
    lines = output.read_bytes().splitlines()
    kept = [line for line in lines if line in own.read_bytes().splitlines()]
    assert (len(kept), len(lines) - len(kept)) == expected
    assert attacked.counts == {"own records": expected[0], "other records": expected[1]}
    assert lines[: len(kept)] == kept  # their own order, at the beginning
    assert attacked.added == expected[1]


def test_other_records_are_whole_and_none_comes_twice(
    own: Path, others: list[Path], tmp_path: Path
) -> None:
    output = tmp_path / "mixed.jsonl"
    pm.attack(own, output, attack="dilution:rate=0.07", others=others)
    added = load(output)[6:]
    everything = [record for path in others for record in load(path)]
    assert all(record in everything for record in added)
    assert len({record["code"] for record in added}) == 80
    assert [r for r in everything if r in added] == added  # in the order of their datasets


def test_a_lower_rate_draws_the_same_and_more_and_a_seed_others(
    own: Path, others: list[Path], tmp_path: Path
) -> None:
    drawn: dict[str, set[str]] = {}
    for settings in ("rate=0.2", "rate=0.1", "rate=0.1,seed=1"):
        pm.attack(
            own,
            tmp_path / "mixed.jsonl",
            attack=f"dilution:{settings}",
            others=others,
            overwrite=True,
        )
        drawn[settings] = {record["code"] for record in load(tmp_path / "mixed.jsonl")[6:]}
    assert drawn["rate=0.2"] < drawn["rate=0.1"]
    assert drawn["rate=0.1"] != drawn["rate=0.1,seed=1"]


def test_a_parquet_file_is_mixed_into_json_lines(own: Path, tmp_path: Path) -> None:
    columns = {"id": "language", "language": "python"}
    table = pa.table({"id": ["p"] * 20, "language": ["python"] * 20, "code": codes_of("p", 20)})
    pq.write_table(table, tmp_path / "p.parquet")
    pm.attack(
        own, tmp_path / "m.jsonl", attack="dilution:rate=0.5", others=[tmp_path / "p.parquet"]
    )
    added = load(tmp_path / "m.jsonl")[6:]
    assert len(added) == 6
    assert all(record["id"] == "p" for record in added), columns


def test_all_marks_survive_though_other_records_have_their_ids(
    corpus_path: Path, tmp_path: Path
) -> None:
    marked, manifest = mark(corpus_path, tmp_path, mark="U1", max_rate=0.1)
    attacked = pm.attack(
        marked, tmp_path / "m.jsonl", attack="dilution:rate=0.6", others=[corpus_path]
    )
    damage = pm.count_damage(attacked, manifest)
    assert damage.survived == damage.marks > 0
    assert damage.clean_kept == damage.clean


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("rate=0", "above 0"),
        ("rate=1.5", "1 at most"),
        ("rate=0.01", r"594 other records, but --other\s+has 100"),
        ("rate=0.5,marked=0", "1 or more"),
        ("rate=0.5,marked=7", "there are 6 records"),
        ("rate=0.9,marked=3", "below 0.9 already"),
        ("rate=0.5,marked=3,size=10", "leave out marked or size"),
        ("rate=0.9,size=10", "asks for 9 own ones, and there are 6"),
        ("seed=1", "needs rate"),
    ],
)
def test_what_cannot_be_reached_is_an_error(
    own: Path, others: list[Path], tmp_path: Path, settings: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        pm.attack(own, tmp_path / "x.jsonl", attack=f"dilution:{settings}", others=others)
    assert not (tmp_path / "x.jsonl").exists()


def test_records_without_the_code_column_are_refused(own: Path, tmp_path: Path) -> None:
    other = store_records(tmp_path / "o.jsonl", [{"language": "python", "text": "x = 1"}] * 9)
    with pytest.raises(pm.PuzzleMarkError, match="no column 'code'"):
        pm.attack(own, tmp_path / "x.jsonl", attack="dilution:rate=0.5", others=[other])
    assert not (tmp_path / "x.jsonl").exists()
