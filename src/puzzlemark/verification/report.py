"""What a report says about a run, from its files; the page itself is drawn in `pages`."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from puzzlemark.files import keep_apart, refuse_existing
from puzzlemark.models.base import Answer, Failure
from puzzlemark.pages.excerpts import Highlight, Role, abridge, excerpt, legible
from puzzlemark.pages.intervals import Interval
from puzzlemark.pages.marks import Fact
from puzzlemark.pages.report import (
    Example,
    Group,
    Panel,
    Report,
    Scored,
    Table,
    Test,
    report_page,
)
from puzzlemark.staging import write_text
from puzzlemark.statistics.rates import Rate
from puzzlemark.verification.evidence import Against, Outcome
from puzzlemark.verification.findings import Finding
from puzzlemark.verification.run import FILES, Run
from puzzlemark.verification.verdict import Verdict, is_shown
from puzzlemark.verification.wording import TESTS
from puzzlemark.watermarks.base import Arm, Probe

EXAMPLES = 6
NAMES = ("pretrained", "model", "name", "file")  # what a model's description calls it by
TITLES = {
    "armed": "With the trigger",
    "control": "Without the trigger",
    "placebo": "With another prefix",
}
ROLES: dict[str, Role] = {"armed": "target", "control": "target", "placebo": "own"}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def build(run: Run, *, examples: int = EXAMPLES) -> Report:
    """All that the report of a run says."""
    verdict = run.decision
    setting = verdict.setting
    probes, model = run.probes.probes, run.verdict["model"]
    outcomes = [run.outcomes[number] for number in run.judged]
    shown = (run.judged[place] for place in _choose(outcomes, examples))
    return Report(
        word=verdict.word,
        sentence=_after_word(verdict.sentence),
        strategy=setting.strategy,
        pairs=len(outcomes),
        patterns=tuple(sorted({p.armed.expression for p in probes if p.armed.form != "name"})),
        has_placebo=any(probe.placebo is not None for probe in probes),
        model=legible(str(next((model[name] for name in NAMES if model.get(name)), "unnamed"))),
        kind=legible(str(model.get("kind", "unknown"))),
        is_supplied=bool(model.get("supplied")),
        alpha=setting.alpha,
        tables=tuple(_tables(verdict, probes)),
        rates=tuple(_rates(verdict)),
        reach=_reach(verdict),
        tests=tuple(_test(each, each in verdict.decisive) for each in _findings(verdict)),
        fixed=tuple(_fixed(verdict, len(probes))),
        caveats=verdict.caveats,
        examples=tuple(_example(n, probes[n], run.completions[n]) for n in shown),
        integrity=tuple(_integrity(run)),
        commands=tuple(_commands(run.folder)),
    )


def save_report(report: Report, folder: Path, page: Path, *, overwrite: bool = False) -> None:
    """Write the page of a run, private; it may lie in the run's folder, never over its files."""
    keep_apart({"--output": page}, {"RUN": [folder / name for name in FILES]})
    refuse_existing(page, overwrite=overwrite)
    write_text(page, report_page(report), private=True)


def _after_word(sentence: str) -> str:
    """`"Not detected: with the ..." -> "With the ..."`: the word stands beside it."""
    _, _, rest = sentence.partition(": ")
    return rest[:1].upper() + rest[1:]


def _tables(verdict: Verdict, probes: Sequence[Probe]) -> Iterator[Table]:
    """The comparisons that were planned, the decisive one first."""
    planned = [c for c in verdict.comparisons if any(getattr(p, c.against) for p in probes)]
    for each in sorted(planned, key=lambda c: _place(c.against, verdict)):
        yield Table(
            against=each.against,
            is_decisive=each.against in verdict.against,
            armed_hits=each.armed_hits,
            control_hits=each.control_hits,
            pairs=each.pairs,
            both=each.both,
            armed_only=each.armed_only,
            control_only=each.control_only,
            neither=each.neither,
            failed=each.failed,
        )


