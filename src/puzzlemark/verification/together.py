"""Evidence of several channels against one model, multiplied.

Two runs that ask one model about marks of independent keys give two e-values, each with mean 1 for
every model that depends on neither key; then their product has mean 1, too. A p-value p is turned
into the e-value 1 / (2 sqrt(p)) first. The key of each watermark is derived from the secret for its
scheme alone, so two schemes of one secret are independent; two runs of one key are not, and are
refused.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from puzzlemark.errors import UsageError
from puzzlemark.statistics.evalues import calibrate
from puzzlemark.verification import wording
from puzzlemark.verification.run import Run
from puzzlemark.verification.tests.base import load_test


@dataclass(frozen=True, slots=True)
class Product:
    """The evidence of several runs together: `product(runs).log10_e`."""

    log10_e: float
    parts: tuple[float, ...]  # log10 of each run's
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"log10_e": self.log10_e, "parts": list(self.parts), "sentence": self.sentence}


def product(runs: Sequence[Run]) -> Product:
    """Multiply the evidence of runs with independent keys against one model."""
    if len(runs) < 2:
        raise UsageError("a product needs two runs or more")
    keys = [run.probes.header.key for run in runs]
    if any(key is None for key in keys):
        raise UsageError(
            "only marks with a key have evidence that multiplies; leave out the others"
        )
    if len({key.fingerprint for key in keys if key is not None}) < len(runs):
        raise UsageError("two of the runs judge by the same key: their evidence is not independent")
    if any(run.model != runs[0].model for run in runs):
        raise UsageError("the runs asked different models: their evidence is about different ones")
    for run in runs:
        if _is_look(run):
            raise UsageError(
                f"{run.folder}: came to no result, and its p-value is one of several that could "
                "have been read; ask what is left first, or leave it out"
            )
    parts = tuple(log10_e_of(run) for run in runs)
    log10_e = sum(parts)
    names = " and ".join(run.probes.header.strategy for run in runs)
    return Product(
        log10_e,
        parts,
        f"The evidence of {names} multiplies, because their keys are independent of each other: "
        f"log10 e = {log10_e:.2f}. A model that depends on none of the keys reaches this with a "
        f"chance of at most {_chance(log10_e)}." + "".join(f" {note}" for note in _notes(runs)),
    )


def _is_look(run: Run) -> bool:
    """Whether a test that is read once was read before its end; an e-value may be, at any time."""
    measure = load_test(run.terms.decision(run.probes.design).test).measure
    return measure == "p" and run.verdict.word == "inconclusive"


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    """What the verdict of each run tells beside its sentence, and the product rests on as well."""
    if runs[0].model.get("supplied"):
        yield wording.SUPPLIED
    references = [run.reference for run in runs if run.reference is not None]
    if references:
        yield wording.REFERENCE
    if any(each["model"].get("supplied") for each in references):
        yield wording.SUPPLIED_REFERENCE


def log10_e_of(run: Run) -> float:
    """log10 of a run's e-value; of one that speaks by p, calibrated; none is 1."""
    decisive = run.verdict.decisive
    if not decisive:
        return 0.0
    (finding,) = decisive
    if load_test(run.terms.decision(run.probes.design).test).measure == "p":
        return calibrate(finding.log10_p)
    return float(finding.statistic["log10_e"] or 0.0)


def _chance(log10_e: float) -> str:
    return "1" if log10_e <= 0 else f"10^-{math.floor(log10_e * 100) / 100:.2f}"
