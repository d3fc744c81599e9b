"""Log-probabilities of names from a server that tells only its likeliest next tokens.

Servers with the OpenAI interface give, with `logprobs: N`, the N likeliest tokens at the place of a
token that they made. Prompts cannot be read in this way everywhere (`echo` is ignored by some
without a word), so a name is walked: what may follow the prompt, then what may follow the prompt
and the first token of the name, and so on. Behind the last token all tokens are summed with which
a name cannot go on, as `_scoring` does it for a local model.

A token that is not among the likeliest counts as the last of them, or as all that they leave over,
whichever is less: it is no more likely than that. So a value is never better than it should be for
a name that the server did not show; for names that it showed it is what the model computed.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from puzzlemark.models._sampling import drop_space
from puzzlemark.models.base import LEAST_LOG, ChoiceRequest, Failure, LogProbs, ModelError

Tops: TypeAlias = Mapping[str, float]  # the likeliest tokens, as texts, with log-probabilities
NextTokens: TypeAlias = Callable[[Sequence[str]], Sequence[Tops | Failure]]

_GOES_ON = re.compile(r"[A-Za-z0-9_]|[^\x00-\x7f]")
NONE_GIVEN = (
    "openai: the server gives no log-probabilities with its completions (no `logprobs` in its "
    "answer); ask without --logprobs"
)


def read_tops(answer: Any) -> Tops:
    """What an answer says about its first token, in either of the two shapes that servers use.

    `logprobs.top_logprobs[0]` is an object of numbers (OpenAI, vLLM), or `logprobs.content[0]` has
    a list of objects (llama.cpp). A server that gives neither does so for every prompt.
    """
    try:
        given = answer["choices"][0]["logprobs"]
        if given.get("content"):
            pairs = [
                (each["token"], each["logprob"]) for each in given["content"][0]["top_logprobs"]
            ]
        else:
            pairs = list(given["top_logprobs"][0].items())
        tops: dict[str, float] = {}
        for token, value in pairs:
            if not isinstance(token, str) or type(value) not in (int, float):
                raise TypeError
            # two tokens may read alike, such as halves of a character
            tops[token] = max(tops.get(token, LEAST_LOG), min(0.0, max(LEAST_LOG, float(value))))
    except (TypeError, KeyError, IndexError, AttributeError):
        tops = {}
    if not tops:
        raise ModelError(NONE_GIVEN)
    return tops


@dataclass(slots=True)
class _Walk:
    """One name on its way."""

    prompt: str
    rest: str  # of the name
    found: float = 0.0
    is_done: bool = False

    def step(self, tops: Tops) -> None:
        fitting = [token for token in tops if token and self.rest.startswith(token)]
        if self.rest and fitting:
            token = max(fitting, key=len)
            self.found += tops[token]
            self.prompt, self.rest = self.prompt + token, self.rest[len(token) :]
            return
        self.is_done = True
        ends = [] if self.rest else [value for token, value in tops.items() if _ends_name(token)]
        self.found += math.log(sum(map(math.exp, ends))) if ends else _least(tops)
        self.found = min(0.0, max(LEAST_LOG, self.found))


def score_by_steps(
    requests: Sequence[ChoiceRequest], next_tokens: NextTokens
) -> list[LogProbs | Failure]:
    """Walk all names of all requests, a token at a time; a prompt that is shared is asked once."""
    walks: list[list[_Walk]] = []
    for request in requests:
        prompt, dropped = drop_space(request.prompt)
        walks.append([_Walk(prompt, " " * dropped + name) for name in request.names])
    failed: dict[int, Failure] = {}
    while open_ := _open(walks, failed):
        prompts = list(dict.fromkeys(walk.prompt for _, walk in open_))
        tops = dict(zip(prompts, next_tokens(prompts), strict=True))
        for number, walk in open_:
            found = tops[walk.prompt]
            if isinstance(found, Failure):
                failed[number] = found
            else:
                walk.step(found)
    return [
        failed.get(number) or LogProbs(tuple(walk.found for walk in names))
        for number, names in enumerate(walks)
    ]


def _open(
    walks: Sequence[Sequence[_Walk]], failed: Mapping[int, Failure]
) -> list[tuple[int, _Walk]]:
    return [
        (number, walk)
        for number, names in enumerate(walks)
        if number not in failed
        for walk in names
        if not walk.is_done
    ]


def _ends_name(token: str) -> bool:
    """Nothing at all is the end of the text."""
    return not token or _GOES_ON.match(token) is None


def _least(tops: Tops) -> float:
    """What a token that is not among them can have at most."""
    left = 1.0 - sum(map(math.exp, tops.values()))
    return min(min(tops.values()), math.log(left) if left > 0 else LEAST_LOG)
