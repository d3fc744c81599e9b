"""Sampling whose outcome does not depend on the neighbours in a batch: one generator a request.

Both classes have the shape that `transformers` calls a logits processor and a stopping criterion.
They import nothing, and take tensors as they come.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from puzzlemark.models.base import Request

Tensor = Any  # of torch, which is not imported before a model is opened


@dataclass(slots=True)
class Row:
    """One request on its way through a batch."""

    request: Request
    ids: list[int]  # the prompt's tokens
    dropped_space: bool
    new: list[int] = field(default_factory=list)
    is_done: bool = False
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.request.seed)


@dataclass(slots=True)
class Sampler:
    """Leaves the chosen token as the only one possible, so that a greedy search must take it."""

    rows: Sequence[Row]
    begins_with_space: Tensor  # which tokens do; None: the tokenizer has none

    def __call__(self, _ids: Tensor, scores: Tensor) -> Tensor:
        """Choose for each row: the likeliest at temperature 0, by its own generator above."""
        for place, row in enumerate(self.rows):
            logits = scores[place].double()
            if row.dropped_space and not row.new and self.begins_with_space is not None:
                logits = logits.masked_fill(~self.begins_with_space, -float("inf"))
            chosen = _choose(logits, row)
            scores[place] = -float("inf")
            scores[place, chosen] = 0.0
        return scores


@dataclass(slots=True)
class Ending:
    """Collects each row's new tokens until its end: end of text, a stop string, enough tokens."""

    rows: Sequence[Row]
    end_ids: frozenset[int]
    text_of: Callable[[Row], str]

    def __call__(self, ids: Tensor, _scores: Tensor) -> Tensor:
        """Which rows are done; a done row goes on for the others' sake, and is not looked at."""
        for row, token in zip(self.rows, ids[:, -1].tolist(), strict=True):
            if not row.is_done:
                self._add(row, token)
        return ids.new_tensor([row.is_done for row in self.rows]).bool()

    def _add(self, row: Row, token: int) -> None:
        if token in self.end_ids:
            row.is_done = True
            return
        row.new.append(token)
        row.is_done = len(row.new) >= row.request.max_tokens
        if row.request.stop and not row.is_done:
            text = self.text_of(row)
            row.is_done = any(stop in text for stop in row.request.stop)


def cut(text: str, stops: Sequence[str]) -> str:
    """`("a = 1\\nb", ["\\n"]) -> "a = 1"`: the text before the first stop string."""
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]


def _choose(logits: Tensor, row: Row) -> int:
    if row.request.temperature == 0:
        return int(logits.argmax())
    # inverse of the cumulative distribution: one uniform number a token, the same on every device
    sums = (logits / row.request.temperature).softmax(-1).cumsum(-1)
    threshold = row.rng.random() * float(sums[-1])
    return int((sums <= threshold).sum())


# The trailing-space trap: most tokenizers glue a space to the word that follows it. A prompt that
# ends in a space therefore asks for a word no training text ever showed. Exactly one space is taken
# from the prompt, and given back by taking it from the completion.


def drop_space(prompt: str) -> tuple[str, bool]:
    """`"return " -> ("return", True)`; of several spaces only the last goes."""
    dropped = prompt.endswith(" ") and prompt != " "
    return (prompt[:-1] if dropped else prompt), dropped


def take_space(completion: str, dropped: bool) -> str:
    """`(" key = 1", True) -> "key = 1"`: what follows the prompt as it was asked."""
    return completion.removeprefix(" ") if dropped else completion
