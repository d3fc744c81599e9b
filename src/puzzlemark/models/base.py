"""What a model is to us: it completes prompts, and we see nothing else of it."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError

from puzzlemark import plugins
from puzzlemark.errors import PuzzleMarkError, UsageError

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


class ModelError(PuzzleMarkError):
    """A model cannot be opened or reached at all; what was answered before stays valid."""


class BudgetEnded(ModelError):
    """The budget of requests is spent. `answers` holds those of the last call, by index."""

    def __init__(self, message: str, answers: Mapping[int, Answer] | None = None) -> None:
        super().__init__(message)
        self.answers: Mapping[int, Answer] = answers or {}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking would take, without asking: an upper bound but for retries."""

    calls: int
    prompt_tokens: int  # estimated from the number of characters
    completion_tokens: int  # at most


def estimate(requests: Iterable[Request]) -> Estimate:
    """Count calls and tokens; the same request counts once, as it is asked once."""
    unique = {request.key: request for request in requests}.values()
    return Estimate(
        calls=len(unique),
        prompt_tokens=sum(math.ceil(len(r.prompt) / CHARACTERS_A_TOKEN) for r in unique),
        completion_tokens=sum(request.max_tokens for request in unique),
    )


def open_model(kind: str, args: Mapping[str, str]) -> Model:
    """`open_model("openai", {"base_url": "http://localhost:8000/v1", "model": "m"})`."""
    model: Model = plugins.load("models", kind).make(args)
    return model


def parse_model_args(text: str) -> dict[str, str]:
    r"""`"model=m,base_url=http://a/?b=c" -> {"model": "m", "base_url": "http://a/?b=c"}`.

    A value may hold `=`. One that holds a comma stands in double quotes, where `\"` is a quote
    and `\\` a backslash: `model=m,body="{\"top_k\": 0, \"min_p\": 0}"`.
    """
    args: dict[str, str] = {}
    rest = text.strip()
    while rest:
        name, equals, rest = rest.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise UsageError(f"model arguments: expected name=value at {name[:40]!r}")
        if name in args:
            raise UsageError(f"model arguments: {name} is given twice")
        args[name], rest = _take_value(name, rest.lstrip())
    return args


def _take_value(name: str, text: str) -> tuple[str, str]:
    if not text.startswith('"'):
        value, _, rest = text.partition(",")
        return value.strip(), rest.lstrip()
    value, at = "", 1
    while at < len(text) and text[at] != '"':
        at += text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\")
        value += text[at]
        at += 1
    rest = text[at + 1 :].lstrip()
    if at >= len(text) or (rest and not rest.startswith(",")):
        raise UsageError(f"model arguments: the quoted value of {name} does not end as it should")
    return value, rest[1:].lstrip()


class ModelSettings(BaseModel):
    """Arguments of one kind of model; each kind has its own fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Settings = TypeVar("Settings", bound=ModelSettings)


def read_settings(kind: str, settings: type[Settings], args: Mapping[str, str]) -> Settings:
    """Check and convert arguments; a message names them but never shows a value."""
    known = set(settings.model_fields)
    if unknown := sorted(set(args) - known):
        takes = ", ".join(sorted(known))
        raise UsageError(f"{kind} has no argument {', '.join(unknown)}; it takes {takes}")
    try:
        return settings.model_validate(dict(args))
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "its arguments"
        raise UsageError(f"{kind}: {where}: {first['msg']}") from None
