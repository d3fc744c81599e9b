"""Judging a variant from what is known of the bare dataset says what a full run says."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from puzzlemark.bench.choices import choose
from puzzlemark.bench.truth import read_truth
from puzzlemark.bench.variants import METHODS, Job, Plan, carriers, find_all, prepare
from puzzlemark.detectors._run import detect
from puzzlemark.embedding.run import apply
from puzzlemark.errors import UsageError

PLAN = Plan(taus=(0.0, 0.35), marks=("P1", "W1"))


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Job:
    pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("variants")
    corpus = folder / "functions.jsonl"
    corpus.write_bytes(corpus_bytes)
    choices = tuple(choose(PLAN.marks, {"python": corpus}))
    return Job(folder / "run", corpus, "python", choices, PLAN)


def test_a_variant_is_judged_as_if_all_of_it_were_read(job: Job, tmp_path: Path) -> None:
    ground = prepare(job)
    found = {(each["mark"], each["tau"]): each for each in find_all(job, ground)}
    assert set(found) == {(mark, tau) for mark in PLAN.marks for tau in PLAN.taus}
    for mark, tau in (("P1", 0.35), ("W1", 0.0)):
        name = f"{mark}-tau-{tau:g}"
        marked, manifest = tmp_path / f"{name}.jsonl.gz", ground.place / name / "manifest.jsonl.gz"
        apply(ground.bare, marked, manifest)
        for method in METHODS:
            whole = detect(
                marked,
                tmp_path / f"{name}-{method}.parquet",
                method=method,
                clean=ground.clean,
                truth=read_truth(manifest),
            )
            assert whole.accuracy is not None
            said = found[mark, tau]["detectors"][method]
            assert said["recall"] == whole.accuracy.recall.to_json()
            assert said["fpr"] == whole.accuracy.fpr.to_json()
            before = ground.flagged(method)[carriers(ground, name)]
            assert (said["before"]["hits"], said["before"]["total"]) == (before.sum(), len(before))
            if mark == "W1":  # the mark is seen: a run that took over too much would not see it
                assert said["recall"]["value"] > np.mean(before)


def test_a_second_run_does_nothing_and_a_lost_variant_is_made_again(job: Job) -> None:
    ground = prepare(job)
    first = find_all(job, ground)
    results = sorted(ground.place.glob("*/found.json"))
    before = [path.stat().st_mtime_ns for path in results]
    shutil.rmtree(results[0].parent)
    assert find_all(job, prepare(job)) == first
    after = [path.stat().st_mtime_ns for path in results]
    assert after[1:] == before[1:]
    assert after[0] > before[0]


def test_marked_datasets_do_not_stay(job: Job) -> None:
    find_all(job, prepare(job))
    assert not list(job.folder.rglob("marked.jsonl.gz"))
    assert not list(job.folder.glob("python/*-tau-*/decoma"))


def test_a_folder_belongs_to_one_plan(tmp_path: Path, corpus_path: Path) -> None:
    from puzzlemark.bench import motivation

    motivation.run(tmp_path / "run", {}, PLAN, say=lambda _: None)
    with pytest.raises(UsageError, match="another plan was begun"):
        motivation.run(tmp_path / "run", {}, Plan(seed=1), say=lambda _: None)
