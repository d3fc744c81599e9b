"""What a model is to us: it completes prompts, and we see nothing else of it.

Some models can also say how likely a name is as the next word (`Scoring`). What they say is
evidence like a completion; nothing depends on a model that says it.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from pydantic import BaseModel, ConfigDict

from puzzlemark import plugins
from puzzlemark.errors import PuzzleMarkError, UsageError

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST_LOG = 1e-4  # a probability of 1 may come out a little above it
LEAST_LOG = -1e4  # what is less likely than any number can say
CHARACTERS_A_TOKEN = 3.2  # of code, measured with a byte-level BPE tokenizer


@dataclass(frozen=True, slots=True)
class Request:
    """One question: a prompt, and how it is to be completed."""

    prompt: str
    max_tokens: int
    temperature: float
    seed: int
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise UsageError(f"max_tokens must be 1 or more, not {self.max_tokens}")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise UsageError(f"temperature must be 0 or more, not {self.temperature}")
        if self.seed < 0:
            raise UsageError(f"seed must be 0 or more, not {self.seed}")
        if "" in self.stop:
            raise UsageError("a stop string must not be empty")

    @property
    def key(self) -> str:
        """SHA-256 of the canonical JSON: the same question has the same key."""
        question = asdict(self) | {"temperature": float(self.temperature)}
        text = json.dumps(question, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that failed for good: it is counted, and never scored as a miss."""

    reason: str


Answer: TypeAlias = str | Failure


@dataclass(frozen=True, slots=True)
class ChoiceRequest:
    """One question about names: how likely is each as the first word of the completion?"""

    prompt: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names or not all(map(PLAIN_NAME.fullmatch, self.names)):
            raise UsageError("log-probabilities are asked of plain names, at least one")

    @property
    def key(self) -> str:
        """SHA-256 of the canonical JSON; never that of a `Request`, which has other fields."""
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class LogProbs:
    """For each name of a request: the log-probability that the completion begins with this name.

    As a whole name: no letter, digit or underscore follows. In nats, at temperature 1.
    """

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) and value <= MOST_LOG for value in self.values):
            raise ValueError("log-probabilities are finite, and not above 0")


Asked: TypeAlias = Request | ChoiceRequest
Reply: TypeAlias = Answer | LogProbs


class Model(Protocol):
    """A black box. The same request gets the same answer, as far as the model allows it."""

    @property
    def name(self) -> str:
        """For people; `describe` identifies."""
        ...

    @property
    def batch_size(self) -> int:
        """How many requests `complete` likes at once."""
        ...

    def describe(self) -> dict[str, Any]:
        """For the record: what decides the answers, and no secrets. Changed means another model."""
        ...

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """One answer for each request, in order; only the new text."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A model whose answers come one by one, so that none waits for a slower neighbour."""

    def stream(self, requests: Sequence[Request]) -> Iterator[list[tuple[int, Answer]]]:
        """What has arrived since the last time: (index of the request, its answer)."""
        ...


@runtime_checkable
class Scoring(Protocol):
    """A model that tells log-probabilities."""

    def score(self, requests: Sequence[ChoiceRequest]) -> list[LogProbs | Failure]:
        """One answer for each request, in order; a ModelError when it never can."""
        ...


@runtime_checkable
class Introduced(Protocol):
    """A model that can be asked what it is, before the first question."""

    def introduce(self) -> dict[str, Any]:
        """What it says of itself, in plain values; a ModelError when it cannot be reached.

        `listed` says whether it knows the model that will be asked, and is missing where nobody
        knows; `names` are some that it knows.
        """
        ...


@runtime_checkable
class Telling(Protocol):
    """A model whose answers come with words about who gave them."""

    def heard(self, request: Asked) -> dict[str, Any] | None:
        """What came with the last answer to a request; told once."""
        ...


class ModelError(PuzzleMarkError):
    """A model cannot be opened or reached at all; what was answered before stays valid."""


class BudgetEnded(ModelError):
    """The budget of requests is spent. `answers` holds those of the last call, by index."""

    def __init__(self, message: str, answers: Mapping[int, Reply] | None = None) -> None:
        super().__init__(message)
        self.answers: Mapping[int, Reply] = answers or {}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking would take, without asking: an upper bound but for retries.

    Of log-probabilities it is an estimate: a server is asked once for a prompt and once for each
    name, and again for names of many tokens.
    """

    calls: int
    prompt_tokens: int  # estimated from the number of characters
    completion_tokens: int  # at most

    def __add__(self, other: "Estimate") -> "Estimate":
        return Estimate(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


def estimate(requests: Iterable[Asked]) -> Estimate:
    """Count calls and tokens; the same request counts once, as it is asked once."""
    unique = {request.key: request for request in requests}.values()
    calls = [(r, 1 + len(r.names) if isinstance(r, ChoiceRequest) else 1) for r in unique]
    return Estimate(
        calls=sum(n for _, n in calls),
        prompt_tokens=sum(n * math.ceil(len(r.prompt) / CHARACTERS_A_TOKEN) for r, n in calls),
        completion_tokens=sum(r.max_tokens if isinstance(r, Request) else n for r, n in calls),
    )


class ModelPlugin(Protocol):
    """What a module offers as `PLUGIN`: a class whose fields are the settings of such a model."""

    def open(self) -> Model:
        """The model; raises ModelError when it cannot be had."""
        ...


def open_model(kind: str, args: Mapping[str, Any] | None = None, /, **settings: Any) -> Model:
    """`open_model("openai", base_url="http://localhost:8000/v1", model="m")`.

    The same as `open_model("openai:base_url=http://localhost:8000/v1,model=m")`, or with a dict.
    """
    plugin: ModelPlugin = plugins.configure("models", kind, {**(args or {}), **settings})
    return plugin.open()


def parse_model_args(text: str) -> dict[str, str]:
    """`"model=m,base_url=http://a/?b=c" -> {"model": "m", "base_url": "http://a/?b=c"}`."""
    return plugins.parse_settings(text, "model arguments")


class ModelSettings(BaseModel):
    """Settings of one kind of model; each kind has its own fields, and an `open`."""

    model_config = ConfigDict(frozen=True, extra="forbid")
