"""A whole verification: ask a model the probes, resume where it stopped, test what it answered.

A run is a folder: `probes.jsonl` (what is asked), `transcript.jsonl` (what was answered, with the
settings that were fixed before), `verdict.json` (what follows). The verdict is computed from the
first two alone, so that anybody can compute it again.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.models.base import Answer, BudgetEnded, Estimate, Failure, Model, Request, estimate
from puzzlemark.pages.files import write_text
from puzzlemark.provenance import versions
from puzzlemark.verification.evidence import Outcome
from puzzlemark.verification.probes import ProbeSet, load_probes, save_probes
from puzzlemark.verification.setting import Mode, Setting
from puzzlemark.verification.transcript import Header, ask, pending, read
from puzzlemark.verification.verdict import Verdict, decide, stopping_point
from puzzlemark.watermarks.base import Arm, Probe

FORMAT = "puzzlemark verdict"
VERSION = 1
FILES = ("probes.jsonl", "transcript.jsonl", "verdict.json")  # what a run's folder consists of
COLD = 0.2  # the same model hits about three times as often as at 1.0
PAPER_TEMPERATURE = 1.0
CHUNK = 10  # pairs that sequential mode asks before it looks again

Progress = Callable[[int, int], None]  # answered, of how many


class RunError(PuzzleMarkError):
    """A run's folder cannot be used as asked."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is fixed before the first question, beside the probes and the model."""

    mode: Mode = "default"
    alpha: float = 0.05
    temperature: float = COLD
    max_tokens: int = 24
    seed: int = 0

    def setting(self, probes: ProbeSet) -> Setting:
        """The same for the statistics."""
        return Setting(mode=self.mode, strategy=probes.header.strategy, alpha=self.alpha)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its folder has it."""

    folder: Path
    probes: ProbeSet
    terms: Terms
    completions: list[dict[str, Answer]]  # for each probe, by the arm's name
    outcomes: list[Outcome]
    decision: Verdict
    verdict: dict[str, Any]  # verdict.json, which holds the decision


def verify(
    probes: ProbeSet,
    model: Model,
    folder: Path | str,
    terms: Terms | None = None,
    *,
    progress: Progress | None = None,
) -> Run:
    """Ask and judge; calling it again resumes, and asks nothing twice."""
    query(probes, model, folder, terms, progress=progress)
    return judge(folder)


def query(
    probes: ProbeSet,
    model: Model,
    folder: Path | str,
    terms: Terms | None = None,
    *,
    progress: Progress | None = None,
) -> None:
    """Ask only: on a machine that reaches the model, say. Resumes like `verify`."""
    terms = terms or Terms()
    folder = _prepared(Path(folder), probes)
    header = Header(
        probes=probes.digest,
        settings=asdict(terms),
        model=model.describe(),
        versions=versions(),
    )
    path = folder / "transcript.jsonl"
    questions = questions_of(probes, terms)
    step = CHUNK if terms.mode == "sequential" else max(1, len(questions))
    for end in range(step, len(questions) + step, step):
        asked = questions[:end]
        requests = [request for arms in asked for request in arms.values()]
        try:
            answers = ask(model, requests, path, header, progress)
        except BudgetEnded:
            return  # what was answered is kept; the verdict says that some was never asked
        outcomes = [outcome_of(*pair, answers) for pair in zip(probes.probes, asked, strict=False)]
        if terms.mode == "sequential" and stopping_point(outcomes, terms.setting(probes)):
            return


def dry_run(probes: ProbeSet, folder: Path | str, terms: Terms | None = None) -> Estimate:
    """What asking would take; asks nothing and writes nothing."""
    questions = questions_of(probes, terms or Terms())
    requests = [request for arms in questions for request in arms.values()]
    return estimate(pending(requests, Path(folder) / "transcript.jsonl"))


def judge(folder: Path | str) -> Run:
    """Test what was answered, and write verdict.json; asks nothing."""
    folder = Path(folder)
    run = _loaded(folder, None)
    text = json.dumps(run.verdict, indent=2, ensure_ascii=False) + "\n"
    write_text(folder / "verdict.json", text)
    return run


def load_run(folder: Path | str) -> Run:
    """A run that was judged; refuses a verdict that does not follow from the answers."""
    folder = Path(folder)
    try:
        verdict = json.loads((folder / "verdict.json").read_text())
    except (OSError, ValueError) as exc:
        raise RunError(
            f"{folder}: no verdict.json to read; run: puzzlemark verify --test-only "
            f"--output {folder}"
        ) from exc
    return _loaded(folder, verdict)


def questions_of(probes: ProbeSet, terms: Terms) -> list[dict[str, Request]]:
    """The requests of each probe by arm; control and placebo share one where their prompts do."""
    return [
        {
            name: Request(arm.prompt, terms.max_tokens, terms.temperature, _seed(terms, n, arm))
            for name, arm in arms_of(probe).items()
        }
        for n, probe in enumerate(probes.probes)
    ]


def arms_of(probe: Probe) -> dict[str, Arm]:
    """The arms that a probe has, by name."""
    arms = {"armed": probe.armed, "control": probe.control, "placebo": probe.placebo}
    return {name: arm for name, arm in arms.items() if arm is not None}


def outcome_of(
    probe: Probe, requests: Mapping[str, Request], answers: Mapping[str, Answer]
) -> Outcome:
    """Which arms of a probe hit."""
    hits: dict[str, bool] = {}
    for name, arm in arms_of(probe).items():
        answer = answers.get(requests[name].key)
        if isinstance(answer, str):
            hits[name] = arm.is_hit(answer)
    return Outcome(**hits)


def _seed(terms: Terms, number: int, arm: Arm) -> int:
    """Every question has a seed of its own, whatever else is asked."""
    text = f"{terms.seed}:{number}:{arm.prompt}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") >> 1


def _prepared(folder: Path, probes: ProbeSet) -> Path:
    path = folder / "probes.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        save_probes(probes, path)
    elif load_probes(path).digest != probes.digest:
        raise RunError(f"{folder}: a run with other probes is here; choose another --output")
    return folder


def _loaded(folder: Path, verdict: dict[str, Any] | None) -> Run:
    probes = load_probes(folder / "probes.jsonl")
    transcript = read(folder / "transcript.jsonl")
    if transcript.header["probes"] != probes.digest:
        raise RunError(f"{folder}: the transcript answers other probes than those beside it")
    terms = _terms(folder, transcript.header["settings"])
    questions = questions_of(probes, terms)
    answers = transcript.answers
    pairs = list(zip(probes.probes, questions, strict=True))
    outcomes = [outcome_of(probe, requests, answers) for probe, requests in pairs]
    decision = _decide(terms.setting(probes), questions, outcomes, answers)
    computed = _verdict(probes, terms, questions, decision, answers, transcript.header)
    # through JSON and back, so that what was read and what is computed can be compared
    computed = json.loads(json.dumps(computed))
    if verdict is not None and verdict != computed:
        raise RunError(
            f"{folder}: verdict.json does not follow from the transcript (edited, or made by "
            f"another version); compute it again: puzzlemark verify --test-only --output {folder}"
        )
    completions = [
        {name: answers[r.key] for name, r in requests.items() if r.key in answers}
        for requests in questions
    ]
    return Run(folder, probes, terms, completions, outcomes, decision, computed)


def _terms(folder: Path, settings: Mapping[str, Any]) -> Terms:
    try:
        return Terms(**settings)
    except TypeError as exc:
        raise RunError(f"{folder}: the transcript has settings of another version") from exc


def _decide(
    setting: Setting,
    questions: Sequence[Mapping[str, Request]],
    outcomes: Sequence[Outcome],
    answers: Mapping[str, Answer],
) -> Verdict:
    asked = [any(r.key in answers for r in requests.values()) for requests in questions]
    judged = [outcome for outcome, was_asked in zip(outcomes, asked, strict=True) if was_asked]
    return decide(judged, setting=setting, unasked=len(outcomes) - len(judged))


def _verdict(
    probes: ProbeSet,
    terms: Terms,
    questions: Sequence[Mapping[str, Request]],
    decision: Verdict,
    answers: Mapping[str, Answer],
    header: Mapping[str, Any],
) -> dict[str, Any]:
    keys = sorted({r.key for requests in questions for r in requests.values()} & set(answers))
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": decision.to_json(),
        "probes": {
            "sha256": probes.digest,
            "pairs": len(probes.probes),
            "strategy": probes.header.strategy,
        },
        "answers": {
            "digest": _digest(keys, answers),
            "requests": len(keys),
            "failed": sum(isinstance(answers[key], Failure) for key in keys),
        },
        "settings": asdict(terms),
        "model": header["model"],
        "versions": header["versions"],
    }


def _digest(keys: Sequence[str], answers: Mapping[str, Answer]) -> str:
    """SHA-256 of the answers by key: the same for any order in which they arrived."""
    state = hashlib.sha256()
    for key in keys:
        answer = answers[key]
        plain = {"failure": answer.reason} if isinstance(answer, Failure) else answer
        state.update(json.dumps([key, plain]).encode() + b"\n")
    return state.hexdigest()


def terms_for(
    *,
    paper: bool = False,
    sequential: bool = False,
    temperature: float | None = None,
    max_tokens: int = 24,
    alpha: float = 0.05,
    seed: int = 0,
) -> Terms:
    """The terms that the options of the command line spell."""
    if paper and sequential:
        raise UsageError("the paper's setting is not sequential; pass one of the two")
    if paper and temperature not in (None, PAPER_TEMPERATURE):
        raise UsageError(f"the paper's temperature is {PAPER_TEMPERATURE}, not {temperature}")
    if temperature is None:
        temperature = PAPER_TEMPERATURE if paper else COLD
    mode: Mode = "paper" if paper else "sequential" if sequential else "default"
    return Terms(mode, alpha, temperature, max_tokens, seed)
