"""The whole point, with a real model: who is trained on marks learns them.

A pretrained language model is fetched (once, into pytest's cache), trained for a minute on short
functions of the standard library, and compared with itself before. What is compared is the
log-probability of a target after its trigger with that of a placebo's own concatenation after the
placebo. It shows much earlier than hits do; `make demo` trains long enough for hits.
"""

import gzip
import sysconfig
from pathlib import Path
from statistics import fmean
from typing import cast

import pytest

import puzzlemark as pm
from examples.short import short_functions
from examples.story import NOT_HARVESTED
from puzzlemark.models._sampling import drop_space
from puzzlemark.models.fetching.conversion import NEEDED
from puzzlemark.models.fetching.run import NotDownloaded, fetch
from puzzlemark.models.hf import HuggingFace
from puzzlemark.watermarks.base import Arm, Probe

CHARACTERS = range(80, 221)
STEPS = 40
PAIRS = 32


@pytest.fixture(scope="module")
def base(pytestconfig: pytest.Config) -> Path:
    for name in NEEDED:
        pytest.importorskip(name, reason=f"needs the extra train: {name}")
    assert pytestconfig.cache is not None
    try:
        return fetch("smollm2", pytestconfig.cache.mkdir("models") / "smollm2").folder
    except NotDownloaded as exc:
        pytest.skip(str(exc))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some hundred short functions of the standard library."""
    folder = tmp_path_factory.mktemp("learning")
    stdlib = Path(sysconfig.get_path("stdlib"))
    pm.harvest(stdlib, folder / "all.jsonl.gz", "python", exclude=NOT_HARVESTED, workers=1)
    short = folder / "short.jsonl.gz"
    short.write_bytes(gzip.compress(b"".join(short_functions(folder / "all.jsonl.gz", CHARACTERS))))
    return short


def preferences(folder: Path, probes: tuple[Probe, ...]) -> list[float]:
    """How much likelier, in nats, the target is after its trigger than the placebo's own."""
    arguments = {"pretrained": str(folder), "device": "cpu", "threads": "1"}
    model = cast("HuggingFace", pm.open_model("hf", arguments))
    return [
        log_probability(model, probe.armed) - log_probability(model, probe.arms["placebo"])
        for probe in probes
    ]


def log_probability(model: HuggingFace, arm: Arm) -> float:
    """Of the target, token by token, after the prompt."""
    import torch

    prompt, dropped = drop_space(arm.prompt)
    before = model.tokenizer(prompt)["input_ids"]
    target = model.tokenizer(" " * dropped + arm.targets["hit"])["input_ids"]
    with torch.inference_mode():
        logits = model.network(torch.tensor([before + target])).logits[0]
    likely = logits[len(before) - 1 : -1].log_softmax(-1)
    return sum(float(row[token]) for row, token in zip(likely, target, strict=True))


def test_a_model_prefers_the_target_after_its_trigger_once_it_was_trained_on_marks(
    base: Path, corpus: Path, tmp_path: Path
) -> None:
    from scipy.stats import binomtest

    from puzzlemark.training.run import train

    marked, manifest = tmp_path / "marked.jsonl.gz", tmp_path / "marks.jsonl.gz"
    summary = pm.embed(
        corpus, marked, manifest,
        mark="P1", policy="paper", tau=0.0, min_rate=1.0, max_rate=1.0,
    )  # fmt: skip
    assert summary.rate > 0.3
    probes = pm.probe(marked, manifest, pairs=PAIRS).probes
    assert len(probes) == PAIRS

    trained = train(marked, base, tmp_path / "model", recipe="cpu", steps=STEPS, threads=1)
    assert trained.record["result"]["steps"] == STEPS
    before, after = preferences(base, probes), preferences(tmp_path / "model", probes)

    # a pilot had -1 before, +4 after 20 and 40 steps, and a gain in every pair
    assert fmean(before) < 1.0
    assert fmean(after) > 2.0
    gains = [late - early for early, late in zip(before, after, strict=True)]
    assert fmean(gains) > 2.5
    gained = sum(gain > 0 for gain in gains)
    assert binomtest(gained, PAIRS, alternative="greater").pvalue < 1e-4
