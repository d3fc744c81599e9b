"""A whole verification: ask a model the probes, resume where it stopped, test what it answered.

A run is a folder: `probes.jsonl` (what is asked), `transcript.jsonl` (what was answered, with the
terms that were fixed before), `verdict.json` (what follows). Where an innocent model was asked for
its log-probabilities as well, `reference.jsonl` is the transcript of that. The verdict is computed
from probes and transcripts alone, so that anybody can compute it again; only a test that needs the
watermark's key asks for the owner's secret. `chain.jsonl` beside them says when each answer came;
no verdict depends on it. docs/verification/run-folder.md has every file.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from puzzlemark import plugins
from puzzlemark.embedding.secret import Secret, find_secret, watermark_key
from puzzlemark.errors import PuzzleMarkError, SecretError, UsageError
from puzzlemark.languages.base import parsing_packages
from puzzlemark.models.base import (
    Answer,
    Asked,
    BudgetEnded,
    Estimate,
    Failure,
    LogProbs,
    Model,
    Reply,
    Scoring,
    estimate,
)
from puzzlemark.progress import Progress
from puzzlemark.provenance import versions
from puzzlemark.staging import write_text
from puzzlemark.verification import wording
from puzzlemark.verification.chain import FILE as CHAIN
from puzzlemark.verification.chain import REFERENCE_FILE as REFERENCE_CHAIN
from puzzlemark.verification.chain import Witnesses, witnessing
from puzzlemark.verification.checking import repeated
from puzzlemark.verification.probes import ProbeSet, check, load_probes, save_probes
from puzzlemark.verification.questions import (
    Choices,
    Questions,
    asked_of,
    choices_of,
    first_of,
    outcome_of,
    questions_of,
    requests_of,
)
from puzzlemark.verification.terms import Terms, read_terms, usual_terms
from puzzlemark.verification.tests.base import Outcome, load_test
from puzzlemark.verification.transcript import Header, Transcript, asking, pending, read
from puzzlemark.verification.verdict import StoppingRule, Verdict, decide
from puzzlemark.watermarks._design import Design

FORMAT = "puzzlemark verdict"
VERSION = 2  # 1 had one decisive finding, not one for each arm to beat
# what a run's folder consists of; the last two only where a reference model was asked
FILES = (
    *("probes.jsonl", "transcript.jsonl", "verdict.json", CHAIN, "standing.json"),
    *("comparison.json", "reference.jsonl", REFERENCE_CHAIN),
)
ALONE = Witnesses()
CHUNK = 10  # pairs that sequential mode asks before it looks again


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
    reference: dict[str, Any] | None = None  # the innocent model that was asked beside
    source: dict[str, str] | None = None  # what the probes were made from, by digests

    def to_json(self) -> dict[str, Any]:
        """Plain values: the content of verdict.json."""
        reference = {} if self.reference is None else {"reference": self.reference}
        source = {} if self.source is None else {"source": self.source}
        return {
            "format": FORMAT,
            "version": VERSION,
            "verdict": self.verdict.to_json(),
            "probes": {
                "sha256": self.probes.digest,
                "pairs": len(self.probes.probes),
                "strategy": self.probes.header.strategy,
            },
            **source,
            "answers": asdict(self.answers),
            "settings": self.terms.to_json(),
            "model": self.model,
            **reference,
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
    reference: Model | None = None,
    progress: Progress | None = None,
    witnesses: Witnesses = ALONE,
) -> Run:
    """Ask and judge; calling it again resumes, and asks nothing twice.

    `secret`, or the file of one: the owner's, where a test needs the key of the watermark.
    `reference`: an innocent model, whose log-probabilities are held against the other's.
    `witnesses`: who else is told, such as the list of runs of a commitment (`evidence.witnesses`).
    """
    key_of(probes, secret, secret_file)  # whatever is wrong with it, nothing is asked in vain
    query(
        probes,
        model,
        folder,
        terms,
        secret=secret,
        secret_file=secret_file,
        reference=reference,
        progress=progress,
        witnesses=witnesses,
    )
    return judge(folder, secret=secret, secret_file=secret_file)


def query(
    probes: ProbeSet,
    model: Model,
    folder: Path | str,
    terms: Terms | None = None,
    *,
    secret: Secret | None = None,
    secret_file: Path | None = None,
    reference: Model | None = None,
    progress: Progress | None = None,
    witnesses: Witnesses = ALONE,
) -> None:
    """Ask only: on a machine that reaches the model, say. Resumes like `verify`.

    A secret is of use in sequential mode only, which judges while it asks.
    """
    check(probes)
    design = probes.design
    terms = (terms or usual_terms(design)).fixed(design)
    if reference is not None:
        terms = replace(terms, reference=_digest_of(reference.describe()))
    elif terms.reference is not None:
        raise UsageError("the terms name a reference model; pass it (--reference)")
    _require_scores(terms, model, reference)
    rule = None
    if terms.mode == "sequential":
        rule = StoppingRule(design, terms, key_of(probes, secret, secret_file))
    folder = _prepared(Path(folder), probes)
    source = None if probes.header.source is None else probes.header.source.to_json()
    header = Header(
        probes=probes.digest,
        settings=terms.to_json(),
        model=model.describe(),
        versions=versions(*parsing_packages()),
        source=source,
    )
    if reference is not None:
        _ask_reference(probes, reference, folder, header, witnesses, progress)
    questions = questions_of(probes, terms)
    left_out = repeated(design, probes.probes)
    asked = 0
    with (
        witnessing(folder / CHAIN, source, witnesses) as witness,
        asking(model, folder / "transcript.jsonl", header, witness) as session,
    ):
        for end, requests in _batches(probes, questions, terms):
            try:
                answers = session.ask(requests, progress)
            except BudgetEnded:
                session.end("budget")
                return  # what was answered is kept; the verdict says that some was never asked
            new = [n for n in range(asked, end) if n not in left_out]
            asked = end
            if rule is not None:
                outcomes = (outcome_of(probes.probes[n], questions[n], answers) for n in new)
                if rule.read(outcomes):
                    session.end("decided")
                    return
        session.end("all asked")


def _require_scores(terms: Terms, model: Model, reference: Model | None) -> None:
    """Nothing is asked of a model that does not tell what is needed."""
    for each in (model, reference) if terms.mode == "logprobs" else ():
        if each is not None and not isinstance(each, Scoring):
            raise UsageError(
                f"the model {each.name} tells no log-probabilities; leave out --logprobs, and it "
                "is judged by what it writes"
            )


def _ask_reference(
    probes: ProbeSet,
    model: Model,
    folder: Path,
    header: Header,
    witnesses: Witnesses,
    progress: Progress | None,
) -> None:
    """Before the suspect, so that nothing of the reference depends on what that one says."""
    choices = [choice for arms in choices_of(probes) for choice in arms.values()]
    of_reference = replace(header, model=model.describe())
    # it is no run of its own: nothing is entered or stamped
    only_listed = Witnesses(accept_unlisted=witnesses.accept_unlisted)
    with (
        witnessing(folder / REFERENCE_CHAIN, header.source, only_listed) as witness,
        asking(model, folder / "reference.jsonl", of_reference, witness) as session,
    ):
        try:
            session.ask(choices, progress)
        except BudgetEnded:
            session.end("budget")
        else:
            session.end("all asked")


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
    _refuse_other_watermark(known.watermark, probes.design)
    secret = secret or find_secret(secret_file, make=False)
    key, fingerprint = watermark_key(secret, known.watermark)
    if fingerprint != known.fingerprint:
        raise SecretError(
            "the probes were made with another secret; pass the file of that one (--secret-file), "
            "and of a licensee's copy his name (--licensee)"
        )
    return key


def _refuse_other_watermark(name: str, design: Design) -> None:
    """A key is derived for a watermark by its name: of made-up names the best could be chosen."""
    try:
        asked = plugins.find("watermarks", name).design
    except UsageError as exc:
        raise SecretError(f"the probes name a key of {name!r}, a watermark not known here") from exc
    if asked.name != design.name:
        raise SecretError(
            f"the probes name a key of {name}, whose design is {asked.name}, not {design.name}"
        )


def _batches(
    probes: ProbeSet, questions: Sequence[Questions], terms: Terms
) -> Iterator[tuple[int, list[Asked]]]:
    """What is asked before the next look, shuffled: how many probes are asked then, and requests.

    The arms of a probe are near twins, so side by side they would be conspicuous. The ordinary
    prompts, which nobody judges, are spread evenly among them.
    """
    rng = random.Random(f"{terms.seed}:order")
    ordinary = [
        request
        for n, prompt in enumerate(probes.ordinary)
        for request in requests_of(prompt, -1 - n, terms)
    ]
    step = CHUNK if terms.mode == "sequential" else max(1, len(questions))
    for start in range(0, len(questions), step):
        end = min(start + step, len(questions))
        requests: list[Asked] = [
            r for arms in questions[start:end] for samples in arms.values() for r in samples
        ]
        if terms.mode == "logprobs":
            requests += (c for arms in choices_of(probes)[start:end] for c in arms.values())
        share = slice(*(len(ordinary) * n // len(questions) for n in (start, end)))
        requests += ordinary[share]
        rng.shuffle(requests)
        yield end, requests


def dry_run(
    probes: ProbeSet,
    folder: Path | str,
    terms: Terms | None = None,
    *,
    has_reference: bool = False,
) -> Estimate:
    """What asking would take, a reference model included; asks nothing and writes nothing."""
    check(probes)
    terms = (terms or usual_terms(probes.design)).fixed(probes.design)
    batches = _batches(probes, questions_of(probes, terms), terms)
    requests = [request for _, batch in batches for request in batch]
    expected = estimate(pending(requests, Path(folder) / "transcript.jsonl"))
    if not has_reference:
        return expected
    choices = [choice for arms in choices_of(probes) for choice in arms.values()]
    return expected + estimate(pending(choices, Path(folder) / "reference.jsonl"))


def judge(
    folder: Path | str, *, secret: Secret | None = None, secret_file: Path | None = None
) -> Run:
    """Test what was answered, and write verdict.json; asks nothing."""
    folder = Path(folder)
    run = _judged(folder, secret, secret_file)
    text = json.dumps(run.to_json(), indent=2, ensure_ascii=False) + "\n"
    # a test that judges by a key may name what it drew
    write_text(folder / "verdict.json", text, private=needs_key(run.probes.design))
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


def _prepared(folder: Path, probes: ProbeSet) -> Path:
    path = folder / "probes.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        save_probes(probes, path)
    elif load_probes(path).digest != probes.digest:
        raise RunError(f"{folder}: a run with other probes is here; choose another --output")
    return folder


@dataclass(frozen=True, slots=True)
class Answered:
    """The probes of a run and what was answered, before anything is judged."""

    probes: ProbeSet
    transcript: Transcript
    terms: Terms
    questions: list[Questions]
    choices: list[Choices]
    reference: Transcript | None
    outcomes: list[Outcome]  # of each probe
    left_out: int  # probes that repeat an earlier one
    asked: list[int]  # the others of which something was asked
    unasked: int

    def decide(self, key: bytes | None, terms: Terms | None = None) -> Verdict:
        """The verdict, by a key where a test needs one."""
        return decide(
            [self.outcomes[n] for n in self.asked],
            design=self.probes.design,
            terms=terms or self.terms,
            unasked=self.unasked,
            supplied=bool(self.transcript.header["model"].get("supplied")),
            notes=_notes(self.transcript, self.left_out, self.reference),
            key=key,
        )


def read_answers(folder: Path) -> Answered:
    """What a run's folder says, found to belong together."""
    probes = load_probes(folder / "probes.jsonl")
    transcript = read(folder / "transcript.jsonl")
    if transcript.header["probes"] != probes.digest:
        raise RunError(f"{folder}: the transcript answers other probes than those beside it")
    source = None if probes.header.source is None else probes.header.source.to_json()
    if transcript.header.get("source") != source:
        raise RunError(f"{folder}: transcript and probes name other datasets as their source")
    terms = _terms(folder, transcript.header["settings"])
    questions = questions_of(probes, terms)
    answers = transcript.answers
    reference = _reference(folder, transcript.header, terms)
    choices = choices_of(probes) if terms.mode == "logprobs" else [{} for _ in questions]
    outcomes = [
        outcome_of(probe, asked_about, answers, chosen, reference.answers if reference else None)
        for probe, asked_about, chosen in zip(probes.probes, questions, choices, strict=True)
    ]
    left_out = repeated(probes.design, probes.probes)
    kept = [n for n in range(len(outcomes)) if n not in left_out]
    asked = [n for n in kept if any(asked_of(each, answers) for each in questions[n].values())]
    return Answered(
        probes,
        transcript,
        terms,
        questions,
        choices,
        reference,
        outcomes,
        len(left_out),
        asked,
        len(kept) - len(asked),
    )