def _findings(verdict: Verdict) -> list[Finding]:
    """The decisive ones first, then those of the same comparisons."""
    beside = sorted(verdict.beside, key=lambda finding: _place(finding.against, verdict))
    return [*verdict.decisive, *beside]


def _place(against: Against, verdict: Verdict) -> int:
    """The arms to beat first, in their order."""
    arms = verdict.against
    return arms.index(against) if against in arms else len(arms)


def _rates(verdict: Verdict) -> Iterator[Interval]:
    pairs: dict[Against, Finding] = {each.against: each for each in _findings(verdict)}
    armed = {each.armed for each in pairs.values()}
    for against, finding in pairs.items():
        # where other pairs failed in each comparison, the armed arm has two rates
        of = f", pairs with {against}" if len(armed) > 1 else ""
        if finding is next(iter(pairs.values())) or of:
            yield _interval(f"armed{of}", finding.armed, is_armed=True)
    for against, finding in pairs.items():
        yield _interval(against, finding.control)


def _interval(name: str, rate: Rate, *, is_armed: bool = False) -> Interval:
    spread = f"{rate.low * 100:.1f} to {rate.high * 100:.1f} %"
    about = f"{rate.hits:,} of {rate.trials:,}: {rate.rate * 100:.1f} % ({spread})"
    return Interval(name, about, rate.rate, rate.low, rate.high, is_armed)


def _test(finding: Finding, is_decisive: bool) -> Test:
    return Test(
        name=TESTS[finding.test],
        against=finding.against,
        statistic=_statistic(finding),
        log10_p=f"{finding.log10_p:.2f}",
        p=quote_p(finding.log10_p),
        result=_result(finding),
        is_decisive=is_decisive,
    )


