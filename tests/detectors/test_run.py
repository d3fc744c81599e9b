"""A run of a detector, from path to path, and the command that starts it."""

import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
from scipy.stats import beta
from sklearn.metrics import f1_score, precision_score, recall_score
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors._accuracy import Share, Truth, judge
from puzzlemark.detectors._picture import score_picture
from puzzlemark.detectors._run import detect, load_suspicion
from puzzlemark.detectors.base import Suspicion
from puzzlemark.errors import CorpusError, UsageError

JOINED = "def f(key, value):\n    a = key\n    key_value = a\n    return key_value\n"
PLAIN = "def f(key, value):\n    a = key\n    other = a\n    return other\n"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Five records: joined, plain, unparsable, empty, joined."""
    codes = (JOINED, PLAIN, "def f(:", "", JOINED)
    path = tmp_path / "few.jsonl"
    records = ({"id": f"r{n}", "language": "python", "code": c} for n, c in enumerate(codes))
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(application(), ["detect", *map(str, arguments), "--workers", "1"])


def test_every_record_has_a_row_and_the_file_says_how_it_was_made(
    few: Path, tmp_path: Path
) -> None:
    output = tmp_path / "suspicion.parquet"
    found = detect(few, output, method="concat", settings={"level": "any"})
    table = pq.read_table(output)
    assert table.column_names == ["id", "row", "flagged", "score", "reason", "names"]
    assert table["id"].to_pylist() == ["r0", "r1", "r2", "r3", "r4"]
    assert table["row"].to_pylist() == [0, 1, 2, 3, 4]
    assert table["flagged"].to_pylist() == [True, False, False, False, True]
    assert [score is None for score in table["score"].to_pylist()] == [0, 0, 1, 1, 0]
    assert table["reason"].to_pylist()[2:4] == ["syntax errors", "empty code"]
    told = orjson.loads(table.schema.metadata[b"puzzlemark"])
    assert told["method"] == "concat"
    assert told["settings"] == {"level": "any", "standing_out": 0.0}
    assert told["digest"] == open_corpus(few).digest()
    assert (told["records"], told["judged"], told["flagged"]) == (5, 3, 2)
    assert str(tmp_path) not in json.dumps(told)
    assert "numpy" in told["versions"]
    assert found.skipped == {"syntax errors": 1, "empty code": 1}
    assert {path.name for path in tmp_path.iterdir()} == {few.name, output.name}


def test_a_suspicion_is_read_back_as_it_was(few: Path, tmp_path: Path) -> None:
    found = detect(few, tmp_path / "s.parquet", method="concat")
    read = load_suspicion(tmp_path / "s.parquet")
    assert read.ids == found.suspicion.ids
    assert read.reasons == found.suspicion.reasons
    np.testing.assert_array_equal(read.scores, found.suspicion.scores)
    np.testing.assert_array_equal(read.flagged, found.suspicion.flagged)
    assert read.details == found.details
    (tmp_path / "other.parquet").write_bytes(b"nothing")
    with pytest.raises(CorpusError, match="puzzlemark detect"):
        load_suspicion(tmp_path / "other.parquet")


def test_the_same_flags_come_from_one_worker_and_from_two(
    corpus_path: Path, tmp_path: Path
) -> None:
    settings = {"clean_samples": 0}
    one = detect(corpus_path, tmp_path / "1.parquet", method="decoma", settings=settings)
    two = detect(corpus_path, tmp_path / "2.parquet", method="decoma", settings=settings, workers=2)
    assert one.flagged == two.flagged > 0
    assert one.suspicion.reasons == two.suspicion.reasons


def test_an_interrupted_run_goes_on_where_it_was(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "s.parquet"

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("puzzlemark.detectors.concat.audit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            detect(few, output, method="concat")
    assert not output.exists()
    assert list((tmp_path / ".s.parquet.work").glob("found/suspect/*.part"))
    monkeypatch.setattr("puzzlemark.detectors.concat.parse", interrupt)  # nothing is parsed again
    assert detect(few, output, method="concat").flagged == 2
    assert not (tmp_path / ".s.parquet.work").exists()


def test_a_run_is_not_gone_on_with_by_another(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, clean = tmp_path / "s.parquet", tmp_path / "clean.jsonl"
    clean.write_bytes(few.read_bytes())

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    settings: dict[str, object] = {"standing_out": 0.1}
    with monkeypatch.context() as patched:
        patched.setattr("puzzlemark.detectors.concat.audit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            detect(few, output, method="concat", settings=settings, clean=clean)
    with pytest.raises(UsageError, match=r"settings standing_out was 0\.1 then, and is 0\.2 now"):
        detect(few, output, method="concat", settings={"standing_out": 0.2}, clean=clean)
    with pytest.raises(UsageError, match="method was concat then, and is decoma now"):
        detect(few, output, method="decoma", clean=clean)
    clean.write_bytes(few.read_bytes() + b"\n")
    with pytest.raises(UsageError, match=r"--clean clean\.jsonl was another file then"):
        detect(few, output, method="concat", settings=settings, clean=clean)


def test_a_named_cache_is_kept_apart_for_each_configuration(few: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for n, level in enumerate(("any", "first_two", "any")):
        settings = {"level": level}
        detect(few, tmp_path / f"{n}.parquet", method="concat", settings=settings, cache=cache)
    assert len(list(cache.iterdir())) == 2


def test_what_cannot_be_done_is_said_before_the_work(few: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pass --clean"):
        detect(few, tmp_path / "s.parquet", method="decoma")
    with pytest.raises(UsageError, match=r"end the name in \.parquet"):
        detect(few, tmp_path / "s.csv", method="concat")
    with pytest.raises(UsageError, match="another dataset"):
        detect(few, tmp_path / "s.parquet", method="concat", truth=Truth({0}, "0" * 64))
    (tmp_path / "s.parquet").touch()
    with pytest.raises(UsageError, match="--force"):
        detect(few, tmp_path / "s.parquet", method="concat")


def test_the_input_is_not_overwritten(few: Path, tmp_path: Path) -> None:
    table = tmp_path / "in.parquet"
    rows = [orjson.loads(line) for line in few.read_bytes().splitlines()]
    import pyarrow as pa

    pq.write_table(pa.Table.from_pylist(rows), table)
    with pytest.raises(UsageError, match="is the same as INPUT"):
        detect(table, table, method="concat", overwrite=True)


def test_accuracy_is_that_of_a_library() -> None:
    rng = random.Random(1)
    marked = [rng.random() < 0.2 for _ in range(400)]
    flagged = [rng.random() < (0.7 if each else 0.3) for each in marked]
    scores = np.array(flagged, np.float64)
    said = Suspicion(["x"] * 400, np.array(flagged), scores, [None] * 400)
    rows = [row for row, each in enumerate(marked) if each]
    found = judge(said, Truth(rows, ""))
    assert found.recall.value == pytest.approx(recall_score(marked, flagged))
    assert found.precision.value == pytest.approx(precision_score(marked, flagged))
    assert found.f1 == pytest.approx(f1_score(marked, flagged))
    others = [not each for each in marked]
    assert found.fpr.value == pytest.approx(recall_score(others, flagged))


@pytest.mark.parametrize(("hits", "total"), [(0, 5), (5, 5), (1, 7), (38, 100), (990, 1000)])
def test_intervals_are_clopper_and_pearsons(hits: int, total: int) -> None:
    told = Share(hits, total).to_json()
    low, high = told["low"], told["high"]
    wanted_low = beta.ppf(0.025, hits, total - hits + 1) if hits else 0.0
    wanted_high = beta.ppf(0.975, hits + 1, total - hits) if hits < total else 1.0
    assert (low, high) == pytest.approx((wanted_low, wanted_high), abs=1e-9)


def test_nothing_marked_and_nothing_flagged_is_no_share_at_all() -> None:
    said = Suspicion(["a"], np.array([False]), np.array([0.0]), [None])
    told = judge(said, Truth((), "")).to_json()
    assert told["recall"]["value"] is told["precision"]["value"] is told["f1"] is None
    assert told["fpr"] == {
        "hits": 0,
        "total": 1,
        "value": 0.0,
        "low": 0.0,
        "high": pytest.approx(0.975),
    }


def test_the_command_finds_the_marks_of_its_own_maker(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest = tmp_path / "m.jsonl", tmp_path / "m.manifest.jsonl"
    pm.embed(corpus_path, marked, manifest, mark="U1", order="dataset")
    output = tmp_path / "s.parquet"
    done = run(marked, "-m", "concat", "-o", output, "--truth", manifest, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["accuracy"]["recall"]["value"] == 1.0
    assert told["accuracy"]["fpr"]["value"] < 0.01
    assert ET.parse(told["picture"]).getroot().tag.endswith("svg")  # noqa: S314


def test_the_truth_of_another_dataset_is_refused(corpus_path: Path, tmp_path: Path) -> None:
    marked, manifest = tmp_path / "m.jsonl", tmp_path / "m.manifest.jsonl"
    pm.embed(corpus_path, marked, manifest, mark="U1", order="dataset")
    output = tmp_path / "s.parquet"
    done = run(corpus_path, "-m", "concat", "-o", output, "--truth", manifest)
    assert done.exit_code == 2
    assert "another dataset" in done.output
    assert not output.exists()


def test_the_command_speaks_in_words(few: Path, tmp_path: Path) -> None:
    done = run(few, "--method", "concat", "-o", tmp_path / "s.parquet", "--set", "level=first_two")
    assert done.exit_code == 0, done.output
    assert "2 of 5 records are flagged (40.00%) by concat" in done.stdout
    assert "the variable key_value joins key and value" in done.stdout
    assert "syntax errors" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "nothing"], "no 'nothing' among detectors"),
        (["-m", "concat", "--set", "level"], "name=value"),
        (["-m", "concat", "--set", "level=any", "--set", "level=any"], "given twice"),
        (["-m", "decoma"], "--clean"),
    ],
)
def test_a_wrong_call_ends_with_one_sentence(
    few: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = run(few, "-o", tmp_path / "s.parquet", *arguments)
    assert done.exit_code == 2
    assert message in done.output.replace("\n", " ")
    assert not (tmp_path / "s.parquet").exists()


def test_the_picture_shows_a_cut_only_where_the_flags_have_one() -> None:
    scores = np.array([0.0, 1.0, 2.0, 3.0])
    cut = Suspicion(list("abcd"), scores > 1.5, scores, [None] * 4)
    assert "first flagged" in score_picture(cut, "concat")
    mixed = Suspicion(list("abcd"), np.array([0, 1, 0, 1], np.bool_), scores, [None] * 4)
    assert "first flagged" not in score_picture(mixed, "concat")
    assert "1 with the score 0 are not drawn" in score_picture(cut, "concat")
