"""What a detector computes after its first reading, kept part by part as it comes.

Each result is a list of plain arrays, or JSON: see `puzzlemark.resuming`.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from puzzlemark.engines.base import Engine
from puzzlemark.files import remove
from puzzlemark.resuming import Kept, Work, keep_or_find

Content = TypeVar("Content")
Result = TypeVar("Result")
Arrays = Sequence[NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Named(Generic[Content]):
    """A task for an engine, by the name that its result is kept under."""

    name: str
    content: Content


def numbered(tasks: Iterable[Content]) -> Iterator[Named[Content]]:
    """Tasks that come in the same order in every run."""
    return (Named(str(number), task) for number, task in enumerate(tasks))


@dataclass(frozen=True, slots=True)
class Stages:
    """Where the results of each stage are kept."""

    work: Work

    def map(
        self,
        stage: str,
        function: Callable[[Content], Result],
        tasks: Iterable[Named[Content]],
        engine: Engine,
        *,
        pack: Callable[[Result], bytes],
        unpack: Callable[[bytes], Result],
    ) -> Iterator[Result]:
        """As `engine.map`; what is kept of this stage is not computed again."""
        kept = Kept(
            self.work, stage, lambda results: pack(results[0]), lambda found: [unpack(found)]
        )
        each = partial(_do, function=function)
        return keep_or_find(tasks, lambda missing: engine.map(each, missing), kept)

    def forget(self, *stages: str) -> None:
        """Remove what is not needed any more, as what was made of it is kept."""
        for stage in stages:
            remove(self.work.folder / stage)


def _do(task: Named[Content], function: Callable[[Content], Result]) -> list[Result]:
    return [function(task.content)]


def pack_arrays(arrays: Arrays) -> bytes:
    """Arrays of whole and real numbers, one after the other."""
    file = io.BytesIO()
    for each in arrays:
        np.save(file, each, allow_pickle=False)
    return file.getvalue()


def unpack_arrays(content: bytes) -> list[NDArray[Any]]:
    """The same again."""
    file, end = io.BytesIO(content), len(content)
    found: list[NDArray[Any]] = []
    while file.tell() < end:
        found.append(np.load(file, allow_pickle=False))
    return found
