"""Any server with the OpenAI interface: vLLM, llama.cpp, TGI, Ollama, a paid API, ..."""

import asyncio
import os
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, TypeAlias
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from pydantic import Field, Json

from puzzlemark.errors import PuzzleMarkWarning, UsageError
from puzzlemark.models._asking import Ask, OpenAsk, ask_together, pause
from puzzlemark.models._fim import SUFFIX
from puzzlemark.models._http import (
    Connecting,
    Problem,
    Received,
    Redact,
    Session,
    is_this_machine,
    make_context,
    open_session,
    redactor,
)
from puzzlemark.models._sampling import drop_space, take_space
from puzzlemark.models._walking import Tops, read_tops, score_by_steps
from puzzlemark.models.base import (
    Answer,
    Asked,
    BudgetEnded,
    ChoiceRequest,
    Failure,
    LogProbs,
    ModelError,
    ModelSettings,
    Request,
)

# a call without its retries; what it gives is as the answers are that are asked for
Call: TypeAlias = Callable[[Session, Request], Awaitable[Any]]

SYSTEM = (
    "You complete source code. Continue the user's code exactly where it ends. Answer with the "
    "continuation only: no explanation, no code fence, and none of the given code again."
)
NO_KEY_HERE = (
    "a key given as an argument can be read by every user of the machine; put it in the "
    "environment variable OPENAI_API_KEY, or name one with key_env"
)
FIRST_WAIT = 0.5  # seconds; doubled with each retry
LONGEST_WAIT = 30.0
UNAUTHORISED = 401
HOPELESS = frozenset(
    {UNAUTHORISED, 404}
)  # the key, the model or the address is wrong: so for every request
FAILURES_IN_A_ROW = 20  # then the server is taken for dead: nothing is gained by asking on

FINISH_REASONS = ("stop", "length", "content_filter", "tool_calls", "function_call")
LONGEST_TOKEN = 128  # characters; the vocabularies of today have runs of so many spaces
BYTES_A_CHARACTER = 12  # in JSON, at most: two escapes
# what a server is asked that may ignore a suffix: these ask for different names and lengths
TELLING_PROMPT = "def answer():\n    return "
TELLING_SUFFIXES = (
    "\n\nassert answer() == 7\n",
    "\n\n" + "".join(f"assert answer() == 'zebra number {n}'\n" for n in range(9)),
)
ROOM = 1 << 20  # bytes of an answer beside its text and the prompt: names, usage, log-probabilities
MAX_BYTES = 16 << 20  # of an answer, whatever was asked for
MAX_MODELS = 4 << 20  # bytes of the list of models
SHOWN_NAMES = 20  # of that list
LONGEST_WORD = 200  # characters of what a server says of itself
GREETINGS = 2  # times that a server is tried before the first question
WORDS = ("model", "system_fingerprint", "id")  # that an answer may have
HEADERS = {"x-request-id": "request_id", "date": "date", "server": "server"}
LEAST_SECRET = 12  # characters; a shorter key may be an ordinary word, and completions are evidence


class OpenAISettings(ModelSettings):
    """`--model openai --model-args base_url=http://localhost:8000/v1,model=NAME`."""

    base_url: str
    model: str
    chat: bool = False
    prompt: Literal["plain", "fim"] = "plain"  # fim: with a `suffix`, which the server must heed
    system: str = SYSTEM
    # further fields of each request, as JSON: {"top_k": 0}
    body: Json[dict[str, Any]] = Field(default_factory=dict)
    key_env: str = "OPENAI_API_KEY"
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 8
    timeout: Annotated[float, Field(gt=0)] = 120.0  # of a whole call
    connect_timeout: Annotated[float, Field(gt=0)] = 20.0
    ca_bundle: str | None = None  # for a server whose certificate no public authority signed
    # what the server is told that we are; else what the HTTP library says by itself
    user_agent: Annotated[str, Field(pattern=r"^[!-~]([ -~]*[!-~])?$")] | None = None
    max_retries: Annotated[int, Field(ge=0)] = 5
    max_wait: Annotated[float, Field(ge=0)] = 300.0  # a server that asks for more has refused us
    max_requests: Annotated[int, Field(ge=1)] | None = None  # calls of this run, retries included
    # how many of the likeliest tokens are asked for, where log-probabilities are; servers have
    # limits of their own: vLLM 20 (--max-logprobs), OpenAI 5
    top_logprobs: Annotated[int, Field(ge=1, le=1000)] = 20
    refused: ClassVar[Mapping[str, str]] = dict.fromkeys(("api_key", "key", "token"), NO_KEY_HERE)

    def open(self) -> "OpenAI":
        """Check the settings; nothing is sent yet."""
        settings = self.model_copy(update={"base_url": _checked(self.base_url)})
        if settings.chat and settings.prompt == "fim":
            raise UsageError("openai: chat takes no suffix; leave out chat=true or prompt=fim")
        if settings.ca_bundle is not None:
            make_context(settings.ca_bundle)
        key = _read_key(settings.key_env)
        if key is not None:
            _refuse_recorded_key(key, settings)
            _warn_of_plain_http(settings)
        # unseeded on purpose: two processes that met a busy server must not come back together
        return OpenAI(settings, key, np.random.default_rng())


