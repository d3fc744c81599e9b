"""A GGUF file becomes an ordinary transformers folder, and is asked whether it is well."""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from pathlib import Path
from typing import Any

from puzzlemark.models.base import ModelError
from puzzlemark.models.pretrained.base import Pretrained

NEEDED = ("torch", "transformers", "accelerate", "gguf")


@dataclass(frozen=True, slots=True)
class Converted:
    """What was made, and with what."""

    weights_sha256: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Health:
    """How a model did on what it must know."""

    loss: float
    completion: str


def require_libraries() -> None:
    """Refuse before anything is downloaded."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise ModelError(
            f"{', '.join(missing)} not installed; run: pip install 'puzzlemark[train]'"
        )
    if "torch" not in sys.modules:
        # threads that wait by spinning starve each other when cores are shared
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def convert(gguf: Path, folder: Path) -> Converted:
    """Write model and tokenizer as float32 and JSON."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    here: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    with _quietly():
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **here)
        network = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **here)
        # it is quantised no longer, and could not be saved as if it were
        if hasattr(network.config, "quantization_config"):
            del network.config.quantization_config
        network.hf_quantizer = None
        network.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return Converted(weights_digest(network), _versions())


def weights_digest(network: Any) -> str:
    """SHA-256 over names, shapes and values: the same however a file of them is laid out."""
    state = hashlib.sha256()
    for name, tensor in sorted(network.named_parameters()):
        state.update(f"{name} {tuple(tensor.shape)}\n".encode())
        state.update(tensor.detach().cpu().contiguous().numpy().data)
    return state.hexdigest()


def examine(wanted: Pretrained, folder: Path) -> Health:
    """Let the converted model read and write a little code; one that cannot is not kept."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with _quietly(), torch.inference_mode():
        tokenizer = AutoTokenizer.from_pretrained(folder, **here)
        network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **here).eval()
        ids = torch.tensor([tokenizer(wanted.sample)["input_ids"]])
        loss = float(network(input_ids=ids, labels=ids).loss)
        completion = _complete(network, tokenizer, wanted.prompt, wanted.completion)
    if not loss < wanted.loss_below or completion != wanted.completion:
        raise ModelError(
            f"{wanted.package}: the converted model is not well: loss {loss:.2f} (must be below "
            f"{wanted.loss_below}), {wanted.prompt!r} continues with {completion!r} (must be "
            f"{wanted.completion!r}). Try the versions that docs/guides/get-a-model.md names"
        )
    return Health(loss, completion)


def _complete(network: Any, tokenizer: Any, prompt: str, expected: str) -> str:
    import torch

    ids = list(tokenizer(prompt)["input_ids"])
    new: list[int] = []
    for _ in tokenizer(expected)["input_ids"]:
        logits = network(input_ids=torch.tensor([ids + new])).logits
        new.append(int(logits[0, -1].argmax()))
    text: str = tokenizer.decode(new)
    return text


@contextmanager
def _quietly() -> Iterator[None]:
    """The libraries' own bars and remarks would stand in the way of ours."""
    from transformers.utils import logging

    # one bar, that of the conversion, cannot be switched off in any other way
    bar: Any = importlib.import_module("tqdm").tqdm
    level, start = logging.get_verbosity(), bar.__init__
    logging.set_verbosity_error()
    bar.__init__ = partialmethod(start, disable=True)
    try:
        yield
    finally:
        logging.set_verbosity(level)
        bar.__init__ = start


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in NEEDED}
