"""A whole run of `attack`, from path to path: plan what becomes of each record, write it."""

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from puzzlemark.attacks.base import Attack, Costly, Given, Input, Plan, load_attack
from puzzlemark.corpora.base import Corpus, Rewritten, infer, open_corpus
from puzzlemark.corpora.records import Rows
from puzzlemark.corpora.writing import refuse_output
from puzzlemark.detectors._run import FOUND, facts_of_inputs, make_cache, read_suspicion
from puzzlemark.detectors.base import Suspicion
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.languages.base import parsing_packages
from puzzlemark.models.base import Estimate, ModelError
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.resuming import Work, resumable
from puzzlemark.staging import staged
from puzzlemark.stores import Location, local_path, locate, locate_output, stamp_of

OPTIONS: Mapping[Input, str] = {
    "suspicion": "--suspicion",
    "others": "--other",
    "clean": "--clean",
}


@dataclass(frozen=True, slots=True)
class Attacked:
    """What an attack did; the same content as `--json` prints."""

    input: str
    output: str
    attack: str
    settings: dict[str, Any]
    records: int  # of the input
    written: int  # of the output
    dropped: int
    changed: int
    added: int
    counts: dict[str, int]  # what was done, in words
    spared: dict[str, int]  # records left as they were, or not changed in all places, by reason
    recomputed: dict[str, int]  # cells of columns derived from the code
    warnings: tuple[str, ...]
    input_digest: str
    output_digest: str
    kept_rows: Rows = field(repr=False)  # of the input, in the order of the output
    changed_rows: Rows = field(repr=False)  # of the input, among those that are kept

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        names = (name for name in self.__slots__ if not name.endswith("_rows"))
        return {name: getattr(self, name) for name in names}


