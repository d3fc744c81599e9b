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
    from puzzlemark.detectors._run import detect
    from puzzlemark.embedding.manifest import Manifest, load_manifest
    from puzzlemark.embedding.run import Summary, apply, embed, revert
    from puzzlemark.embedding.scores import Scored, score
    from puzzlemark.embedding.showing import show
    from puzzlemark.errors import PuzzleMarkError
    from puzzlemark.features.measure import measure
    from puzzlemark.harvesting.run import harvest_to as harvest
    from puzzlemark.models.base import open_model
    from puzzlemark.snippet import Edit, Snippet
    from puzzlemark.syntax.tree import parse
    from puzzlemark.syntax.variables import Policy, functions
    from puzzlemark.training.run import train
    from puzzlemark.verification.making import build_probes as probe
    from puzzlemark.verification.run import Run, load_run, verify
    from puzzlemark.verification.terms import Terms
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
    "detect": "detectors._run",
    "embed": "embedding.run",
    "functions": "syntax.variables",
    "harvest": "harvesting.run:harvest_to",
    "load_manifest": "embedding.manifest",
    "load_run": "verification.run",
    "measure": "features.measure",
    "open_model": "models.base",
    "parse": "syntax.tree",
    "probe": "verification.making:build_probes",
    "read": "corpora.base:open_corpus",
    "revert": "embedding.run",
    "score": "embedding.scores",
    "show": "embedding.showing",
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
    "detect",
    "embed",
    "functions",
    "harvest",
    "load_manifest",
    "load_run",
    "measure",
    "open_model",
    "parse",
    "probe",
    "read",
    "revert",
    "score",
    "show",
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
