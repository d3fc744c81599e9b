"""What frozen layers make of a row is computed once: the same weights, and never another's row."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from puzzlemark.errors import UsageError
from puzzlemark.models.base import ModelError
from puzzlemark.training.checkpoints import TrainingError
from puzzlemark.training.documents import Tokens
from puzzlemark.training.frozen import FrozenLayers, States, StateStore
from puzzlemark.training.loop import Moment
from puzzlemark.training.run import train
from tests.training.conftest import CODES, write_corpus
from tests.training.test_resuming import assert_same, kill_at
from tests.training.test_run import weights

TOP: dict[str, Any] = {
    "recipe": "cpu",
    "layers": 1,
    "rate": 3e-3,
    "epochs": 2.0,
    "dtype": "float32",
}
ONCE = TOP | {"frozen": "once"}
FAST: dict[str, Any] = TOP | {
    "recipe": "cpu_fast",
    "epochs": None,
    "steps": 20,
    "checkpoint_every": 3,
}


def rows_in(cache: Path) -> list[Path]:
    return sorted(cache.glob("*/*/*.npy"))


def test_a_cold_cache_a_warm_one_and_none_give_the_same_bytes(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    first = train(corpus, tiny_model, tmp_path / "cold", cache=tmp_path / "cache", **ONCE)
    again = train(corpus, tiny_model, tmp_path / "warm", cache=tmp_path / "cache", **ONCE)
    train(corpus, tiny_model, tmp_path / "none", **ONCE)
    assert first.record["times"]["rows_computed"] == len(CODES) == len(rows_in(tmp_path / "cache"))
    assert "rows_computed" not in again.record["times"]
    assert_same(tmp_path / "cold", tmp_path / "warm")
    assert_same(tmp_path / "cold", tmp_path / "none")


def test_the_weights_are_those_of_computing_every_step_but_for_rounding(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    import torch

    train(corpus, tiny_model, tmp_path / "each", **TOP)
    train(corpus, tiny_model, tmp_path / "once", **ONCE)
    expected, found = weights(tmp_path / "each"), weights(tmp_path / "once")
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-3, atol=1e-4)
    base = weights(tiny_model)
    moved = max(float((expected[name] - base[name]).abs().max()) for name in base)
    assert moved > 0.01  # so far went the training: the two could have differed


def test_a_row_alone_has_the_states_that_it_has_among_others(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    """The numbers of a padded batch, by a plain hook, are those of the store but for rounding."""
    import torch
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32).eval()
    rows = [np.arange(3, 40, dtype=np.int32), np.arange(50, 60, dtype=np.int32)]
    ids, mask = torch.zeros(2, 37, dtype=torch.long), torch.zeros(2, 37, dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, : len(row)], mask[place, : len(row)] = torch.from_numpy(row.astype(np.int64)), 1
    seen = []
    hook = network.model.layers[1].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    with torch.no_grad():
        network(input_ids=ids, attention_mask=mask)
    hook.remove()
    frozen = FrozenLayers(network, network.model.layers, 1, StateStore(None, {}))
    for place, row in enumerate(rows):
        alone = frozen._record(row)
        np.testing.assert_allclose(alone, seen[0][place, : len(row)], rtol=1e-4, atol=1e-5)


def test_weights_that_are_turned_once_give_what_autocast_gives(tiny_model: Path) -> None:
    """To the last bit; and where nothing is recorded the network computes as it did."""
    import torch
    from transformers import AutoModelForCausalLM

    def coarse() -> Any:
        return torch.autocast("cpu", torch.bfloat16)

    network = AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32).eval()
    row = np.arange(3, 40, dtype=np.int32)
    ids = torch.from_numpy(row.astype(np.int64))[None]
    seen = []
    hook = network.model.layers[1].register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    with torch.no_grad():
        fine = network(input_ids=ids).logits
        with coarse():
            network(input_ids=ids)
    hook.remove()
    frozen = FrozenLayers(network, network.model.layers, 1, StateStore(None, {}), coarse)
    linear = network.model.layers[0].mlp.up_proj
    turned: list[torch.dtype] = []
    plain = torch.nn.functional.linear

    def watched(states: Any, weight: Any, bias: Any = None) -> Any:
        turned.append(weight.dtype)
        return plain(states, weight, bias)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "linear", watched)
        linear.forward = frozen._or_turned(linear, torch.bfloat16)
        recorded = frozen._record(row)
    assert turned == [torch.bfloat16]
    assert np.array_equal(recorded, seen[1][0].float().numpy())
    assert not np.array_equal(recorded, seen[0][0].numpy())  # fine and coarse numbers differ
    with torch.no_grad():
        assert torch.equal(network(input_ids=ids).logits, fine)
    assert linear.weight.dtype == torch.float32


def test_a_changed_function_is_computed_and_the_others_are_not(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    train(corpus, tiny_model, tmp_path / "first", cache=cache, **ONCE)
    write_corpus(tmp_path / "other.jsonl", [CODES[0].replace("result", "key_result"), *CODES[1:]])
    other = train(tmp_path / "other.jsonl", tiny_model, tmp_path / "other", cache=cache, **ONCE)
    assert other.record["times"]["rows_computed"] == 1
    train(tmp_path / "other.jsonl", tiny_model, tmp_path / "alone", **ONCE)
    assert_same(tmp_path / "other", tmp_path / "alone")


def test_another_base_or_another_number_of_layers_never_hits(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    from tests.servers.tiny import make_model

    make_model(tmp_path / "base" / "tiny", seed=1)
    cache = tmp_path / "cache"
    train(corpus, tiny_model, tmp_path / "first", cache=cache, **ONCE)
    for name, base, fields in (
        ("another", tmp_path / "base" / "tiny", ONCE),
        ("deeper", tiny_model, ONCE | {"layers": 2}),
    ):
        trained = train(corpus, base, tmp_path / name, cache=cache, **fields)
        assert trained.record["times"]["rows_computed"] == len(CODES)
        train(corpus, base, tmp_path / f"{name}-alone", **fields)
        assert_same(tmp_path / name, tmp_path / f"{name}-alone")
    assert len(list(cache.iterdir())) == 3
    about = json.loads(next(cache.glob("*/about.json")).read_text())
    assert set(about) >= {"frozen", "layers", "dtype", "torch"}


def test_a_model_that_is_trained_further_finds_what_its_base_had_made(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    train(corpus, tiny_model, tmp_path / "first", cache=cache, **ONCE)
    second = train(corpus, tmp_path / "first", tmp_path / "second", cache=cache, **ONCE)
    assert second.record["times"].get("rows_computed", 0) == 0
    train(corpus, tmp_path / "first", tmp_path / "alone", **ONCE)
    assert_same(tmp_path / "second", tmp_path / "alone")


def states(fill: float = 1.0) -> Callable[[], States]:
    return lambda: np.full((3, 2), fill, np.float32)


ROW: Tokens = np.array([1, 2, 3], np.int32)


@pytest.mark.parametrize("damage", ["cut", "empty", "other", "pickle"])
def test_a_damaged_file_is_computed_again(tmp_path: Path, damage: str) -> None:
    store = StateStore(tmp_path, {"base": "a"})
    store.states(ROW, states())
    (path,) = rows_in(tmp_path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other":
        np.save(path, np.ones((4, 2), np.float32))
    else:
        np.save(path, np.array([{"a": 1}]), allow_pickle=True)
    assert store.states(ROW, states(2.0))[0, 0] == 2.0
    assert store.take_computed() == 2
    assert StateStore(tmp_path, {"base": "a"}).states(ROW, states(3.0))[0, 0] == 2.0


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX")
def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match=r"--cache .*file: cannot be written"):
        StateStore(tmp_path / "file", {})


def test_a_killed_fast_training_ends_with_the_very_same_weights(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    fields = {name: value for name, value in FAST.items() if value is not None}
    kill_at(6, corpus, tiny_model, tmp_path / "killed", fields)
    resumed = train(corpus, tiny_model, tmp_path / "killed", **fields)
    assert resumed.record["times"]["starts"] == 2
    train(corpus, tiny_model, tmp_path / "whole", **fields)
    assert_same(tmp_path / "killed", tmp_path / "whole")
    assert not (tmp_path / "whole" / "checkpoint").exists()  # and so no states of it


def test_between_steps_the_network_is_an_ordinary_one(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(
        tiny_model, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    ids = torch.arange(5, 25)[None]
    checked = []

    def watch(moment: Moment) -> None:
        plain.load_state_dict(moment.network.state_dict())
        moment.network.eval()
        with torch.no_grad():
            ours, expected = moment.network(ids).logits, plain(ids).logits
        assert ours.shape == expected.shape == (1, 20, 304)
        assert torch.equal(ours, expected)
        checked.append(moment.step.step)

    fields = TOP | {"recipe": "cpu_fast", "epochs": 1.0}
    train(corpus, tiny_model, tmp_path / "model", watch=watch, **fields)
    assert checked == [1, 2, 3, 4, 5, 6]


def test_a_model_with_positions_and_dropout_below_can_do_without_its_layers_too(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    """GPT-2 adds something to what it is given, and its dropout must not be kept."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=304,
        n_positions=128,
        n_embd=32,
        n_layer=3,
        n_head=4,
        initializer_range=0.5,
        bos_token_id=0,
        eos_token_id=0,
        embd_pdrop=0.5,
        resid_pdrop=0.0,
        attn_pdrop=0.0,
    )
    torch.manual_seed(0)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt2")
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(tmp_path / "gpt2")
    train(corpus, tmp_path / "gpt2", tmp_path / "once", **ONCE)
    config.embd_pdrop = 0.0
    config.save_pretrained(tmp_path / "gpt2")
    train(corpus, tmp_path / "gpt2", tmp_path / "each", **TOP)
    found, expected = (
        [json.loads(line)["loss"] for line in (tmp_path / name / "loss.jsonl").read_text().split()]
        for name in ("once", "each")
    )
    assert found == pytest.approx(expected, rel=1e-3)
    assert found[-1] < found[0] - 0.5


def test_a_network_that_does_not_fit_is_refused(
    tiny_model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FrozenLayers, "_record", lambda _, row: np.ones((len(row), 32), np.float32))
    with pytest.raises(ModelError, match="pass --frozen each_step"):
        train(corpus, tiny_model, tmp_path / "model", **ONCE)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"recipe": "cpu", "frozen": "once", "part": "all"}, "--frozen has no effect with --part"),
        ({"recipe": "cpu_fast", "part": "all"}, "--frozen once needs --part top"),
        (ONCE | {"batching": "packed"}, "--frozen once needs --part top and --batching bucketed"),
        (TOP | {"cache": "cache"}, "--cache has no effect with --frozen each_step"),
    ],
)
def test_what_cannot_be_computed_once_is_refused(
    tiny_model: Path, corpus: Path, tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        train(corpus, tiny_model, tmp_path / "model", **fields)
    assert not (tmp_path / "model").exists()


def test_a_cache_lies_apart_from_what_is_read_and_written(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    for place in (tmp_path / "model" / "cache", tiny_model / "cache"):
        with pytest.raises(UsageError, match=r"--cache .* lies inside|contains"):
            train(corpus, tiny_model, tmp_path / "model", cache=place, **ONCE)
