"""A whole verification: ask a model the probes, resume where it stopped, test what it answered.

A run is a folder: `probes.jsonl` (what is asked), `transcript.jsonl` (what was answered, with the
settings that were fixed before), `verdict.json` (what follows). The verdict is computed from the
first two alone, so that anybody can compute it again.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from puzzlemark.errors import PuzzleMarkError, UsageError
from puzzlemark.models.base import Answer, BudgetEnded, Estimate, Failure, Model, Request, estimate
from puzzlemark.progress import Progress
from puzzlemark.provenance import versions
from puzzlemark.staging import write_text
from puzzlemark.verification import wording
from puzzlemark.verification.evidence import Outcome
from puzzlemark.verification.probes import (
    ProbeSet,
    check,
    load_probes,
    near_duplicates,
    save_probes,
)
from puzzlemark.verification.setting import Mode, Setting
from puzzlemark.verification.transcript import Header, Transcript, asking, pending, read
from puzzlemark.verification.verdict import Verdict, decide, stopping_point
from puzzlemark.watermarks.base import Arm, Probe

FORMAT = "puzzlemark verdict"
VERSION = 2  # 1 had one decisive finding, not one for each arm to beat
FILES = ("probes.jsonl", "transcript.jsonl", "verdict.json")  # what a run's folder consists of
COLD = 0.2  # the same model hits about three times as often as at 1.0
PAPER_TEMPERATURE = 1.0
CHUNK = 10  # pairs that sequential mode asks before it looks again

Questions = dict[str, Request]  # of one probe, by the arm's name


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
    ratio: float | None = None  # of the null hypothesis; None: the strategy's own

    def setting(self, probes: ProbeSet) -> Setting:
        """The same for the statistics."""
        return Setting(
            mode=self.mode, strategy=probes.header.strategy, alpha=self.alpha, ratio=self.ratio
        )

    def fixed(self, probes: ProbeSet) -> "Terms":
        """With the ratio that will be tested, for the record."""
        return replace(self, ratio=float(self.setting(probes).null_ratio))


# a transcript may come from anybody: a text where a number belongs is refused, not converted
_TERMS = TypeAdapter(Terms)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its folder has it."""

    folder: Path
    probes: ProbeSet
    terms: Terms
    completions: list[dict[str, Answer]]  # for each probe, by the arm's name
    outcomes: list[Outcome]  # of each probe
    judged: list[int]  # the probes that the decision rests on, in their order
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
    check(probes)
    terms = (terms or Terms()).fixed(probes)
    folder = _prepared(Path(folder), probes)
    header = Header(
        probes=probes.digest,
        settings=asdict(terms),
        model=model.describe(),
        versions=versions(),
    )
    questions = questions_of(probes, terms)
    repeated = near_duplicates(probes)
    with asking(model, folder / "transcript.jsonl", header) as session:
        answers: dict[str, Answer] = {}
        for end, requests in _batches(probes, questions, terms):
            try:
                answers |= session.ask(requests, progress)
            except BudgetEnded:
                return  # what was answered is kept; the verdict says that some was never asked
            judged = [n for n in range(end) if n not in repeated]
            outcomes = [outcome_of(probes.probes[n], questions[n], answers) for n in judged]
            if terms.mode == "sequential" and stopping_point(outcomes, terms.setting(probes)):
                return


