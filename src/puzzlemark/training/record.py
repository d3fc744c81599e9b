"""training.json: what a training was made of and what came out, with the times apart.

Two runs of the same training on a CPU have the same record but for the key `times`.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart
from puzzlemark.pages.curve import curve
from puzzlemark.provenance import versions
from puzzlemark.staging import write_text
from puzzlemark.training import record
from puzzlemark.training.checkpoints import FOLDER, Course, Step, TrainingError
from puzzlemark.training.documents import Reading
from puzzlemark.training.recipes.base import Recipe

FORMAT = "puzzlemark training"
VERSION = 1
NAME = "training.json"
PARTS = ("torch", "transformers", "tokenizers", "peft")
# what may differ between two starts of one training: nothing in the weights depends on it
FREE = frozenset({"corpus.name", "base.name", "recipe.checkpoint_every"})
DEFAULTS = {f"recipe.{name}": value for name, value in asdict(Recipe()).items()}
LAST = 20  # the final loss is a mean over the last twentieth of the steps


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model."""

    folder: Path
    record: dict[str, Any]  # training.json
    was_there: bool = False  # the very same training had been done before

    def to_json(self) -> dict[str, Any]:
        """For a machine."""
        return {"output": str(self.folder), **self.record}


def identify(
    corpus: str, reading: Reading, base: str, sha256: str, recipe: Recipe, seed: int
) -> dict[str, Any]:
    """Everything that decides the weights."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "versions": versions(*PARTS),
        "corpus": {"name": corpus, **asdict(reading)},
        "base": {"name": base, "sha256": sha256},
        "recipe": {name: _plain(value) for name, value in asdict(recipe).items()},
        "seed": seed,
    }


def complete(
    identity: Mapping[str, Any], course: Course, sha256: str, parameters: int
) -> dict[str, Any]:
    """The whole record of a training that is over."""
    steps = course.steps
    return {
        **identity,
        "result": {
            "steps": len(steps),
            "tokens": course.tokens,
            "trained_parameters": parameters,
            "first_loss": steps[0].loss,
            "final_loss": final_loss(steps),
            "sha256": sha256,
        },
        "times": {
            "seconds": round(course.seconds, 1),
            "cpu_seconds": round(course.cpu_seconds, 1),
            "tokens_per_second": round(course.tokens / max(course.seconds, 1e-9), 1),
            "starts": course.starts,
            **({"rows_computed": course.computed} if course.computed else {}),
        },
    }


def final_loss(steps: list[Step]) -> float:
    """Mean over the tokens of the last steps: that of a single batch says little."""
    last = steps[-max(1, len(steps) // LAST) :]
    return sum(step.loss * step.tokens for step in last) / sum(step.tokens for step in last)


def differences(there: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """In which settings two trainings differ, in words; none when they are the same."""
    before, after = (dict(_flatten(each)) for each in (there, asked))
    before = DEFAULTS | before  # a record of an earlier version lacks what came later
    return [
        f"{name} is {before.get(name)} there and {after[name]} here"
        for name in after
        if name not in FREE and before.get(name) != after[name]
    ]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value  # as JSON has it


def _flatten(nested: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


LOSSES, PICTURE = "loss.jsonl", "loss.svg"
STAGING = "finished.partial"


def prepare(output: Path, cache: Path | None, base: Path, corpus: Corpus, *, force: bool) -> None:
    """Refuse a folder that is not for a training; with `force`, clear one that is."""
    keep_apart({"--output": output, "--cache": cache}, {"--base": base, "INPUT": corpus.paths})
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output}: is a file; name a folder for the model")
    if not output.is_dir() or not any(output.iterdir()):
        return
    # only what a training of ours wrote is ever removed
    if not ((output / FOLDER).is_dir() or (output / record.NAME).is_file()):
        raise UsageError(f"{output}: holds other files; choose another --output")
    if force:
        shutil.rmtree(output)


def find_finished(output: Path) -> dict[str, Any] | None:
    """The record of a training that is over."""
    path = output / record.NAME
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as exc:
        raise TrainingError(f"{path}: cannot be read; pass --force to begin again") from exc
    if not isinstance(found, dict) or found.get("format") != record.FORMAT:
        raise TrainingError(f"{path}: is no record of a training; choose another --output")
    return found


def refuse_other(output: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raise unless the training in the folder is the one that was asked for."""
    if found := record.differences(there, asked):
        raise TrainingError(
            f"{output}: another training is here: {'; '.join(found)}; "
            "choose another --output, or pass --force to replace it"
        )


def write_losses(output: Path, course: Course, title: str) -> None:
    """The loss of every step, for machines and as a picture."""
    lines = b"".join(orjson.dumps(asdict(step)) + b"\n" for step in course.steps)
    write_text(output / LOSSES, lines.decode())
    losses = [step.loss for step in course.steps]
    subtitle = f"{len(losses):,} steps, {course.tokens:,} tokens"
    write_text(output / PICTURE, curve(losses, title, subtitle=subtitle))


def put_in_place(output: Path, save: Callable[[Path], None]) -> Path:
    """Save beside, then move: a kill meanwhile leaves the checkpoint, and no half model."""
    staging = output / STAGING
    try:
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        save(staging)
        for path in sorted(staging.iterdir()):
            path.replace(output / path.name)
        staging.rmdir()
    except OSError as exc:
        raise TrainingError(
            f"{output}: the model could not be written: {exc.strerror or exc}; "
            "the checkpoint is kept: run the same command again"
        ) from exc
    return output
