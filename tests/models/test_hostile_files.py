"""Model files that mean harm: no program in them is run, and what to do is a sentence."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.models.base import ModelError, Request, open_model
from puzzlemark.models.encoders.base import open_encoder
from puzzlemark.training.network import find_base


class Program:
    """When it is unpickled, it writes a file."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (f"open({str(self.trace)!r}, 'w').close()",)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A file that is there when a program was run."""
    return tmp_path / "it-was-run"


@pytest.fixture
def folder(tiny_model: Path, tmp_path: Path) -> Path:
    """A sound model, to be spoiled."""
    copy = tmp_path / "model"
    shutil.copytree(tiny_model, copy)
    return copy


def plant(path: Path, trace: Path) -> None:
    """Write the program both ways in which torch writes a file of weights."""
    import torch

    if path.stem.endswith("model"):
        path.write_bytes(pickle.dumps(Program(trace), protocol=2))
    else:
        torch.save({"weights": Program(trace)}, path)


def change(path: Path, **fields: object) -> None:
    read = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(read | fields))


def complete(folder: Path, **args: str) -> object:
    model = open_model("hf", {"pretrained": str(folder), "threads": "1", **args})
    return model.complete([Request("x", 4, 0.0, 0)])


def open_everywhere(folder: Path, words: str) -> None:
    """Every door to a model folder refuses this one."""
    with pytest.raises(ModelError, match=words):
        complete(folder)
    with pytest.raises(ModelError, match=words):
        open_encoder("hf", {"pretrained": str(folder), "threads": "1"}).encode(["x"])


def test_the_program_works_when_somebody_opens_it(trace: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra hf: torch")
    plant(tmp_path / "model.bin", trace)
    pickle.loads((tmp_path / "model.bin").read_bytes())  # noqa: S301 (it is ours)
    assert trace.exists()


BESIDE = ("pytorch_model.bin", "training_args.bin", "optimizer.pt", "rng_state.pth", "vocab.pkl")


def test_pickles_beside_safetensors_are_not_opened(
    tiny_model: Path, folder: Path, trace: Path
) -> None:
    for name in BESIDE:
        plant(folder / name, trace)
    assert complete(folder) == complete(tiny_model)
    assert find_base(str(folder)) == folder
    assert not trace.exists()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "weights.pt"])
def test_a_model_whose_weights_are_a_pickle_is_refused(
    folder: Path, trace: Path, name: str
) -> None:
    (folder / "model.safetensors").unlink()
    plant(folder / name, trace)
    open_everywhere(folder, rf"its weights are a pickle \({name}\).*safetensors")
    with pytest.raises(ModelError, match="its weights are a pickle"):
        find_base(str(folder))
    assert not trace.exists()


def test_an_index_that_names_a_pickle_or_a_file_elsewhere_is_refused(
    folder: Path, trace: Path
) -> None:
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    plant(folder / "part.bin", trace)
    for name in ("part.bin", "../part.safetensors", "..\\part.safetensors", 7):
        index = {"metadata": {}, "weight_map": {"lm_head.weight": name}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        open_everywhere(folder, "names a file of weights that is no safetensors here")
    assert not trace.exists()


def test_settings_that_name_a_pickle_are_refused(folder: Path, trace: Path) -> None:
    plant(folder / "adapter_model.bin", trace)
    change(folder / "config.json", transformers_weights="adapter_model.bin")
    open_everywhere(folder, "names a file of weights that is no safetensors here")
    assert not trace.exists()


def test_an_adapter_that_is_a_pickle_is_refused(
    tiny_model: Path, tmp_path: Path, trace: Path
) -> None:
    pytest.importorskip("peft", reason="needs the extra hf: peft")
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    change(adapter / "adapter_config.json", peft_type="LORA", task_type="CAUSAL_LM", r=4)
    with pytest.raises(ModelError, match=r"is no adapter: there is no adapter_model.safetensors"):
        complete(tiny_model, peft=str(adapter))
    plant(adapter / "adapter_model.bin", trace)
    with pytest.raises(ModelError, match=r"its weights are a pickle \(adapter_model.bin\)"):
        complete(tiny_model, peft=str(adapter))
    assert not trace.exists()


def test_an_adapter_in_place_of_a_model_does_not_lead_elsewhere(
    tiny_model: Path, tmp_path: Path
) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    change(adapter / "adapter_config.json", base_model_name_or_path=str(tiny_model))
    open_everywhere(adapter, "is an adapter; name its model with pretrained=")


def test_code_that_comes_with_a_model_is_not_run(folder: Path, trace: Path) -> None:
    code = f"open({str(trace)!r}, 'w').close()\n"
    (folder / "modeling_own.py").write_text(code)
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text(code)
    own = {
        "AutoConfig": "modeling_own.OwnConfig",
        "AutoModelForCausalLM": "modeling_own.Own",
        "AutoTokenizer": ["modeling_own.OwnTokenizer", None],
    }
    change(folder / "config.json", auto_map=own)
    change(folder / "tokenizer_config.json", auto_map=own)
    complete(folder)  # transformers knows the model by itself
    assert not trace.exists()
    change(folder / "config.json", model_type="own", architectures=["Own"])
    open_everywhere(folder, r"brings code of its own \(auto_map\), which is never run here")
    assert not trace.exists()


def test_code_from_the_hub_is_not_asked_for(folder: Path) -> None:
    change(folder / "config.json", attn_implementation="somebody/kernel")
    open_everywhere(folder, r"config.json asks for code from the hub; it is never fetched")


def test_settings_that_are_no_settings_are_a_sentence(folder: Path) -> None:
    for text in ("[" * 100_000, "[]", "{", '{"hidden_size": "x"}'):
        (folder / "config.json").write_text(text)
        open_everywhere(folder, "cannot be read|cannot be loaded")
