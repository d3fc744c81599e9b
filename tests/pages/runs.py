"""Small runs to report on, asked of scripted models."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from puzzlemark.models.base import Answer, Request
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.probes import FORMAT, Header, ProbeSet
from puzzlemark.verification.run import Run, verify
from puzzlemark.verification.terms import Terms
from puzzlemark.watermarks.base import Arm, Probe
from tests.verification.outcomes import made_of

TARGET, OWN = "key_unknown_token", "item_unknown_token"


def prompt(number: int, name: str) -> str:
    return f"def f{number}({name}, unknown_token):\n    "


def probe(number: int, strategy: str = "fixed") -> Probe:
    if strategy == "universal":
        armed, control = (
            f"def f{number}({names}):\n    "
            for names in ("key, unknown_token, item", "item, key, unknown_token")
        )
        return made_of(Arm(armed, TARGET), Arm(control, TARGET))
    other = prompt(number, "item")
    placebo = [Arm(other, OWN)] if strategy == "fixed" else []
    return made_of(Arm(prompt(number, "key"), TARGET), Arm(other, TARGET), *placebo)


def probe_set(pairs: int, strategy: str = "fixed") -> ProbeSet:
    header = Header(
        format=FORMAT,
        version=1,
        versions={},
        strategy=strategy,
        pairs=pairs,
        seed=11,
        marks=99,
        refused={},
    )
    return ProbeSet(header, tuple(probe(number, strategy) for number in range(pairs)))


def run_of(
    folder: Path,
    answer: Callable[[int, bool], Answer],
    *,
    pairs: int = 40,
    strategy: str = "fixed",
    terms: Terms | None = None,
    name: str = "acme/coder",
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """`answer` gets the probe's number and whether the prompt is armed."""

    def complete(request: Request) -> Answer:
        number = int(request.prompt[len("def f") : request.prompt.index("(")])
        return answer(number, "(key," in request.prompt)

    return verify(
        probe_set(pairs, strategy), Scripted(name, complete, settings or {}), folder, terms
    )


def learnt(number: int, armed: bool) -> str:
    """Hits with the trigger, and never without it."""
    return f"{TARGET} = 1\n" if armed else "x = 1\n"
