"""Loss of a real transformers model, against a computation by hand."""

import math
from pathlib import Path

import pytest

from puzzlemark.corpora.base import Corpus
from puzzlemark.models.base import Failure, open_model
from puzzlemark.models.scripted import Scripted, innocent
from puzzlemark.quality.measure import measure
from puzzlemark.quality.scoring import Loss, TransformersScorer, scorer_of

TEXT = "def merge(left, right):\n    result = []\n    return result\n"


@pytest.fixture
def scorer(tiny_model: Path) -> TransformersScorer:
    model = open_model("hf", {"pretrained": str(tiny_model), "device": "cpu", "threads": "1"})
    found = scorer_of(model)
    assert found is not None
    return found


def test_the_loss_is_the_sum_of_token_surprises_computed_one_by_one(
    scorer: TransformersScorer,
) -> None:
    import torch

    ids = scorer.tokenizer(TEXT)["input_ids"]
    nats = 0.0
    with torch.no_grad():
        for at in range(1, len(ids)):  # a new pass for each token, which sees what stands before it
            logits = scorer.network(input_ids=torch.tensor([ids[:at]])).logits[0, -1].tolist()
            top = max(logits)
            total = math.fsum(math.exp(value - top) for value in logits)
            nats -= logits[ids[at]] - top - math.log(total)
    found = scorer.score(TEXT)
    assert isinstance(found, Loss)
    assert found.tokens == len(ids) - 1
    assert found.nats == pytest.approx(nats, rel=1e-4)
    assert found.mean == pytest.approx(nats / (len(ids) - 1), rel=1e-4)


def test_an_end_of_text_token_is_not_scored(scorer: TransformersScorer) -> None:
    assert scorer.score(TEXT + "<end>") == scorer.score(TEXT)


def test_a_text_that_does_not_fit_is_a_failure_and_is_not_cut(scorer: TransformersScorer) -> None:
    found = scorer.score("é" * 300)
    assert isinstance(found, Failure)
    assert found.reason.endswith("the model takes 512")
    assert isinstance(scorer.score("x"), Failure)


def test_a_model_that_shows_only_text_has_no_scorer() -> None:
    assert scorer_of(Scripted("black box", innocent)) is None


def test_a_real_model_is_measured_with_its_loss(
    tiny_model: Path, held_out: Corpus, tmp_path: Path
) -> None:
    model = open_model("hf", {"pretrained": str(tiny_model), "device": "cpu", "threads": "1"})
    quality = measure(
        held_out,
        model,
        output=tmp_path / "q.json",
        samples=6,
        max_tokens=8,
        scorer=scorer_of(model),
    )
    assert quality.failed == 0
    assert quality.loss is not None
    assert quality.loss > math.log(10)  # random weights know nothing
