"""Which functions of a repository get which marks: all that can carry, in a secret order.

Each function is planned by itself, as a record of a dataset is. What its file knows beyond it may
only ever refuse: names that are taken there, decorators that speak of a variable, the layout.
"""

import hashlib
import hmac
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from puzzlemark.embedding.marking import first_mark
from puzzlemark.embedding.plan import dice
from puzzlemark.errors import UnparsableSnippet, UnsafeRename
from puzzlemark.progress import Progress, no_progress
from puzzlemark.protecting.compiled import why_different
from puzzlemark.protecting.layout import Limits, rows_of, why_unfit
from puzzlemark.protecting.sources import Placed, SourceFile
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.naming import why_displeasing
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import functions
from puzzlemark.watermarks.base import Mark, Refusal, Watermark

NOT_A_NAME = Refusal("the mark is more than a new name for a variable")
OTHERWISE_IN_FILE = Refusal("the whole file reads the variable otherwise than its function alone")
SHARED_LINE = Refusal("another mark stands in the same line")
NOT_NEEDED = "not needed: the rate is met"


@dataclass(frozen=True, slots=True)
class Keys:
    """What the secret decides: the order of the functions, and draws in each of them."""

    order: bytes
    draw: bytes

    def place(self, id_: str) -> bytes:
        """Where a function stands in the secret order, whatever other functions there are."""
        return hmac.digest(self.order, id_.encode("utf-8", "surrogatepass"), hashlib.sha256)


@dataclass(slots=True)
class Plan:
    """Marks by the id of their function, and why other functions have none."""

    marks: dict[str, Mark] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)  # id -> reason
    able: int = 0  # functions that can carry, those beyond the rate included

    @property
    def reasons(self) -> Counter[str]:
        """How many functions carry nothing, by reason."""
        return Counter(self.kept.values())


def plan_marks(
    files: Mapping[str, SourceFile],
    watermark: Watermark,
    keys: Keys,
    limits: Limits,
    *,
    rate: float,
    standing: Mapping[str, Mark],
    before: Mapping[str, Mark] | None = None,
    refused: Mapping[str, str] | None = None,
    progress: Progress = no_progress,
) -> Plan:
    """Plan marks for the functions of some files that carry none yet, up to the rate.

    `standing` marks stay as they are, and count. Functions with a mark `before`, which is not in
    them any more, go first; `refused` ones are not tried again.
    """
    before = before or {}
    planned = Plan(dict(standing), dict(refused or {}))
    waiting = _in_order(files, planned, keys, before)
    rows: defaultdict[str, set[int]] = defaultdict(set)
    total = sum(len(file.functions) for file in files.values())
    budget = math.floor(rate * total + 1e-9)
    for file in files.values():
        for placed in file.functions:
            if placed.id in standing:
                edits = placed.at_file(standing[placed.id].edits)
                rows[file.path] |= rows_of(file.text, edits)
    planned.able = sum(
        placed.id in standing for file in files.values() for placed in file.functions
    )
    for number, placed in enumerate(waiting):
        progress("planning", number, len(waiting))
        file = files[placed.path]
        outcome = plan_function(
            file, placed, watermark, keys, limits, rows[file.path], before.get(placed.id)
        )
        if isinstance(outcome, Refusal):
            planned.kept[placed.id] = outcome.reason
            continue
        planned.able += 1
        if len(planned.marks) >= budget:
            planned.kept[placed.id] = NOT_NEEDED
            continue
        planned.marks[placed.id] = outcome
        rows[file.path] |= rows_of(file.text, placed.at_file(outcome.edits))
    return planned


def _in_order(
    files: Mapping[str, SourceFile], planned: Plan, keys: Keys, first: Collection[str]
) -> list[Placed]:
    free = [
        placed
        for file in files.values()
        for placed in file.functions
        if placed.id not in planned.marks and placed.id not in planned.kept
    ]
    return sorted(free, key=lambda placed: (placed.id not in first, keys.place(placed.id)))


