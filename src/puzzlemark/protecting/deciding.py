"""Which marks a repository will have: those that stand, those that come again, and new ones."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from puzzlemark.embedding.secret import bind_key
from puzzlemark.protecting.asking import Job, Marking
from puzzlemark.protecting.classes import DIFFERENT, compare_classes
from puzzlemark.protecting.layout import Limits
from puzzlemark.protecting.planning import Plan, marked_file, plan_marks, why_not_compiled
from puzzlemark.protecting.repository import Reading
from puzzlemark.protecting.sources import Placed, SourceFile, digest, read_source
from puzzlemark.watermarks.base import Mark


@dataclass(slots=True)
class Decided:
    """The marks that will be, and how each of them came about."""

    plan: Plan
    standing: set[str]  # marks that are in the files already
    restored: set[str]  # that were there, and come again
    again: set[str]  # functions that had a mark, and get another one
    dropped: dict[str, str]  # by the id that the manifest knew, and why
    refused: dict[str, tuple[str, str]]  # by tests, with the digest of the function
    compared: dict[str, str] = field(default_factory=dict)

    @property
    def fresh(self) -> list[str]:
        """Marks that are not in the files yet."""
        return [id_ for id_ in self.plan.marks if id_ not in self.standing]


def decide(reading: Reading, marking: Marking, job: Job) -> Decided:
    """Decide over every function: its mark, or why it has none."""
    standing: dict[str, Mark] = {}
    restored: set[str] = set()
    lost: dict[str, Mark] = {}
    dropped: dict[str, str] = {}
    for sight in reading.sights:
        function = sight.function
        if function is None:
            dropped[sight.carrier.id] = "its function is gone"
        elif sight.is_there:
            standing[function.id] = sight.mark
        elif function.path not in reading.chosen:
            dropped[sight.carrier.id] = "its file is left alone now"
        elif sight.state == "away":
            restored.add(function.id)
            standing[function.id] = sight.mark
        else:
            (lost[function.id],) = sight.carrier.marks
    refused = _still_refused(reading.functions, marking.asked.refused)
    planned = Decided(Plan(), set(standing) - restored, restored, set(lost), dropped, refused)
    reasons = {id_: reason for id_, (_, reason) in refused.items()}
    watermark = bind_key(marking.choice.watermark, marking.secret)[0]
    limits = Limits(job.repository.root, marking.asked.max_line_length)
    files = {path: reading.files[path] for path in reading.files if path in reading.chosen}
    while True:
        planned.plan = plan_marks(
            files,
            watermark,
            marking.keys,
            limits,
            rate=marking.rate,
            standing=standing,
            before=lost,
            refused=reasons,
            progress=job.progress,
        )
        found = _told_apart(reading, planned, job)
        for id_, reason in found.items():
            planned.plan.marks.pop(id_)
            planned.plan.able -= 1
            planned.plan.kept[id_] = reason
            standing.pop(id_, None)
        reasons |= found
        if not found or marking.rate == 1:  # with a lower rate others take their places
            break
    for id_ in lost.keys() - planned.plan.marks.keys():
        planned.dropped[id_] = f"its function changed: {planned.plan.kept.get(id_, 'not in it')}"
    return planned


def _still_refused(
    functions: Sequence[Placed], refused: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Functions that were refused, as long as their code is the same."""
    return {
        placed.id: refused[placed.id]
        for placed in functions
        if placed.id in refused and refused[placed.id][0] == digest(placed.code)
    }


def _told_apart(reading: Reading, planned: Decided, job: Job) -> dict[str, str]:
    """New marks that a compiler can tell from the originals, and how."""
    marks, fresh = planned.plan.marks, set(planned.fresh)
    found: dict[str, str] = {}
    touched = [
        file
        for path, file in reading.files.items()
        if path in reading.chosen and any(placed.id in fresh for placed in file.functions)
    ]
    for file in touched:
        found |= {i: r for i, r in why_not_compiled(file, marks).items() if i in fresh}
    python = [file for file in touched if file.language.name == "python"]
    if python:
        planned.compared["python"] = f"code objects of {len(python):,} files"
    if any(file.language.name == "java" for file in touched):
        found |= _told_apart_by_javac(reading, planned, fresh, job)
    return found


def _told_apart_by_javac(
    reading: Reading, planned: Decided, fresh: Collection[str], job: Job
) -> dict[str, str]:
    java = {p: file for p, file in reading.files.items() if file.language.name == "java"}
    for path, reason in reading.others.items():  # what is left alone may be needed all the same
        if path.endswith(".java") and reason != "tests" and path not in java:
            file = read_source(job.repository.folder, path)
            if isinstance(file, SourceFile):
                java[path] = file
    after = {path: marked_file(file, planned.plan.marks) for path, file in java.items()}
    result = compare_classes(job.repository.folder, java, after, job.classpath)
    if result.why_not is not None:
        planned.compared["java"] = f"not compared ({result.why_not})"
        return {}
    planned.compared["java"] = f"{result.classes:,} class files, javac -g:none"
    return {
        placed.id: DIFFERENT
        for path in result.different
        for placed in java[path].functions
        if placed.id in fresh
    }