def attack(
    path: Location | str,
    output: Location | str,
    *,
    attack: str | Attack,
    settings: Mapping[str, Any] | None = None,
    suspicion: Location | str | None = None,
    others: Sequence[Location | str] = (),
    clean: Location | str | None = None,
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    split: str | None = None,
    cache: Path | str | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Attacked:
    """Attack a dataset: `attack("marked.jsonl.gz", "left.jsonl.gz", attack="rename:scope=all")`.

    A run that is interrupted goes on when it is called again: what it found waits in a hidden
    folder beside the output, or in `cache`, which stays when all is done.
    """
    chosen = load_attack(attack, settings) if isinstance(attack, str) else attack
    output = locate_output(output)
    columns = {
        "code_column": code_column,
        "id_column": id_column,
        "language_column": language_column,
        "split": split,
        "language": language,
    }
    refuse_inputs(chosen, suspicion=suspicion, others=others or None, clean=clean)
    corpus = open_corpus(path, **columns)
    beside = tuple(open_corpus(each, **columns) for each in others)
    reference = None if clean is None else open_corpus(clean, **columns)
    root = None if cache is None else local_path(cache, "the cache")
    refuse_output(corpus.layout, corpus.path, output)
    keep_apart(
        {"--output": output, "--cache": root},
        {
            "INPUT": corpus.paths,
            "--suspicion": suspicion,
            "--other": [each for other in beside for each in other.paths],
            "--clean": None if reference is None else reference.paths,
        },
    )
    further = {f"--other {number}": each for number, each in enumerate(beside, 1)}
    if reference is not None:
        further["--clean"] = reference
    with open_engine(engine, workers) as opened:
        with (
            staged(output, overwrite=overwrite) as place,
            resumable(
                output, _facts(chosen, corpus, further, suspicion), spared=(ModelError,)
            ) as work,
        ):
            digest = corpus.digest(opened, work=work)
            claim = None if suspicion is None else _claim(suspicion, digest, corpus.path)
            folder = work.folder / FOUND
            if root is not None:
                named = further.items()
                digests = [each.digest(opened, work=work, name=name) for name, each in named]
                folder = root / f"{chosen.name}-{_key(chosen, [digest, *digests])}"
            make_cache(folder)
            plan = chosen.plan(corpus, Given(opened, progress, folder, claim, beside, reference))
            written = _write(corpus, place, plan, opened, progress, work)
        output_digest = open_corpus(output, **columns).digest(opened)
    return _summarise(corpus, output, chosen, plan, written, (digest, output_digest))


def attack_cost(
    path: Location | str,
    *,
    attack: str | Attack,
    settings: Mapping[str, Any] | None = None,
    suspicion: Location | str | None = None,
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    split: str | None = None,
) -> Estimate:
    """Calls and tokens of an attack that asks a model; nothing is asked, nothing is written."""
    chosen = load_attack(attack, settings) if isinstance(attack, str) else attack
    if not isinstance(chosen, Costly):
        raise UsageError(f"{chosen.name} asks no model, so there is no cost to be estimated")
    refuse_inputs(chosen, suspicion=suspicion, others=None, clean=None)
    corpus = open_corpus(
        path,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
        language=language,
        split=split,
    )
    with open_engine() as opened, tempfile.TemporaryDirectory() as folder:
        claim = None if suspicion is None else _claim(suspicion, corpus.digest(opened), corpus.path)
        return chosen.estimate(corpus, Given(opened, no_progress, Path(folder), claim))


def refuse_inputs(attack: Attack, **given: object | None) -> None:
    """Raise when an attack lacks what it needs, or is given what it would ignore."""
    for name, option in OPTIONS.items():
        if name in attack.needs and given[name] is None:
            raise UsageError(f"{attack.name} needs {option} as it is set; pass it")
        if name not in attack.takes | attack.needs and given[name] is not None:
            raise UsageError(f"{attack.name} makes no use of {option} as it is set; leave it out")


def _claim(path: Location | str, digest: str, dataset: Location) -> Suspicion:
    suspicion, about = read_suspicion(path)
    if about != digest:
        raise UsageError(
            f"{locate(path)}: the suspicion is about another dataset than {dataset}; run "
            "`puzzlemark detect` on this one"
        )
    return suspicion


def _facts(
    attack: Attack,
    corpus: Corpus,
    further: Mapping[str, Corpus],
    suspicion: Location | str | None,
) -> dict[str, Any]:
    """All that decides what the attack does, to tell an interrupted run from another one."""
    facts = facts_of_inputs(corpus, further)
    if suspicion is not None:
        facts["input"]["--suspicion"] = stamp_of(locate(suspicion))
    return {"attack": attack.name, "settings": _settings(attack), **facts}


def _key(attack: Attack, digests: Sequence[str]) -> str:
    """What tells the folder of one combination from that of another in a cache."""
    facts = (attack.name, _settings(attack), digests, versions(*parsing_packages(), "numpy"))
    return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _settings(attack: Attack) -> dict[str, Any]:
    return asdict(attack)  # type: ignore[call-overload, no-any-return]


def _write(
    corpus: Corpus, place: Location, plan: Plan, engine: Engine, progress: Progress, work: Work
) -> Rewritten:
    if plan.rows is not None and not len(plan.rows) and plan.added is None:
        raise CorpusError(f"{corpus.path}: the attack leaves no record of it; nothing is written")
    return corpus.write(
        place,
        plan.changes,
        infer(corpus) if len(plan.changes) else {},
        rows=plan.rows,
        append=plan.added,
        engine=engine,
        progress=_counting(progress),
        work=work,
    )


def _counting(progress: Progress) -> Callable[[int], None]:
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress("writing", done, None)

    return advance


def _summarise(
    corpus: Corpus,
    output: Location,
    attack: Attack,
    plan: Plan,
    written: Rewritten,
    digests: tuple[str, str],
) -> Attacked:
    records = corpus.count()
    kept = np.arange(records, dtype=np.int64) if plan.rows is None else plan.rows
    changed = np.intersect1d(np.fromiter(plan.changes, np.int64, len(plan.changes)), kept)
    return Attacked(
        input=str(corpus.path),
        output=str(output),
        attack=attack.name,
        settings=_settings(attack),
        records=records,
        written=written.records,
        dropped=records - len(kept),
        changed=len(changed),
        added=written.records - len(kept),
        counts=dict(plan.counts),
        spared=dict(Counter(plan.spared).most_common()),
        recomputed=dict(written.recomputed),
        warnings=tuple(_warnings(written)),
        input_digest=digests[0],
        output_digest=digests[1],
        kept_rows=kept,
        changed_rows=changed,
    )


def _warnings(written: Rewritten) -> Iterator[str]:
    for stale in written.stale:
        yield f"column {stale.column!r}: {stale.reason} ({stale.records:,} changed records)"
    if written.left:
        yield (
            f"{len(written.left):,} files of other splits were copied as they are, such as "
            f"{written.left[0]}; --split all takes them, too"
        )
    if written.ignored:
        yield f"{written.ignored:,} other files in the input folder were not copied"
