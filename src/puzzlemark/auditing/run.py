"""An audit: compare a dataset with its marked version, and ask every check."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from puzzlemark import plugins
from puzzlemark.auditing.checks.base import Evidence, Observation, Pair, Setting, Tally, View
from puzzlemark.auditing.json_style import find_habits
from puzzlemark.auditing.pairs import compare_shards
from puzzlemark.corpora.base import Corpus, infer, open_corpus
from puzzlemark.corpora.fetching import brought_here
from puzzlemark.embedding.manifest import Manifest, load_manifest
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.progress import Progress, no_progress
from puzzlemark.statistics.exact import holm
from puzzlemark.stores import Location, locate

ALPHA = 0.01  # the chance that an audit of an innocent dataset names anything by accident
PACKAGE = "auditing.checks"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says."""

    check: str
    view: View
    outcome: Literal["ok", "tells", "not applicable"]
    sentence: str
    numbers: dict[str, Any] = field(default_factory=dict)
    log10_p: float | None = None  # of an exact test, before the correction
    adjusted_log10_p: float | None = None  # corrected for all tests of the audit (Holm)


@dataclass(frozen=True, slots=True)
class Audit:
    """All findings; the same content as `--json` prints."""

    original: str
    marked: str
    manifest: str | None
    records: int
    carriers: int
    alpha: float
    findings: tuple[Finding, ...]

    @property
    def telling(self) -> tuple[Finding, ...]:
        """The findings by which carriers can be found."""
        return tuple(finding for finding in self.findings if finding.outcome == "tells")

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {**asdict(self), "tells": [finding.check for finding in self.telling]}


