"""The whole paper: every experiment as a job, in order, two at a time or one on each machine.

    <output>/ground/                     what a clean clone has not: a corpus, a toy model
    <output>/runs/<experiment>/          the experiment's own folder; it goes on where it stopped
    <output>/results/<experiment>.md, <experiment>/    its page, and the records it is made from
    <output>/logs/<experiment>.log       what it said
    <output>/README.md                   which of them ended well, and how long they took

An experiment is a command. Which there are, and how one is called, its caller knows.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from puzzlemark.bench.choices import choose, split_specs
from puzzlemark.bench.processes import side_by_side
from puzzlemark.bench.records import table
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import UsageError
from puzzlemark.staging import write_text

ORDER = "motivation rq1 rq2 rq3 hyperparameters rq4 rq5 rq6 discussion".split()
SCALES = ("tiny", "small", "full")
# Options that mean the same in every experiment, by scale; an experiment may say otherwise
USUAL: Mapping[str, Mapping[str, str]] = {
    "tiny": {"size": "400", "budget": "tiny", "scale": "tiny"},
    "small": {"size": "30000", "budget": "half", "scale": "small"},
    "full": {"size": "all", "budget": "paper", "scale": "full"},
}
NEEDED = "needed"  # said of a base or a project without which an experiment cannot run
ALONE = {"side_by_side": "1", "workers": "1"}  # a job has one core: another runs beside it

Say = Callable[[str], None]
Call = Callable[[Sequence[str], Path], int]  # words of a command and a file for what it prints


@dataclass(frozen=True, slots=True)
class Experiment:
    """A command, by what it takes and what it says of itself."""

    name: str
    options: Mapping[str, Any]  # name -> default; "side_by_side" is --side-by-side
    scales: Mapping[str, Mapping[str, str | None]]  # otherwise than usual; None: not at all
    records: str | None = None  # a file or folder of the results, where it is not its own


@dataclass(frozen=True, slots=True)
class Inputs:
    """What all experiments are given."""

    corpora: Mapping[str, Path]
    base: Path | None
    projects: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One experiment to run. On another machine its paths must be the same ones."""

    name: str
    words: tuple[str, ...]
    folder: Path
    call: Call


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended."""

    name: str
    command: str
    code: int  # 0: well
    seconds: float
    message: str = ""


def run(
    folder: Path,
    experiments: Sequence[Experiment],
    inputs: Inputs,
    scale: str,
    call: Call,
    *,
    at_once: int = 2,
    engine: str | Engine | None = None,
    say: Say = print,
) -> list[Outcome]:
    """Run what is not done yet; a failure of one experiment does not stop the others."""
    if scale not in SCALES:
        raise UsageError(f"no scale {scale!r}; known: {', '.join(SCALES)}")
    jobs = []
    for experiment in in_order(experiments):
        words = words_for(experiment, inputs, scale, folder)
        if words is None:
            say(f"{experiment.name}: left out: it needs a model or a project (--base, --project)")
        else:
            jobs.append(Job(experiment.name, tuple(words), folder, call))
    outcomes = {job.name: done for job in jobs if (done := _earlier(job)) is not None}
    waiting = [job for job in jobs if job.name not in outcomes]
    for outcome in _work(waiting, at_once, engine):
        outcomes[outcome.name] = outcome
        word = "done" if outcome.code == 0 else f"failed: {outcome.message}"
        say(f"{outcome.name}: {word}, after {outcome.seconds:.0f} seconds")
    _write_pages_again([job for job in jobs if outcomes[job.name].code == 0])
    write_text(folder / "README.md", page(recorded(folder), scale, folder))
    return [outcomes[job.name] for job in jobs]


def _write_pages_again(jobs: Sequence[Job]) -> None:
    """From the records, when all are there: one experiment's may have a place in another's page."""
    for job in jobs:
        words = list(job.words)
        if "--page" in words:
            kept = [words[words.index(o) + n] for o in ("--records", "--page") for n in (0, 1)]
            job.call([*words[:2], *kept], job.folder / "logs" / f"{job.name}.page.log")


Named = TypeVar("Named", Experiment, Outcome)


def in_order(named: Iterable[Named]) -> list[Named]:
    """The paper's order; what it does not know comes last, by name."""
    places = {name: place for place, name in enumerate(ORDER)}
    return sorted(named, key=lambda each: (places.get(each.name, len(ORDER)), each.name))


