"""PuzzleMark: watermark a code dataset, and prove later that a model was trained on it.

    import puzzlemark as pm

    pm.embed("train.jsonl.gz", "marked.jsonl.gz", "marks.jsonl.gz", mark="U1")
    pm.revert("marked.jsonl.gz", "original.jsonl.gz", "marks.jsonl.gz")

Names are loaded when they are first used, so that importing costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from puzzlemark.attacks._run import attack, attack_cost
    from puzzlemark.auditing.run import Audit, audit
    from puzzlemark.bench.damage import count_damage
    from puzzlemark.corpora.base import open_corpus as read
    from puzzlemark.detectors._picture import save_suspicion_picture
    from puzzlemark.detectors._run import detect
    from puzzlemark.doctor import diagnose
    from puzzlemark.embedding.drawing import save_marks_page, save_scores_picture
    from puzzlemark.embedding.manifest import Manifest, load_manifest
    from puzzlemark.embedding.memory import Embedded, embed, marker
    from puzzlemark.embedding.owner import embed_owner
    from puzzlemark.embedding.run import Summary, apply, revert
    from puzzlemark.embedding.scores import Scored, score
    from puzzlemark.embedding.showing import show
    from puzzlemark.errors import PuzzleMarkError
    from puzzlemark.evidence.bundle import bundle
    from puzzlemark.evidence.check import check as check_bundle
    from puzzlemark.evidence.commitment import Commitment, commit, load_commitment
    from puzzlemark.evidence.comparing import compare as compare_probes
    from puzzlemark.evidence.stamping import stamp, stamp_line
    from puzzlemark.features.measure import measure
    from puzzlemark.harvesting.run import harvest_to as harvest
    from puzzlemark.models.base import open_model
    from puzzlemark.models.fetching.run import fetch as fetch_model
    from puzzlemark.protecting.dataset import as_dataset as repository_as_dataset
    from puzzlemark.protecting.run import Protected, protect, revert_repository
    from puzzlemark.quality.compare import compare as compare_quality
    from puzzlemark.quality.measure import measure as measure_quality
    from puzzlemark.quality.result import load_quality
    from puzzlemark.quality.split import split
    from puzzlemark.snippet import Edit, Snippet
    from puzzlemark.studying.design import Design as StudyDesign
    from puzzlemark.studying.making import make_study
    from puzzlemark.studying.material import Marking as StudyMarking
    from puzzlemark.studying.power import study_power
    from puzzlemark.studying.results import results_page as study_results_page
    from puzzlemark.studying.scoring import score_study
    from puzzlemark.studying.serving import serve_study
    from puzzlemark.syntax.tree import parse
    from puzzlemark.syntax.variables import Policy, functions
    from puzzlemark.training.run import train
    from puzzlemark.verification.making import build_probes as probe
    from puzzlemark.verification.power import plan as power
    from puzzlemark.verification.power import plan_drawn as power_of_draws
    from puzzlemark.verification.probes import load_probes, save_probes
    from puzzlemark.verification.report import write_report as report
    from puzzlemark.verification.run import Run, load_run, verify
    from puzzlemark.verification.terms import Terms
    from puzzlemark.verification.together import product as multiply
    from puzzlemark.verification.tracing import read_licensees, trace
    from puzzlemark.verification.verdict import adjust as together
    from puzzlemark.watermarks.base import Mark, Refusal

__version__ = "0.1.0"

_HOMES = {
    "Audit": "auditing.run",
    "Commitment": "evidence.commitment",
    "Edit": "snippet",
    "Embedded": "embedding.memory",
    "Manifest": "embedding.manifest",
    "Mark": "watermarks.base",
    "Policy": "syntax.variables",
    "Protected": "protecting.run",
    "PuzzleMarkError": "errors",
    "Refusal": "watermarks.base",
    "Run": "verification.run",
    "Scored": "embedding.scores",
    "Snippet": "snippet",
    "StudyDesign": "studying.design:Design",
    "StudyMarking": "studying.material:Marking",
    "Summary": "embedding.run",
    "Terms": "verification.terms",
    "apply": "embedding.run",
    "attack": "attacks._run",
    "attack_cost": "attacks._run",
    "audit": "auditing.run",
    "bundle": "evidence.bundle",
    "check_bundle": "evidence.check:check",
    "commit": "evidence.commitment",
    "compare_probes": "evidence.comparing:compare",
    "compare_quality": "quality.compare:compare",
    "count_damage": "bench.damage",
    "detect": "detectors._run",
    "diagnose": "doctor",
    "embed": "embedding.memory",
    "embed_owner": "embedding.owner",
    "fetch_model": "models.fetching.run:fetch",
    "functions": "syntax.variables",
    "harvest": "harvesting.run:harvest_to",
    "load_commitment": "evidence.commitment",
    "load_manifest": "embedding.manifest",
    "load_probes": "verification.probes",
    "load_quality": "quality.result",
    "load_run": "verification.run",
    "make_study": "studying.making",
    "marker": "embedding.memory",
    "measure": "features.measure",
    "measure_quality": "quality.measure:measure",
    "multiply": "verification.together:product",
    "open_model": "models.base",
    "parse": "syntax.tree",
    "power": "verification.power:plan",
    "power_of_draws": "verification.power:plan_drawn",
    "probe": "verification.making:build_probes",
    "protect": "protecting.run",
    "read": "corpora.base:open_corpus",
    "read_licensees": "verification.tracing",
    "report": "verification.report:write_report",
    "repository_as_dataset": "protecting.dataset:as_dataset",
    "revert": "embedding.run",
    "revert_repository": "protecting.run",
    "save_marks_page": "embedding.drawing",
    "save_probes": "verification.probes",
    "save_scores_picture": "embedding.drawing",
    "save_suspicion_picture": "detectors._picture",
    "score": "embedding.scores",
    "score_study": "studying.scoring",
    "serve_study": "studying.serving",
    "show": "embedding.showing",
    "split": "quality.split",
    "stamp": "evidence.stamping",
    "stamp_line": "evidence.stamping",
    "study_power": "studying.power",
    "study_results_page": "studying.results:results_page",
    "together": "verification.verdict:adjust",
    "trace": "verification.tracing",
    "train": "training.run",
    "verify": "verification.run",
}
__all__ = [
    "Audit",
    "Commitment",
    "Edit",
    "Embedded",
    "Manifest",
    "Mark",
    "Policy",
    "Protected",
    "PuzzleMarkError",
    "Refusal",
    "Run",
    "Scored",
    "Snippet",
    "StudyDesign",
    "StudyMarking",
    "Summary",
    "Terms",
    "apply",
    "attack",
    "attack_cost",
    "audit",
    "bundle",
    "check_bundle",
    "commit",
    "compare_probes",
    "compare_quality",
    "count_damage",
    "detect",
    "diagnose",
    "embed",
    "embed_owner",
    "fetch_model",
    "functions",
    "harvest",
    "load_commitment",
    "load_manifest",
    "load_probes",
    "load_quality",
    "load_run",
    "make_study",
    "marker",
    "measure",
    "measure_quality",
    "multiply",
    "open_model",
    "parse",
    "power",
    "power_of_draws",
    "probe",
    "protect",
    "read",
    "read_licensees",
    "report",
    "repository_as_dataset",
    "revert",
    "revert_repository",
    "save_marks_page",
    "save_probes",
    "save_scores_picture",
    "save_suspicion_picture",
    "score",
    "score_study",
    "serve_study",
    "show",
    "split",
    "stamp",
    "stamp_line",
    "study_power",
    "study_results_page",
    "together",
    "trace",
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
