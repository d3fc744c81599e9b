"""The plan: how a model will be asked and judged, fixed before the dataset is published.

It is a TOML file that a person can read. What it does not say is what `verify` does by itself.
"""

import json
import math
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from puzzlemark.embedding.secret import Secret
from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.verification.making import build_probes
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.verification.terms import Terms, read_terms, usual_terms
from puzzlemark.watermarks._design import Design


class PlanError(PuzzleMarkError):
    """A plan cannot be read, or is not one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a verdict must have followed, to be called confirmatory."""

    design: str  # of the watermark: which arms there are, and what counts as a hit
    pairs: int = 500  # probes, at least
    probe_seed: int = 0  # which marks are asked about, and in which order
    runs: int = 1  # against one model
    exclusions: str = "none but near-duplicates, as `puzzlemark verify` leaves them out"
    terms: Terms = field(default_factory=Terms)

    def __post_init__(self) -> None:
        if self.pairs < 1 or self.runs < 1:
            raise PlanError("a plan has at least one pair and one run")
        if self.terms.max_tokens < 1:
            raise PlanError(f"max_tokens is {self.terms.max_tokens}; it is 1 or more")
        if not (math.isfinite(self.terms.temperature) and self.terms.temperature >= 0):
            raise PlanError(f"temperature is {self.terms.temperature}; it is a number from 0 on")

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the commitment."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**plain, "terms": self.terms.to_json()}

    def to_toml(self) -> str:
        """The file that a person may edit before the commitment is made."""
        lines = ["# How a model is asked and judged. Fixed when the dataset is published.", ""]
        lines += [f"{name} = {_spell(value)}" for name, value in self.to_json().items()][:-1]
        terms = {name: value for name, value in self.terms.to_json().items() if value is not None}
        lines += ["", "[terms]", *(f"{name} = {_spell(value)}" for name, value in terms.items())]
        return "\n".join(lines) + "\n"


def _spell(value: object) -> str:
    """A value as TOML spells it; a plan has texts and numbers only."""
    if isinstance(value, str):
        # JSON escapes as TOML does, but for this one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


_PLAIN = TypeAdapter(dict[str, str | int])


def default_plan(design: Design) -> Plan:
    """What `verify` does when nothing is asked for, with the ratio that the design states."""
    return Plan(design.name, design.pairs, terms=usual_terms(design).fixed(design))


def planned_probes(
    dataset: Path | str,
    manifest: Path | str,
    plan: Plan,
    secret: Secret,
    *,
    pairs: int | None = None,
    seed: int | None = None,
) -> ProbeSet:
    """The probes that follow from a plan; or with another number of pairs, or another seed."""
    paper = plan.terms.mode == "paper"
    return build_probes(
        dataset,
        manifest,
        pairs=plan.pairs if pairs is None else pairs,
        seed=plan.probe_seed if seed is None else seed,
        secret=None if paper else secret,
        paper=paper,
    )


def read_plan(path: Path, design: Design) -> Plan:
    """A plan from its file; anything that it would ignore is an error."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise PlanError(f"{path}: cannot be read as TOML: {exc}") from exc
    try:
        return plan_from({"design": design.name, **content}, design)
    except (PlanError, UsageError) as exc:
        raise PlanError(f"{path}: {exc}") from exc


def plan_from(content: dict[str, Any], design: Design) -> Plan:
    """A plan from plain values, as they stand in a file or in a commitment."""
    known = {each.name for each in fields(Plan)}
    if unknown := sorted(set(content) - known):
        raise PlanError(f"unknown: {', '.join(unknown)}; a plan has {', '.join(sorted(known))}")
    if content["design"] != design.name:
        raise PlanError(
            f"a plan for the design {content['design']!r}, and the marks have {design.name!r}"
        )
    stated = content.get("terms", {})
    if not isinstance(stated, dict):
        raise PlanError("[terms] is a table")
    rest = {name: value for name, value in content.items() if name != "terms"}
    try:
        plain = _PLAIN.validate_python(rest, strict=True)
        terms = read_terms({**usual_terms(design).to_json(), **stated}).fixed(design)
    except ValidationError as exc:
        raise PlanError("a value of another kind; a plan has texts and whole numbers") from exc
    except ValueError as exc:
        raise PlanError(f"[terms]: {exc}") from exc
    defaults = default_plan(design)
    for name, value in plain.items():
        if type(value) is not type(getattr(defaults, name)):
            raise PlanError(f"{name}: {value!r} is of another kind")
    return Plan(**{"pairs": design.pairs, **plain, "terms": terms})  # type: ignore[arg-type]