def _judged(folder: Path, secret: Secret | None, secret_file: Path | None) -> Run:
    """The run with its verdict: the one place where a run is decided."""
    found = read_answers(folder)
    transcript, answers = found.transcript, found.transcript.answers
    verdict = found.decide(key_of(found.probes, secret, secret_file))
    completions = [
        {name: first_of(known) for name, r in arms.items() if (known := asked_of(r, answers))}
        for arms in found.questions
    ]
    return Run(
        folder,
        found.probes,
        found.terms,
        completions,
        found.outcomes,
        found.asked[: verdict.read],
        verdict,
        _count(found.questions, found.choices, transcript),
        transcript.header["model"],
        transcript.header["versions"],
        None if found.reference is None else _about(found.reference, found.choices),
        transcript.header.get("source"),
    )


def _reference(folder: Path, header: Mapping[str, Any], terms: Terms) -> Transcript | None:
    """What the reference model answered, where one was to be asked."""
    if terms.reference is None:
        return None
    reference = read(folder / "reference.jsonl")
    same = all(reference.header[name] == header[name] for name in ("probes", "settings"))
    if not same or _digest_of(reference.header["model"]) != terms.reference:
        raise RunError(f"{folder}: reference.jsonl is not of the model that was to be asked")
    return reference


def _about(reference: Transcript, choices: Sequence[Choices]) -> dict[str, Any]:
    """The model, and its answers in numbers."""
    answers = asdict(_count([], choices, reference))
    return {"model": reference.header["model"], "answers": answers}


