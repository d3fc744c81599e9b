"""What a report says about a run, from its files; the page itself is drawn in `pages`."""

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
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
    Grid,
    Group,
    Legend,
    Line,
    Panel,
    Report,
    Scored,
    Table,
    Test,
    report_page,
)
from puzzlemark.staging import write_text
from puzzlemark.statistics.rates import Rate
from puzzlemark.verification.case import Case
from puzzlemark.verification.front import Standing, build_front, quote_power
from puzzlemark.verification.glossary import glossary
from puzzlemark.verification.run import FILES, Run, load_run, needs_key
from puzzlemark.verification.standing import read_standing
from puzzlemark.verification.tests.base import (
    Counted,
    Finding,
    Outcome,
    StatisticalTest,
    Tabulating,
    by_finding,
    counted,
    load_test,
)
from puzzlemark.verification.verdict import Verdict
from puzzlemark.watermarks._design import ARMED, HIT, Arm, Design, Probe
from puzzlemark.watermarks._hits import NAMES

EXAMPLES = 6
CALLED = ("pretrained", "model", "name", "file")  # what a model's description calls it by


def build(
    run: Run,
    *,
    examples: int = EXAMPLES,
    standing: Standing | None = None,
    case: Case | None = None,
    judged: str | None = None,
) -> Report:
    """All that the report of a run says.

    `standing`: whether it followed a plan, as `standing.json` has it; `case`: the owner's words;
    `judged`: when, by the list of runs.
    """
    verdict, model = run.verdict, run.model
    standing = standing or read_standing(run.folder)
    design, probes = verdict.design, run.probes.probes
    tests = by_finding(design.tests)
    outcomes = [run.outcomes[number] for number in run.judged]
    shown = (run.judged[place] for place in _choose(outcomes, examples))
    return Report(
        word=verdict.word,
        sentence=_after_word(verdict.sentence),
        front=build_front(run, standing, case, judged),
        glossary=tuple(glossary(verdict)),
        introduction=design.introduction,
        prompts=design.prompts,
        others=design.others,
        legends=tuple(dict.fromkeys(_legend(design, arm.name) for arm in design.arms)),
        about_tests=tuple(dict.fromkeys(tests[each.test].about for each in _findings(verdict))),
        pairs=len(outcomes),
        patterns=tuple(sorted({p.armed.expression for p in probes if p.armed.form not in NAMES})),
        is_first_name=any(p.armed.form == "first" for p in probes),
        rate=" that ".join(counted(run.terms.test(design), design.hits)),
        samples=run.terms.samples,
        is_keyed=needs_key(design),
        model=legible(str(next((model[name] for name in CALLED if model.get(name)), "unnamed"))),
        kind=legible(str(model.get("kind", "unknown"))),
        is_supplied=bool(model.get("supplied")),
        alpha=verdict.terms.alpha,
        tables=tuple(_tables(verdict, probes, outcomes)),
        rates=tuple(_rates(verdict)),
        reach=_reach(verdict),
        tests=tuple(
            _test(each, tests[each.test], is_decisive=each in verdict.decisive)
            for each in _findings(verdict)
        ),
        fixed=tuple(_fixed(verdict, len(probes))),
        caveats=(*verdict.caveats, *_notes(standing)),
        examples=tuple(_example(n, design, probes[n], run.completions[n]) for n in shown),
        integrity=tuple(_integrity(run, standing)),
        commands=tuple(_commands(run.folder, is_keyed=needs_key(design))),
    )


def _notes(standing: Mapping[str, Any] | None) -> Iterator[str]:
    """What else is to be known of how the verdict stands, the server's own words among it."""
    return (legible(str(each)) for each in (standing or {}).get("notes", ()))


def write_report(
    folder: Path | str,
    output: Path | str | None = None,
    *,
    examples: int = EXAMPLES,
    secret_file: Path | None = None,
    overwrite: bool = False,
) -> Report:
    """Write the page of a run, by default to `report.html` in its folder; returns what it says.

    `secret_file`: the owner's, where a test needs the key of the watermark.
    """
    run = load_run(Path(folder), secret_file=secret_file)
    report = build(run, examples=examples)
    page = run.folder / "report.html" if output is None else Path(output)
    save_report(report, run.folder, page, overwrite=overwrite)
    return report


