"""A whole verification: ask a model the probes, resume where it stopped, test what it answered.

A run is a folder: `probes.jsonl` (what is asked), `transcript.jsonl` (what was answered, with the
terms that were fixed before), `verdict.json` (what follows). The verdict is computed from the first
two alone, so that anybody can compute it again; only a test that needs the watermark's key asks for
the owner's secret.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from puzzlemark.embedding.secret import Secret, find_secret, watermark_key
from puzzlemark.errors import PuzzleMarkError, SecretError, UsageError
from puzzlemark.languages.base import parsing_packages
from puzzlemark.models.base import Answer, BudgetEnded, Estimate, Failure, Model, Request, estimate
from puzzlemark.progress import Progress
from puzzlemark.provenance import versions
from puzzlemark.staging import write_text
from puzzlemark.verification import wording
from puzzlemark.verification.checking import near_duplicates
from puzzlemark.verification.probes import ProbeSet, check, load_probes, save_probes
from puzzlemark.verification.terms import Terms, read_terms, usual_terms
from puzzlemark.verification.tests.base import Outcome, load_test
from puzzlemark.verification.transcript import Header, Transcript, asking, pending, read
from puzzlemark.verification.verdict import StoppingRule, Verdict, decide
from puzzlemark.watermarks._design import Design, Probe

FORMAT = "puzzlemark verdict"
VERSION = 2  # 1 had one decisive finding, not one for each arm to beat
FILES = ("probes.jsonl", "transcript.jsonl", "verdict.json")  # what a run's folder consists of
CHUNK = 10  # pairs that sequential mode asks before it looks again

Questions = dict[str, tuple[Request, ...]]  # of one probe, by the arm's name: all samples


class RunError(PuzzleMarkError):
    """A run's folder cannot be used as asked."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered, in numbers."""

    digest: str  # the same for any order in which the answers arrived
    requests: int
    failed: int
    sittings: list[int]  # how many answers there were when asking began, or went on


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its folder has it."""

    folder: Path
    probes: ProbeSet
    terms: Terms
    completions: list[dict[str, Answer]]  # for each probe, by the arm's name; the first sample
    outcomes: list[Outcome]  # of each probe
    judged: list[int]  # the probes that the verdict rests on, in their order
    verdict: Verdict
    answers: Answers
    model: dict[str, Any]  # how it describes itself
    versions: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Plain values: the content of verdict.json."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "verdict": self.verdict.to_json(),
            "probes": {
                "sha256": self.probes.digest,
                "pairs": len(self.probes.probes),
                "strategy": self.probes.header.strategy,
            },
            "answers": asdict(self.answers),
            "settings": self.terms.to_json(),
            "model": self.model,
            "versions": self.versions,
        }


def verify(
    probes: ProbeSet,
    model: Model,
    folder: Path | str,
    terms: Terms | None = None,
    *,
    secret: Secret | None = None,
    secret_file: Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Ask and judge; calling it again resumes, and asks nothing twice.

    `secret`, or the file of one: the owner's, where a test needs the key of the watermark.
    """
    key_of(probes, secret, secret_file)  # whatever is wrong with it, nothing is asked in vain
    query(probes, model, folder, terms, secret=secret, secret_file=secret_file, progress=progress)
    return judge(folder, secret=secret, secret_file=secret_file)


def query(
    probes: ProbeSet,
    model: Model,
    folder: Path | str,
    terms: Terms | None = None,
    *,
    secret: Secret | None = None,
    secret_file: Path | None = None,
    progress: Progress | None = None,
) -> None:
    """Ask only: on a machine that reaches the model, say. Resumes like `verify`.

    A secret is of use in sequential mode only, which judges while it asks.
    """
    check(probes)
    design = probes.design
    terms = (terms or usual_terms(design)).fixed(design)
    rule = None
    if terms.mode == "sequential":
        rule = StoppingRule(design, terms, key_of(probes, secret, secret_file))
    folder = _prepared(Path(folder), probes)
    header = Header(
        probes=probes.digest,
        settings=terms.to_json(),
        model=model.describe(),
        versions=versions(*parsing_packages()),
    )
    questions = questions_of(probes, terms)
    repeated = near_duplicates(probes.probes)
    asked = 0
    with asking(model, folder / "transcript.jsonl", header) as session:
        for end, requests in _batches(probes, questions, terms):
            try:
                answers = session.ask(requests, progress)
            except BudgetEnded:
                return  # what was answered is kept; the verdict says that some was never asked
            new = [n for n in range(asked, end) if n not in repeated]
            asked = end
            outcomes = (outcome_of(probes.probes[n], questions[n], answers) for n in new)
            if rule is not None and rule.read(outcomes):
                return


