"""The output folder of a training: what stands in it, and how the finished model gets there."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from puzzlemark.corpora.base import Corpus
from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart
from puzzlemark.pages.curve import curve
from puzzlemark.staging import write_text
from puzzlemark.training import record
from puzzlemark.training.checkpoints import FOLDER, Course, TrainingError

LOSSES, PICTURE = "loss.jsonl", "loss.svg"
STAGING = "finished.partial"


def prepare(output: Path, base: Path, corpus: Corpus, *, force: bool) -> None:
    """Refuse a folder that is not for a training; with `force`, clear one that is."""
    keep_apart({"--output": output}, {"--base": base, "INPUT": corpus.paths})
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