def save_report(report: Report, folder: Path, page: Path, *, overwrite: bool = False) -> None:
    """Write the page of a run, private; it may lie in the run's folder, never over its files."""
    keep_apart({"--output": page}, {"RUN": [folder / name for name in FILES]})
    refuse_existing(page, overwrite=overwrite)
    write_text(page, report_page(report), private=True)


def _after_word(sentence: str) -> str:
    """`"Not detected: with the ..." -> "With the ..."`: the word stands beside it."""
    _, _, rest = sentence.partition(": ")
    return rest[:1].upper() + rest[1:]


def _tables(
    verdict: Verdict, probes: Sequence[Probe], outcomes: Sequence[Outcome]
) -> Iterator[Table]:
    """The comparisons that were planned, the decisive one first."""
    names = {name for probe in probes for name in probe.arms}
    planned = [c for c in verdict.comparisons if (c.against or ARMED) in names]
    for each in sorted(planned, key=lambda c: _place(c.against, verdict)):
        arm = each.against
        scores = [outcome.scores for outcome in outcomes if outcome.pair(arm) is not None]
        yield Table(
            against=arm,
            about="" if arm is None else verdict.design.arm(arm).about,
            is_decisive=arm in verdict.against,
            by_arm=_by_arm(scores, arm, verdict.design),
            by_pair=None if arm is None else _by_pair(scores, arm, verdict.design),
            failed=each.failed,
            by_test=() if arm is not None else tuple(_by_test(verdict, outcomes)),
        )


def _by_test(verdict: Verdict, outcomes: Sequence[Outcome]) -> Iterator[Grid]:
    """What tests counted otherwise than by hits of the arms, the decisive one first."""
    design = verdict.design
    decides = verdict.terms.decision(design).test
    for name in sorted(design.tests, key=lambda test: test != decides):
        test = load_test(name)
        own = {each.test: each for each in _findings(verdict) if each.test in test.findings}
        if isinstance(test, Tabulating) and own:
            yield from map(_grid, test.tables(own, outcomes))


def _grid(table: Counted) -> Grid:
    lines = (Line(name, counts) for name, counts in table.lines.items())
    return Grid(table.caption, table.corner, table.columns, tuple(lines))


Scores = Sequence[Mapping[str, str | None]]


def _by_arm(scores: Scores, against: str | None, design: Design) -> Grid:
    """How often each arm scored what."""
    counts = {
        arm: Counter(each[arm] for each in scores) for arm in (ARMED, against) if arm is not None
    }
    symbols = design.symbols
    if symbols is None:  # each probe has its own: how often there was any
        found_any = {arm: len(scores) - found[None] for arm, found in counts.items()}
        return Grid(
            "By arm: completions with and without a name of the set",
            corner="arm",
            columns=("with", "without", "answered"),
            lines=tuple(
                Line(arm, (any_, len(scores) - any_, len(scores)))
                for arm, any_ in found_any.items()
            ),
        )
    is_hit = symbols == (HIT,)
    return Grid(
        "By arm: completions with and without the target" if is_hit else "By arm: what it scored",
        corner="arm",
        columns=("hits", "misses", "answered") if is_hit else (*symbols, "none", "answered"),
        lines=tuple(
            Line(arm, (*(found[symbol] for symbol in (*symbols, None)), len(scores)))
            for arm, found in counts.items()
        ),
    )


def _by_pair(scores: Scores, against: str, design: Design) -> Grid:
    """How often the armed arm scored this, and the other one that, about the same snippet."""
    cells = Counter((each[ARMED], each[against]) for each in scores)
    symbols = (*(design.symbols or (HIT,)), None)
    missed = "missed" if design.symbols == (HIT,) else "none"
    return Grid(
        "By pair: the same snippet, asked both ways",
        corner="",
        columns=tuple(f"{against} {symbol or missed}" for symbol in symbols),
        lines=tuple(
            Line(f"armed {symbol or missed}", tuple(cells[symbol, o] for o in symbols))
            for symbol in symbols
        ),
    )


