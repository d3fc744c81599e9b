"""Records that carry no mark: those that lose it again, and why there are so many of them."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from puzzlemark import plugins
from puzzlemark.corpora.revising import NAMES_OLD
from puzzlemark.embedding.manifest import Carrier
from puzzlemark.embedding.plan import (
    BELOW_THRESHOLD,
    NOT_FOR_IT,
    NOT_NEEDED,
    TOO_FEW_NAMES,
    Plan,
    Settings,
    budgets,
    counted,
)
from puzzlemark.embedding.traces import UNRESTORABLE
from puzzlemark.errors import CorpusError, NothingMarked
from puzzlemark.languages.base import title_of
from puzzlemark.stores import Location
from puzzlemark.watermarks.base import named

OTHERS_TOLD = 2
ODD_SHARE = 0.1  # of syntax errors: more, and the records are hardly in that language
FEWEST_CARRIERS = 700  # show two exposures from answers alone nine times in ten: `power`
HIDDEN_SHARE = 0.2  # carriers among the eligible: the precision of a perfect list of these
REPEATED = "a line that the mark would change stands in another column, too"
# A column that repeats the code of most records must be dropped, or nothing could be marked: the
# summary warns of it.
FEW = 0.5
# what a text around the code gives away, or does not let go: never usual
AROUND = {
    NAMES_OLD: "the text around the code speaks of a variable that the mark would rename",
    UNRESTORABLE: "the text around the code could not be restored exactly",
}


def leave_out_repeated(planned: Plan) -> None:
    """Take those carriers out of the plan that something beside their code would tell."""
    problems = [
        (int(rows[0]), traces.problem)
        for traces, rows in planned.traces.items()
        if traces.problem is not None
    ]
    if problems:
        raise CorpusError(min(problems)[1])
    columns: Counter[str] = Counter()
    for traces, rows in planned.traces.items():
        columns.update(dict.fromkeys(traces.columns, len(rows)))
    usual = {name for name, count in columns.items() if count > FEW * len(planned.lines)}
    usual -= AROUND.keys()
    left: list[tuple[int, str]] = []
    for traces, rows in planned.traces.items():
        if traces.columns - usual:
            found = sorted(traces.columns & AROUND.keys())
            reason = AROUND[found[0]] if found else REPEATED
            left += ((row, reason) for row in rows.tolist())
    for row, reason in sorted(left):
        planned.counts.subtract(counted(Carrier.from_line(planned.lines[row])))
        planned.kept[reason] += 1
    planned.lines.leave_out(row for row, _ in left)
    planned.digests.leave_out(row for row, _ in left)
    planned.counts = +planned.counts  # without those that became 0


@dataclass(frozen=True, slots=True)
class _Case:
    """Records that carry nothing for the same reason, and the run that they are from."""

    reason: str
    count: int
    records: int
    settings: Settings
    mark: str | None  # the paper's name for the watermark

    @property
    def share(self) -> str:
        """`all 1,200 records`, or `1,100 of 1,200 records`."""
        if self.count == self.records:
            return f"all {self.records:,} records"
        return f"{self.count:,} of {self.records:,} records"

    @property
    def watermark(self) -> str:
        return self.mark or self.settings.watermark.name


def refuse_no_marks(path: Location, planned: Plan, settings: Settings, mark: str | None) -> None:
    """Raise when the plan has no mark: a dataset that is only called marked is worse than none."""
    if planned.lines:
        return
    records = len(planned.before)
    if planned.kept[NOT_NEEDED]:  # the rate was reached without a single one
        why = (
            f"--max-rate {settings.max_rate:g} of {records:,} records allows no mark; "
            f"pass --max-rate {math.ceil(1e4 / records) / 1e4:g} or more"
        )
    else:
        why = _explain(planned, settings, mark)
    raise NothingMarked(f"{path}: no record was marked, so nothing was written: {why}")


def warn_of_missed_rate(planned: Plan, settings: Settings) -> list[str]:
    """A warning when fewer records carry a mark than the minimum rate asks for."""
    records, marked = len(planned.before), len(planned.lines)
    _, least = budgets(records, settings)
    if marked >= least:
        return []
    # no record need have a reason: a watermark that hides leaves out records that could carry
    reasons = _reasons(planned)
    why = f"{settings.watermark.name} marks a share of the eligible records only"
    if reasons:
        why = f"the main reason: {reasons[0][0]} ({reasons[0][1]:,} records)"
    message = (
        f"{marked:,} of {records:,} records could be marked ({marked / records:.2%}), fewer than "
        f"the {least:,} of --min-rate {settings.min_rate:g}; {why}"
    )
    return [message]


def warn_of_few(planned: Plan, settings: Settings) -> list[str]:
    """What a watermark that hides among eligible records gives up: concealment, or power."""
    if not planned.eligible:
        return []
    carriers, share = len(planned.lines), len(planned.lines) / planned.eligible
    name, warnings = settings.watermark.name, []
    if share > HIDDEN_SHARE + 1e-9:
        warnings.append(
            f"{carriers:,} of {planned.eligible:,} eligible records carry ({share:.0%}), more than "
            "a fifth: concealment is given up; whoever knows the scheme and lists the eligible "
            f"records finds the carriers with a precision of {share:.0%}"
        )
    if carriers < FEWEST_CARRIERS:
        is_hidden = carriers < planned.eligible
        instead = f", or give up concealment: --watermark {name}:share=1 --max-rate 1"
        warnings.append(
            f"{carriers:,} carriers, fewer than {FEWEST_CARRIERS}: power is given up; see "
            f"puzzlemark power. For more, mark a larger dataset{instead if is_hidden else ''}"
        )
    return warnings


def warn_of_assumed_language(
    kept: Mapping[str, int], records: int, language: str | None, mark: str | None
) -> list[str]:
    """A warning when records that say no language look like another than their mark's."""
    wrong = kept.get("syntax errors", 0)
    if language is None or wrong <= records * ODD_SHARE:
        return []
    message = (
        f"no record says its language, so all were read as {title_of(language)}, that of {mark}; "
        f"{wrong:,} of {records:,} have syntax errors in it: if they are something else, pass "
        "--language or --language-column"
    )
    return [message]


