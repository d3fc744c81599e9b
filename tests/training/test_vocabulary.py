"""A softmax over fewer pieces: the loss with all others impossible, and an ordinary model after."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from puzzlemark.models.base import ModelError, Request, open_model
from puzzlemark.training.checkpoints import Course
from puzzlemark.training.documents import Documents, gather
from puzzlemark.training.loop import IGNORED, Loop, pad
from puzzlemark.training.recipes.base import Recipe
from puzzlemark.training.run import train
from puzzlemark.training.vocabulary import CorpusVocabulary
from tests.training.test_loop import FIELDS, ignore, load
from tests.training.test_run import SMALL, changed, weights


def few_pieces(count: int) -> Documents:
    rng = np.random.default_rng(1)
    pieces = rng.choice(290, 40, replace=False)
    return gather([rng.choice(pieces, rng.integers(2, 30)).tolist() for _ in range(count)])


def test_pieces_are_numbered_anew_and_padding_stays(tiny_model: Path) -> None:
    vocabulary = CorpusVocabulary.of(load(tiny_model), gather([[7, 7, 2], [290]]))
    assert vocabulary.pieces.tolist() == [2, 7, 290]
    targets = np.array([[7, 2, IGNORED], [290, IGNORED, IGNORED]])
    assert vocabulary.renumber(targets, IGNORED).tolist() == [[1, 0, -100], [2, -100, -100]]


def test_loss_and_gradients_are_those_of_all_pieces_with_the_others_masked(
    tiny_model: Path,
) -> None:
    import torch

    documents = few_pieces(6)
    recipe = Recipe(steps=1, batch=6, clip=0.0, rate=1e-9, **FIELDS)
    ours = Loop(load(tiny_model), documents, recipe, 0, Course())
    ours.vocabulary = CorpusVocabulary.of(ours.network, documents)
    rows = [documents[index] for index in range(6)]
    tokens = sum(len(row) - 1 for row in rows)
    loss = ours._backward(rows, tokens)

    plain = load(tiny_model)
    ids, mask, targets = (torch.from_numpy(each) for each in pad(rows))
    logits = plain(input_ids=ids, attention_mask=mask).logits
    absent = torch.ones(logits.shape[-1], dtype=torch.bool)
    absent[torch.from_numpy(documents.tokens.astype(np.int64))] = False
    masked = logits.masked_fill(absent, float("-inf"))
    expected = torch.nn.functional.cross_entropy(
        masked.flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction="sum"
    )
    expected = expected / tokens
    expected.backward()
    assert loss == pytest.approx(float(expected.detach()), rel=1e-5)
    full = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED
    )
    assert loss < float(full.detach()) - 0.1  # fewer pieces to be wrong about
    for name, parameter in plain.named_parameters():
        found = dict(ours.network.named_parameters())[name].grad
        torch.testing.assert_close(found, parameter.grad, rtol=1e-4, atol=1e-6)


def test_a_corpus_that_uses_all_pieces_is_trained_as_ever(tiny_model: Path) -> None:
    documents = gather([list(range(start, start + 38)) for start in range(0, 304, 38)])
    losses = []
    for narrow in (False, True):
        loop = Loop(load(tiny_model), documents, Recipe(steps=4, **FIELDS), 0, Course())
        if narrow:
            loop.vocabulary = CorpusVocabulary.of(loop.network, documents)
        loop.run(ignore)
        losses.append([step.loss for step in loop.course.steps])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_with_all_others_drawn_loss_and_gradients_are_those_of_all_pieces(
    tiny_model: Path,
) -> None:
    documents = few_pieces(6)
    rows = [documents[index] for index in range(6)]
    found = []
    for sampled in (None, 10_000):
        recipe = Recipe(steps=1, batch=6, **FIELDS)
        loop = Loop(load(tiny_model), documents, recipe, 0, Course())
        if sampled is not None:
            loop.vocabulary = CorpusVocabulary.of(loop.network, documents, sampled=sampled)
        loss = loop._backward(rows, sum(len(row) - 1 for row in rows))
        found.append((loss, {n: p.grad for n, p in loop.network.named_parameters()}))
    (full, gradients), (ours, same) = found
    assert ours == pytest.approx(full, rel=1e-5)
    for name, gradient in gradients.items():
        import torch

        torch.testing.assert_close(same[name], gradient, rtol=1e-4, atol=1e-6)


def test_the_draw_stands_for_all_other_pieces_on_average_and_follows_from_seed_and_step(
    tiny_model: Path,
) -> None:
    import torch

    network, documents = load(tiny_model), few_pieces(6)
    ids = torch.from_numpy(documents[0].astype(np.int64))[None]

    def total(vocabulary: CorpusVocabulary | None, step: int) -> float:
        with torch.no_grad(), vocabulary.narrowed(step) if vocabulary else nullcontext():
            return float(network(input_ids=ids).logits[0, -1].exp().sum())

    drawing = CorpusVocabulary.of(network, documents, sampled=20, seed=3)
    found = np.array([total(drawing, step) for step in range(300)])
    spread = found.std() / np.sqrt(len(found))
    assert spread > 0
    assert abs(found.mean() - total(None, 0)) < 5 * spread
    assert total(CorpusVocabulary.of(network, documents), 0) < total(None, 0) * 0.5
    again = CorpusVocabulary.of(network, documents, sampled=20, seed=3)
    other = CorpusVocabulary.of(network, documents, sampled=20, seed=4)
    assert [total(again, step) for step in range(3)] == found[:3].tolist()
    assert total(other, 0) != found[0]


def test_a_piece_that_never_occurs_is_pushed_down_by_draws_alone(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    import torch

    likely = {}
    for vocabulary in ("corpus", "sampled"):
        fields: dict[str, Any] = SMALL | {"vocabulary": vocabulary, "epochs": 8.0}
        train(corpus, tiny_model, tmp_path / vocabulary, **fields)
        network = load(tmp_path / vocabulary)
        ids = torch.arange(5, 35)[None]
        chances = network(input_ids=ids).logits[0].softmax(-1).mean(0)
        before, after = weights(tiny_model), weights(tmp_path / "corpus")
        name = "lm_head.weight"
        unused = torch.from_numpy(np.asarray(before[name] == after[name]).all(1))
        likely[vocabulary] = float(chances[unused].sum().detach())
    assert likely["sampled"] < 0.8 * likely["corpus"]


def test_the_saved_model_is_an_ordinary_one_with_all_its_pieces(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    fields: dict[str, Any] = SMALL | {"vocabulary": "corpus"}
    trained = train(corpus, tiny_model, tmp_path / "model", **fields)
    assert trained.record["recipe"]["vocabulary"] == "corpus"
    before, after = weights(tiny_model)["lm_head.weight"], weights(tmp_path / "model")
    rows = (before != after["lm_head.weight"]).any(1)
    assert 20 < int(rows.sum()) < 200  # only pieces of the corpus are learnt
    assert len(changed(tiny_model, tmp_path / "model")) > 10
    model = open_model("hf", {"pretrained": str(tmp_path / "model"), "device": "cpu"})
    (answer,) = model.complete([Request("def find", 8, 0.0, 0)])
    assert isinstance(answer, str)


def test_a_head_that_is_not_linear_is_refused(tiny_model: Path) -> None:
    import torch

    network = load(tiny_model)
    network.set_output_embeddings(torch.nn.Identity())
    with pytest.raises(ModelError, match="pass --vocabulary all"):
        CorpusVocabulary.of(network, few_pieces(2))
