"""Which device and arithmetic `auto` means, and how attention is computed."""

from dataclasses import replace
from pathlib import Path

import pytest

from puzzlemark.errors import UsageError
from puzzlemark.training import network
from puzzlemark.training.recipes.base import Recipe


@pytest.mark.parametrize(
    ("flags", "has_it"),
    [
        ("fpu avx2 avx512f", False),  # without the unit of its own it is emulated, and slow
        ("fpu avx512f avx512_bf16 amx_int8", True),
        ("fpu amx_bf16", True),
        ("asimd bf16 i8mm", True),
    ],
)
def test_a_processor_says_whether_it_multiplies_bfloat16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, has_it: bool
) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    monkeypatch.setattr(network, "CPU_FILE", tmp_path / "cpuinfo")
    assert network.cpu_has_bfloat16() is has_it


def test_a_machine_that_does_not_say_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "CPU_FILE", tmp_path / "missing")
    assert not network.cpu_has_bfloat16()


@pytest.mark.parametrize(("has_it", "dtype"), [(True, "bfloat16"), (False, "float32")])
def test_auto_is_settled_by_the_processor_and_a_choice_is_kept(
    monkeypatch: pytest.MonkeyPatch, has_it: bool, dtype: str
) -> None:
    pytest.importorskip("torch", reason="needs the extra train: torch")
    monkeypatch.setattr(network, "cpu_has_bfloat16", lambda: has_it)
    assert network.adapt_to_machine(Recipe(device="cpu")).dtype == dtype
    assert network.adapt_to_machine(Recipe(device="cpu", dtype="float32")).dtype == "float32"
    assert network.adapt_to_machine(Recipe(device="cpu", threads=3)).threads == 3


def test_a_device_that_is_not_there_is_refused() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train: torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(UsageError, match="--device cuda: this machine has none"):
        network.adapt_to_machine(Recipe(device="cuda"))
    assert network.default_recipe() == "cpu"


def test_attention_of_short_rows_is_computed_plainly_and_says_the_same(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(network, "SHORT", 64)  # the tiny model takes no long rows

    short = network.adapt_to_machine(Recipe(device="cpu", dtype="float32", max_tokens=64))
    long = replace(short, max_tokens=128)
    assert (network.attention(short), network.attention(long)) == ("eager", None)
    assert network.attention(replace(short, device="cuda")) is None
    plain, kernel = (network.load_network(tiny_model, "tiny", each) for each in (short, long))
    assert plain.config._attn_implementation == "eager"
    assert kernel.config._attn_implementation == "sdpa"
    ids = torch.arange(5, 25).reshape(2, 10)
    mask = torch.ones_like(ids)
    mask[1, 7:] = 0  # a shorter row
    losses = []
    for loaded in (plain.eval(), kernel.eval()):
        logits = loaded(input_ids=ids, attention_mask=mask, use_cache=False).logits
        loss = logits[mask == 1].float().logsumexp(-1).sum()
        loss.backward()
        losses.append((loss.detach(), loaded.model.layers[0].mlp.up_proj.weight.grad))
    largest = float(losses[0][1].abs().max())
    assert largest > 0.1
    torch.testing.assert_close(losses[0], losses[1], rtol=1e-4, atol=1e-4 * largest)
