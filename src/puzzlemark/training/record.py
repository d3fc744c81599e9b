"""training.json: what a training was made of and what came out, with the times apart.

Two runs of the same training on a CPU have the same record but for the key `times`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from puzzlemark.provenance import versions
from puzzlemark.training.checkpoints import Course, Step
from puzzlemark.training.documents import Reading
from puzzlemark.training.recipes.base import Recipe

FORMAT = "puzzlemark training"
VERSION = 1
NAME = "training.json"
PARTS = ("torch", "transformers", "tokenizers", "peft")
# what may differ between two starts of one training: nothing in the weights depends on it
FREE = frozenset({"corpus.name", "base.name", "recipe.checkpoint_every"})
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
        },
    }


def final_loss(steps: list[Step]) -> float:
    """Mean over the tokens of the last steps: that of a single batch says little."""
    last = steps[-max(1, len(steps) // LAST) :]
    return sum(step.loss * step.tokens for step in last) / sum(step.tokens for step in last)


def differences(there: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """In which settings two trainings differ, in words; none when they are the same."""
    before, after = (dict(_flatten(each)) for each in (there, asked))
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
