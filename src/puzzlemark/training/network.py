"""The network that is trained: loading it, freezing what stays, saving it as an ordinary folder.

Where it runs, and in which arithmetic, is decided here, too.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from puzzlemark.errors import UsageError
from puzzlemark.models._weights import adapting, find_folder, loading, refuse_code
from puzzlemark.models.base import ModelError
from puzzlemark.training.documents import Encode
from puzzlemark.training.recipes.base import Device, Dtype, Recipe

GENERATION = "generation_config.json"
SHORT = 256  # tokens of a row, up to which plain attention is the fastest on a CPU
LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def find_base(base: str) -> Path:
    """A folder, the name of a model that was fetched, or one in the local cache of the hub."""
    try:
        folder = find_folder(base, download=False)
    except ModelError as exc:
        raise ModelError(
            f"{base}: neither a folder nor a model in a local cache; a training downloads "
            "nothing, so name a folder, or get a model: puzzlemark model fetch smollm2"
        ) from exc
    if (folder / "adapter_config.json").exists():
        raise ModelError(f"{base}: is an adapter; merge it into its model, and train that")
    refuse_code(folder)
    return folder


def load_tokenizer(folder: Path) -> Any:
    """The base model's own."""
    from transformers import AutoTokenizer

    with loading(f"{folder}: its tokenizer"):
        return AutoTokenizer.from_pretrained(folder, **LOCAL)


def encoder(tokenizer: Any) -> Encode:
    """Snippets to tokens, begun as a prompt is, each closed by one end-of-text."""
    end = tokenizer.eos_token_id

    def encode(codes: list[str]) -> list[list[int]]:
        documents: list[list[int]] = tokenizer(codes, verbose=False)["input_ids"]
        if end is None:
            return documents
        # some tokenizers close a text themselves
        return [ids if ids[-1:] == [end] else [*ids, end] for ids in documents]

    return encode


