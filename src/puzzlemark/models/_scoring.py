"""How likely a local model finds names: the arithmetic behind `hf`'s log-probabilities.

Of a name n after a prompt x the log-probability that the completion begins with n *as a whole
name*, that is

    sum over the tokens t_1 ... t_k of n of  log p(t_i | x, t_1 ... t_(i-1))
    + log of the sum of p(t | x, t_1 ... t_k) over all tokens t with which a name cannot go on.

The last term is why `i` is not credited with what the model means for `index`: without it a name
would always be at least as likely as every longer one that begins like it.

The tokens are those that the tokenizer makes of prompt and name together, as long as it leaves the
tokens of the prompt as they are (training text looked so). A name could also be spelled with other
tokens, which the sum leaves out: it is a lower bound, and hardly less than the whole.

A prompt that ends in a space loses it, and the name gets it (`_sampling` says why). Then, as in
sampling, the first token is one that begins with a space: its probability is given that.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from puzzlemark.models._sampling import forward_takes, has_rows
from puzzlemark.models.base import LEAST_LOG

Tensor = Any  # of torch, which is not imported before a model is opened

_BYTE = re.compile(r"<0x([0-9A-F]{2})>\Z")  # how SentencePiece spells a single byte
# byte-level BPE shifts the bytes that are no printable characters: `\n` is U+010A, a space U+0120
_SHIFTED = re.compile("[\u0100-\u0121]")
_SPACE = "\u2581"  # SentencePiece's space
_GOES_ON = re.compile(r"[A-Za-z0-9_]|[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the tokens of a model say."""

    ids: Mapping[str, int]  # by the token, as the tokenizer spells it
    ends: Tensor  # a mask: the tokens with which a name cannot go on

    def spell(self, text: str) -> list[int] | None:
        """The longest tokens from the left that make a text; None when none do."""
        for space in ("\u0120", _SPACE):
            if found := self._spelled(text.replace(" ", space)):
                return found
        return None

    def _spelled(self, text: str) -> list[int] | None:
        found: list[int] = []
        while text:
            length = next((n for n in range(len(text), 0, -1) if text[:n] in self.ids), 0)
            if not length:
                return None
            found.append(self.ids[text[:length]])
            text = text[length:]
        return found


def read_vocabulary(network: Any, tokenizer: Any, end_ids: frozenset[int]) -> Vocabulary:
    """The vocabulary of a model that is open."""
    import torch

    size = network.get_output_embeddings().weight.shape[0]  # may be padded beyond the tokenizer
    tokens = tokenizer.convert_ids_to_tokens(list(range(min(size, len(tokenizer)))))
    special = set(tokenizer.all_special_tokens)
    ends = [
        place in end_ids or token in special or (token is not None and ends_name(token))
        for place, token in enumerate(tokens)
    ]
    mask = torch.tensor(ends + [False] * (size - len(ends)), device=network.device)
    plain = {token: place for place, token in enumerate(tokens) if token and token not in special}
    return Vocabulary(plain, mask)


def ends_name(token: str) -> bool:
    """Whether a name cannot go on with this token: `ends_name("\\u0120in") -> True`.

    What is beyond ASCII may belong to a name, as in the count of hits.
    """
    if byte := _BYTE.match(token):
        token = chr(int(byte[1], 16))
    if token.startswith(_SPACE) or _SHIFTED.match(token):
        return True
    return bool(token) and _GOES_ON.match(token) is None


def continue_with(prompt: Sequence[int], whole: Sequence[int]) -> list[int] | None:
    """The tokens behind those of the prompt; None when the prompt's own became others."""
    if len(whole) <= len(prompt) or list(whole[: len(prompt)]) != list(prompt):
        return None
    return list(whole[len(prompt) :])


def log_probs(
    network: Any, prompt: list[int], names: list[list[int]], ends: Tensor, first: Tensor | None
) -> tuple[float, ...]:
    """Of each name that it comes next, as a whole; `first`: the tokens that may come first."""
    import torch

    device = network.device
    with torch.inference_mode():
        last = {"logits_to_keep": 1} if forward_takes(network, "logits_to_keep") else {}
        begun = network(input_ids=torch.tensor([prompt], device=device), use_cache=True, **last)
        start = begun.logits[0, -1].double()
        if first is not None:
            start = start.masked_fill(~first, -float("inf"))
        width = max(map(len, names))
        # on the right, so that a name stands where it would; what follows it is not looked at
        ids = torch.tensor([own + [0] * (width - len(own)) for own in names], device=device)
        logits = _continued(network, prompt, ids, begun.past_key_values)
        after = logits.double().log_softmax(-1)
        found = start.log_softmax(-1)[ids[:, 0]]
        for row, own in enumerate(names):
            for place, token in enumerate(own[1:]):
                found[row] += after[row, place, token]
            found[row] += after[row, len(own) - 1][ends].logsumexp(-1)
    return tuple(min(0.0, max(LEAST_LOG, value)) for value in found.tolist())


def _continued(network: Any, prompt: list[int], ids: Tensor, cache: Any) -> Tensor:
    """The logits behind each token of the names; the prompt is computed once where that works."""
    import torch

    rows, width = ids.shape
    if has_rows(cache):
        cache.batch_repeat_interleave(rows)
        mask = ids.new_ones((rows, len(prompt) + width))
        return network(input_ids=ids, attention_mask=mask, past_key_values=cache).logits
    before = ids.new_tensor(prompt).expand(rows, -1)
    return network(input_ids=torch.cat([before, ids], dim=1)).logits[:, len(prompt) :]