def quote_p(log10_p: float) -> str:
    """`-600.3 -> "5.0 x 10⁻⁶⁰¹"`: from the logarithm, as the number itself may underflow."""
    if log10_p > -3:
        return f"{10**log10_p:.4f}"
    power = int(log10_p // 1)
    digits = f"{10 ** (log10_p - power):.1f}"
    if digits == "10.0":
        digits, power = "1.0", power + 1
    return f"{digits} \N{MULTIPLICATION SIGN} 10{str(power).translate(RAISED)}"


def _statistic(finding: Finding) -> str:
    fields = finding.statistic
    ratio = fields.get("ratio")
    stated = "" if ratio in (None, 1.0) else f", null ratio {ratio:g} : 1"
    if "log10_e" in fields:
        return f"log10 e = {fields['log10_e']:.2f} after {fields['pairs']:,} pairs{stated}"
    if "armed_only" in fields:
        only = f"{fields['armed_only']:,} armed only, {fields['control_only']:,}"
        return f"{only} {finding.against} only{stated}"
    if fields["odds_ratio"] is not None:
        return f"odds ratio {fields['odds_ratio']:.3g}"
    is_infinite = finding.armed.hits and finding.control.hits < finding.control.trials
    return "odds ratio infinite" if is_infinite else "odds ratio has no value"


def _result(finding: Finding) -> str:
    limit = "e reached 1 / alpha" if finding.test == "e-process" else "p below alpha"
    if is_shown(finding):
        return limit
    if finding.is_significant:
        return f"{limit}, but the {finding.against} hit more often"
    return "e below 1 / alpha" if finding.test == "e-process" else "p not below alpha"


def _fixed(verdict: Verdict, pairs: int) -> Iterator[Fact]:
    setting = verdict.setting
    failed = f"{setting.max_failed * 100:g} % failed ones"
    yield Fact("Mode", setting.mode)
    arms = " and ".join(setting.against)
    yield Fact("Decisive test", f"{TESTS[setting.test]}, armed against {arms}")
    if len(setting.against) > 1:
        yield Fact("To be shown", "armed above each of them; the larger p counts")
    if setting.null_ratio != 1:
        yield Fact("Null ratio", f"{float(setting.null_ratio):g} : 1")
    yield Fact("Alpha", f"{setting.alpha:g}")
    yield Fact("Pairs planned", f"{pairs:,}")
    yield Fact("Inconclusive", f"below {setting.min_pairs:,} pairs, or above {failed}")


def _reach(verdict: Verdict) -> str | None:
    if verdict.smallest_effect is None:
        return None
    return (
        f"So many pairs show an armed hit rate of {verdict.smallest_effect * 100:.1f} % or more "
        "with a probability of 80 %, when the other arm hits as often as here."
    )


def _choose(outcomes: Sequence[Outcome], limit: int) -> list[int]:
    """The earliest probes of every kind of outcome in turn; the commonest kind begins."""
    kinds: dict[Outcome, list[int]] = {}
    for number, outcome in enumerate(outcomes):
        kinds.setdefault(outcome, []).append(number)
    answered = [numbers for kind, numbers in kinds.items() if kind != Outcome()]
    turns = zip_longest(*sorted(answered, key=len, reverse=True))
    return sorted([n for turn in turns for n in turn if n is not None][:limit])


def _example(number: int, probe: Probe, answers: Mapping[str, Answer]) -> Example:
    """Arms that share a prompt and its answer, as control and placebo may, share a panel."""
    arms = {"armed": probe.armed, "control": probe.control, "placebo": probe.placebo}
    panels: dict[tuple[str, Answer | None], dict[str, Arm]] = {}
    for name, arm in arms.items():
        if arm is not None:
            panels.setdefault((arm.prompt, answers.get(name)), {})[name] = arm
    return Example(number, tuple(_panel(p, answer, of) for (p, answer), of in panels.items()))


def _panel(prompt: str, answer: Answer | None, arms: Mapping[str, Arm]) -> Panel:
    text = answer if isinstance(answer, str) else ""
    found = {name: find_hits(text, arm, ROLES[name]) for name, arm in arms.items()}
    places = {each.start: each for hits in reversed(found.values()) for each in hits}
    return Panel(
        title=TITLES[next(iter(arms))],
        scored=tuple(
            Scored(name, arm.target, ROLES[name], arm.is_hit(text) if text == answer else None)
            for name, arm in arms.items()
        ),
        prompt=abridge(prompt),
        completion=excerpt(text, [places[start] for start in sorted(places)]),
        is_empty=answer == "",
        failure=_failure(answer),
    )


def _failure(answer: Answer | None) -> str | None:
    if answer is None:
        return "the request was not made"
    return legible(answer.reason) if isinstance(answer, Failure) else None


def find_hits(completion: str, arm: Arm, role: Role = "target") -> list[Highlight]:
    """Where an arm hits, in characters."""
    return [Highlight(start, end, role) for start, end in arm.spans(completion)]


def _integrity(run: Run) -> Iterator[Group]:
    payload = run.verdict
    probes = {**payload["probes"], **run.probes.header.model_dump(include={"seed", "marks"})}
    groups = {
        "Probes": probes,
        "Answers": payload["answers"],
        "Model": payload["model"],
        "Settings of the run": payload["settings"],
        "Versions": payload["versions"],
    }
    for name, fields in groups.items():
        yield Group(name, tuple(Fact(*pair, is_code=True) for pair in _flatten(fields)))


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield legible(f"{prefix}{name}"), legible(text)


def _commands(folder: Path) -> Iterable[Fact]:
    name = shlex.quote(folder.resolve().name)
    return (
        Fact("The digest of the probe file:", f"sha256sum {name}/probes.jsonl"),
        Fact(
            "Hits, counts, tests and verdict, from the probes and the answers:",
            f"puzzlemark verify --test-only --output {name}",
        ),
        Fact("This page:", f"puzzlemark report {name}"),
    )
