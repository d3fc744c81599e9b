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
    prepare_manifest,
)
from puzzlemark.embedding.plan import Order, Plan, Settings, plan
from puzzlemark.embedding.secret import Secret, find_secret
from puzzlemark.embedding.summary import Summary, rewrite, summarise
from puzzlemark.embedding.survey import Progress, no_progress
from puzzlemark.engines.base import make
from puzzlemark.errors import UsageError
from puzzlemark.features.table import DEFAULT
from puzzlemark.provenance import versions
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import Usual, Watermark, from_spec, named, to_settings

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
    policy: Policy = "paper",
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
        *settle(choice.watermark.usual, tau, min_rate, max_rate),
        tuple(features) if features else DEFAULT,
        projection,
        choice.language,
    )
    output = Path(output)
    manifest_path = Path(manifest or output.with_name(f"{output.name}.manifest.jsonl.gz"))
    corpus = open_corpus(
        path,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
        language=language or choice.language,
    )
    if manifest_path.exists() and not overwrite:
        raise UsageError(f"{manifest_path} exists; a manifest is not replaced without --force")
    refuse_output(corpus.layout, corpus.path, output, overwrite=overwrite)
    secret = find_secret(secret_file) if order == "keyed" else None
    with closing(make(workers)) as engine:
        order_key = secret.derive("order") if secret else None
        draw_key = secret.derive("draw") if secret else b""
        planned = plan(
            corpus, settings, engine, order_key=order_key, draw_key=draw_key, progress=progress
        )
    return _write(
        corpus, output, manifest_path, planned, settings, choice.name, secret, overwrite, progress
    )


def settle(
    usual: Usual, tau: float | None, min_rate: float | None, max_rate: float | None
) -> tuple[float, float, float]:
    """What was asked for, else what is usual; a rate that was asked for moves the other one."""
    least = min(usual.min_rate, 1 if max_rate is None else max_rate)
    most = max(usual.max_rate, 0 if min_rate is None else min_rate)
    return (
        usual.tau if tau is None else tau,
        least if min_rate is None else min_rate,
        most if max_rate is None else max_rate,
    )


def _write(
    corpus: Corpus,
    output: Path,
    manifest_path: Path,
    planned: Plan,
    settings: Settings,
    mark_name: str | None,
    secret: Secret | None,
    overwrite: bool,
    progress: Progress,
) -> Summary:
    derived = infer(corpus)
    prepared: list[tuple[Header, Path]] = []

    def prepare(written: Rewritten) -> None:
        # before the output gets its name: marks without their manifest are lost to their owner
        header = _header(corpus, settings, derived, planned, written, secret, mark_name)
        manifest = Manifest(header, planned.lines)
        prepared.append((header, prepare_manifest(manifest, manifest_path)))

    try:
        edits = Edits(planned.lines)
        written = rewrite(corpus, output, edits, derived, prepare, overwrite, progress)
    except BaseException:
        for _, partial in prepared:
            partial.unlink(missing_ok=True)
        raise
    ((header, partial),) = prepared
    partial.replace(manifest_path)
    return summarise("embed", corpus, output, manifest_path, header, written)


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
        versions=versions(),
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
