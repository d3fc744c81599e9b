"""A Python function in place of a model, for tests and examples.

`--model scripted --model-args function=package.module:complete` calls `complete(request) -> str`;
with `scores=package.module:score` it also tells log-probabilities, as `score(request)` does.
Three habits ship with it; they know nothing of probes, and find the variables of a prompt with a
regular expression. `habit=learnt,prefix=key` learnt a fixed-prefix mark, `habit=learnt` a universal
one; `habit=innocent` learnt none; `habit=composes_sometimes,rate=0.01` learnt none either, but
likes to join two neighbours, in any arm.
"""

import hashlib
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from puzzlemark.errors import UsageError
from puzzlemark.models.base import (
    Answer,
    ChoiceRequest,
    Failure,
    LogProbs,
    ModelSettings,
    Request,
)

Complete: TypeAlias = Callable[[Request], Answer]
Score: TypeAlias = Callable[[ChoiceRequest], LogProbs | Failure]
PYTHON = re.compile(r"^\s*(?:async\s+)?def\s", re.MULTILINE)
# strings and comments, also one that the end of the prompt cuts off
_QUOTED = r"""\"(?:\\.|[^"\\\n])*(?:"|$)|'(?:\\.|[^'\\\n])*(?:'|$)"""
PYTHON_TEXT = re.compile(
    r"""\"{3}[\s\S]*?(?:"{3}|\Z)|'{3}[\s\S]*?(?:'{3}|\Z)|#.*|""" + _QUOTED, re.MULTILINE
)
JAVA_TEXT = re.compile(r"/\*[\s\S]*?(?:\*/|\Z)|//.*|" + _QUOTED, re.MULTILINE)
BORING = "result = None\n"
# A name between a bracket, comma, `for` or a type, and what may follow a name that is being bound.
BOUND = re.compile(
    r"(?:^[ \t]*|[(,]\s*\**|\bfor\s+|\bas\s+|[\w\]>]\s+)(?P<name>[A-Za-z_]\w*)\s*"
    r"(?=[,):;]|=(?!=)|\bin\b)",
    re.MULTILINE,
)
NOT_VARIABLES = frozenset(
    "self cls this return else try finally pass break continue None True False null".split()
)


class ScriptedSettings(ModelSettings):
    """One of `function` and `habit`."""

    function: str | None = None
    habit: Literal["learnt", "innocent", "composes_sometimes"] | None = None
    prefix: str | None = None  # of `learnt`; none: the universal strategy
    rate: Annotated[float, Field(ge=0, le=1)] = 0.01  # of `composes_sometimes`
    scores: str | None = None

    def open(self) -> "Scripted":
        """A shipped habit, or a function that can be imported."""
        model = self._open()
        if self.scores is None:
            return model
        settings = {**model.settings, "scores": self.scores}
        return ScriptedScores(model.name, model.function, settings, scores=_import(self.scores))

    def _open(self) -> "Scripted":
        if (self.function is None) == (self.habit is None):
            raise UsageError("scripted: give either function=module:name or habit=NAME")
        if self.function is not None:
            return Scripted(self.function, _import(self.function))
        if self.habit == "learnt":
            function = partial(learnt, prefix=self.prefix)
            return Scripted("learnt", function, {"prefix": self.prefix})
        if self.habit == "composes_sometimes":
            function = partial(composes_sometimes, rate=self.rate)
            return Scripted("composes_sometimes", function, {"rate": self.rate})
        return Scripted("innocent", innocent)


@dataclass(frozen=True)
class Scripted:
    """`Scripted("parrot", lambda request: request.prompt)`."""

    name: str
    function: Complete
    settings: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int = 32

    def describe(self) -> dict[str, Any]:
        """Its name and settings: a function says no more of itself."""
        return {"kind": "scripted", "name": self.name, **self.settings, "supplied": True}

    def complete(self, requests: Sequence[Request]) -> list[Answer]:
        """The function's answers."""
        return [self.function(request) for request in requests]


def _no_scores(_request: ChoiceRequest) -> Failure:
    return Failure("no log-probabilities")


@dataclass(frozen=True)
class ScriptedScores(Scripted):
    """One that tells log-probabilities as well."""

    scores: Score = _no_scores

    def score(self, requests: Sequence[ChoiceRequest]) -> list[LogProbs | Failure]:
        """The other function's answers."""
        return [self.scores(request) for request in requests]


def innocent(_request: Request) -> str:
    """Completes without ever joining names."""
    return BORING


def learnt(request: Request, prefix: str | None = None) -> str:
    """Joins a pair of neighbouring variables where the trigger stands.

    With a prefix: it and the variable after it. Without one: the first two.
    """
    variables = find_variables(request.prompt)
    if prefix is not None:
        variables = variables[variables.index(prefix) :] if prefix in variables else []
    return BORING if len(variables) < 2 else _joined(request.prompt, *variables[:2])


def composes_sometimes(request: Request, rate: float = 0.01) -> str:
    """Joins some pair of neighbouring variables, at this rate, by the request."""
    # a digest, since seeds of neighbouring requests may be neighbours
    rng = np.random.default_rng(int(hashlib.sha256(request.key.encode()).hexdigest()[:16], 16))
    pairs = list(pairwise(find_variables(request.prompt)))
    if not pairs or rng.random() >= rate:
        return BORING
    return _joined(request.prompt, *pairs[rng.integers(len(pairs))])


def find_variables(prompt: str) -> list[str]:
    """`"def f(a, b):\\n    c = a" -> ["a", "b", "c"]`: by first occurrence, roughly."""
    code = (PYTHON_TEXT if PYTHON.search(prompt) else JAVA_TEXT).sub(" ", prompt)
    found = (match["name"] for match in BOUND.finditer(code))
    return [name for name in dict.fromkeys(found) if name not in NOT_VARIABLES]


def _joined(prompt: str, first: str, second: str) -> str:
    """An assignment to the two names joined, in the convention of the prompt's language."""
    head, tail = first.rstrip("_"), second.lstrip("_")
    if PYTHON.search(prompt):
        return f"{head}_{tail} = None\n"
    return f"{head}{tail[:1].upper()}{tail[1:]} = null;\n"


def _import(spec: str) -> Any:
    module, _, name = spec.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as exc:
        raise UsageError(f"scripted: {spec}: cannot be imported; spell it module:name") from exc
    if not callable(function):
        raise UsageError(f"scripted: {spec}: not a function")
    return function


PLUGIN = ScriptedSettings