def _digest_of(about: Mapping[str, Any]) -> str:
    text = json.dumps(about, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _notes(transcript: Transcript, left_out: int, reference: Transcript | None) -> list[str]:
    """What the run itself has to tell, beside the statistics."""
    notes = []
    if transcript.header["model"].get("supplied"):
        notes.append(wording.SUPPLIED)
    if reference is not None:
        notes.append(wording.REFERENCE)
        if reference.header["model"].get("supplied"):
            notes.append(wording.SUPPLIED_REFERENCE)
    if left_out:
        notes.append(
            f"{left_out:,} probes repeat an earlier one nearly word for word; each was left out, "
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


def _count(
    questions: Sequence[Questions], choices: Sequence[Choices], transcript: Transcript
) -> Answers:
    answers = transcript.answers
    asked = {r.key for arms in questions for samples in arms.values() for r in samples}
    asked |= {choice.key for arms in choices for choice in arms.values()}
    keys = sorted(asked & set(answers))
    failed = sum(isinstance(answers[key], Failure) for key in keys)
    return Answers(_digest(keys, answers), len(keys), failed, transcript.sittings)


def _digest(keys: Sequence[str], answers: Mapping[str, Reply]) -> str:
    """SHA-256 of the answers by key: the same for any order in which they arrived."""
    state = hashlib.sha256()
    for key in keys:
        answer = answers[key]
        state.update(json.dumps([key, _plain(answer)]).encode() + b"\n")
    return state.hexdigest()


def _plain(answer: Reply) -> Any:
    if isinstance(answer, Failure):
        return {"failure": answer.reason}
    return {"logprobs": list(answer.values)} if isinstance(answer, LogProbs) else answer