def _explain(planned: Plan, settings: Settings, mark: str | None) -> str:
    """The main reason with its remedy, then the next ones with their numbers."""
    (reason, count), *others = _reasons(planned)
    case = _Case(reason, count, len(planned.before), settings, mark)
    found = ((pattern.search(reason), remedy) for pattern, remedy in REMEDIES)
    message = next(remedy(case, match) for match, remedy in found if match is not None)
    rest = ", ".join(f"{reason} ({count:,})" for reason, count in others[:OTHERS_TOLD])
    return f"{message} (other reasons: {rest})" if rest else message


def _reasons(planned: Plan) -> list[tuple[str, int]]:
    return [each for each in planned.kept.most_common() if each[0] != NOT_NEEDED]


def _other_language(case: _Case, match: re.Match[str]) -> str:
    known = named()
    ours = case.settings.watermark.name
    others = [
        name
        for name, each in known.items()
        if each.language == match["language"] and each.watermark.name == ours
    ]
    spoken, wanted = title_of(match["language"]), title_of(case.settings.language or "")
    tried = f"try {' or '.join(sorted(others))}" if others else "try another mark: puzzlemark list"
    return f"{case.share} are {spoken}; {case.watermark} is for {wanted}: {tried}"


def _unknown_language(case: _Case, match: re.Match[str]) -> str:
    supported = ", ".join(plugins.names("languages"))
    return (
        f"{case.share} say that their language is {match['language']}; PuzzleMark marks "
        f"{supported}: pass another dataset, or --language-column if another column says it"
    )


def _no_language(case: _Case, _match: re.Match[str]) -> str:
    return f"{case.share} do not say their language: pass --language or --language-column"


def _unparsable(case: _Case, _match: re.Match[str]) -> str:
    return (
        f"{case.share} have syntax errors: pass --language if they are in another language, "
        "or --code-column if their code is in another column"
    )


def _no_code(case: _Case, _match: re.Match[str]) -> str:
    return f"{case.share} have no usable code ({case.reason}): pass --code-column if it is another"


def _too_complex(case: _Case, _match: re.Match[str]) -> str:
    return (
        f"the suitability of {case.share} is below the threshold: "
        f"pass a --tau below {case.settings.tau:g}"
    )


def _too_few_variables(case: _Case, _match: re.Match[str]) -> str:
    known = named()
    modest = sorted(
        name
        for name, each in known.items()
        if not each.watermark.fewest_variables
        and case.settings.language in (None, each.language)
        and each.watermark.name == "coprotector_sentence"
    )
    return (
        f"{case.share} have too few variables for {case.watermark} ({case.reason}): pass a dataset "
        f"with longer functions, or try a mark that needs no variables ({' or '.join(modest)})"
    )


def _may_not_be_renamed(case: _Case, match: re.Match[str]) -> str:
    if case.settings.policy != "safe":
        return _anything_else(case, match)
    return (
        f"{case.share} have no variable that policy safe renames ({case.reason}): --policy paper "
        "may rename parameters as well, where no caller passes them by keyword"
    )


def _nothing_to_use(case: _Case, _match: re.Match[str]) -> str:
    return (
        f"{case.share} hold nothing that {case.watermark} could use ({case.reason}): "
        "try another mark: puzzlemark list"
    )


def _anything_else(case: _Case, _match: re.Match[str]) -> str:
    return f"{case.share} cannot carry it ({case.reason}): try another mark: puzzlemark list"


# the first that fits a reason says what to do
REMEDIES: tuple[tuple[re.Pattern[str], Callable[[_Case, re.Match[str]], str]], ...] = (
    (re.compile(r"^language '(?P<language>.*)' is not the mark's$"), _other_language),
    (re.compile(r"^language (?P<language>.*) is not supported$"), _unknown_language),
    (re.compile("^no language$"), _no_language),
    (re.compile("^syntax errors$"), _unparsable),
    (re.compile("^(null|empty) code$|^code is not "), _no_code),
    (re.compile(re.escape(BELOW_THRESHOLD)), _too_complex),
    (re.compile(f"{re.escape(TOO_FEW_NAMES)}|^fewer than two variables after"), _too_few_variables),
    (re.compile(r"may be renamed|\(policy safe\)"), _may_not_be_renamed),
    (
        re.compile(
            f"{re.escape(NOT_FOR_IT)}|^no variable is named like|^no trigger with a target"
            "|^no variable that every name|^no two words|^no statements are set"
            "|^no function in the snippet"
        ),
        _nothing_to_use,
    ),
    (re.compile(""), _anything_else),
)
