"""A model: it repeats a word, whatever it is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from puzzlemark.models.base import Answer, Request


@dataclass(frozen=True, slots=True)
class Parrot:
    """What `open_model` returns: a name, a size of batches, a description, and answers."""

    word: str
    times: int
    name: str = "parrot"
    batch_size: int = 100

    def describe(self) -> dict[str, Any]:
        """What decides the answers; it is written into the transcript, so no secrets."""
        return {"kind": "parrot", "word": self.word, "times": self.times}

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """One answer for each request, in order."""
        return [" ".join([self.word] * self.times) for _ in requests]


@dataclass(frozen=True, slots=True)
class ParrotSettings:
    """`--model parrot --model-args word=None,times=3`."""

    word: str = "pass"
    times: int = 1

    def open(self) -> Parrot:
        """Here a real model would load its weights, or look for its server."""
        return Parrot(self.word, self.times)


PLUGIN = ParrotSettings
