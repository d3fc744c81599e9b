import json
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from puzzlemark.bench import rq6, rq6_page
from puzzlemark.bench.tuned import Tuning
from puzzlemark.detectors._accuracy import Share, Truth
from puzzlemark.detectors.base import Suspicion
from puzzlemark.errors import UsageError

METHODS = ("concat", "synonym_shadow")
MARKS = ["U1", "synonyms:share=1,entropy=0@0.5", "P3"]
SYNONYMS = "synonyms-share-1-entropy-0-rate-0-5-python"


def suspicion(scores: list[float]) -> Suspicion:
    size = len(scores)
    flagged = np.zeros(size, np.bool_)
    return Suspicion([str(n) for n in range(size)], flagged, np.array(scores), [None] * size)


def test_precision_at_a_recall_counts_all_of_the_last_score() -> None:
    found = suspicion([0.9, 0.8, 0.8, 0.8, 0.1, float("nan")])
    truth = Truth([0, 2, 4, 5], "")
    assert rq6.at_recall(found, truth, 0.25) == Share(1, 1)
    assert rq6.at_recall(found, truth, 0.26) == Share(2, 4)
    assert rq6.at_recall(found, truth, 0.75) == Share(3, 5)
    assert rq6.at_recall(found, truth, 1.0) == Share(4, 6)  # one was not judged
    assert rq6.at_recall(suspicion([0.0] * 8), Truth([3], ""), 0.1) == Share(1, 8)
    assert rq6.at_recall(found, Truth([], ""), 0.1) == Share(0, 0)