def _findings(verdict: Verdict) -> list[Finding]:
    """The decisive ones first, then those of the same comparisons.

    Evidence from pairs, taken one by one, is shown where it decides: elsewhere it only confuses.
    """
    tests = by_finding(verdict.design.tests)
    beside = [f for f in verdict.beside if f.against is None or tests[f.test].measure == "p"]
    return [*verdict.decisive, *sorted(beside, key=lambda f: _place(f.against, verdict))]


def _place(against: str | None, verdict: Verdict) -> int:
    """The arms to beat first, in their order."""
    arms = verdict.against
    return arms.index(against) if against in arms else len(arms)


def _rates(verdict: Verdict) -> Iterator[Interval]:
    pairs = {each.against: each for each in _findings(verdict)}
    armed = {each.armed for each in pairs.values()}
    for against, finding in pairs.items():
        # where other pairs failed in each comparison, the armed arm has two rates
        of = f", pairs with {against}" if len(armed) > 1 else ""
        if finding is next(iter(pairs.values())) or of:
            yield _interval(f"armed{of}", finding.armed, is_armed=True)
    for against, finding in pairs.items():
        if against is not None and finding.control is not None:
            yield _interval(against, finding.control)


def _interval(name: str, rate: Rate, *, is_armed: bool = False) -> Interval:
    spread = f"{rate.low * 100:.1f} to {rate.high * 100:.1f} %"
    about = f"{rate.hits:,} of {rate.trials:,}: {rate.rate * 100:.1f} % ({spread})"
    return Interval(name, about, rate.rate, rate.low, rate.high, is_armed)


def _test(finding: Finding, test: StatisticalTest, *, is_decisive: bool) -> Test:
    return Test(
        name=test.findings[finding.test],
        against=finding.against,
        statistic=test.describe(finding),
        log10_p=f"{finding.log10_p:.2f}",
        p=quote_p(finding.log10_p),
        result=_result(finding, test),
        is_decisive=is_decisive,
    )


def quote_p(log10_p: float) -> str:
    """`-600.3 -> "5.0 x 10⁻⁶⁰¹"`: from the logarithm, as the number itself may underflow."""
    return f"{10**log10_p:.4f}" if log10_p > -3 else quote_power(log10_p)


def _result(finding: Finding, test: StatisticalTest) -> str:
    # what a test finds beside its evidence, such as a rank, is a p-value
    is_evidence = test.measure == "e" and finding.test == test.decides
    limit = "e reached 1 / alpha" if is_evidence else "p below alpha"
    if finding.is_shown:
        return limit
    if finding.is_significant:
        return f"{limit}, but the {finding.against} hit more often"
    return "e below 1 / alpha" if is_evidence else "p not below alpha"


def _fixed(verdict: Verdict, pairs: int) -> Iterator[Fact]:
    terms, test = verdict.terms, verdict.terms.test(verdict.design)
    failed = f"{terms.max_failed * 100:g} % failed ones"
    yield Fact("Mode", terms.mode)
    arms = " and ".join(arm for arm in verdict.against if arm is not None)
    compared = f"armed against {arms}" if arms else "armed by itself"
    yield Fact("Decisive test", f"{test.findings[test.decides]}, {compared}")
    if len(verdict.against) > 1:
        yield Fact("To be shown", "armed above each of them; the larger p counts")
    ratio = float(terms.null_ratio(verdict.design))
    if ratio != 1:
        yield Fact("Null ratio", f"{ratio:g} : 1")
    yield Fact("Alpha", f"{terms.alpha:g}")
    yield Fact("Pairs planned", f"{pairs:,}")
    yield Fact("Inconclusive", f"below {terms.min_pairs:,} pairs, or above {failed}")


def _reach(verdict: Verdict) -> str | None:
    if verdict.smallest_effect is None:
        return None
    if not verdict.design.others:
        return (
            f"So many probes show a rate of {verdict.smallest_effect * 100:.1f} % or more with a "
            "probability of 80 %, when nothing but the key explains it."
        )
    return (
        f"So many pairs show an armed hit rate of {verdict.smallest_effect * 100:.1f} % or more "
        "with a probability of 80 %, when the other arm hits as often as here."
    )


