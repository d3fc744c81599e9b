"""A whole run of `train`: from a corpus and a base model to a folder with the trained one.

The folder holds a checkpoint while the training is under way, and `training.json` when it is over.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from puzzlemark.corpora.base import open_corpus
from puzzlemark.errors import UsageError
from puzzlemark.models._weights import digest, name_of
from puzzlemark.progress import Progress, no_progress
from puzzlemark.staging import write_text
from puzzlemark.training import record
from puzzlemark.training.checkpoints import (
    FOLDER,
    Course,
    Step,
    alone,
    find_checkpoint,
    remove_checkpoints,
    write_checkpoint,
)
from puzzlemark.training.documents import Documents, read_documents
from puzzlemark.training.frozen import FrozenLayers, StateStore, digest_of_frozen
from puzzlemark.training.loop import Loop, Moment, Pause, pausable, steps_per_epoch
from puzzlemark.training.network import (
    adapt_to_machine,
    attention,
    default_recipe,
    encoder,
    find_base,
    layers_of,
    load_network,
    load_tokenizer,
    need_torch,
    save_network,
    settled_torch,
)
from puzzlemark.training.recipes.base import Recipe, load_recipe, override
from puzzlemark.training.record import (
    Trained,
    find_finished,
    prepare,
    put_in_place,
    refuse_other,
    write_losses,
)
from puzzlemark.training.vocabulary import SAMPLED, CorpusVocabulary

CHECKPOINTS = 20  # in one training, unless told otherwise
UNSAID = "unsaid"  # a corpus need not say its language to be learnt

Watch = Callable[[Moment], None]


def train(
    corpus: Path | str,
    base: Path | str,
    output: Path | str,
    *,
    recipe: Recipe | str | None = None,
    seed: int = 0,
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    cache: Path | str | None = None,
    force: bool = False,
    progress: Progress = no_progress,
    watch: Watch | None = None,
    **overrides: Any,
) -> Trained:
    """Fine-tune a model: `train("marked.jsonl.gz", "smollm2/", "model/", recipe="cpu", steps=200)`.

    `overrides` are fields of the recipe. A run that was stopped goes on when it is called again
    with the same arguments; one that is over is not repeated.

    `cache` is a folder that trainings of one base share, for recipes that send a row through the
    frozen layers once; without it what they make lies in `output` until the training is over.
    """
    need_torch()
    chosen = _choose(recipe, overrides)
    output, folder = Path(output), find_base(str(base))
    opened = open_corpus(
        corpus,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
        language=language or UNSAID,
    )
    kept = _cache(output, cache, chosen)
    prepare(output, Path(cache) if cache else None, folder, opened, force=force)
    tokenizer = load_tokenizer(folder)
    documents, reading = read_documents(opened, encoder(tokenizer), chosen, progress)
    settled = _settle(chosen, documents)
    identity = record.identify(
        opened.path.name, reading, name_of(str(base)), digest(folder), settled, seed
    )
    done = find_finished(output)
    if done is not None:
        # newer versions are no reason to train again: the record says which ones did
        refuse_other(output, done, {**identity, "versions": {}})
        remove_checkpoints(output)
        return Trained(output, done, was_there=True)
    with alone(output), settled_torch(settled, seed):
        loop = _start(output, folder, documents, settled, seed, identity)
        if settled.frozen == "once":
            loop.frozen = _freeze(loop, kept, identity)
        if settled.vocabulary != "all":
            sampled = SAMPLED if settled.vocabulary == "sampled" else 0
            loop.vocabulary = CorpusVocabulary.of(
                loop.network, documents, sampled=sampled, seed=seed
            )
        with pausable() as pause:
            keeping = _Keeping(output, loop, identity, tokenizer, pause, progress, watch)
            loop.run(keeping.after)
        return _finish(output, folder, loop, tokenizer, identity)


def _choose(recipe: Recipe | str | None, overrides: Mapping[str, Any]) -> Recipe:
    if recipe is None:
        recipe = default_recipe()
    return override(load_recipe(recipe) if isinstance(recipe, str) else recipe, overrides)


def _cache(output: Path, cache: Path | str | None, recipe: Recipe) -> Path:
    if cache is not None and recipe.frozen != "once":
        raise UsageError("--cache has no effect with --frozen each_step; leave it out")
    return Path(cache) if cache else output / FOLDER / "frozen"


def _settle(recipe: Recipe, documents: Documents) -> Recipe:
    """The recipe as this machine and this corpus make it; nothing in it is left to choose."""
    recipe = adapt_to_machine(recipe)
    per_epoch = steps_per_epoch(documents, recipe)
    if recipe.steps is None:
        assert recipe.epochs is not None
        recipe = replace(recipe, steps=max(1, round(recipe.epochs * per_epoch)))
    assert recipe.steps is not None
    return replace(
        recipe,
        epochs=round(recipe.steps / per_epoch, 4),
        checkpoint_every=recipe.checkpoint_every or -(-recipe.steps // CHECKPOINTS),
    )


def _start(
    output: Path,
    base: Path,
    documents: Documents,
    recipe: Recipe,
    seed: int,
    identity: Mapping[str, Any],
) -> Loop:
    """From the base model, or from the last checkpoint."""
    checkpoint = find_checkpoint(output)
    if checkpoint is not None:
        refuse_other(output, checkpoint.identity, identity)
    course = checkpoint.course if checkpoint else Course()
    course.starts += 1
    loop = Loop(
        load_network(base, identity["base"]["name"], recipe), documents, recipe, seed, course
    )
    if checkpoint is not None:
        loop.restore(checkpoint.tensors())
    return loop


def _freeze(loop: Loop, cache: Path, identity: Mapping[str, Any]) -> FrozenLayers:
    """Layers that are left out, once it was seen that they can be."""
    import torch

    layers = layers_of(loop.network)
    below = len(layers) - loop.recipe.layers
    decides = {
        # by its weights: a model that was trained further shares them with its base
        "frozen": digest_of_frozen(loop.network, layers, below),
        "layers": below,
        # the last bits may differ by any of these
        **{name: identity["recipe"][name] for name in ("dtype", "device", "threads")},
        **{name: identity["versions"][name] for name in ("torch", "transformers")},
        "processor": torch.backends.cpu.get_cpu_capability(),
        "attention": attention(loop.recipe),
    }
    store = StateStore(cache, decides)
    frozen = FrozenLayers(loop.network, layers, below, store, loop.arithmetic)
    frozen.check(loop.documents[0])
    return frozen


@dataclass(slots=True)
class _Keeping:
    """What happens between two steps: checkpoints, progress, an orderly stop."""

    output: Path
    loop: Loop
    identity: Mapping[str, Any]
    tokenizer: Any
    pause: Pause
    progress: Progress
    watch: Watch | None
    seconds: float = 0.0  # of the processes before this one, like the tokens
    tokens: int = 0

    def __post_init__(self) -> None:
        self.seconds, self.tokens = self.loop.course.seconds, self.loop.course.tokens

    def after(self, step: Step) -> None:
        """Called after each step."""
        recipe = self.loop.recipe
        assert recipe.steps is not None
        assert recipe.checkpoint_every is not None
        is_last = step.step == recipe.steps
        if step.step % recipe.checkpoint_every == 0 or is_last or self.pause.is_wanted:
            self._keep()
        if self.pause.is_wanted and not is_last:
            raise KeyboardInterrupt
        self.progress("training", step.step, recipe.steps)
        if self.watch is not None:
            self.watch(self._moment(step, recipe.steps))

    def _keep(self) -> None:
        course = self.loop.course
        write_checkpoint(self.output, self.identity, course, self.loop.tensors())
        write_losses(self.output, course, _title(self.identity))

    def _moment(self, step: Step, steps: int) -> Moment:
        course = self.loop.course
        seconds = max(course.seconds - self.seconds, 1e-9)
        here = course.tokens - self.tokens
        per_token = seconds / here
        left = course.tokens / len(course.steps) * (steps - step.step) * per_token
        return Moment(step, steps, here / seconds, left, self.loop.network, self.tokenizer)


def _finish(
    output: Path, base: Path, loop: Loop, tokenizer: Any, identity: Mapping[str, Any]
) -> Trained:
    put_in_place(output, partial(save_network, loop.network, tokenizer, base))
    write_losses(output, loop.course, _title(identity))
    parameters = sum(each.numel() for each in loop.parameters.values())
    whole = record.complete(identity, loop.course, digest(output), parameters)
    write_text(output / record.NAME, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")
    remove_checkpoints(output)
    return Trained(output, whole)


def _title(identity: Mapping[str, Any]) -> str:
    return f"Loss of {identity['base']['name']} on {identity['corpus']['name']}"
