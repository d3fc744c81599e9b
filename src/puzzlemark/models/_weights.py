"""A local model's files: where they are, which bytes they hold, and how they are loaded.

They are a stranger's: nothing in them is run, and what is wrong is one sentence. A pickle
(`pytorch_model.bin`, `optimizer.pt`, ...) is a program that runs when it is opened. Weights in
safetensors are numbers and nothing else: only they are read.
"""

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from puzzlemark.models.base import ModelError
from puzzlemark.models.fetching.run import default_folder

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


# What decides the completions; read-me files and training leftovers do not.
PATTERNS = ("*.safetensors", "*.bin", "*.json", "*.model", "*.txt", "*.jinja")
# How vocabularies spell a space at the start of a token: byte-level BPE, SentencePiece, bytes.
SPACED = ("\u0120", "\u2581", "<0x20>", " ")
IGNORED = frozenset(
    "model.json training.json training_args.bin optimizer.bin trainer_state.json".split()
)


def find_folder(name: str, download: bool) -> Path:
    """A folder, a model that `model fetch` got, or one in the local cache of the hub.

    Nothing is fetched unless asked for.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if "/" not in name and default_folder(name).is_dir():
        return default_folder(name)
    if path.exists() or name.count("/") > 1 or name.startswith((".", "~")):
        raise ModelError(f"hf: {name}: no such folder")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=not download))
    except (LocalEntryNotFoundError, HFValidationError) as exc:
        raise ModelError(
            f"hf: {name}: neither a folder nor a model in the local cache; "
            "download=true fetches it from the hub"
        ) from exc


def name_of(name: str) -> str:
    """What the record calls it: a folder's own name, not where it lies; or the name on the hub."""
    path = Path(name).expanduser()
    return path.resolve().name if path.is_dir() else name


def digest(folder: Path) -> str:
    """SHA-256 over name and SHA-256 of each file that decides the completions."""
    paths = {path for pattern in PATTERNS for path in folder.glob(pattern)}
    total = hashlib.sha256()
    for path in sorted(paths, key=lambda path: path.name):
        if path.name not in IGNORED:
            with path.open("rb") as file:
                inner = hashlib.file_digest(file, "sha256").hexdigest()
            total.update(f"{path.name} {inner}\n".encode())
    return total.hexdigest()


def load(folder: Path, adapter: Path | None, dtype: str) -> tuple[Any, Any, frozenset[int]]:
    """Network, tokenizer and the tokens that end a text. Runs no code that comes with them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
    from transformers.utils import logging as transformers_logging

    if not sys.stderr.isatty():  # progress is for people
        transformers_logging.disable_progress_bar()

    refuse_code(folder)
    if adapter is not None:
        refuse_adapter_code(adapter)
    here: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = AutoTokenizer.from_pretrained(folder, **here)
    network = AutoModelForCausalLM.from_pretrained(
        folder, dtype=getattr(torch, dtype), use_safetensors=True, **here
    )
    ends = network.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    end_ids = frozenset(id_ for id_ in (*ends, tokenizer.eos_token_id) if id_ is not None)
    # a model may bring its own top_k, penalties and the like: a request says all that holds here
    network.generation_config = GenerationConfig(do_sample=False, use_cache=True)
    if adapter is not None:
        network = _adapt(network, adapter)
    return network.eval(), tokenizer, end_ids


def _adapt(network: Any, adapter: Path) -> Any:
    try:
        from peft import PeftModel
    except ImportError as exc:
        raise ModelError("hf: peft is not installed; see docs/verification/models.md") from exc
    with adapting():
        return PeftModel.from_pretrained(network, adapter, local_files_only=True)


@contextmanager
def adapting() -> Iterator[None]:
    """Let peft ask transformers for a name that has since changed: no user can do anything."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*gradient_checkpointing", FutureWarning)
        yield


def find_spaced_tokens(network: Any, tokenizer: Any) -> Any:
    """Which tokens begin with a space, as a mask; None when the tokenizer knows no such tokens."""
    import torch

    size = network.get_output_embeddings().weight.shape[0]  # may be padded beyond the tokenizer
    tokens = tokenizer.convert_ids_to_tokens(list(range(min(size, len(tokenizer)))))
    special = set(tokenizer.all_special_tokens)
    spaced = [
        token is not None and token.startswith(SPACED) and token not in special for token in tokens
    ]
    mask = torch.tensor(spaced + [False] * (size - len(spaced)), device=network.device)
    return mask if any(spaced) else None
