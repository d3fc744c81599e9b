"""Hidden states of a local causal model (`transformers`), with or without a LoRA adapter."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from puzzlemark.models._weights import find_folder, load, loading
from puzzlemark.models.base import ModelError
from puzzlemark.models.encoders.base import Vectors
from puzzlemark.models.hf import Loading, identify, prepare_torch, settle_place

Tensor = Any  # of torch, which is not imported before an encoder is opened


class HuggingFaceEncoderSettings(Loading):
    """`pretrained=FOLDER,layer=0,pooling=mean`; the other arguments are those of the model `hf`."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "float32"
    layer: Annotated[int, Field(ge=0)] | None = None  # None: the last, after the final norm
    pooling: Literal["last", "mean"] = "last"
    max_tokens: Annotated[int, Field(ge=1)] = 256

    def open(self) -> "HuggingFaceEncoder":
        """Identify the model; no file is fetched from the network unless `download=true`."""
        prepare_torch(self.threads)
        folder = find_folder(self.pretrained, self.download)
        adapter = find_folder(self.peft, self.download) if self.peft else None
        device, dtype = settle_place(self)
        about = {
            "layer": "last" if self.layer is None else self.layer,
            "pooling": self.pooling,
            "max_tokens": self.max_tokens,
            "device": device,
            "dtype": dtype,
            **identify(self, folder, adapter),
        }
        return HuggingFaceEncoder(self, folder, adapter, device, dtype, about)


@dataclass(slots=True)
class HuggingFaceEncoder:
    """A model in this process; its weights are loaded when the first code is encoded."""

    settings: HuggingFaceEncoderSettings
    folder: Path
    adapter: Path | None
    device: str
    dtype: str
    about: dict[str, Any]
    trunk: "Trunk | None" = None

    def describe(self) -> dict[str, Any]:
        """The weights by their digest, and how a vector is made of them."""
        return dict(self.about)

    def encode(self, codes: Sequence[str]) -> Vectors:
        """The state of the last token (or the mean of all), from batches of similar length."""
        if self.trunk is None:
            self.trunk = self._load()
        tokens = [self.trunk.tokenize(code, self.settings.max_tokens) for code in codes]
        vectors: Vectors = np.empty((len(codes), self.trunk.width), np.float32)
        order = sorted(range(len(codes)), key=lambda index: len(tokens[index]))
        for start in range(0, len(order), self.settings.batch_size):
            chosen = order[start : start + self.settings.batch_size]
            batch = [tokens[index] for index in chosen]
            vectors[chosen] = self.trunk.vectors(batch, self.settings.pooling)
        return vectors

    def _load(self) -> "Trunk":
        name = self.about["pretrained"]
        with loading(f"hf: {name}"):
            network, tokenizer, end_ids = load(self.folder, self.adapter, self.dtype)
        if self.adapter is not None:
            network = network.get_base_model()  # the layers in it are adapted
        longest = getattr(network.config, "max_position_embeddings", None)
        if longest and self.settings.max_tokens > longest:
            asked = self.settings.max_tokens
            raise ModelError(
                f"hf: {name}: max_tokens={asked}, but the model takes {longest}; "
                f"pass max_tokens={longest}"
            )
        inner = network.base_model  # without the head, a quarter of a small model's work
        stop = _stop_before(inner, self.settings.layer, name)
        return Trunk(inner.to(self.device), tokenizer, end_ids, stop)


class _Reached(Exception):
    """The chosen layer is computed: those above it need not be."""

    def __init__(self, states: Tensor) -> None:
        self.states = states


@dataclass(frozen=True, slots=True)
class Trunk:
    """A causal network without its head, and the tokenizer that feeds it."""

    network: Any
    tokenizer: Any
    end_ids: frozenset[int]
    stop: Any | None  # the first block that is not computed; None: all are, and the final norm

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.network.config.hidden_size)

    def tokenize(self, code: str, max_tokens: int) -> list[int]:
        """The first tokens, without an end-of-text: it would be the last token of every code."""
        ids = list(self.tokenizer(code, verbose=False)["input_ids"])
        while len(ids) > 1 and ids[-1] in self.end_ids:
            ids.pop()
        return ids[:max_tokens] or [min(self.end_ids, default=0)]  # a tokenizer may drop all of it

    def vectors(self, batch: list[list[int]], pooling: str) -> Vectors:
        """One vector for each row of tokens, computed together."""
        import torch

        lengths = torch.tensor([len(ids) for ids in batch], device=self.network.device)
        width = max(len(ids) for ids in batch)
        # on the right: positions count from the code's start, and no token sees those after it
        padded = torch.tensor([ids + [0] * (width - len(ids)) for ids in batch])
        places = torch.arange(width, device=self.network.device)
        mask = (places[None, :] < lengths[:, None]).long()
        with torch.inference_mode():
            states = self._states(padded.to(self.network.device), mask).float()
            if pooling == "mean":
                kept = mask[:, :, None]
                vectors = (states * kept).sum(1) / kept.sum(1)
            else:
                vectors = states[torch.arange(len(batch), device=states.device), lengths - 1]
        pooled: Vectors = vectors.cpu().numpy()
        return pooled

    def _states(self, ids: Tensor, mask: Tensor) -> Tensor:
        inputs = {"input_ids": ids, "attention_mask": mask, "use_cache": False}
        if self.stop is None:
            return self.network(**inputs).last_hidden_state
        hook = self.stop.register_forward_pre_hook(_report, with_kwargs=True)
        try:
            self.network(**inputs)
        except _Reached as reached:
            return reached.states
        finally:
            hook.remove()
        raise AssertionError("a block of the network was never computed")


def _report(_: Any, args: tuple[Tensor, ...], named: dict[str, Tensor]) -> None:
    raise _Reached(args[0] if args else named["hidden_states"])


def _stop_before(network: Any, layer: int | None, name: str) -> Any | None:
    """The block whose input is the chosen layer; None for the last layer."""
    from torch.nn import ModuleList

    count = network.config.num_hidden_layers
    if layer is None or layer == count:
        return None
    if layer > count:
        raise ModelError(f"hf: {name}: layer={layer}, but its layers are 0 (embeddings) to {count}")
    for module in network.modules():
        if isinstance(module, ModuleList) and len(module) == count:
            return module[layer]
    raise ModelError(f"hf: {name}: its layers were not found; leave out layer, for the last one")


PLUGIN = HuggingFaceEncoderSettings