def _batches(
    probes: ProbeSet, questions: Sequence[Questions], terms: Terms
) -> Iterator[tuple[int, list[Request]]]:
    """What is asked before the next look, shuffled: how many probes are asked then, and requests.

    The arms of a probe are near twins, so side by side they would be conspicuous. The ordinary
    prompts, which nobody judges, are spread evenly among them.
    """
    rng = random.Random(f"{terms.seed}:order")
    ordinary = [_request(prompt, -1 - n, terms) for n, prompt in enumerate(probes.ordinary)]
    step = CHUNK if terms.mode == "sequential" else max(1, len(questions))
    for start in range(0, len(questions), step):
        end = min(start + step, len(questions))
        requests = [request for arms in questions[start:end] for request in arms.values()]
        share = slice(*(len(ordinary) * n // len(questions) for n in (start, end)))
        requests += ordinary[share]
        rng.shuffle(requests)
        yield end, requests


def dry_run(probes: ProbeSet, folder: Path | str, terms: Terms | None = None) -> Estimate:
    """What asking would take; asks nothing and writes nothing."""
    check(probes)
    terms = (terms or Terms()).fixed(probes)
    batches = _batches(probes, questions_of(probes, terms), terms)
    requests = [request for _, batch in batches for request in batch]
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
    except (OSError, ValueError, RecursionError) as exc:
        raise RunError(
            f"{folder}: no verdict.json to read; run: puzzlemark verify --test-only "
            f"--output {folder}"
        ) from exc
    return _loaded(folder, verdict)


def questions_of(probes: ProbeSet, terms: Terms) -> list[Questions]:
    """The requests of each probe by arm; control and placebo share one where their prompts do."""
    return [
        {name: _request(arm.prompt, n, terms) for name, arm in arms_of(probe).items()}
        for n, probe in enumerate(probes.probes)
    ]


def _request(prompt: str, number: int, terms: Terms) -> Request:
    """A question with a seed of its own, whatever else is asked."""
    text = f"{terms.seed}:{number}:{prompt}".encode("utf-8", "surrogatepass")
    seed = int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") >> 1
    return Request(prompt, terms.max_tokens, terms.temperature, seed)


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
    check(probes)
    transcript = read(folder / "transcript.jsonl")
    if transcript.header["probes"] != probes.digest:
        raise RunError(f"{folder}: the transcript answers other probes than those beside it")
    terms = _terms(folder, transcript.header["settings"])
    setting = terms.setting(probes)
    questions = questions_of(probes, terms)
    answers = transcript.answers
    pairs = zip(probes.probes, questions, strict=True)
    outcomes = [outcome_of(probe, requests, answers) for probe, requests in pairs]
    repeated = near_duplicates(probes)
    kept = [n for n in range(len(outcomes)) if n not in repeated]
    asked = [n for n in kept if any(r.key in answers for r in questions[n].values())]
    decision = decide(
        [outcomes[n] for n in asked],
        setting=setting,
        unasked=len(kept) - len(asked),
        supplied=bool(transcript.header["model"].get("supplied")),
        notes=_notes(transcript, len(repeated)),
    )
    computed = _verdict(probes, terms, questions, decision, transcript)
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
    stop = None
    if setting.mode == "sequential":
        stop = stopping_point([outcomes[n] for n in asked], setting)
    return Run(folder, probes, terms, completions, outcomes, asked[:stop], decision, computed)


def _notes(transcript: Transcript, repeated: int) -> list[str]:
    """What the run itself has to tell, beside the statistics."""
    notes = []
    if transcript.header["model"].get("supplied"):
        notes.append(wording.SUPPLIED)
    if repeated:
        notes.append(
            f"{repeated:,} probes repeat an earlier one nearly word for word; each was left out, "
            "so that no snippet counts twice."
        )
    if not transcript.is_linked:
        notes.append(
            "The transcript is of a version that did not link its lines: one that was changed or "
            "taken out afterwards would not be noticed."
        )
    if transcript.retried:
        notes.append(f"{transcript.retried:,} requests failed at first and were asked again.")
    if len(transcript.sittings) > 1:
        found = ", ".join(f"{count:,}" for count in transcript.sittings[1:])
        notes.append(
            f"The questions were asked in {len(transcript.sittings)} sittings; the later ones "
            f"began after {found} answers. Answers at the end of a sitting could have been cut "
            "off and asked again unnoticed."
        )
    return notes


def _terms(folder: Path, settings: Mapping[str, Any]) -> Terms:
    error = RunError(f"{folder}: the transcript has settings of another version, or wrong ones")
    if set(settings) - {field.name for field in fields(Terms)}:
        raise error
    try:
        return _TERMS.validate_json(json.dumps(settings), strict=True)
    except ValidationError as exc:
        raise error from exc


def _verdict(
    probes: ProbeSet,
    terms: Terms,
    questions: Sequence[Questions],
    decision: Verdict,
    transcript: Transcript,
) -> dict[str, Any]:
    answers = transcript.answers
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
            "sittings": transcript.sittings,
        },
        "settings": asdict(terms),
        "model": transcript.header["model"],
        "versions": transcript.header["versions"],
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
    ratio: float | None = None,
) -> Terms:
    """The terms that the options of the command line spell."""
    if paper and sequential:
        raise UsageError("the paper's setting is not sequential; pass one of the two")
    if paper and temperature not in (None, PAPER_TEMPERATURE):
        raise UsageError(f"the paper's temperature is {PAPER_TEMPERATURE}, not {temperature}")
    if temperature is None:
        temperature = PAPER_TEMPERATURE if paper else COLD
    mode: Mode = "paper" if paper else "sequential" if sequential else "default"
    return Terms(mode, alpha, temperature, max_tokens, seed, ratio)
