"""Any server with the OpenAI interface: vLLM, llama.cpp, TGI, Ollama, a paid API, ..."""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from pydantic import Field, Json

from puzzlemark.errors import UsageError
from puzzlemark.models._http import Problem, post
from puzzlemark.models._spaces import drop_space, take_space
from puzzlemark.models._threads import Stopped, ask_in_threads
from puzzlemark.models.base import (
    Answer,
    BudgetEnded,
    Failure,
    ModelError,
    ModelSettings,
    Request,
    read_settings,
)

SYSTEM = (
    "You complete source code. Continue the user's code exactly where it ends. Answer with the "
    "continuation only: no explanation, no code fence, and none of the given code again."
)
FIRST_WAIT = 0.5  # seconds; doubled with each retry
LONGEST_WAIT = 30.0
HOPELESS = frozenset({401, 404})  # the key, the model or the address is wrong: so for every request
FAILURES_IN_A_ROW = 20  # then the server is taken for dead: nothing is gained by asking on


class OpenAISettings(ModelSettings):
    """`--model openai --model-args base_url=http://localhost:8000/v1,model=NAME`."""

    base_url: str
    model: str
    chat: bool = False
    system: str = SYSTEM
    # further fields of each request, as JSON: {"top_k": 0}
    body: Json[dict[str, Any]] = Field(default_factory=dict)
    key_env: str = "OPENAI_API_KEY"
    concurrency: Annotated[int, Field(ge=1, le=1000)] = 8
    timeout: Annotated[float, Field(gt=0)] = 120.0
    max_retries: Annotated[int, Field(ge=0)] = 5
    max_wait: Annotated[float, Field(ge=0)] = 300.0  # a server that asks for more has refused us
    max_requests: Annotated[int, Field(ge=1)] | None = None  # calls of this run, retries included


@dataclass(slots=True)
class OpenAI:
    """Asks with several threads. The key is read from the environment and never shown."""

    settings: OpenAISettings
    key: str | None = field(repr=False)
    rng: np.random.Generator  # spreads retries, so that threads do not return all at once
    sent: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

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
        return about | ({"system": settings.system} if settings.chat else {})

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
        failed = 0
        with closing(ask_in_threads(self._ask, requests, self.settings.concurrency)) as batches:
            for arrived in batches:
                yield arrived
                for _, answer in arrived:
                    failed = failed + 1 if isinstance(answer, Failure) else 0
                    if isinstance(answer, Failure) and failed >= FAILURES_IN_A_ROW:
                        raise ModelError(
                            f"{failed} requests in a row failed, the last with: {answer.reason}; "
                            "run the same command again when the server works"
                        )

    def _ask(self, request: Request, stopping: threading.Event) -> Answer:
        """One request with its retries."""
        attempt = 0
        while True:
            self._spend()
            answer = self._call(request)
            if not isinstance(answer, Problem):
                return answer
            attempt += 1
            wait = self._wait(attempt, answer)
            if not answer.is_passing or attempt > self.settings.max_retries:
                return self._give_up(answer, attempt)
            if wait > self.settings.max_wait:
                reason = f"{answer.reason} (to be asked again in {wait:.0f} s only)"
                return self._give_up(replace(answer, reason=reason), attempt)
            if stopping.wait(wait):
                raise Stopped

    def _give_up(self, problem: Problem, attempts: int) -> Failure:
        if problem.status in HOPELESS:
            held = "the key in" if self.key else "no key in"
            raise ModelError(
                f"{self.settings.base_url}: {self._redact(problem.reason)}; "
                f"check base_url, model and {held} {self.settings.key_env}"
            )
        times = "once" if attempts == 1 else f"{attempts} times"
        return Failure(f"{self._redact(problem.reason)}; asked {times}")

    def _call(self, request: Request) -> str | Failure | Problem:
        settings = self.settings
        prompt, dropped = (request.prompt, False) if settings.chat else drop_space(request.prompt)
        path = "chat/completions" if settings.chat else "completions"
        url = f"{settings.base_url}/{path}"
        answer = post(url, self._body(request, prompt), self.key, settings.timeout)
        if isinstance(answer, Problem):
            return answer
        text = _text_of(answer, settings.chat)
        return take_space(text, dropped) if isinstance(text, str) else text

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
            **({"stop": list(request.stop)} if request.stop else {}),
            **settings.body,
        }

    def _spend(self) -> None:
        limit = self.settings.max_requests
        with self._lock:
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

    def _redact(self, text: str) -> str:
        """Servers like to repeat the key in their complaint about it."""
        return text.replace(self.key, "<key>") if self.key else text


def make(args: Mapping[str, str]) -> OpenAI:
    """Check the arguments; nothing is sent yet."""
    if forbidden := sorted({"api_key", "key", "token"} & set(args)):
        raise UsageError(
            f"openai: {forbidden[0]}: a key given as an argument can be read by every user of the "
            "machine; put it in the environment variable OPENAI_API_KEY, or name one with key_env"
        )
    settings = read_settings("openai", OpenAISettings, args)
    settings = settings.model_copy(update={"base_url": _checked(settings.base_url)})
    # unseeded on purpose: two processes that met a busy server must not come back together
    return OpenAI(settings, os.environ.get(settings.key_env) or None, np.random.default_rng())


def _checked(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("openai: base_url: expected http://HOST:PORT/v1 or https://HOST/v1")
    if parts.username or parts.password or parts.query:
        raise UsageError("openai: base_url: must hold no user, password or query; see key_env")
    path = parts.path.rstrip("/")
    for ending in ("/chat/completions", "/completions"):
        path = path.removesuffix(ending)
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _text_of(answer: Any, chat: bool) -> str | Failure | Problem:
    try:
        choice = answer["choices"][0]
        text = choice["message"]["content"] if chat else choice["text"]
    except (TypeError, KeyError, IndexError):
        return Problem("the answer has no choices with a text in it")
    if isinstance(text, str):
        return text
    # a refusal, or a model that spent all its tokens on thinking: neither is a miss
    return Failure(f"the answer holds no text (finish_reason {choice.get('finish_reason')!r})")
