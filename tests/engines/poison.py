"""Work that ends the process it is done in, as a crash in C or a lack of memory does."""

import multiprocessing
import os
import random
import signal
from dataclasses import dataclass

from puzzlemark.syntax.tree import Tree
from puzzlemark.syntax.variables import Function, Policy
from puzzlemark.watermarks.base import Mark, Refusal
from puzzlemark.watermarks.universal import Universal

POISON = b"poison = 1"


@dataclass(frozen=True, slots=True)
class Poisoned(Universal):
    """The universal watermark, but one snippet ends the worker that reads it."""

    def plan(
        self, tree: Tree, function: Function, policy: Policy, rng: random.Random
    ) -> Mark | Refusal:
        if POISON in tree.code:
            die()
        return super(Poisoned, self).plan(tree, function, policy, rng)


def die() -> None:
    """End this process at once; never the one that runs the tests."""
    is_worker = multiprocessing.parent_process() is not None or "RAY_RAYLET_PID" in os.environ
    assert is_worker, "not in a worker"
    os.kill(os.getpid(), signal.SIGSEGV)


def die_of_seven(numbers: list[int]) -> int:
    """The sum, unless 7 is among them."""
    if 7 in numbers:
        die()
    return sum(numbers)


def die_once(path: str) -> int:
    """End the first process that gets here."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return 1
    die()
    return 0
