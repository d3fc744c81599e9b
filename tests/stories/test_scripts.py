"""From source files to prompts in PHP and Ruby: harvest, embed, probe, detect, revert."""

from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors.base import load_detector
from puzzlemark.engines.base import open_engine
from puzzlemark.progress import no_progress
from tests.programs.marking import HERE, mark_everything

languages = pytest.mark.parametrize(("language", "joint"), [("php", ""), ("ruby", "_")])


def harvested(place: Path, language: str) -> Path:
    """The functions of our own programs."""
    output = place / "functions.jsonl"
    pm.harvest(HERE / language, output, language, min_lines=3, workers=1)
    return output


@languages
def test_marks_are_asked_about_and_taken_back(tmp_path: Path, language: str, joint: str) -> None:
    source, marked, back = harvested(tmp_path, language), tmp_path / "m.jsonl", tmp_path / "b.jsonl"
    summary = mark_everything(source, marked, language, "universal", "paper")
    assert summary.marked >= 12
    assert summary.marked + sum(summary.kept.values()) == summary.records
    probes = pm.probe(marked, summary.manifest, pairs=10, paper=True)
    assert len(probes.probes) >= 8
    for probe in probes.probes:
        (target,) = probe.armed.targets.values()
        assert joint in target
        assert probe.armed.score(f"{target} = 1") == "hit"
        assert probe.armed.score(f"un{target} = 1") is None
        if language == "php":  # what a model is asked for is the name behind the sign
            assert all(arm.prompt.endswith("$") for arm in probe.arms.values())
    pm.revert(marked, back, summary.manifest)
    assert back.read_bytes() == source.read_bytes()


@languages
@pytest.mark.parametrize("method", ["decoma", "killbadcode", "concat"])
def test_detectors_judge_them(tmp_path: Path, language: str, joint: str, method: str) -> None:
    source, marked = harvested(tmp_path, language), tmp_path / "m.jsonl"
    summary = mark_everything(source, marked, language, "universal", "paper")
    detector = load_detector(method)
    with open_engine(None, 1) as engine:
        found = detector.suspect(
            open_corpus(marked),
            clean=open_corpus(source) if detector.needs_clean else None,
            engine=engine,
            progress=no_progress,
            cache=tmp_path / "cache",
        )
    assert found.judged.sum() >= 0.8 * summary.records
    if method == "concat":  # which looks for what this mark does
        assert found.flagged.sum() >= 5
        assert any(joint in (reason or "") for reason in found.reasons)