def load_network(folder: Path, name: str, recipe: Recipe) -> Any:
    """The base model in float32, with gradients where the recipe trains."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()  # it would write into ours
    with loading(str(folder)):
        network = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=torch.float32,
            use_safetensors=True,
            attn_implementation=attention(recipe),
            **LOCAL,
        )
    longest = getattr(network.config, "max_position_embeddings", None)
    if longest and recipe.max_tokens > longest:
        raise UsageError(f"--max-tokens {recipe.max_tokens}: the model takes at most {longest}")
    if recipe.gradient_checkpointing:
        _keep_less(network)
    return _open(network, recipe, name).to(recipe.device).train()


def attention(recipe: Recipe) -> str | None:
    """How transformers is to compute attention; None leaves it to the library.

    For short rows on a CPU plain products of matrices, which hold a number for every pair of
    tokens, are several times as fast as the kernel that does without.
    """
    return "eager" if recipe.device == "cpu" and recipe.max_tokens <= SHORT else None


def _keep_less(network: Any) -> None:
    """Compute activations again in place of keeping them; transformers 5.23 renamed it."""
    renamed = getattr(network, "activation_checkpointing_enable", None)
    enable = renamed or network.gradient_checkpointing_enable
    enable({"use_reentrant": False})


def trainable(network: Any) -> dict[str, Any]:
    """The parameters that change, by name."""
    return {name: each for name, each in network.named_parameters() if each.requires_grad}


def save_network(network: Any, tokenizer: Any, base: Path, folder: Path) -> None:
    """A folder that `from_pretrained` takes: a model, or an adapter for the base."""
    if hasattr(network, "peft_config"):
        # embeddings are never trained: looking whether they were asks the hub
        network.save_pretrained(folder, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)  # a form, not filled in
    else:
        _save_whole(network, base, folder)
    tokenizer.save_pretrained(folder)


def _save_whole(network: Any, base: Path, folder: Path) -> None:
    from transformers import GenerationConfig

    # the base's own file goes along as it is: some that can be loaded may not be saved
    network.generation_config = GenerationConfig()
    network.save_pretrained(folder)
    (folder / GENERATION).unlink(missing_ok=True)
    if (base / GENERATION).exists():
        shutil.copyfile(base / GENERATION, folder / GENERATION)


def _open(network: Any, recipe: Recipe, name: str) -> Any:
    """Let gradients into the part that is trained, and into nothing else."""
    if recipe.part == "lora":
        return _adapt(network, recipe, name)
    if recipe.part == "top":
        network.requires_grad_(False)
        layers = layers_of(network)
        if recipe.layers > len(layers):
            raise UsageError(f"--layers {recipe.layers}: the model has {len(layers)}")
        for layer in layers[-recipe.layers :]:
            layer.requires_grad_(True)
    return network


def layers_of(network: Any) -> Any:
    """The list of blocks, whatever the architecture calls it."""
    import torch

    depth = network.config.get_text_config().num_hidden_layers
    for module in network.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == depth:
            return module
    raise ModelError("the model has no list of layers; pass --part all or --part lora")


def _adapt(network: Any, recipe: Recipe, name: str) -> Any:
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as exc:
        raise ModelError("peft is not installed: pip install 'puzzlemark[train]'") from exc
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=recipe.rank,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules=list(recipe.targets) or "all-linear",
    )
    try:
        with adapting():
            adapted = get_peft_model(network, config)
    except ValueError as exc:  # no module has such a name
        raise UsageError(f"--targets {','.join(recipe.targets)}: {_first_line(exc)}") from exc
    # its own name: where the base lies on this machine is nobody's business
    adapted.peft_config["default"].base_model_name_or_path = name
    return adapted


def _first_line(exc: Exception) -> str:
    return (str(exc).splitlines() or [type(exc).__name__])[0]


# how processors say that they multiply bfloat16; without it, it is emulated, twenty times slower
BFLOAT16_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
CPU_FILE = Path("/proc/cpuinfo")


def need_torch() -> None:
    """Raise, in one sentence, where the libraries for training are missing."""
    if "torch" not in sys.modules:
        # threads that wait by spinning starve each other when cores are shared
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as exc:
        raise ModelError(
            f"{exc.name} is not installed; training needs it: pip install 'puzzlemark[train]'"
        ) from exc


def default_recipe() -> str:
    """The paper's on a GPU, the small one elsewhere."""
    import torch

    return "paper" if torch.cuda.is_available() else "cpu"


def adapt_to_machine(recipe: Recipe) -> Recipe:
    """The recipe with device, arithmetic and threads decided for this machine."""
    import torch

    device = _device(recipe.device)
    threads = recipe.threads or torch.get_num_threads()
    return replace(recipe, device=device, dtype=_dtype(recipe.dtype, device), threads=threads)


@contextmanager
def settled_torch(recipe: Recipe, seed: int) -> Iterator[None]:
    """Seed and threads for a while; the caller's own come back."""
    import torch

    assert recipe.threads is not None
    threads = torch.get_num_threads()
    devices = range(torch.cuda.device_count()) if recipe.device == "cuda" else ()
    torch.set_num_threads(recipe.threads)
    try:
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def cpu_has_bfloat16() -> bool:
    """Whether this processor computes bfloat16 itself."""
    try:
        words = CPU_FILE.read_text(encoding="utf-8").split()
    except OSError:  # not Linux
        return False
    return not BFLOAT16_FLAGS.isdisjoint(words)


def _device(asked: Device) -> Device:
    import torch

    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there.get(asked, True):
        raise UsageError(f"--device {asked}: this machine has none that torch can use")
    return asked


def _dtype(asked: Dtype, device: Device) -> Dtype:
    import torch

    if asked != "auto":
        return asked
    serves = {"cuda": torch.cuda.is_bf16_supported, "cpu": cpu_has_bfloat16}.get(device)
    return "bfloat16" if serves is not None and serves() else "float32"
