"""`protect`: marks in the files of a repository, from reading it to a commit or a rolled-back run.

protect
  read_repository         which files, their functions, what became of earlier marks
  decide                  planning.plan_marks, then compilers have their say
  announce(Worth)         before anything is written
  _carry_out              tests before, marks in, tests after, halving; manifest, commit
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.secret import secret_path
from puzzlemark.errors import NothingMarked
from puzzlemark.progress import Progress, no_progress
from puzzlemark.protecting.asking import (
    MESSAGE,
    Job,
    Marking,
    Target,
    asked_before,
    choose_asked,
    choose_rate,
    choose_secret,
    choose_watermark,
    earlier_manifest,
    open_job,
)
from puzzlemark.protecting.choosing import Wanted
from puzzlemark.protecting.deciding import Decided, decide
from puzzlemark.protecting.finding import State
from puzzlemark.protecting.planning import Plan, marked_file
from puzzlemark.protecting.recording import make_manifest, record
from puzzlemark.protecting.repository import Reading, read_repository
from puzzlemark.protecting.sources import digest
from puzzlemark.protecting.testing import sift
from puzzlemark.protecting.working import Work, require_tests, undisturbed
from puzzlemark.protecting.worth import TRAINING_SET, Worth, judge_worth
from puzzlemark.watermarks.base import Watermark

Action = Literal["protect", "update", "revert"]
Announce = Callable[[Worth], None]
BREAKS_TESTS = "its mark breaks the project's tests"


@dataclass(frozen=True, slots=True)
class Protected:
    """What a run did; the same content as `--json` prints."""

    action: Action
    repository: str
    manifest: str
    marks: int  # that stand now
    # kept, restored, new, again (in a function that changed), dropped; of revert: reverted
    counts: dict[str, int]
    functions: int
    files: int
    changed: tuple[str, ...]  # files that were written
    left_alone: dict[str, int]  # files, by reason
    kept: dict[str, int]  # functions without a mark, by reason
    compared: dict[str, str]  # language -> how its files were compared with the originals
    dropped: dict[str, str] = field(default_factory=dict)  # marks that are gone, and why
    refused: tuple[str, ...] = ()  # functions whose marks the tests cannot bear
    test_runs: int = 0
    worth: Worth | None = None
    branch: str | None = None
    commit: str | None = None
    output: str | None = None
    dry_run: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        worth = None if self.worth is None else {**asdict(self.worth), "word": self.worth.word}
        return {**asdict(self), "worth": worth}


def protect(
    repository: Path | str,
    manifest: Path | str | None = None,
    *,
    update: bool = False,
    mark: str | None = None,
    watermark: str | Watermark | None = None,
    rate: float | None = None,
    languages: Sequence[str] | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    max_line_length: int | None = None,
    test: str | None = None,
    test_timeout: float | None = None,
    branch: str | None = None,
    in_place: bool = False,
    output: Path | str | None = None,
    dry_run: bool = False,
    message: str = MESSAGE,
    secret_file: Path | None = None,
    classpath: str = "",
    training_set: int = TRAINING_SET,
    announce: Announce | None = None,
    progress: Progress = no_progress,
) -> Protected:
    """Mark the functions of a repository in its own files: `protect("toolz", branch="release")`.

    With `update` the marks of an earlier run are kept up: those that stand stay, those that a merge
    took out come again, new functions are marked up to the rate. Settings that are not passed are
    then those of the earlier run.
    """
    target = Target(branch, in_place, None if output is None else Path(output), dry_run, message)
    job = open_job(repository, manifest, target, test, test_timeout, classpath, progress)
    job.repository.refuse_inside("--secret-file", secret_path(secret_file))
    old = earlier_manifest(job.manifest, update=update)
    choice = choose_watermark(mark, watermark, old)
    asked = choose_asked(old, languages, include, exclude, max_line_length)
    rate = choose_rate(rate, old)
    secret = choose_secret(secret_file, old, job.manifest, make=not dry_run)
    with undisturbed(job) as work:
        reading = read_repository(
            job.repository,
            Wanted(asked.languages, asked.include, asked.exclude),
            [] if old is None else list(old),
            progress,
        )
        marking = Marking(choice, rate, asked, secret)
        planned = decide(reading, marking, job)
        worth = judge_worth(
            choice.watermark.design,
            functions=len(reading.functions),
            files=len(reading.files),
            able=planned.plan.able,
            marks=len(planned.plan.marks),
            training_set=training_set,
        )
        if announce is not None:
            announce(worth)
        if not planned.plan.marks and old is None:
            raise NothingMarked(
                f"{job.repository.folder}: no function can carry: {_tell(planned.plan, reading)}"
            )
        done = _carry_out(job, work, reading, planned, marking)
    return replace(done, action="update" if update else "protect", worth=worth)


def revert_repository(
    repository: Path | str,
    manifest: Path | str | None = None,
    *,
    test: str | None = None,
    test_timeout: float | None = None,
    branch: str | None = None,
    in_place: bool = False,
    output: Path | str | None = None,
    dry_run: bool = False,
    message: str = MESSAGE,
    progress: Progress = no_progress,
) -> Protected:
    """Take the marks out again, function by function, wherever their lines are now.

    The manifest stays: what was published with marks can only be proven with it.
    """
    target = Target(branch, in_place, None if output is None else Path(output), dry_run, message)
    job = open_job(repository, manifest, target, test, test_timeout, "", progress)
    old = load_manifest(job.manifest)
    asked = asked_before(old, job.manifest)
    with undisturbed(job, writes_manifest=False) as work:
        wanted = Wanted(asked.languages, asked.include, asked.exclude)
        reading = read_repository(job.repository, wanted, list(old), progress)
        contents = {
            path: file.content
            for path, file in reading.files.items()
            if file.text != reading.found[path].text
        }
        work.begin(sorted(contents), reading)
        if not target.dry_run:
            require_tests(job, work.folder, before=True)
            work.tree.put(contents)
            require_tests(job, work.folder, before=False)
        commit = work.finish(sorted(contents))
    states: Counter[State] = Counter(sight.state for sight in reading.sights)
    reasons: dict[State, str] = {
        "gone": "its function was not found",
        "lost": "its function changed, and the mark is not in it",
        "grown in": "its old name is another variable's now",
    }
    return Protected(
        action="revert",
        repository=str(job.repository.folder),
        manifest=str(job.manifest),
        marks=states["grown in"],
        counts={
            "reverted": states["stands"] + states["changed"],
            "not in": states["away"],
            "not found": sum(states[state] for state in reasons),
        },
        functions=len(reading.functions),
        files=len(reading.files),
        changed=tuple(sorted(contents)),
        left_alone=dict(reading.left_alone.most_common()),
        kept={},
        compared={},
        dropped={s.carrier.id: reasons[s.state] for s in reading.sights if s.state in reasons},
        test_runs=job.tests.runs if job.tests else 0,
        branch=target.branch,
        commit=commit,
        output=None if target.output is None else str(target.output),
        dry_run=target.dry_run,
    )


def _carry_out(
    job: Job, work: Work, reading: Reading, planned: Decided, marking: Marking
) -> Protected:
    """Put the marks in; where the tests fail with them, find those to blame and leave them out."""
    contents = _contents(reading, planned)
    work.begin(sorted(contents), reading)
    bad: tuple[str, ...] = ()
    commit = None
    if not job.target.dry_run:
        if contents:
            require_tests(job, work.folder, before=True)
        # the manifest first: marks without it are lost to their owner
        record(work.manifest, make_manifest(reading, planned, marking))
        work.tree.put(contents)
        bad = _blame(job, work, reading, planned) if contents and job.tests else ()
        if bad:
            record(work.manifest, make_manifest(reading, planned, marking))
            contents = _contents(reading, planned)
            work.tree.put(contents)
        commit = work.finish(sorted(contents))
    new = set(planned.fresh) - planned.restored - planned.again
    marks = planned.plan.marks
    return Protected(
        action="protect",
        repository=str(job.repository.folder),
        manifest=str(job.manifest),
        marks=len(marks),
        counts={
            "kept": len(planned.standing & marks.keys()),
            "restored": len(planned.restored & marks.keys()),
            "again": len(planned.again & marks.keys()),
            "new": len(new),
            "dropped": len(planned.dropped),
        },
        functions=len(reading.functions),
        files=len(reading.files),
        changed=tuple(sorted(contents)),
        left_alone=dict(reading.left_alone.most_common()),
        kept=dict(planned.plan.reasons.most_common()),
        compared=planned.compared,
        dropped=planned.dropped,
        refused=bad,
        test_runs=job.tests.runs if job.tests else 0,
        branch=job.target.branch,
        commit=commit,
        output=None if job.target.output is None else str(job.target.output),
        dry_run=job.target.dry_run,
    )


def _contents(
    reading: Reading, planned: Decided, only: Collection[str] | None = None
) -> dict[str, bytes]:
    """The files that change, with all marks or with only some of the new ones."""
    marks = planned.plan.marks
    if only is not None:
        marks = {i: mark for i, mark in marks.items() if i in planned.standing or i in only}
    after = {path: marked_file(file, marks) for path, file in reading.files.items()}
    return {
        path: file.content for path, file in after.items() if file.text != reading.found[path].text
    }


def _blame(job: Job, work: Work, reading: Reading, planned: Decided) -> tuple[str, ...]:
    """The new marks that the project's tests cannot bear; they are out of the plan afterwards."""
    tests = job.tests
    assert tests is not None, "asked for only with tests"
    if tests.pass_in(work.folder):
        return ()

    def passes(ids: Collection[str]) -> bool:
        work.tree.put(_contents(reading, planned, ids))
        return tests.pass_in(work.folder)

    sifted = sift(sorted(planned.fresh), passes)
    codes = {placed.id: placed.code for placed in reading.functions}
    for id_ in sifted.bad:
        del planned.plan.marks[id_]
        planned.plan.kept[id_] = BREAKS_TESTS
        planned.refused[id_] = (digest(codes[id_]), BREAKS_TESTS)
        if id_ in planned.restored | planned.again:
            planned.dropped[id_] = BREAKS_TESTS
    return sifted.bad


def _tell(plan: Plan, reading: Reading) -> str:
    """The most frequent reasons: of functions, and of files where there are none."""
    reasons = plan.reasons or reading.left_alone
    return ", ".join(f"{n} x {reason}" for reason, n in reasons.most_common(3)) or "no source files"
