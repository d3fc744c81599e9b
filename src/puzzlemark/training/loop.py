"""The training itself: batches in, steps of AdamW out.

Ctrl-C waits until the step in hand is finished, so that nothing is lost.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from puzzlemark.training.checkpoints import Course, Step, TrainingError
from puzzlemark.training.documents import Documents, Epoch, Tokens, count_batches, epoch
from puzzlemark.training.frozen import FrozenLayers
from puzzlemark.training.network import trainable
from puzzlemark.training.recipes.base import Recipe
from puzzlemark.training.vocabulary import CorpusVocabulary

IGNORED = -100  # a target that counts for nothing

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Moment:
    """A training between two steps, for whoever watches it."""

    step: Step
    steps: int  # in all
    tokens_per_second: float  # since this process began to train
    seconds_left: float
    network: Any  # a watcher that samples from it changes nothing, if it leaves the weights alone
    tokenizer: Any


def steps_per_epoch(documents: Documents, recipe: Recipe) -> int:
    """The last step of an epoch may have fewer batches: no step reaches into the next epoch."""
    return -(-count_batches(documents, recipe) // recipe.accumulate)


def rate_at(recipe: Recipe, step: int, steps: int) -> float:
    """The learning rate of a step, from 0: up to the full one, then down to nothing."""
    if step < recipe.warmup:
        return recipe.rate * (step + 1) / recipe.warmup
    if recipe.schedule == "constant":
        return recipe.rate
    return recipe.rate * (steps - step) / max(1, steps - recipe.warmup)


@dataclass(slots=True)
class Loop:
    """A network on its way through the steps of a recipe whose steps are settled."""

    network: Any
    documents: Documents
    recipe: Recipe
    seed: int
    course: Course
    optimizer: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)
    frozen: FrozenLayers | None = None  # None: they are computed in every step
    vocabulary: CorpusVocabulary | None = None  # None: all pieces
    _epoch: tuple[int, Epoch] | None = None

    def __post_init__(self) -> None:
        import torch

        self.parameters = trainable(self.network)
        self.optimizer = torch.optim.AdamW(
            self.parameters.values(),
            lr=self.recipe.rate,
            betas=self.recipe.betas,
            weight_decay=self.recipe.weight_decay,
            fused=True,  # one pass over weights and moments; the loose steps take six times as long
        )

    def tensors(self) -> dict[str, Any]:
        """Everything that changes, for a checkpoint."""
        import torch

        return {
            "weights": {name: each.detach() for name, each in self.parameters.items()},
            "optimizer": self.optimizer.state_dict(),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state_all() if self.recipe.device == "cuda" else [],
        }

    def restore(self, tensors: dict[str, Any]) -> None:
        """The opposite."""
        import torch

        with torch.no_grad():
            for name, each in self.parameters.items():
                each.copy_(tensors["weights"][name])
        self.optimizer.load_state_dict(tensors["optimizer"])
        torch.set_rng_state(tensors["random"])
        if self.recipe.device == "cuda":
            torch.cuda.set_rng_state_all(tensors["random_cuda"])

    def run(self, after: Callable[[Step], None]) -> None:
        """All steps that are left; `after` is called after each of them."""
        steps = self.recipe.steps
        assert steps is not None
        while len(self.course.steps) < steps:
            began, cpu_began = time.perf_counter(), time.process_time()
            step = self._step(len(self.course.steps), steps)
            self.course.add(step, time.perf_counter() - began, time.process_time() - cpu_began)
            if self.frozen is not None:
                self.course.computed += self.frozen.store.take_computed()
            after(step)
            self.network.train()  # whoever watches may have sampled from it

    def _step(self, number: int, steps: int) -> Step:
        import torch

        batches = self._batches(number)
        rate = rate_at(self.recipe, number, steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        # the mean over the tokens of the whole step, whatever batch they stand in
        predicted = max(1, sum(len(row) - 1 for rows in batches for row in rows))
        loss = sum(self._backward(rows, predicted) for rows in batches)
        if not math.isfinite(loss):
            raise TrainingError(
                f"step {number + 1}: the loss is {loss}, and training on would ruin the weights; "
                "try a lower --rate, a longer --warmup or --dtype float32"
            )
        if self.recipe.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.recipe.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return Step(number + 1, loss, sum(len(row) for rows in batches for row in rows), rate)

    def _backward(self, rows: list[Tokens], tokens: int) -> float:
        import torch

        padded = pad(rows)
        if self.vocabulary is not None:
            padded = (*padded[:2], self.vocabulary.renumber(padded[2], IGNORED))
        ids, mask, targets = (torch.from_numpy(each).to(self.recipe.device) for each in padded)
        with self._shortened(rows, len(self.course.steps)), self.arithmetic():
            # a cache of keys and values is for sampling
            logits = self.network(input_ids=ids, attention_mask=mask, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1).float(),
            targets.flatten(),
            ignore_index=IGNORED,
            reduction="sum",
        )
        loss = loss / tokens
        loss.backward()
        return float(loss.item())

    @contextmanager
    def _shortened(self, rows: list[Tokens], step: int) -> Iterator[None]:
        """Without the work that the recipe saves."""
        with (
            self.frozen.recalled(rows) if self.frozen else nullcontext(),
            self.vocabulary.narrowed(step) if self.vocabulary else nullcontext(),
        ):
            yield

    def arithmetic(self) -> AbstractContextManager[None]:
        """In which numbers the network computes."""
        import torch

        if self.recipe.dtype == "float32":
            return nullcontext()
        autocast: AbstractContextManager[None] = torch.autocast(self.recipe.device, torch.bfloat16)
        return autocast

    def _batches(self, number: int) -> list[list[Tokens]]:
        """The batches of a step: those of its epoch, `accumulate` at a time."""
        per_epoch = steps_per_epoch(self.documents, self.recipe)
        lap, place = divmod(number, per_epoch)
        if self._epoch is None or self._epoch[0] != lap:
            self._epoch = lap, epoch(self.documents, self.recipe, self.seed, lap)
        batches = self._epoch[1]
        first = place * self.recipe.accumulate
        last = min(first + self.recipe.accumulate, len(batches))
        return [batches.rows(index) for index in range(first, last)]


def pad(rows: list[Tokens]) -> tuple[Numbers, Numbers, Numbers]:
    """Tokens, mask and what comes after each token; padding, on the right, comes after none."""
    width = max(len(row) for row in rows)
    ids = np.zeros((len(rows), width), np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    targets = np.full((len(rows), width), IGNORED, np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
        targets[place, : len(row) - 1] = row[1:]
    return ids, mask, targets


SIGNALS = (signal.SIGINT, signal.SIGTERM)  # a user, and a machine that wants its cores back


@dataclass(slots=True)
class Pause:
    """Whether somebody asked to stop."""

    is_wanted: bool = False


@contextmanager
def pausable() -> Iterator[Pause]:
    """Note the first signal; the second one interrupts at once."""
    pause = Pause()
    if threading.current_thread() is not threading.main_thread():
        yield pause  # only the main thread may say what a signal does
        return
    before = {each: signal.getsignal(each) or signal.SIG_DFL for each in SIGNALS}

    def note(number: int, _frame: FrameType | None) -> None:
        pause.is_wanted = True
        signal.signal(number, before[signal.Signals(number)])

    for each in SIGNALS:
        signal.signal(each, note)
    try:
        yield pause
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
