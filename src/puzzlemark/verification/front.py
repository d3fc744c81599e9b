"""The first page of a report: for a reader who has to decide, and who reads no statistics.

One sentence, what happened when, how far the verdict can be relied on, and what it does not show.
What was fixed before, and what was entered when, comes from `standing.json`: see
docs/verification/run-folder.md.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from puzzlemark.pages.excerpts import legible
from puzzlemark.pages.marks import Fact
from puzzlemark.pages.report import Front
from puzzlemark.pages.timeline import Event, State
from puzzlemark.verification import wording
from puzzlemark.verification.case import Case
from puzzlemark.verification.run import Run, needs_key
from puzzlemark.verification.verdict import Verdict

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NOT_FIXED = (
    "Nothing shows that marks, test and level were fixed before the model was asked: no commitment "
    "was made, or none was passed. Whoever may choose these afterwards finds something in the end."
)
Standing = Mapping[str, Any]  # the content of standing.json


def build_front(
    run: Run, standing: Standing | None, case: Case | None, judged: str | None = None
) -> Front:
    """All that the first page says."""
    verdict, case = run.verdict, case or Case()
    word, about = _standing(standing)
    return Front(
        lead=lead(
            verdict,
            is_keyed=needs_key(verdict.design),
            is_supplied=bool(run.model.get("supplied")),
        ),
        more=tuple(_more(verdict)),
        standing=word,
        about_standing=about,
        title=legible(case.title),
        case=tuple(Fact(name, legible(text)) for name, text in case.facts),
        events=tuple(events(standing, case, judged)),
        limits=tuple(_limits(run, standing)),
    )


def odds(log10_p: float) -> str:
    """`-56.3 -> "1 in 10⁵⁶"`, `-2.5 -> "1 in 310"`: what p is less than, in round numbers."""
    if log10_p > -6:
        whole = 10**-log10_p
        digits = 10 ** max(0, math.floor(math.log10(whole)) - 1)
        below = math.floor(whole / digits) * digits
        return f"1 in {below - (digits if below == whole else 0):,}"
    power = math.ceil(-log10_p) - 1
    return f"1 in 10{str(power).translate(RAISED)}"


def quote_power(log10: float) -> str:
    """A number from its logarithm: `11.57 -> "3.7 x 10¹¹"`."""
    power = int(log10 // 1)
    digits = f"{10 ** (log10 - power):.1f}"
    if digits == "10.0":
        digits, power = "1.0", power + 1
    return f"{digits} \N{MULTIPLICATION SIGN} 10{str(power).translate(RAISED)}"


def lead(verdict: Verdict, *, is_keyed: bool, is_supplied: bool = False) -> str:
    """The one sentence, as the other side's expert would let it stand."""
    if verdict.word not in ("detected", "not detected"):
        return "The test came to no result, so nothing follows from it, in either direction."
    assert verdict.log10_p is not None
    what = "the owner's key" if is_keyed else "the owner's marks"
    if verdict.word == "not detected":
        return (
            f"The test did not show that the model's answers depend on {what}; that does not mean "
            "that the model was not trained on the marked data."
        )
    answers = "The answers that the owner supplied" if is_supplied else "The model's answers"
    if not verdict.terms.is_fair(verdict.design):
        answers = (
            f"By a test that accuses some innocent models, too, {answers[0].lower()}{answers[1:]}"
        )
    chance = odds(verdict.log10_p)
    if is_keyed:
        return (
            f"{answers} depend on {what}: a key drawn at random would find as much, in a model "
            f"that does not depend on it, in less than {chance} cases."
        )
    return (
        f"{answers} depend on {what}: answers that differ as much as these would come about by "
        f"chance in less than {chance} cases, if the marks made no difference to the model."
    )


def _more(verdict: Verdict) -> Iterator[str]:
    """What was counted, and what that means if the design's condition holds."""
    if verdict.word in ("detected", "not detected") and verdict.decisive:
        yield f"{wording.counts(verdict.decisive, verdict.design, verdict.terms)}."
    elif verdict.sentence:
        yield verdict.sentence.partition(": ")[2].partition(". ")[0].capitalize() + "."
    if verdict.word == "detected":
        yield wording.claim(verdict.design, verdict.terms)


def _standing(standing: Standing | None) -> tuple[str, tuple[str, ...]]:
    """Confirmatory or exploratory, and why."""
    if standing is None or standing.get("commitment") is None:
        return "exploratory", (NOT_FIXED,)
    found = [legible(str(each["sentence"])) for each in standing["deviations"]]
    if standing["standing"] == "confirmatory":
        known = str(standing["commitment"]["hash"])[:16]
        fixed = "The verdict follows the plan that was fixed, with the marks, in the commitment"
        found = [f"{fixed} {known}…, before the model was asked."]
    if standing.get("run"):
        found.append(legible(str(standing["run"]["sentence"])))
    return str(standing["standing"]), tuple(found)