@dataclass(slots=True)
class OpenAI:
    """Asks several at once. The key is read from the environment and never shown."""

    settings: OpenAISettings
    key: str | None = field(repr=False)
    rng: np.random.Generator  # spreads retries, so that requests do not return all at once
    sent: int = 0
    _redact: Redact = field(init=False, repr=False)
    # what came with answers that nobody has asked about yet, by the keys of their requests
    _said: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, repr=False)
    _steps: list[dict[str, Any]] = field(default_factory=list, init=False, repr=False)
    _heeds_suffix: bool = field(default=False, init=False)  # once it is known

    def __post_init__(self) -> None:
        self._redact = redactor(self.key)

    @property
    def name(self) -> str:
        """The name by which the server knows the model."""
        return self.settings.model

    @property
    def batch_size(self) -> int:
        """As many as are asked at the same time."""
        return self.settings.concurrency

    def describe(self) -> dict[str, Any]:
        """What decides the answers; not how patiently we ask."""
        settings = self.settings
        about = {
            "kind": "openai",
            "base_url": settings.base_url,
            "model": settings.model,
            "interface": "chat/completions" if settings.chat else "completions",
            "body": settings.body,
        }
        if settings.prompt == "fim":
            about["prompt"] = "fim: suffix"
        return about | ({"system": settings.system} if settings.chat else {})

    def introduce(self) -> dict[str, Any]:
        """What the server says that it serves (`/models`); it costs nothing and is not counted.

        Whoever cannot be reached is found out here, in a second, and who ignores a suffix by two
        calls that count. A server without such a list may still answer: then the reason is what is
        known.
        """
        opened: OpenAsk[dict[str, Any]] = self._open_greeting
        with closing(ask_together(opened, [Request("-", 1, 0.0, 0)], 1)) as batches:
            ((_, said),) = (each for arrived in batches for each in arrived)
        self._require_suffix()
        return said

    def heard(self, request: Asked) -> dict[str, Any] | None:
        """What came with the answer to a request: the server's own words, told once."""
        return self._said.pop(request.key, None)

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """One answer for each; when the budget ends, those that came are in the error."""
        answers: dict[int, Answer] = {}
        try:
            for arrived in self.stream(requests):
                answers.update(arrived)
        except BudgetEnded as exc:
            raise BudgetEnded(str(exc), answers) from exc
        return [answers[index] for index in range(len(requests))]

    def stream(self, requests: Sequence[Request]) -> Iterator[list[tuple[int, Answer]]]:
        """Answers as they arrive; requests under way are finished before an error is raised."""
        self._require_suffix()
        failed = 0
        opened: OpenAsk[Answer] = partial(self._open, self._call)
        with closing(ask_together(opened, requests, self.settings.concurrency)) as batches:
            for arrived in batches:
                yield arrived
                for _, answer in arrived:
                    failed = failed + 1 if isinstance(answer, Failure) else 0
                    if isinstance(answer, Failure) and failed >= FAILURES_IN_A_ROW:
                        raise ModelError(
                            f"{failed} requests in a row failed, the last with: {answer.reason}; "
                            "run the same command again when the server works"
                        )

    def score(self, requests: Sequence[ChoiceRequest]) -> list[LogProbs | Failure]:
        """Log-probabilities from the likeliest tokens, name by name; see `_walking`."""
        if self.settings.chat:
            raise ModelError(
                "openai: a chat cannot be asked how it would go on in the middle of a line; leave "
                "out chat=true, or ask without --logprobs"
            )
        self._steps.clear()
        found = score_by_steps(requests, self._next_tokens)
        if self._steps:
            self._said |= {request.key: _together(self._steps) for request in requests}
        return found

    def _next_tokens(self, prompts: Sequence[str]) -> list[Tops | Failure]:
        """The likeliest next tokens of each prompt; when the budget ends, none are kept."""
        self._require_suffix()
        found: dict[int, Tops | Failure] = {}
        asked = [Request(prompt, 1, 1.0, 0) for prompt in prompts]
        opened: OpenAsk[Tops | Failure] = partial(self._open, self._call_tops)
        with closing(ask_together(opened, asked, self.settings.concurrency)) as batches:
            for arrived in batches:
                found.update(arrived)
        return [found[index] for index in range(len(prompts))]

    async def _call_tops(self, session: Session, request: Request) -> Tops | Problem:
        body = self._body(request, request.prompt) | {"logprobs": self.settings.top_logprobs}
        max_bytes = min(MAX_BYTES, ROOM + BYTES_A_CHARACTER * len(request.prompt))
        answer = await session.post(f"{self.settings.base_url}/completions", body, max_bytes)
        if isinstance(answer, Problem):
            return answer
        self._steps.append(self._words(answer))
        return read_tops(answer.value)

    def _words(self, answer: Received) -> dict[str, Any]:
        """What the server says of itself in an answer; each word short, and without the key."""
        value = answer.value if isinstance(answer.value, dict) else {}
        found = {name: value[name] for name in WORDS if isinstance(value.get(name), str)}
        found |= {
            name: answer.headers[header] for header, name in HEADERS.items()
            if header in answer.headers
        }  # fmt: skip
        return {name: self._word(text) for name, text in found.items()}

    def _word(self, text: str) -> str:
        # first without the key, then short: a cut must not leave half of it
        return self._redact(text)[:LONGEST_WORD]

    @asynccontextmanager
    async def _open_greeting(self) -> AsyncIterator[Ask[dict[str, Any]]]:
        patience = min(self.settings.timeout, self.settings.connect_timeout)
        async with self._session(patience) as session:
            yield partial(self._greet, session)

    async def _greet(
        self, session: Session, _request: Request, stopping: asyncio.Event
    ) -> dict[str, Any]:
        problem = Problem("not tried")
        for attempt in range(GREETINGS):
            if attempt:
                await pause(FIRST_WAIT, stopping)
            answer = await session.get(f"{self.settings.base_url}/models", MAX_MODELS)
            if not isinstance(answer, Problem):
                return self._listed(answer)
            problem = answer
            if not problem.is_unreachable:
                break
        if problem.is_unreachable:
            raise ModelError(
                f"{self.settings.base_url}: {problem.reason}; nothing was asked: check base_url, "
                "and that the server runs"
            )
        if problem.status == UNAUTHORISED:
            self._give_up(problem, 1)
        return {"unlisted": f"the server does not say what it serves: {problem.reason}"}

    def _listed(self, answer: Received) -> dict[str, Any]:
        """What `/models` says: how many there are, and whether ours is among them."""
        words = {n: w for n, w in self._words(answer).items() if n in ("date", "server")}
        listed = answer.value.get("data") if isinstance(answer.value, dict) else None
        if not isinstance(listed, list):
            return {"unlisted": "the server's answer to /models is no list of models", **words}
        entries = [each for each in listed if isinstance(each, dict) and "id" in each]
        own = next((each for each in entries if each["id"] == self.settings.model), None)
        return {
            "models": len(entries),
            "listed": own is not None,
            "names": [self._word(str(each["id"])) for each in entries[:SHOWN_NAMES]],
            **({} if own is None else {"entry": self._plain(own)}),
            **words,
        }

    def _plain(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """An entry's texts and whole numbers; what is nested, or long, is left out."""
        kept = {k: v for k, v in list(entry.items())[:SHOWN_NAMES] if isinstance(v, str | int)}
        return {
            self._word(name): self._word(value) if isinstance(value, str) else value
            for name, value in kept.items()
            if isinstance(value, str) or abs(value) < 1 << 53
        }

    @asynccontextmanager
    async def _open(self, call: Call) -> AsyncIterator[Ask[Any]]:
        """Connections for one stream of requests."""
        async with self._session(self.settings.timeout) as session:
            yield partial(self._ask, partial(call, session))

    @asynccontextmanager
    async def _session(self, patience: float) -> AsyncIterator[Session]:
        settings = self.settings
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        if settings.user_agent:
            headers["User-Agent"] = settings.user_agent
        connecting = Connecting(
            settings.base_url,
            headers,
            patience,
            min(settings.connect_timeout, patience),
            settings.concurrency,
            settings.ca_bundle,
        )
        async with open_session(connecting, self._redact) as session:
            yield session

    async def _ask(
        self,
        call: Callable[[Request], Awaitable[Any]],
        request: Request,
        stopping: asyncio.Event,
    ) -> Any:
        """One request with its retries."""
        attempt = 0
        while True:
            self._spend()
            answer = await call(request)
            if not isinstance(answer, Problem):
                return answer
            attempt += 1
            wait = self._wait(attempt, answer)
            if not answer.is_passing or attempt > self.settings.max_retries:
                return self._give_up(answer, attempt)
            if wait > self.settings.max_wait:
                reason = f"{answer.reason} (to be asked again in {wait:.0f} s only)"
                return self._give_up(replace(answer, reason=reason), attempt)
            await pause(wait, stopping)

    def _give_up(self, problem: Problem, attempts: int) -> Failure:
        if problem.status in HOPELESS:
            held = "the key in" if self.key else "no key in"
            raise ModelError(
                f"{self.settings.base_url}: {problem.reason}; "
                f"check base_url, model and {held} {self.settings.key_env}"
            )
        times = "once" if attempts == 1 else f"{attempts} times"
        return Failure(f"{problem.reason}; asked {times}")

    async def _call(self, session: Session, request: Request) -> str | Failure | Problem:
        settings = self.settings
        prompt, dropped = (request.prompt, False) if settings.chat else drop_space(request.prompt)
        path = "chat/completions" if settings.chat else "completions"
        body = self._body(request, prompt)
        longest = LONGEST_TOKEN * _asked_tokens(request, body)  # characters of its completion
        max_bytes = min(MAX_BYTES, ROOM + BYTES_A_CHARACTER * (len(prompt) + longest))
        answer = await session.post(f"{settings.base_url}/{path}", body, max_bytes)
        if isinstance(answer, Problem):
            return answer
        self._said[request.key] = self._words(answer)
        text = _text_of(answer.value, settings.chat)
        if not isinstance(text, str):
            return text
        if self.key and len(self.key) >= LEAST_SECRET:
            text = self._redact(text)  # before the cut: it must not leave half of the key
        return take_space(text, dropped)[:longest]

    def _body(self, request: Request, prompt: str) -> dict[str, Any]:
        settings = self.settings
        messages = [
            {"role": "system", "content": settings.system},
            {"role": "user", "content": prompt},
        ]
        return {
            "model": settings.model,
            **({"messages": messages} if settings.chat else {"prompt": prompt}),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": 1,  # some servers bring their own otherwise
            "seed": request.seed,
            **({"suffix": SUFFIX} if settings.prompt == "fim" else {}),
            **({"stop": list(request.stop)} if request.stop else {}),
            **settings.body,
        }

    def _require_suffix(self) -> None:
        """Raise unless the server heeds a suffix: two that differ must make a difference."""
        if self.settings.prompt != "fim" or self._heeds_suffix:
            return
        one, other = (self._ask_with(suffix) for suffix in TELLING_SUFFIXES)
        counted = one[0] is not None and other[0] is not None
        if (one[0] == other[0]) if counted else (one[1] == other[1]):
            what = "counts as many tokens" if counted else "answers the same"
            raise ModelError(
                f"{self.settings.base_url}: ignores the suffix ({what} with another one), so it "
                "cannot be asked to fill in the middle; leave out --prompt fim"
            )
        self._heeds_suffix = True

    def _ask_with(self, suffix: str) -> tuple[int | None, str]:
        """The tokens that the server counts in a prompt with this suffix, and its answer."""
        body = {**self.settings.body, "suffix": suffix}
        twin = OpenAI(
            self.settings.model_copy(update={"body": body, "prompt": "plain"}), self.key, self.rng
        )
        opened: OpenAsk[Answer] = partial(twin._open, twin._call_counting)
        with closing(ask_together(opened, [Request(TELLING_PROMPT, 16, 0.0, 0)], 1)) as batches:
            ((_, answer),) = (each for arrived in batches for each in arrived)
        self.sent += twin.sent
        if isinstance(answer, Failure):
            raise ModelError(
                f"{self.settings.base_url}: takes no suffix ({answer.reason}), so it cannot be "
                "asked to fill in the middle; leave out --prompt fim"
            )
        count, _, text = answer.partition(":")
        return int(count) if count else None, text

    async def _call_counting(self, session: Session, request: Request) -> str | Failure | Problem:
        body = self._body(request, request.prompt)
        answer = await session.post(f"{self.settings.base_url}/completions", body, ROOM)
        if isinstance(answer, Problem):
            return answer
        text = _text_of(answer.value, chat=False)
        if not isinstance(text, str):
            return text
        usage = answer.value.get("usage") if isinstance(answer.value, dict) else None
        count = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        return f"{count if type(count) is int else ''}:{text}"

    def _spend(self) -> None:
        limit = self.settings.max_requests
        if limit is not None and self.sent >= limit:
            raise BudgetEnded(
                f"the budget of {limit} requests is spent; run the same command again "
                "to go on where this run ended"
            )
        self.sent += 1

    def _wait(self, attempt: int, problem: Problem) -> float:
        """Exponential with jitter, but never shorter than the server asks for."""
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
        return float((problem.wait or 0.0) + longest * self.rng.uniform(0.5, 1.0))


def _together(steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What came with many calls for one thing."""
    last = steps[-1]
    return {
        "calls": len(steps),
        "models": sorted({each["model"] for each in steps if "model" in each}),
        "system_fingerprints": sorted(
            {each["system_fingerprint"] for each in steps if "system_fingerprint" in each}
        ),
        **({"date": last["date"]} if "date" in last else {}),
    }


def _read_key(variable: str) -> str | None:
    """The key; blanks around it, such as a line feed from a file, are no part of it."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"openai: {variable}: a key is printable ASCII; this one is not")
    return key or None


def _refuse_recorded_key(key: str, settings: OpenAISettings) -> None:
    """The arguments are written into the record of a run; the key must not come with them."""
    if len(key) >= LEAST_SECRET and redactor(key)(text := settings.model_dump_json()) != text:
        raise UsageError(
            f"openai: the key in {settings.key_env} stands in another argument, too; arguments "
            "are recorded: take it out, it is sent with every request as it is"
        )


def _warn_of_plain_http(settings: OpenAISettings) -> None:
    parts = urlsplit(settings.base_url)
    if parts.scheme == "http" and not is_this_machine(parts.hostname or ""):
        warnings.warn(
            f"the key in {settings.key_env} goes to {parts.hostname} over plain http: anybody on "
            "the way can read it; use https, or a tunnel to this machine",
            PuzzleMarkWarning,
            stacklevel=4,
        )


def _checked(base_url: str) -> str:
    from httpx2 import URL, InvalidURL

    try:
        parts = urlsplit(base_url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        URL(base_url)  # may refuse what urlsplit lets pass
    except (ValueError, InvalidURL):
        is_address = False
    if not is_address:
        raise UsageError("openai: base_url: expected http://HOST:PORT/v1 or https://HOST/v1")
    if parts.username or parts.password or parts.query:
        raise UsageError("openai: base_url: must hold no user, password or query; see key_env")
    path = parts.path.rstrip("/")
    for ending in ("/chat/completions", "/completions"):
        path = path.removesuffix(ending)
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _asked_tokens(request: Request, body: Mapping[str, Any]) -> int:
    """How many tokens are asked for; the argument `body` may say a larger number."""
    named = (body.get("max_tokens"), body.get("max_completion_tokens"))
    return max(request.max_tokens, *(each for each in named if isinstance(each, int)), 1)


def _text_of(answer: Any, chat: bool) -> str | Failure | Problem:
    try:
        choice = answer["choices"][0]
        text = choice["message"]["content"] if chat else choice["text"]
    except (TypeError, KeyError, IndexError):
        return Problem("the answer has no choices with a text in it")
    if isinstance(text, str):
        return text
    # a refusal, or a model that spent all its tokens on thinking: neither is a miss
    reason = choice.get("finish_reason")
    known = repr(reason) if reason in FINISH_REASONS else "unknown"
    return Failure(f"the answer holds no text (finish_reason {known})")


PLUGIN = OpenAISettings