def needs_key(design: Design) -> bool:
    """Whether a test of this design judges by the key of the watermark."""
    return any(load_test(name).needs_key for name in design.tests)


def key_of(
    probes: ProbeSet, secret: Secret | None = None, secret_file: Path | None = None
) -> bytes | None:
    """The key that the tests of these probes ask for; None where none does.

    It follows from the owner's secret: one that is passed, or the one that `find_secret` finds.
    """
    if not needs_key(probes.design):
        if secret is not None or secret_file is not None:
            raise UsageError("no test of this run uses a secret; leave out --secret-file")
        return None
    if secret is not None and secret_file is not None:
        raise UsageError("pass either a secret or the file of one")
    known = probes.header.key
    if known is None:
        raise SecretError(
            "a test needs the key of the watermark, and the probes name none; make them again with "
            "`puzzlemark probe`"
        )
    secret = secret or find_secret(secret_file, make=False)
    key, fingerprint = watermark_key(secret, known.watermark)
    if fingerprint != known.fingerprint:
        raise SecretError(
            "the probes were made with another secret; pass the file of that one (--secret-file)"
        )
    return key


def _batches(
    probes: ProbeSet, questions: Sequence[Questions], terms: Terms
) -> Iterator[tuple[int, list[Request]]]:
    """What is asked before the next look, shuffled: how many probes are asked then, and requests.

    The arms of a probe are near twins, so side by side they would be conspicuous. The ordinary
    prompts, which nobody judges, are spread evenly among them.
    """
    rng = random.Random(f"{terms.seed}:order")
    ordinary = [
        request
        for n, prompt in enumerate(probes.ordinary)
        for request in _requests(prompt, -1 - n, terms)
    ]
    step = CHUNK if terms.mode == "sequential" else max(1, len(questions))
    for start in range(0, len(questions), step):
        end = min(start + step, len(questions))
        requests = [
            r for arms in questions[start:end] for samples in arms.values() for r in samples
        ]
        share = slice(*(len(ordinary) * n // len(questions) for n in (start, end)))
        requests += ordinary[share]
        rng.shuffle(requests)
        yield end, requests


def dry_run(probes: ProbeSet, folder: Path | str, terms: Terms | None = None) -> Estimate:
    """What asking would take; asks nothing and writes nothing."""
    check(probes)
    terms = (terms or usual_terms(probes.design)).fixed(probes.design)
    batches = _batches(probes, questions_of(probes, terms), terms)
    requests = [request for _, batch in batches for request in batch]
    return estimate(pending(requests, Path(folder) / "transcript.jsonl"))


def judge(
    folder: Path | str, *, secret: Secret | None = None, secret_file: Path | None = None
) -> Run:
    """Test what was answered, and write verdict.json; asks nothing."""
    folder = Path(folder)
    run = _judged(folder, secret, secret_file)
    text = json.dumps(run.to_json(), indent=2, ensure_ascii=False) + "\n"
    write_text(folder / "verdict.json", text)
    return run


def load_run(
    folder: Path | str, *, secret: Secret | None = None, secret_file: Path | None = None
) -> Run:
    """A run that was judged; refuses a verdict that does not follow from the answers."""
    folder = Path(folder)
    try:
        written = json.loads((folder / "verdict.json").read_text())
    except (OSError, ValueError, RecursionError) as exc:
        raise RunError(
            f"{folder}: no verdict.json to read; run: puzzlemark verify --test-only "
            f"--output {folder}"
        ) from exc
    run = _judged(folder, secret, secret_file)
    # through JSON and back, so that what was read and what is computed can be compared
    if written != json.loads(json.dumps(run.to_json())):
        raise RunError(
            f"{folder}: verdict.json does not follow from the transcript (edited, or made by "
            f"another version); compute it again: puzzlemark verify --test-only --output {folder}"
        )
    return run


def questions_of(probes: ProbeSet, terms: Terms) -> list[Questions]:
    """The requests of each probe by arm; arms share one where their prompts are the same."""
    return [
        {name: _requests(arm.prompt, n, terms) for name, arm in probe.arms.items()}
        for n, probe in enumerate(probes.probes)
    ]


def _requests(prompt: str, number: int, terms: Terms) -> tuple[Request, ...]:
    """The samples of a question, each with a seed of its own, whatever else is asked."""
    return tuple(
        Request(prompt, terms.max_tokens, terms.temperature, _seed(terms, number, sample, prompt))
        for sample in range(terms.samples)
    )


def _seed(terms: Terms, number: int, sample: int, prompt: str) -> int:
    """The first sample has the seed that it has when there is no other."""
    place = f"{number}#{sample}" if sample else str(number)
    text = f"{terms.seed}:{place}:{prompt}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") >> 1


def outcome_of(probe: Probe, questions: Questions, answers: Mapping[str, Answer]) -> Outcome:
    """What the arms of a probe scored, those of which all samples were asked."""
    samples: dict[str, tuple[str | None, ...]] = {}
    for name, arm in probe.arms.items():
        asked = _asked(questions[name], answers) or ()
        if texts := [answer for answer in asked if isinstance(answer, str)]:
            samples[name] = tuple(arm.score(text) for text in texts)
    several = any(len(requests) > 1 for requests in questions.values())
    scores = {name: scored[0] for name, scored in samples.items()}
    return Outcome(scores, probe, samples if several else {})


def _asked(requests: Sequence[Request], answers: Mapping[str, Answer]) -> list[Answer] | None:
    """The answers to all samples of a question; None when one of them was never asked."""
    found = [answers[request.key] for request in requests if request.key in answers]
    return found if len(found) == len(requests) else None


def _prepared(folder: Path, probes: ProbeSet) -> Path:
    path = folder / "probes.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        save_probes(probes, path)
    elif load_probes(path).digest != probes.digest:
        raise RunError(f"{folder}: a run with other probes is here; choose another --output")
    return folder


def _judged(folder: Path, secret: Secret | None, secret_file: Path | None) -> Run:
    """The run with its verdict: the one place where a run is decided."""
    probes = load_probes(folder / "probes.jsonl")
    transcript = read(folder / "transcript.jsonl")
    if transcript.header["probes"] != probes.digest:
        raise RunError(f"{folder}: the transcript answers other probes than those beside it")
    terms = _terms(folder, transcript.header["settings"])
    key = key_of(probes, secret, secret_file)
    questions = questions_of(probes, terms)
    answers = transcript.answers
    pairs = zip(probes.probes, questions, strict=True)
    outcomes = [outcome_of(probe, requests, answers) for probe, requests in pairs]
    repeated = near_duplicates(probes.probes)
    kept = [n for n in range(len(outcomes)) if n not in repeated]
    asked = [n for n in kept if any(_asked(each, answers) for each in questions[n].values())]
    verdict = decide(
        [outcomes[n] for n in asked],
        design=probes.design,
        terms=terms,
        unasked=len(kept) - len(asked),
        supplied=bool(transcript.header["model"].get("supplied")),
        notes=_notes(transcript, len(repeated)),
        key=key,
    )
    completions = [
        {name: _shown(found) for name, r in arms.items() if (found := _asked(r, answers))}
        for arms in questions
    ]
    return Run(
        folder,
        probes,
        terms,
        completions,
        outcomes,
        asked[: verdict.read],
        verdict,
        _count(questions, transcript),
        transcript.header["model"],
        transcript.header["versions"],
    )


def _shown(answers: Sequence[Answer]) -> Answer:
    """The first sample that was answered, which is the one that is scored; else why none was."""
    return next((answer for answer in answers if isinstance(answer, str)), answers[0])


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
    try:
        return read_terms(settings)
    except ValueError as exc:
        raise RunError(
            f"{folder}: the transcript has settings of another version, or wrong ones"
        ) from exc


def _count(questions: Sequence[Questions], transcript: Transcript) -> Answers:
    answers = transcript.answers
    asked = {r.key for arms in questions for samples in arms.values() for r in samples}
    keys = sorted(asked & set(answers))
    failed = sum(isinstance(answers[key], Failure) for key in keys)
    return Answers(_digest(keys, answers), len(keys), failed, transcript.sittings)


def _digest(keys: Sequence[str], answers: Mapping[str, Answer]) -> str:
    """SHA-256 of the answers by key: the same for any order in which they arrived."""
    state = hashlib.sha256()
    for key in keys:
        answer = answers[key]
        plain = {"failure": answer.reason} if isinstance(answer, Failure) else answer
        state.update(json.dumps([key, plain]).encode() + b"\n")
    return state.hexdigest()