def test_a_rate_follows_an_at_sign() -> None:
    (case,) = rq6.cases(["synonyms:share=1@0.02"], ["java"])
    assert (case.name, case.rate) == ("synonyms-share-1-rate-0-02-java", 0.02)
    assert [each.name for each in rq6.cases(["P1", "P3"], ["python"])] == ["P1"]
    with pytest.raises(UsageError):
        rq6.cases(["nothing@0.1"], ["java"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    pytest.importorskip("sklearn")
    made = tmp_path_factory.mktemp("rq6")
    records = [
        {**orjson.loads(line), "repo": f"{n % 4}"}
        for n, line in enumerate(corpus_bytes.splitlines()[:300])
    ]
    (made / "functions.jsonl").write_bytes(b"".join(orjson.dumps(r) + b"\n" for r in records))
    plan = rq6.Plan(methods=METHODS, workers=1)
    said: list[str] = []
    corpora = {"python": made / "functions.jsonl"}
    rq6.run(made / "run", corpora, MARKS, plan, say=said.append)
    assert not any(line.startswith("P3") for line in said)  # no Java dataset was given
    before = {path: path.stat().st_mtime_ns for path in (made / "run").rglob("*.json")}
    rq6.run(made / "run", corpora, MARKS, plan, say=lambda _: None)
    changed = {p.name for p, at in before.items() if p.stat().st_mtime_ns != at}
    assert changed <= {"plan.json"}  # a second run does nothing
    return made / "run"


def test_every_attacker_looks_at_every_set(folder: Path) -> None:
    for name in ("bare-python", "U1", SYNONYMS):
        for method in METHODS:
            assert (folder / name / f"{method}.json").exists()
    loud = json.loads((folder / "U1" / "concat.json").read_text())
    quiet = json.loads((folder / SYNONYMS / "concat.json").read_text())
    assert loud["at_recall"]["0.1"]["value"] > 0.9 > loud["before_at_recall"]["value"]
    assert quiet["accuracy"]["recall"]["hits"] == quiet["before"]["hits"]


def test_canonicalising_touches_more_than_the_carriers(folder: Path) -> None:
    facts = json.loads((folder / SYNONYMS / "canonicalise.json").read_text())
    assert facts["survived"] + facts["broken"] + facts["dropped"] == facts["marks"]
    assert facts["broken"] > 0
    assert facts["clean_changed"] + facts["marks"] >= facts["changed"] > facts["clean_changed"] > 0


def test_projects_stay_in_the_records_and_a_folder_belongs_to_one_plan(folder: Path) -> None:
    from puzzlemark.corpora.base import open_corpus

    record = next(iter(open_corpus(folder / "python" / "bare.jsonl.gz").records()))
    assert record["repo"] in {"0", "1", "2", "3"}
    with pytest.raises(UsageError, match="another plan"):
        rq6.run(folder, {}, [], rq6.Plan(seed=1))


def test_the_page_is_made_of_the_figures_and_holds_no_code(folder: Path, tmp_path: Path) -> None:
    rq6_page.collect(folder, tmp_path / "records" / "small")
    text = rq6_page.page(tmp_path / "records")
    assert text.count("| U1 |") == 4  # what it is, two attackers, what it costs
    assert f"| {SYNONYMS} | synonym_shadow |" in text
    for path in (tmp_path / "records").rglob("*.json"):
        assert "reasons" not in path.read_text()
        assert "strongest" not in path.read_text()


def test_spectral_signature_and_activation_clustering_look_at_a_sample_of_each_set(
    tmp_path: Path, corpus_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for needed in ("torch", "transformers", "sklearn"):
        pytest.importorskip(needed)
    from tests.servers.tiny import make_model

    base = tmp_path_factory.mktemp("tiny")
    make_model(base, positions=2048)
    methods = ("spectral_signature", "activation_clustering")
    plan = rq6.Plan(
        methods=("concat", *methods),
        workers=1,
        base=base,
        # the tiny tokenizer needs many tokens
        tuning=Tuning(functions=40, rate=0.1, longest=400, steps=2, layers=1),
    )
    said: list[str] = []
    rq6.run(tmp_path / "run", {"python": corpus_path}, ["U1"], plan, say=said.append)
    assert any(line.startswith("U1 activation_clustering: recall") for line in said)
    assert not (tmp_path / "run" / "bare-python" / f"{methods[0]}.json").exists()
    rq6_page.collect(tmp_path / "run", tmp_path / "records" / "run")
    text = rq6_page.page(tmp_path / "records")
    for method in methods:
        facts = json.loads((tmp_path / "records" / "run" / "U1" / f"{method}.json").read_text())
        assert (facts["records"], facts["accuracy"]["recall"]["total"]) == (40, 4)
        assert facts["at_recall"]["0.1"]["hits"] >= 1
        assert f"| U1 | {method} | " in text
    recorded = "".join(path.read_text() for path in (tmp_path / "records").rglob("*.json"))
    assert str(tmp_path) not in recorded


def share(hits: int, total: int) -> dict[str, Any]:
    return Share(hits, total).to_json()


def test_the_page_says_what_made_up_records_say(tmp_path: Path) -> None:
    place = tmp_path / "run" / "synonyms-java"
    place.mkdir(parents=True)
    (tmp_path / "run" / "plan.json").write_text('{"records": 100, "seed": 3}')
    marks = {"records": 1000, "marked": 20, "edited": 7, "eligible": 100}
    (place / "marks.json").write_text(json.dumps(marks))
    accuracy = {"recall": share(5, 20), "precision": share(5, 15), "fpr": share(10, 980)}
    found = {"method": "synonym_shadow", "accuracy": accuracy, "before": share(3, 20)}
    found |= {"at_recall": {"0.1": share(2, 8)}, "before_at_recall": share(2, 10)}
    (place / "synonym_shadow.json").write_text(json.dumps(found))
    canonical = {"records": 1000, "changed": 340, "survived": 5, "marks": 20}
    (place / "canonicalise.json").write_text(json.dumps(canonical))
    (tmp_path / "explained.md").write_text("See [it](../../detectors/concat.md).")
    text = rq6_page.page(tmp_path)
    assert "## Java, 1,000 functions (seed 3)" in text
    assert "| synonyms-java | 20 | 7 | 2.00% | 100 (10.0%) | 20.0% |" in text
    assert "| 25.0 (8.7-49.1) | 33.3 (11.8-61.6) | 15.0 (3.2-37.9) | **25.0 (3.2-65.1)** |" in text
    assert "| 34.0 (31.1-37.0) | 25.0 (8.7-49.1) | 75.0% / 1.02% |" in text
    assert "See [it](../detectors/concat.md)." in text


def test_a_run_beyond_another_shares_no_record_with_it(tmp_path: Path, corpus_path: Path) -> None:
    from puzzlemark.corpora.base import open_corpus

    def ids(plan: rq6.Plan) -> set[str]:
        place = tmp_path / str(plan.beyond)
        rq6.run(place, {"python": corpus_path}, [], plan, say=lambda _: None)
        parts = (open_corpus(place / "python" / f"{each}.jsonl.gz") for each in ("bare", "clean"))
        return {entry.id for part in parts for entry in part.entries()}

    first, second = (ids(rq6.Plan(200, beyond=each, methods=())) for each in (0, 200))
    assert len(first) == len(second) == 200
    assert not first & second
    with pytest.raises(UsageError, match="no records are left beyond the first 100,000"):
        ids(rq6.Plan(200, beyond=100_000, methods=()))