def _choose(outcomes: Sequence[Outcome], limit: int) -> list[int]:
    """The earliest probes of every kind of outcome in turn; the commonest kind begins."""
    kinds: dict[frozenset[tuple[str, str | None]], list[int]] = {}
    for number, outcome in enumerate(outcomes):
        kinds.setdefault(frozenset(outcome.scores.items()), []).append(number)
    answered = [numbers for kind, numbers in kinds.items() if kind]
    turns = zip_longest(*sorted(answered, key=len, reverse=True))
    return sorted([n for turn in turns for n in turn if n is not None][:limit])


def _example(number: int, design: Design, probe: Probe, answers: Mapping[str, Answer]) -> Example:
    """Arms that share a prompt and its answer share a panel."""
    panels: dict[tuple[str, Answer | None], dict[str, Arm]] = {}
    for words in design.arms:
        arm = probe.arms[words.name]
        panels.setdefault((arm.prompt, answers.get(words.name)), {})[words.name] = arm
    return Example(
        number, tuple(_panel(design, p, answer, of) for (p, answer), of in panels.items())
    )


def _panel(design: Design, prompt: str, answer: Answer | None, arms: Mapping[str, Arm]) -> Panel:
    text = answer if isinstance(answer, str) else ""
    found = {name: find_hits(text, arm, _role(design, name)) for name, arm in arms.items()}
    places = {each.start: each for hits in reversed(found.values()) for each in hits}
    return Panel(
        title=design.arm(next(iter(arms))).title,
        scored=tuple(_scored(design, name, arm, answer) for name, arm in arms.items()),
        prompt=abridge(prompt),
        completion=excerpt(text, [places[start] for start in sorted(places)]),
        is_empty=answer == "",
        failure=_failure(answer),
    )


def _scored(design: Design, name: str, arm: Arm, answer: Answer | None) -> Scored:
    target, role = " | ".join(arm.targets.values()), _role(design, name)
    if not isinstance(answer, str):
        return Scored(name, target, role, None)
    symbol = arm.score(answer)
    return Scored(name, target, role, symbol is not None, symbol or HIT)


def _role(design: Design, name: str) -> Role:
    return "own" if design.arm(name).has_own_target else "target"


def _legend(design: Design, name: str) -> Legend:
    return Legend(_role(design, name), design.arm(name).legend)


def _failure(answer: Answer | None) -> str | None:
    if answer is None:
        return "the request was not made"
    return legible(answer.reason) if isinstance(answer, Failure) else None


def find_hits(completion: str, arm: Arm, role: Role = "target") -> list[Highlight]:
    """Where an arm hits, in characters."""
    return [Highlight(start, end, role) for start, end in arm.spans(completion)]


def _integrity(run: Run, standing: Mapping[str, Any] | None) -> Iterator[Group]:
    header = run.probes.header
    groups: dict[str, Mapping[str, Any]] = {
        "Probes": {
            "sha256": run.probes.digest,
            "pairs": len(run.probes.probes),
            **header.model_dump(include={"strategy", "seed", "marks"}),
        },
        **({} if run.source is None else {"Source": run.source}),
        "Answers": asdict(run.answers),
        "Model": run.model,
        **dict(_words_of(standing)),
        **({} if run.reference is None else {"Innocent model, asked beside": run.reference}),
        "Settings of the run": run.terms.to_json(),
        "Versions": run.versions,
    }
    for name, fields in groups.items():
        yield Group(name, tuple(Fact(*pair, is_code=True) for pair in _flatten(fields)))


def _words_of(standing: Mapping[str, Any] | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What stands beside the verdict: when it was asked, and what the server said of itself."""
    titles = {
        "said": "What the model's server said of itself (its words)",
        "chain": "When it was asked",
        "commitment": "Commitment",
        "run": "Run",
    }
    for name, title in titles.items():
        if standing is not None and standing.get(name):
            yield title, standing[name]


def _flatten(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield legible(f"{prefix}{name}"), legible(text)


def _commands(folder: Path, *, is_keyed: bool) -> Iterable[Fact]:
    name = shlex.quote(folder.resolve().name)
    secret = " --secret-file SECRET" if is_keyed else ""
    return (
        Fact("The digest of the probe file:", f"sha256sum {name}/probes.jsonl"),
        Fact(
            "Hits, counts, tests and verdict, from the probes and the answers:",
            f"puzzlemark verify --test-only --output {name}{secret}",
        ),
        Fact("This page:", f"puzzlemark report {name}{secret}"),
    )