def audit(
    original: Location | str,
    marked: Location | str,
    manifest: Path | str | None = None,
    *,
    alpha: float = ALPHA,
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Try to find the carriers by everything but the code: `audit("a.jsonl", "marked.jsonl")`.

    Carriers are the manifest's; without one, the records whose code differs. A dataset in a store
    is fetched for it, since all of its bytes are looked at.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, not {alpha}")
    patch = load_manifest(manifest) if manifest is not None else None
    if patch is not None:
        columns = patch.header.columns
        code_column, id_column, language_column = (columns[k] for k in ("code", "id", "language"))
        language = patch.header.language
    with brought_here(original) as old, brought_here(marked) as new:
        before, after = (
            open_corpus(
                path,
                code_column=code_column,
                id_column=id_column,
                language_column=language_column,
                language=language or "unknown",
                names=None if patch is None else [each.name for each in patch.header.input.shards],
            )
            for path in (old, new)
        )
        evidence = _compare(before, after, patch, progress)
        findings = tuple(_decide(_ask(evidence, progress), alpha))
    return Audit(
        str(locate(original)),
        str(locate(marked)),
        None if manifest is None else str(manifest),
        len(evidence.carriers),
        int(np.count_nonzero(evidence.carriers)),
        alpha,
        findings,
    )


def _compare(
    original: Corpus, marked: Corpus, manifest: Manifest | None, progress: Progress
) -> Evidence:
    """One pass over both datasets: which rows are carriers, and what the checks of records say."""
    if len(original.shards) != len(marked.shards):
        raise CorpusError(
            f"{marked.path}: {len(marked.shards)} files, but {original.path} has "
            f"{len(original.shards)}; pass a dataset and its marked version"
        )
    setting = Setting(
        original.columns,
        infer(original),
        None if manifest is None else original.reviser(manifest.edits(), {}).changes,
        find_habits(original),
    )
    looks = {name: check.look for name, check in _checks().items() if hasattr(check, "look")}
    tallies = {name: Tally() for name in looks}
    differing: list[int] = []
    starts, moved, compared = [0], 0, 0
    for at in range(len(marked.shards)):
        _require_same_format(original, marked, at)
        row = starts[-1]
        for some in compare_shards(original, marked, at, row):
            row += some.records
            moved += some.moved_lines
            compared += len(some.pairs)
            for pair in some.pairs:
                field = setting.columns.field
                is_changed = pair.before.get(field) != pair.after.get(field)
                differing += [pair.row] * is_changed
                _tally(looks, tallies, pair, setting, is_changed)
            progress("comparing", row, None)
        starts.append(row)
    carriers = np.zeros(starts[-1], dtype=np.bool_)
    rows = differing if manifest is None else _rows(manifest, starts[-1], marked)
    carriers[rows] = True
    return Evidence(original, marked, setting, carriers, starts, moved, compared, tallies)


def _tally(
    looks: dict[str, Callable[[Pair, Setting], str | None]],
    tallies: dict[str, Tally],
    pair: Pair,
    setting: Setting,
    is_changed: bool,
) -> None:
    is_carrier = is_changed if setting.edits is None else bool(setting.edits.get(pair.row))
    for name, look in looks.items():
        problem = look(pair, setting)
        if problem is not None:
            tally = tallies[name]
            tally.problems[problem] += 1
            tally.carriers[problem] += is_carrier
            tally.examples.setdefault(problem, pair.where)


def _rows(manifest: Manifest, records: int, marked: Corpus) -> list[int]:
    rows = [carrier.row for carrier in manifest if carrier.edits]
    if marked.columns.inner is not None:
        rows = marked.owners(np.asarray(rows, np.int64)).tolist()
        records = marked.count()
    if manifest.header.output.records != records:
        raise CorpusError(
            f"{marked.path}: {records:,} records, but the manifest is of "
            f"{manifest.header.output.records:,}; pass the manifest of this dataset"
        )
    return rows


def _require_same_format(original: Corpus, marked: Corpus, at: int) -> None:
    old, new = original.shards[at], marked.shards[at]
    if old.format != new.format:
        raise UsageError(
            f"{new.path} is {new.format}, but {old.path} is {old.format}; pass one format"
        )


def _checks() -> dict[str, Any]:
    """The checks by name; one of another package that checks nothing is left out."""
    found = dict(plugins.every(PACKAGE))
    for name in [each for each, check in found.items() if not _checks_something(check)]:
        owner = plugins.distribution(PACKAGE, name)
        plugins.warn(f"check {name!r} of {owner} cannot be used: it has neither look nor inspect")
        del found[name]
    return found


def _checks_something(check: object) -> bool:
    return hasattr(check, "look") or hasattr(check, "inspect")


def _ask(evidence: Evidence, progress: Progress) -> Iterator[Finding]:
    checks = _checks()
    for nth, (name, check) in enumerate(checks.items()):
        progress("checking", nth, len(checks))
        seen = (
            [_conclude(evidence.tallies[name], check.ABOUT, evidence)]
            if hasattr(check, "look")
            else check.inspect(evidence)
        )
        for observation in seen:
            yield _finding(name, check.VIEW, observation)
    progress("checking", len(checks), len(checks))


def _finding(name: str, view: View, seen: Observation) -> Finding:
    return Finding(name, view, seen.outcome, seen.sentence, dict(seen.numbers), seen.log10_p)


def _conclude(tally: Tally, about: str, evidence: Evidence) -> Observation:
    if not tally.problems:
        sentence = f"{about}: nothing among the {evidence.compared:,} records that differ"
        return Observation("ok", sentence, {"compared": evidence.compared})
    message = "; ".join(
        f"{problem} ({count:,} records, {tally.carriers[problem]:,} of them carriers, "
        f"first {tally.examples[problem]})"
        for problem, count in tally.problems.most_common()
    )
    numbers = {
        "records": sum(tally.problems.values()),
        "carriers": sum(tally.carriers.values()),
        "problems": dict(tally.problems),
    }
    return Observation("tells", f"{about}: {message}", numbers)


def _decide(findings: Iterator[Finding], alpha: float) -> Iterator[Finding]:
    """Correct the exact tests for being several; one that is still significant tells."""
    found = list(findings)
    tested = [at for at, finding in enumerate(found) if finding.log10_p is not None]
    adjusted = holm([found[at].log10_p or 0.0 for at in tested])
    for at, log10_p in zip(tested, adjusted, strict=True):
        outcome = "tells" if log10_p < np.log10(alpha) else found[at].outcome
        found[at] = replace(found[at], outcome=outcome, adjusted_log10_p=log10_p)
    yield from found
