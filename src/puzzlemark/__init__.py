"""PuzzleMark: watermark a code dataset, and prove later that a model was trained on it.

    import puzzlemark as pm

    pm.embed("train.jsonl.gz", "marked.jsonl.gz", "marks.jsonl.gz", mark="U1")
    pm.revert("marked.jsonl.gz", "original.jsonl.gz", "marks.jsonl.gz")

Names are loaded when they are first used, so that importing costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from puzzlemark.auditing.run import Audit, audit
    from puzzlemark.corpora.base import open_corpus as read
    from puzzlemark.detectors._picture import save_suspicion_picture
    from puzzlemark.detectors._run import detect
    from puzzlemark.embedding.drawing import save_marks_page, save_scores_picture
    from puzzlemark.embedding.manifest import Manifest, load_manifest
    from puzzlemark.embedding.run import Summary, apply, embed, revert
    from puzzlemark.embedding.scores import Scored, score
    from puzzlemark.embedding.showing import show
    from puzzlemark.errors import PuzzleMarkError
    from puzzlemark.features.measure import measure
    from puzzlemark.harvesting.run import harvest_to as harvest
    from puzzlemark.models.base import open_model
    from puzzlemark.models.fetching.run import fetch as fetch_model
    from puzzlemark.quality.compare import compare as compare_quality
    from puzzlemark.quality.measure import measure as measure_quality
    from puzzlemark.quality.result import load_quality
    from puzzlemark.quality.split import split
    from puzzlemark.snippet import Edit, Snippet
    from puzzlemark.syntax.tree import parse
    from puzzlemark.syntax.variables import Policy, functions
    from puzzlemark.training.run import train
    from puzzlemark.verification.making import build_probes as probe
    from puzzlemark.verification.power import plan as power
    from puzzlemark.verification.probes import load_probes, save_probes
    from puzzlemark.verification.report import write_report as report
    from puzzlemark.verification.run import Run, load_run, verify
    from puzzlemark.verification.terms import Terms
    from puzzlemark.verification.together import product as multiply
    from puzzlemark.verification.verdict import adjust as together
    from puzzlemark.watermarks.base import Mark, Refusal

__version__ = "0.1.0"

_HOMES = {
    "Audit": "auditing.run",
    "Edit": "snippet",
    "Manifest": "embedding.manifest",
    "Mark": "watermarks.base",
    "Policy": "syntax.variables",
    "PuzzleMarkError": "errors",
    "Refusal": "watermarks.base",
    "Run": "verification.run",
    "Scored": "embedding.scores",
    "Snippet": "snippet",
    "Summary": "embedding.run",
    "Terms": "verification.terms",
    "apply": "embedding.run",
    "audit": "auditing.run",
    "compare_quality": "quality.compare:compare",
    "detect": "detectors._run",
    "embed": "embedding.run",
    "fetch_model": "models.fetching.run:fetch",
    "functions": "syntax.variables",
    "harvest": "harvesting.run:harvest_to",
    "load_manifest": "embedding.manifest",
    "load_probes": "verification.probes",
    "load_quality": "quality.result",
    "load_run": "verification.run",
    "measure": "features.measure",
    "measure_quality": "quality.measure:measure",
    "multiply": "verification.together:product",
    "open_model": "models.base",
    "parse": "syntax.tree",
    "power": "verification.power:plan",
    "probe": "verification.making:build_probes",
    "read": "corpora.base:open_corpus",
    "report": "verification.report:write_report",
    "revert": "embedding.run",
    "save_marks_page": "embedding.drawing",
    "save_probes": "verification.probes",
    "save_scores_picture": "embedding.drawing",
    "save_suspicion_picture": "detectors._picture",
    "score": "embedding.scores",
    "show": "embedding.showing",
    "split": "quality.split",
    "together": "verification.verdict:adjust",
    "train": "training.run",
    "verify": "verification.run",
}
__all__ = [
    "Audit",
    "Edit",
    "Manifest",
    "Mark",
    "Policy",
    "PuzzleMarkError",
    "Refusal",
    "Run",
    "Scored",
    "Snippet",
    "Summary",
    "Terms",
    "apply",
    "audit",
    "compare_quality",
    "detect",
    "embed",
    "fetch_model",
    "functions",
    "harvest",
    "load_manifest",
    "load_probes",
    "load_quality",
    "load_run",
    "measure",
    "measure_quality",
    "multiply",
    "open_model",
    "parse",
    "power",
    "probe",
    "read",
    "report",
    "revert",
    "save_marks_page",
    "save_probes",
    "save_scores_picture",
    "save_suspicion_picture",
    "score",
    "show",
    "split",
    "together",
    "train",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'puzzlemark' has no attribute {name!r}")
    module, _, inner = _HOMES[name].partition(":")
    value = getattr(importlib.import_module(f"puzzlemark.{module}"), inner or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