def plan_function(
    file: SourceFile,
    placed: Placed,
    watermark: Watermark,
    keys: Keys,
    limits: Limits,
    rows: Collection[int] = (),
    before: Mark | None = None,
) -> Mark | Refusal:
    """The mark of one function in its file, or why it carries none.

    A function that had a mark `before` gets the same one, on the same variable, if it can.
    """
    code, around = placed.code.decode(), file.text.decode()
    if not watermark.may_occur(placed.code):
        return Refusal("the trigger does not stand in it by nature")
    try:
        tree = parse(Snippet(placed.id, code, placed.language, around=around))
    except UnparsableSnippet as exc:
        return Refusal(str(exc))
    mark = first_mark(watermark, tree, "safe", dice(placed.id, keys.draw))
    if isinstance(mark, Refusal) or not mark.edits:
        return mark
    if before is not None:
        mark = _as_before(tree, mark, before)
    edits = placed.at_file(mark.edits)
    if reason := _why_unpleasant(mark):
        return Refusal(reason)
    if reason := _why_not_in_file(file, placed, mark):
        return Refusal(reason)
    if reason := why_unfit(file.text, edits, limits.of(file.path, file.language).columns):
        return Refusal(reason)
    return SHARED_LINE if not rows_of(file.text, edits).isdisjoint(rows) else mark


def _as_before(tree: Tree, mark: Mark, before: Mark) -> Mark:
    """The mark with the variable that an equal one replaced before, where that is still possible.

    Which variable a scheme replaces may depend on how often each occurs: a line more would move it.
    """
    texts = [(part.role, part.text) for part in mark.parts]
    old, new = before.of("target"), mark.of("target")
    if texts != [(part.role, part.text) for part in before.parts] or old.was in (None, new.was):
        return mark
    function = next(each for each in functions(tree) if each.index == mark.function)
    names = [variable.name for variable in function.variables]
    earlier = [names.index(part.text) for part in mark.parts if part.text in names]
    if old.was not in names or names.index(old.was) < max(earlier):
        return mark
    try:
        edits = rename(tree, function, {old.was: new.text}, "safe")
    except UnsafeRename:
        return mark
    parts = tuple(replace(part, was=old.was) if part is new else part for part in mark.parts)
    return replace(mark, parts=parts, edits=edits)


def _why_unpleasant(mark: Mark) -> str | None:
    target = mark.of("target")
    old, new = (target.was or "").encode(), target.text.encode()
    if mark.function is None or any((each.old, each.new) != (old, new) for each in mark.edits):
        return NOT_A_NAME.reason
    by_role = {part.role: part.text for part in mark.parts}
    if "prefix" not in by_role or "suffix" not in by_role:
        return None
    return why_displeasing(by_role["prefix"], by_role["suffix"], target.text)


def _why_not_in_file(file: SourceFile, placed: Placed, mark: Mark) -> str | None:
    """What the file has against a mark that its function alone allows."""
    assert mark.function is not None, "a mark of the whole snippet was refused"
    function = file.resolved[placed.index + mark.function]
    if function.dynamic is not None:
        return function.dynamic
    was = mark.of("target").was
    variable = next((each for each in function.variables if each.name == was), None)
    starts = tuple(edit.start for edit in placed.at_file(mark.edits))
    if variable is None or variable.starts != starts:
        return OTHERWISE_IN_FILE.reason
    return variable.refusal("safe")


def marked_file(
    file: SourceFile, marks: Mapping[str, Mark], only: Collection[str] | None = None
) -> SourceFile:
    """A file with marks in it: all of them, or only those of some functions."""
    return file.edited(
        edit
        for placed in file.functions
        if placed.id in marks and (only is None or placed.id in only)
        for edit in placed.at_file(marks[placed.id].edits)
    )


def why_not_compiled(file: SourceFile, marks: Mapping[str, Mark]) -> dict[str, str]:
    """The marks of a Python file that its compiler can tell from the original, and how."""
    carrying = [placed.id for placed in file.functions if placed.id in marks]
    if file.language.name != "python" or not carrying:
        return {}
    before = file.content
    if why_different(before, marked_file(file, marks).content) is None:
        return {}
    found = {
        id_: reason
        for id_ in carrying
        if (reason := why_different(before, marked_file(file, marks, [id_]).content))
    }
    # each passes alone and all together do not: none of them is trusted
    return found or dict.fromkeys(carrying, "its compiled code would differ beside other marks")


def same_functions(before: Sequence[Placed], after: Sequence[Placed]) -> bool:
    """Whether two readings of a file found the same functions."""
    return [placed.id for placed in before] == [placed.id for placed in after]
