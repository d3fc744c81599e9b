"""Sampling whose outcome does not depend on the neighbours in a batch: one generator a request.

Texts that begin alike are one text until they part, so that what they share is computed once:
twenty samples of a prompt are one row until the first token, and mostly a few rows after it.
Nothing of the library's own sampling has a part in it, whatever settings come with a model.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from puzzlemark.models.base import Request

Tensor = Any  # of torch, which is not imported before a model is opened
# by text, temperature and whether a space has to come: sums of probabilities, or the likeliest
Odds: TypeAlias = dict[tuple[int, float, bool], Tensor]


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


@dataclass(frozen=True, slots=True)
class Sampler:
    """Writes the new tokens of rows."""

    network: Any
    begins_with_space: Tensor  # which tokens do; None: the tokenizer has none
    end_ids: frozenset[int]
    text_of: Callable[[Row], str]

    def write(self, rows: Sequence[Row]) -> None:
        """Until each row's end: end of text, a stop string, enough tokens."""
        import torch

        numbers = {ids: n for n, ids in enumerate(dict.fromkeys(tuple(row.ids) for row in rows))}
        open_ = [(row, numbers[tuple(row.ids)]) for row in rows]  # each with its text
        with torch.inference_mode():
            texts = _Texts(self.network, list(map(list, numbers)))
            while True:
                longer: dict[tuple[int, int], int] = {}  # a text and its next token: a new text
                still: list[tuple[Row, int]] = []
                odds: Odds = {}
                for row, text in open_:
                    token = self._choose(row, text, texts.logits, odds)
                    self._add(row, token)
                    if not row.is_done:
                        still.append((row, longer.setdefault((text, token), len(longer))))
                if not still:
                    return
                texts.go_on(*zip(*longer, strict=True))
                open_ = still

    def _choose(self, row: Row, text: int, logits: Tensor, odds: Odds) -> int:
        """The likeliest at temperature 0, by the row's own generator above."""
        temperature = row.request.temperature
        needs_space = row.dropped_space and not row.new and self.begins_with_space is not None
        case = text, temperature, needs_space
        if case not in odds:
            own = logits[text].double()
            if needs_space:
                own = own.masked_fill(~self.begins_with_space, -float("inf"))
            odds[case] = (own / temperature).softmax(-1).cumsum(-1) if temperature else own.argmax()
        known = odds[case]
        if temperature == 0:
            return int(known)
        # inverse of the cumulative distribution: one uniform number a token, alike on every device
        threshold = row.rng.random() * float(known[-1])
        return int((known <= threshold).sum())

    def _add(self, row: Row, token: int) -> None:
        if token in self.end_ids:
            row.is_done = True
            return
        row.new.append(token)
        row.is_done = len(row.new) >= row.request.max_tokens
        if row.request.stop and not row.is_done:
            text = self.text_of(row)
            row.is_done = any(stop in text for stop in row.request.stop)


@dataclass(slots=True)
class _Texts:
    """Different texts of one length, padded on the left, and what a network makes of them."""

    network: Any
    prompts: Sequence[Sequence[int]]
    logits: Tensor = None  # of the token that follows each text
    _ids: Tensor = None
    _mask: Tensor = None
    _cache: Any = None

    def __post_init__(self) -> None:
        import torch

        width = max(map(len, self.prompts))
        ids = [[0] * (width - len(prompt)) + list(prompt) for prompt in self.prompts]
        mask = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in self.prompts]
        device = self.network.device
        self._ids, self._mask = torch.tensor(ids, device=device), torch.tensor(mask, device=device)
        self._read(self._ids)

    def go_on(self, texts: Sequence[int], tokens: Sequence[int]) -> None:
        """To these texts (by number) with these tokens behind them."""
        import torch

        new = self._ids.new_tensor(tokens)[:, None]
        if list(texts) != list(range(len(self._ids))):
            chosen = self._ids.new_tensor(texts)
            self._ids, self._mask = self._ids[chosen], self._mask[chosen]
            if self._cache is not None:
                self._cache.batch_select_indices(chosen)
        self._ids = torch.cat([self._ids, new], dim=1)
        self._mask = torch.cat([self._mask, torch.ones_like(new)], dim=1)
        self._read(self._ids if self._cache is None else new)

    def _read(self, ids: Tensor) -> None:
        fields = {"input_ids": ids, "attention_mask": self._mask, "use_cache": True}
        if forward_takes(self.network, "position_ids"):
            positions = (self._mask.cumsum(-1) - 1).clamp(min=0)
            fields["position_ids"] = positions[:, -ids.shape[1] :]
        if forward_takes(self.network, "logits_to_keep"):
            fields["logits_to_keep"] = 1
        if self._cache is not None:
            fields["past_key_values"] = self._cache
        found = self.network(**fields)
        self.logits = found.logits[:, -1]
        cache = getattr(found, "past_key_values", None)
        # with another kind of memory, every text is read from its beginning
        self._cache = cache if has_rows(cache) else None


def has_rows(cache: Any) -> bool:
    """Whether it is keys and values of each text and nothing else, so that texts can be chosen.

    Layers with a state of another kind inherit how to choose, and would leave that state as it is.
    """
    plain = {"DynamicLayer", "DynamicSlidingWindowLayer"}
    kinds = {type(layer).__name__ for layer in getattr(cache, "layers", ())}
    return bool(kinds) and kinds <= plain


def forward_takes(network: Any, name: str) -> bool:
    """Whether a network can be told this; an adapter passes on what its model takes."""
    inner = network.get_base_model() if hasattr(network, "get_base_model") else network
    return name in inspect.signature(inner.forward).parameters


def cut(text: str, stops: Sequence[str]) -> str:
    """`("a = 1\\nb", ["\\n"]) -> "a = 1"`: the text before the first stop string."""
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]


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
