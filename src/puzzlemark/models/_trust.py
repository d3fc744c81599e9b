"""A model's files are a stranger's: nothing in them is run, and what is wrong is one sentence.

A pickle (`pytorch_model.bin`, `optimizer.pt`, ...) is a program that runs when it is opened.
Weights in safetensors are numbers and nothing else: only they are read.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from puzzlemark.models.base import ModelError

CONFIG, INDEX = "config.json", "model.safetensors.index.json"
ADAPTER_CONFIG, ADAPTER = "adapter_config.json", "adapter_model.safetensors"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
# what libraries raise about files that are damaged, or were made to harm
WRONG = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    UnpicklingError,
)
INSTEAD = (
    "opening one runs whatever program is in it. Ask for the weights as safetensors, or convert "
    "them where nothing can be lost: see docs/verification/models.md"
)


def refuse_code(folder: Path) -> None:
    """Raise unless a model's weights are safetensors, and its settings name nothing to be run."""
    if (folder / ADAPTER_CONFIG).exists():
        raise ModelError(
            f"{folder}: is an adapter; name its model with pretrained=, and the adapter with peft="
        )
    _refuse_pickles(folder, folder.glob("*.safetensors"))
    settings = _read(folder / CONFIG)
    weights = [settings.get("transformers_weights"), *_read(folder / INDEX, "weight_map").values()]
    for name in weights:
        if name is not None and not _is_safe_name(name):
            raise ModelError(f"{folder}: names a file of weights that is no safetensors here")
    if any(_from_the_hub(settings)):
        raise ModelError(f"{folder}: {CONFIG} asks for code from the hub; it is never fetched")


def refuse_adapter_code(folder: Path) -> None:
    """Raise unless an adapter's weights are safetensors."""
    weights = folder / ADAPTER
    _refuse_pickles(folder, [weights] if weights.exists() else [])
    if not weights.exists():  # peft would look for it on the hub
        raise ModelError(f"{folder}: is no adapter: there is no {ADAPTER} in it")


@contextmanager
def loading(what: str) -> Iterator[None]:
    """Whatever is wrong with a model's files is one sentence, and never a traceback."""
    from safetensors import SafetensorError

    try:
        yield
    except (*WRONG, SafetensorError) as exc:
        raise _unusable(what, exc) from exc


def _unusable(what: str, exc: Exception) -> ModelError:
    if "trust_remote_code" in str(exc):
        return ModelError(
            f"{what}: brings code of its own (auto_map), which is never run here; let it be served "
            "elsewhere, and ask it with --model openai"
        )
    reason = (str(exc).splitlines() or [type(exc).__name__])[0]
    return ModelError(f"{what}: cannot be loaded: {reason}")


def _refuse_pickles(folder: Path, weights: Iterator[Path] | list[Path]) -> None:
    """Pickles beside safetensors are let alone; alone they are refused."""
    if any(weights):
        return
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLES)
    if pickles:
        raise ModelError(f"{folder}: its weights are a pickle ({pickles[0]}), and {INSTEAD}")


def _read(path: Path, part: str | None = None) -> dict[str, Any]:
    """A JSON object, or one in it; what is missing is empty."""
    if not path.exists():
        return {}
    try:
        read = json.loads(path.read_bytes())
        found = read if part is None else read[part]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as exc:
        raise ModelError(f"{path}: cannot be read, or is not what it should be") from exc
    if not isinstance(found, dict):
        raise ModelError(f"{path}: cannot be read, or is not what it should be")
    return found


def _is_safe_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and name.endswith((".safetensors", ".safetensors.index.json"))
        and Path(name).name == name
        and "\\" not in name
    )


def _from_the_hub(settings: dict[str, Any]) -> Iterator[bool]:
    """`"attn_implementation": "somebody/kernel"`, also of a part of the model."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _from_the_hub(value)
        elif key.endswith("_implementation"):
            yield "/" in str(value)