def events(
    standing: Standing | None, case: Case | None = None, judged: str | None = None
) -> Iterator[Event]:
    """Committed, stamped, published, asked, judged: when, and who says so."""
    case = case or Case()
    committed = (standing or {}).get("commitment") or {}
    stamp = next(
        iter(sorted(committed.get("stamps", ()), key=lambda each: str(each["time"]))), None
    )
    stamped = None if stamp is None else _moment(stamp["time"])
    yield _committed(committed, stamp)
    yield _stamped(stamp)
    chain = (standing or {}).get("chain") or {}
    yield _published(case, stamped, str(chain.get("last") or ""))
    yield _asked(chain, stamped)
    when = _day(_moment(judged)) if judged else "not stated"
    about = "By the clock of the owner's machine." if judged else "No list of runs has it."
    yield Event("Judged", when, about, "stated" if judged else "missing")


def _committed(committed: Mapping[str, Any], stamp: Mapping[str, Any] | None) -> Event:
    if not committed:
        return Event("Committed", "not shown", "No commitment to marks and plan.", "missing")
    about = f"Marks, keys, plan and dataset in one hash: {str(committed['hash'])[:16]}…"
    if stamp is None:
        return Event("Committed", "nobody can say when", about, "stated")
    return Event("Committed", "before it was stamped", about, _vouched(stamp))


def _vouched(stamp: Mapping[str, Any]) -> State:
    return "known" if stamp["verified"] else "stated"


def _stamped(stamp: Mapping[str, Any] | None) -> Event:
    if stamp is None:
        return Event("Stamped", "never", "No authority says when the hash was there.", "missing")
    name = legible(str(stamp["authority"] or "an authority without a name"))
    checked = (
        "its signature was verified" if stamp["verified"] else "its signature was not verified"
    )
    return Event("Stamped", _day(_moment(stamp["time"])), f"By {name}; {checked}.", _vouched(stamp))


def _published(case: Case, stamped: datetime | None, asked: str) -> Event:
    if not case.published:
        return Event("Published", "not stated", "The owner states no date.", "missing")
    about = f"The owner's word{f': {legible(case.where)}' if case.where else '.'}"
    day = case.published[:10]
    doubt = ""
    if stamped is not None and day < f"{stamped:%Y-%m-%d}":
        doubt = "Before it was stamped: what was published then is not shown to be this. "
    elif asked and day > asked[:10]:
        doubt = "After the model was asked. "
    return Event("Published", case.published, doubt + about, "wrong" if doubt else "stated")


def _asked(chain: Mapping[str, Any], stamped: datetime | None) -> Event:
    if not chain or chain.get("broken") or not chain.get("first"):
        why = "The record of times cannot be relied on." if chain else "No times were recorded."
        return Event("Asked", "not shown", why, "wrong" if chain else "missing")
    first, last = _moment(chain["first"]), _moment(chain["last"])
    when = _day(first) if f"{first:%Y-%m-%d %H:%M}" == f"{last:%Y-%m-%d %H:%M}" else (
        f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"
    )  # fmt: skip
    if stamped is not None and first < stamped:
        return Event("Asked", when, "Before the commitment was stamped.", "wrong")
    verified = [each for each in chain.get("stamps", ()) if each["verified"]]
    about = "By the clock of the machine that asked."
    if verified:
        about = f"Begun by the clock of the machine that asked; stamped {len(verified)} times."
    return Event("Asked", when, about, "known" if verified else "stated")


def _moment(text: Any) -> datetime:
    moment = datetime.fromisoformat(str(text))
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _limits(run: Run, standing: Standing | None) -> Iterator[str]:
    """What a reader of this page alone must not conclude."""
    verdict = run.verdict
    if verdict.word == "detected":
        yield (
            "Which records were used, how many, when, by whom, or with what right. What was "
            "derived from them, such as another model's output, can carry the marks as well."
        )
        yield "How likely it is that the model is innocent: the chance above is not that."
    else:
        yield "That the model was not trained on the marked data."
    if run.model.get("supplied"):
        yield "Which model answered, if any: the answers were supplied by the owner."
    else:
        yield (
            "Which model answered. The name is what the server was asked for, and what it says of "
            "itself; have the same questions asked again by somebody whom both sides trust."
        )
    if standing is None or standing.get("commitment") is None:
        yield "That the test was fixed before the answers were known, or that this is the only run."
    else:
        yield (
            "That there was no other commitment, and no other run that was not entered: only the "
            "owner can say so."
        )
    yield "Whose the code is."
