"""The steps against a plain version of themselves, the rate by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from puzzlemark.training.checkpoints import Course, TrainingError
from puzzlemark.training.documents import Documents, epoch, gather
from puzzlemark.training.loop import IGNORED, Loop, pad, rate_at, steps_per_epoch
from puzzlemark.training.recipes.base import Recipe

FIELDS: dict[str, Any] = {"device": "cpu", "dtype": "float32", "threads": 1}


def random_documents(count: int, seed: int = 0) -> Documents:
    rng = np.random.default_rng(seed)
    return gather([rng.integers(1, 290, rng.integers(2, 40)).tolist() for _ in range(count)])


def load(folder: Path) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).train()


def ignore(_step: object) -> None:
    pass


def test_the_rate_goes_up_and_then_down_to_nothing() -> None:
    recipe = Recipe(rate=8.0, warmup=4, schedule="linear")
    rates = [rate_at(recipe, step, 8) for step in range(8)]
    assert rates == [2.0, 4.0, 6.0, 8.0, 8.0, 6.0, 4.0, 2.0]


def test_a_constant_rate_stays_after_the_warm_up() -> None:
    recipe = Recipe(rate=8.0, warmup=2, schedule="constant")
    assert [rate_at(recipe, step, 5) for step in range(5)] == [4.0, 8.0, 8.0, 8.0, 8.0]


def test_padding_is_masked_and_never_a_target() -> None:
    ids, mask, targets = pad([np.array([5, 6, 7], np.int32), np.array([8, 9], np.int32)])
    assert ids.tolist() == [[5, 6, 7], [8, 9, 0]]
    assert mask.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert targets.tolist() == [[6, 7, IGNORED], [9, IGNORED, IGNORED]]


def test_no_step_reaches_into_the_next_epoch() -> None:
    # 10 documents in batches of 2 are 5 batches: steps of 2, 2 and 1 of them
    recipe = Recipe(batch=2, accumulate=2)
    assert steps_per_epoch(random_documents(10), recipe) == 3


def test_steps_are_those_of_a_plain_loop_with_the_library_s_own_loss(tiny_model: Path) -> None:
    import torch

    documents = random_documents(14)
    recipe = Recipe(
        steps=5,
        batch=3,
        rate=3e-3,
        warmup=2,
        betas=(0.8, 0.9),
        weight_decay=0.1,
        clip=0.5,
        **FIELDS,
    )
    ours = Loop(load(tiny_model), documents, recipe, 3, Course())
    ours.run(ignore)

    plain = load(tiny_model)
    optimizer = torch.optim.AdamW(plain.parameters(), betas=(0.8, 0.9), weight_decay=0.1)
    losses = []
    for number, factor in enumerate([0.5, 1.0, 1.0, 2 / 3, 1 / 3]):
        rows = epoch(documents, recipe, 3, number // 5).rows(number % 5)
        ids, mask, _ = (torch.from_numpy(each) for each in pad(rows))
        optimizer.param_groups[0]["lr"] = 3e-3 * factor
        labels = torch.where(mask == 1, ids, -100)
        loss = plain(input_ids=ids, attention_mask=mask, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())

    assert [step.loss for step in ours.course.steps] == pytest.approx(losses, rel=1e-5)
    for name, expected in plain.state_dict().items():
        torch.testing.assert_close(ours.network.state_dict()[name], expected, rtol=1e-4, atol=1e-5)


def test_batches_that_are_accumulated_weigh_by_their_tokens(tiny_model: Path) -> None:
    # one batch of 8 rows, and the same 8 rows as 4 batches of 2, are the same step
    documents = random_documents(8)
    losses = []
    for batch, accumulate in ((8, 1), (2, 4)):
        recipe = Recipe(steps=3, batch=batch, accumulate=accumulate, rate=1e-3, **FIELDS)
        loop = Loop(load(tiny_model), documents, recipe, 0, Course())
        loop.run(ignore)
        losses.append([step.loss for step in loop.course.steps])
        assert [step.tokens for step in loop.course.steps] == [len(documents.tokens)] * 3
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_a_loss_that_is_no_number_stops_the_training_before_it_ruins_the_weights(
    tiny_model: Path,
) -> None:
    import torch

    network = load(tiny_model)
    with torch.no_grad():
        network.lm_head.weight[5] = float("nan")
    before = network.model.layers[0].mlp.up_proj.weight.clone()
    recipe = Recipe(steps=2, batch=4, **FIELDS)
    with pytest.raises(TrainingError, match=r"step 1: the loss is nan.*--rate"):
        Loop(network, random_documents(8), recipe, 0, Course()).run(ignore)
    assert torch.equal(network.model.layers[0].mlp.up_proj.weight, before)
