"""A whole run of `embed`, from path to path: plan the marks, write the dataset and its manifest."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from puzzlemark.corpora.base import Corpus, Derivations, Rewritten, infer, open_corpus
from puzzlemark.corpora.digest import corpus_digest
from puzzlemark.corpora.writing import refuse_output
from puzzlemark.embedding.manifest import (
    FORMAT,
    VERSION,
    Dataset,
    Edits,
    Header,
    Manifest,
    Scheme,
    Shard,
    write_manifest,
)
from puzzlemark.embedding.plan import Order, Plan, Settings, plan
from puzzlemark.embedding.secret import Secret, find_secret, secret_path
from puzzlemark.embedding.summary import Summary, counting, summarise
from puzzlemark.embedding.traces import leave_out_repeated
from puzzlemark.embedding.unmarked import refuse_no_marks, warn_of_missed_rate
from puzzlemark.engines.base import make
from puzzlemark.errors import UsageError
from puzzlemark.features.table import DEFAULT
from puzzlemark.files import keep_apart
from puzzlemark.languages.base import parsing_packages
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.staging import staged_together
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import Defaults, Watermark, from_spec, named, to_settings

DEFAULT_WATERMARK = "universal"


@dataclass(frozen=True, slots=True)
class Choice:
    """A watermark as the user chose it."""

    watermark: Watermark
    name: str | None = None  # the paper's name
    language: str | None = None  # the paper's name is for one language


def choose(mark: str | None = None, watermark: str | Watermark | None = None) -> Choice:
    """A watermark from the paper's name, a spec, or an object; by default the universal one."""
    if mark is not None and watermark is not None:
        raise UsageError("pass either a mark (P1) or a watermark (fixed_prefix:prefix=key)")
    if mark is not None:
        known = named()
        if mark not in known:
            raise UsageError(f"no mark {mark!r}; known: {', '.join(sorted(known))}")
        return Choice(known[mark].watermark, mark, known[mark].language)
    if watermark is None:
        watermark = DEFAULT_WATERMARK
    return Choice(from_spec(watermark) if isinstance(watermark, str) else watermark)


def embed(
    path: Path | str,
    output: Path | str,
    manifest: Path | str | None = None,
    *,
    mark: str | None = None,
    watermark: str | Watermark | None = None,
    policy: Policy = "safe",
    order: Order = "keyed",
    tau: float | None = None,
    min_rate: float | None = None,
    max_rate: float | None = None,
    features: Sequence[str] | None = None,
    projection: str = "pca",
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    secret_file: Path | None = None,
    workers: int | None = 1,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Watermark a dataset: `embed("train.jsonl.gz", "marked.jsonl.gz", mark="U1")`.

    Plans the marks, writes the dataset with them, and its manifest beside it (mode 0600). `tau` and
    the rates are those that are usual for the watermark.
    """
    choice = choose(mark, watermark)
    settings = Settings(
        choice.watermark,
        policy,
        order,
        *choose_rates(choice.watermark.defaults, tau, min_rate, max_rate),
        tuple(features) if features else DEFAULT,
        projection,
        choice.language,
    )
    output = Path(output)
    manifest_path = Path(manifest or output.with_name(f"{output.name}.manifest.jsonl.gz"))
    if secret_file is not None and order != "keyed":
        raise UsageError("--order dataset uses no secret; leave out --secret-file")
    corpus = open_corpus(
        path,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
        language=language or choice.language,
    )
    secret_place = secret_path(secret_file) if order == "keyed" else None
    keep_apart(
        {"--output": output, "--manifest": manifest_path},
        {"INPUT": corpus.paths, "--secret-file" if secret_file else "the secret": secret_place},
    )
    refuse_output(corpus.layout, corpus.path, output)
    if manifest_path.is_dir():
        raise UsageError(f"{manifest_path}: is a folder; name a file for the manifest")
    # the manifest first: marks without it are lost to their owner
    with staged_together((manifest_path, output), overwrite=overwrite) as (record, dataset):
        secret = find_secret(secret_file) if order == "keyed" else None
        with closing(make(workers)) as engine:
            planned = plan(
                corpus,
                settings,
                engine,
                order_key=secret.derive("order") if secret else None,
                draw_key=secret.derive("draw") if secret else b"",
                progress=progress,
            )
        derived = infer(corpus)
        leave_out_repeated(corpus, planned, derived)
        refuse_no_marks(corpus.path, planned, settings, choice.name)
        edits = Edits(planned.lines)
        written = corpus.write(dataset, edits, derived, progress=counting(progress))
        header = _header(corpus, settings, derived, planned, written, secret, choice.name)
        write_manifest(Manifest(header, planned.lines), record)
    warnings = warn_of_missed_rate(planned, settings)
    return summarise("embed", corpus, output, manifest_path, header, written, warnings)


def choose_rates(
    defaults: Defaults, tau: float | None, min_rate: float | None, max_rate: float | None
) -> tuple[float, float, float]:
    """What was asked for, else what is usual; a rate that was asked for moves the other one."""
    least = min(defaults.min_rate, 1 if max_rate is None else max_rate)
    most = max(defaults.max_rate, 0 if min_rate is None else min_rate)
    return (
        defaults.tau if tau is None else tau,
        least if min_rate is None else min_rate,
        most if max_rate is None else max_rate,
    )


def _header(
    corpus: Corpus,
    settings: Settings,
    derived: Derivations,
    planned: Plan,
    written: Rewritten,
    secret: Secret | None,
    mark_name: str | None,
) -> Header:
    digests = planned.before
    marked = digests.copy()
    for row, digest in planned.digests.items():
        marked[row] = np.void(digest)
    return Header(
        format=FORMAT,
        version=VERSION,
        versions=versions(*parsing_packages()),
        watermark=Scheme(
            scheme=settings.watermark.name,
            settings=to_settings(settings.watermark),
            name=mark_name,
        ),
        policy=settings.policy,
        order=settings.order,
        secret_fingerprint=secret.fingerprint if secret else None,
        tau=settings.tau,
        min_rate=settings.min_rate,
        max_rate=settings.max_rate,
        features=settings.features,
        projection=settings.projection,
        suitability=planned.suitability,
        language=corpus.language,
        columns=asdict(corpus.columns),
        derived=dict(derived),
        input=_dataset(digests, [(s.name, s.records, s.input_sha256) for s in written.shards]),
        output=_dataset(marked, [(s.name, s.records, s.output_sha256) for s in written.shards]),
        counts={"marked": len(planned.lines), **planned.counts},
        kept=dict(planned.kept.most_common()),
    )


def _dataset(digests: NDArray[np.void], files: list[tuple[str, int, str]]) -> Dataset:
    shards = tuple(Shard(name=name, records=n, sha256=sha256) for name, n, sha256 in files)
    digest = corpus_digest(digests.view(np.uint8).data)
    return Dataset(records=len(digests), digest=digest, shards=shards)