def recorded(folder: Path) -> list[Outcome]:
    """How every experiment ended that was run in this folder, now or earlier."""
    paths = (folder / "logs").glob("*.json")
    return in_order(Outcome(**json.loads(path.read_text())) for path in paths)


def words_for(experiment: Experiment, inputs: Inputs, scale: str, folder: Path) -> list[str] | None:
    """The command that runs an experiment, or None where it needs an input that is not there.

    `["bench", "rq4", "--size", "400", ...]`: of the options only those that the command has.
    """
    own = dict(experiment.scales.get(scale, {}))
    there = {"base": inputs.base, "project": inputs.projects}
    for name, value in there.items():
        if own.get(name) == NEEDED and not value:
            return None
        if own.get(name) == NEEDED:
            del own[name]
    results = folder / "results"
    given: dict[str, Any] = {
        **inputs.corpora,
        **ALONE,
        **USUAL[scale],
        **there,
        "output": folder / "runs" / experiment.name,
        "records": results / (experiment.records or experiment.name),
        "page": results / f"{experiment.name}.md",
        **own,
    }
    marks = given.get("marks", experiment.options.get("marks"))
    if isinstance(marks, str):
        given["marks"] = marks_of(marks, inputs.corpora)
    words = ["bench", experiment.name]
    for name, value in given.items():
        if name in experiment.options and value is not None:
            several = value if isinstance(value, tuple) else (value,)
            words += [w for each in several for w in (f"--{name.replace('_', '-')}", str(each))]
    return words


def marks_of(marks: str, corpora: Mapping[str, Path]) -> str:
    """Those of the marks that there is a dataset for: `marks_of("P1,P3", python) -> "P1"`."""
    chosen = [
        spec
        for spec in split_specs(marks)
        if any(choice.language in corpora for choice in choose([spec], corpora))
    ]
    return ",".join(chosen)


def work(job: Job) -> Outcome:
    """Run one command, in the process that this is called in."""
    log = job.folder / "logs" / f"{job.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    code = job.call(job.words, log)
    message = "" if code == 0 else _last_line(log)
    outcome = Outcome(job.name, _spelled(job.words), code, time.monotonic() - started, message)
    write_text(_place(job), json.dumps(asdict(outcome), indent=1) + "\n")
    return outcome


def _work(jobs: Sequence[Job], at_once: int, engine: str | Engine | None) -> Iterator[Outcome]:
    if engine is None:
        for _, outcome in side_by_side(work, jobs, at_once):
            yield outcome
        return
    with open_engine(engine, at_once) as opened:
        yield from opened.map(work, jobs)


def _earlier(job: Job) -> Outcome | None:
    """How the same command ended before, if it ended well."""
    path = _place(job)
    if not path.exists():
        return None
    outcome = Outcome(**json.loads(path.read_text()))
    is_the_same = outcome.command == _spelled(job.words)
    return outcome if outcome.code == 0 and is_the_same else None


def _place(job: Job) -> Path:
    return job.folder / "logs" / f"{job.name}.json"


def _spelled(words: Sequence[str]) -> str:
    return " ".join(("puzzlemark", *words))


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def page(outcomes: Sequence[Outcome], scale: str, folder: Path) -> str:
    """Which experiments ended well; the paper's tables and figures are in their pages."""
    rows = [
        [
            _linked(each, folder),
            "well" if each.code == 0 else f"failed: {each.message}",
            f"{each.seconds:.0f}",
            f"[log](logs/{each.name}.log)",
        ]
        for each in outcomes
    ]
    about = {
        "tiny": "A toy model and a few functions: these pages show that all works, no result.",
        "small": "A scale for one computer.",
        "full": "All records, and the budget that is nearest to the paper's.",
    }
    head = ["experiment", "ended", "seconds", "what it said"]
    return f"# The paper at scale `{scale}`\n\n{about[scale]}\n\n{table(head, rows)}"


def _linked(outcome: Outcome, folder: Path) -> str:
    written = f"results/{outcome.name}.md"
    is_there = outcome.code == 0 and (folder / written).exists()
    return f"[{outcome.name}]({written})" if is_there else outcome.name
