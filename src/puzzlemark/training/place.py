"""Where a training runs, and in which arithmetic: `auto` is settled here."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from puzzlemark.errors import UsageError
from puzzlemark.models.base import ModelError
from puzzlemark.training.recipes.base import Device, Dtype, Recipe

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
        words = CPU_FILE.read_text().split()
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
