"""What the frozen layers make of a row, computed once and kept.

Where only the top layers are trained, those below give the same numbers for the same row in every
epoch and in every training of the same base. Here each row goes through them alone, without
padding: its numbers are a function of its tokens and of the base, whatever else is in the corpus.

    store = StateStore(folder, {"frozen": "217a62...", "layers": 20})
    frozen = FrozenLayers(network, below=20, store)
    with frozen.recalled(rows):      # within, the layers below pass on what was kept
        network(input_ids=ids)

A store is a folder that trainings share, also at the same time: a file is named by the tokens of
its row, in a folder named by all that decides the numbers. Files are put in place whole.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from puzzlemark.files import remove
from puzzlemark.models.base import ModelError
from puzzlemark.staging import write_text
from puzzlemark.training.checkpoints import TrainingError
from puzzlemark.training.documents import Tokens

States = NDArray[np.float32]  # one vector for each token of a row
ABOUT = "about.json"
CLOSE = 0.05  # how far logits may be off on the mean, in their standard deviations


@dataclass(slots=True)
class StateStore:
    """States by the tokens of their row; without a folder nothing is kept."""

    folder: Path | None
    identity: Mapping[str, Any]  # all that decides the numbers but the tokens
    computed: int = 0  # rows since it was last asked
    place: Path | None = None

    def __post_init__(self) -> None:
        if self.folder is None:
            return
        text = json.dumps(self.identity, sort_keys=True, indent=2)
        self.place = self.folder / hashlib.sha256(text.encode()).hexdigest()[:32]
        try:
            self.place.mkdir(parents=True, exist_ok=True)
            if not (self.place / ABOUT).exists():
                write_text(self.place / ABOUT, text + "\n")
        except OSError as exc:
            raise _unwritable(self.folder, exc) from exc

    def states(self, row: Tokens, compute: Callable[[], States]) -> States:
        """What was kept of a row; else what is computed, which is kept."""
        path = self._path(row)
        kept = None if path is None else _read(path, len(row))
        if kept is not None:
            return kept
        self.computed += 1
        states = compute()
        if path is not None:
            _write(path, states)
        return states

    def take_computed(self) -> int:
        """How many rows were computed since the last call."""
        computed, self.computed = self.computed, 0
        return computed

    def _path(self, row: Tokens) -> Path | None:
        if self.place is None:
            return None
        name = hashlib.sha256(np.ascontiguousarray(row, "<i4").tobytes()).hexdigest()
        return self.place / name[:2] / f"{name[2:]}.npy"


def _read(path: Path, tokens: int) -> States | None:
    """None where there is none, or one that is damaged: it is computed again."""
    try:
        states = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = states.dtype == np.float32 and states.ndim == 2 and len(states) == tokens
    return states if fits else None


def _write(path: Path, states: States) -> None:
    # a name of its own: another training may be writing the same row
    partial = path.with_name(f"{path.name}.{uuid4().hex}.partial")
    try:
        path.parent.mkdir(exist_ok=True)
        with partial.open("wb") as file:
            np.save(file, states)
        partial.replace(path)
    except OSError as exc:
        remove(partial)
        raise _unwritable(path.parent.parent.parent, exc) from exc


def _unwritable(folder: Path, exc: OSError) -> TrainingError:
    return TrainingError(
        f"--cache {folder}: cannot be written: {exc.strerror or exc}; free some space or name "
        "another folder, and run the same command to go on"
    )


@dataclass(slots=True)
class FrozenLayers:
    """The layers below the trained ones, which can be left out where their numbers are known.

    Outside of `recalled` the network is an ordinary one.
    """

    network: Any
    layers: Sequence[Any]  # all of the network's
    below: int  # how many of them are frozen
    store: StateStore
    arithmetic: Callable[[], AbstractContextManager[None]] = nullcontext
    _passing: range = range(0)  # layers that pass on what they are given
    _recalled: Any = None  # what the first trained layer gets instead
    _seen: list[Any] = field(default_factory=list)  # what reached it while recording
    _recording: bool = False

    def __post_init__(self) -> None:
        for number, layer in enumerate(self.layers):
            layer.forward = self._or_pass(number, layer.forward)
        self.layers[self.below].register_forward_pre_hook(self._enter, with_kwargs=True)
        self._turn_weights()

    @contextmanager
    def recalled(self, rows: Sequence[Tokens]) -> Iterator[None]:
        """Within, the first trained layer gets the states of these rows, zeros where they end."""
        import torch

        states = [self.store.states(row, partial(self._record, row)) for row in rows]
        width = max(len(each) for each in states)
        padded = np.zeros((len(states), width, states[0].shape[1]), np.float32)
        for place, each in enumerate(states):
            padded[place, : len(each)] = each
        self._recalled = torch.from_numpy(padded).to(self.network.device)
        self._passing = range(self.below)
        try:
            yield
        finally:
            self._recalled, self._passing = None, range(0)

    def check(self, row: Tokens) -> None:
        """Raise unless this kind of network can do without its frozen layers.

        Not every architecture only hands a tensor from layer to layer: so it is tried.
        """
        import torch

        ids = torch.from_numpy(row.astype(np.int64))[None].to(self.network.device)
        self.network.eval()
        try:
            with torch.no_grad(), self.arithmetic():
                plain = self.network(input_ids=ids, use_cache=False).logits
                with self.recalled([row]):
                    short = self.network(input_ids=ids, use_cache=False).logits
            # the same but for rounding, which is coarse in bfloat16
            fits = bool((plain - short).abs().mean() < CLOSE * plain.std())
        except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as exc:
            raise _unfit() from exc
        finally:
            self.network.train()
        if not fits:
            raise _unfit()

    def _record(self, row: Tokens) -> States:
        """One row, alone, through the frozen layers; the others only pass on."""
        import torch

        ids = torch.from_numpy(row.astype(np.int64))[None].to(self.network.device)
        was_training = self.network.training
        self.network.eval()  # what dropout makes would not be the same the next time
        self._passing, self._recording = range(self.below, len(self.layers)), True
        try:
            with torch.no_grad(), self.arithmetic():
                self.network.base_model(input_ids=ids, use_cache=False)
            (states,) = self._seen
        finally:
            self._passing, self._recording = range(0), False
            self._seen.clear()
            self.network.train(was_training)
        kept: States = states[0].float().cpu().numpy()
        return kept

    def _or_pass(self, number: int, forward: Callable[..., Any]) -> Callable[..., Any]:
        def passing(*args: Any, **kwargs: Any) -> Any:
            if number in self._passing:
                return args[0] if args else kwargs["hidden_states"]
            return forward(*args, **kwargs)

        return passing

    def _turn_weights(self) -> None:
        """Turn frozen weights into the numbers of the arithmetic once, and not for every row.

        Autocast does it whenever they are used, and keeps only what is trained. For a row of a
        hundred tokens that takes as long as the layers themselves.
        """
        import torch

        kind = self.network.device.type
        with self.arithmetic():
            if not torch.is_autocast_enabled(kind):
                return
            dtype = torch.get_autocast_dtype(kind)
        for layer in self.layers[: self.below]:
            for module in layer.modules():
                if type(module) is torch.nn.Linear:
                    module.forward = self._or_turned(module, dtype)

    def _or_turned(self, module: Any, dtype: Any) -> Callable[[Any], Any]:
        from torch.nn.functional import linear

        plain = module.forward
        weight = module.weight.detach().to(dtype)
        bias = None if module.bias is None else module.bias.detach().to(dtype)

        def forward(states: Any) -> Any:
            return linear(states, weight, bias) if self._recording else plain(states)

        return forward

    def _enter(self, _layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Before the first trained layer: look at what comes in, or put what was kept there."""
        if self._recording:
            self._seen.append(args[0] if args else kwargs["hidden_states"])
        if self._recalled is None:
            return None
        if args:
            return (self._recalled, *args[1:]), kwargs
        return args, {**kwargs, "hidden_states": self._recalled}


def digest_of_frozen(network: Any, layers: Sequence[Any], below: int) -> str:
    """SHA-256 of all that decides what the frozen layers make of a row: shape and weights.

    The layers above have no part in it, so that a model that is trained further, epoch by epoch,
    finds what was computed before.
    """
    names = {"_name_or_path", "transformers_version", "dtype", "torch_dtype"}  # of the files
    shape = {k: v for k, v in network.config.to_dict().items() if k not in names}
    sha = hashlib.sha256(json.dumps(shape, sort_keys=True, default=str).encode())
    trained = {id(each) for layer in layers[below:] for each in layer.parameters()}
    for name, tensor in sorted(chain(network.named_parameters(), network.named_buffers())):
        if id(tensor) not in trained:
            sha.update(f"\n{name} {tuple(tensor.shape)}\n".encode())
            sha.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
    return sha.hexdigest()


def _unfit() -> ModelError:
    return ModelError(
        "--frozen once: the layers of this model do not simply follow each other; "
        "pass --frozen each_step"
    )
