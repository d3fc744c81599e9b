"""A watermark of a third party, its design and its test: which of two words a key chooses.

Every probe has one arm, whose completion may hold `lhs`, `rhs` or neither. The key says which of
the two belongs to a prompt; a model that learnt the marks writes that one.
"""

import copy
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log10
from types import ModuleType
from typing import ClassVar

import pytest

from puzzlemark import plugins
from puzzlemark.statistics.exact import Significance
from puzzlemark.statistics.rates import estimate
from puzzlemark.syntax.tree import Tree
from puzzlemark.verification.tests.base import Finding, Measure, Trial
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import (
    Arm,
    ArmWords,
    Decision,
    Design,
    Mark,
    Probe,
    Refusal,
    Watermark,
)
from puzzlemark.watermarks.universal import Universal

WORDS = {"left": "lhs", "right": "rhs"}
WIN, LOSS = 1.5, 0.5  # a fair bet on a coin


def chosen(key: bytes, prompt: str) -> str:
    """The symbol that the key chooses for a prompt."""
    return "left" if hmac.digest(key, prompt.encode(), hashlib.sha256)[0] & 1 else "right"


SIDES = Design(
    name="sides",
    arms=(ArmWords("armed", "The prompt", "the prompt"),),
    decisions={"default": Decision("sides", (None,))},
    why_unlike=lambda _probe: None,
    introduction="Where a marked function may say either of two words, a key has chosen one.",
    condition="an innocent model does not know the key",
    caveats=("Whoever holds the key can make any model look guilty.",),
    hits="agreed with the key",
    symbols=("left", "right"),
    tests=("sides",),
)


class Sides(Universal):
    """Marks like those of `universal`, asked about in another way, and only with a key."""

    name: ClassVar[str] = "sides"
    design: ClassVar[Design] = SIDES
    key: bytes | None = None

    def with_key(self, key: bytes) -> Watermark:
        bound = copy.copy(self)
        object.__setattr__(bound, "key", key)
        return bound

    def probe(self, tree: Tree, mark: Mark, names: ProbeNames) -> Probe | Refusal:  # noqa: ARG002
        assert self.key is not None, "asked about without its key"
        lines = tree.code.decode().splitlines(keepends=True)
        if len(lines) < 4:
            return Refusal("too short")
        return Probe({"armed": Arm("".join(lines[:3]), WORDS)})


@dataclass(frozen=True, slots=True)
class SidesTest:
    """Bets on each answer that it is the word of the key."""

    name: ClassVar[str] = "sides"
    findings: ClassVar[Mapping[str, str]] = {"sides": "bets on the sides"}
    decides: ClassVar[str] = "sides"
    measure: ClassVar[Measure] = "e"
    about: ClassVar[str] = "The bets on the sides win where a completion agrees with the key."
    takes_ratio: ClassVar[bool] = False
    needs_key: ClassVar[bool] = True

    def judge(self, trial: Trial) -> tuple[Finding, ...]:
        assert trial.key is not None
        assert trial.outcomes is not None
        agreed = [
            each.scores["armed"] == chosen(trial.key, each.probe.armed.prompt)
            for each in trial.outcomes
            if each.probe is not None and each.scores.get("armed") is not None
        ]
        log10_e = sum(log10(WIN if agrees else LOSS) for agrees in agreed)
        found = Significance(min(0.0, -log10_e), min(1.0, 10**-log10_e))
        return (
            trial.finding(
                "sides",
                {"agreed": sum(agreed), "scored": len(agreed), "log10_e": log10_e},
                found,
                is_significant=log10_e >= -log10(trial.alpha),
                direction="armed above",
                armed=estimate(sum(agreed), max(1, len(agreed))),
            ),
        )

    def describe(self, finding: Finding) -> str:
        return f"{finding.statistic['agreed']:,} of {finding.statistic['scored']:,} agreed"

    def power(
        self,
        pairs: int,
        *,
        hit_rate: float,
        control_rate: float,  # noqa: ARG002
        alpha: float,
        ratio: Fraction,  # noqa: ARG002
    ) -> float:
        """Every answer is one of the two words, and `hit_rate` of them agree."""
        return sum(
            comb(pairs, n) * hit_rate**n * (1 - hit_rate) ** (pairs - n)
            for n in range(pairs + 1)
            if WIN**n * LOSS ** (pairs - n) >= 1 / alpha
        )


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a package with these two plug-ins were installed."""
    watermark, test = ModuleType("sides_watermark"), ModuleType("sides_test")
    vars(watermark).update(SCHEME=Sides, PLUGIN=Sides, NAMED={})
    vars(test).update(PLUGIN=SidesTest)
    modules = {("watermarks", "sides"): watermark, ("verification.tests", "sides"): test}
    names, load = plugins.names, plugins.load

    def all_names(package: str) -> tuple[str, ...]:
        added = [name for where, name in modules if where == package]
        return tuple(sorted({*names(package), *added}))

    def load_any(package: str, name: str) -> ModuleType:
        return modules[package, name] if (package, name) in modules else load(package, name)

    monkeypatch.setattr(plugins, "names", all_names)
    monkeypatch.setattr(plugins, "load", load_any)
