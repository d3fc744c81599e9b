"""A local model's files: where they are, which bytes they hold, and how they are loaded."""

import hashlib
import sys
from pathlib import Path
from typing import Any

from puzzlemark.models._trust import refuse_adapter_code, refuse_code
from puzzlemark.models.base import ModelError
from puzzlemark.models.fetching.run import default_folder

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
    return PeftModel.from_pretrained(network, adapter, local_files_only=True)


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
