"""Whole runs, from path to path: embed a watermark, apply a manifest, revert it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

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
    load_manifest,
    prepare_manifest,
)
from puzzlemark.embedding.plan import Order, Plan, Settings, plan
from puzzlemark.embedding.provenance import versions
from puzzlemark.embedding.secret import Secret, find_secret
from puzzlemark.embedding.survey import Progress, no_progress
from puzzlemark.engines.base import make
from puzzlemark.errors import ManifestError, UsageError
from puzzlemark.features.table import DEFAULT
from puzzlemark.snippet import Edit
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import Watermark, from_spec, named, to_settings

DEFAULT_WATERMARK = "universal"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did; the same content as `--json` prints."""

    action: str
    input: str
    output: str
    manifest: str
    records: int
    marked: int
    counts: dict[str, int]  # natural, introduced, unedited marks
    kept: dict[str, int]  # records left as they were, by reason
    recomputed: dict[str, int]  # cells of columns derived from the code
    warnings: tuple[str, ...]
    input_digest: str
    output_digest: str

    @property
    def rate(self) -> float:
        """Marked records among all."""
        return self.marked / self.records if self.records else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {**asdict(self), "rate": self.rate}


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
    tau: float = 0.35,
    min_rate: float = 0.01,
    max_rate: float = 0.05,
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

    Plans the marks, writes the dataset with them, and its manifest beside it (mode 0600).
    """
    choice = choose(mark, watermark)
    settings = Settings(
        choice.watermark,
        policy,
        order,
        tau,
        min_rate,
        max_rate,
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
        planned = plan(corpus, settings, engine, order_key=order_key, progress=progress)
    return _write(
        corpus, output, manifest_path, planned, settings, choice.name, secret, overwrite, progress
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
        written = _rewrite(corpus, output, edits, derived, prepare, overwrite, progress)
    except BaseException:
        for _, partial in prepared:
            partial.unlink(missing_ok=True)
        raise
    ((header, partial),) = prepared
    partial.replace(manifest_path)
    return _summary("embed", corpus, output, manifest_path, header, written)


def apply(
    path: Path | str,
    manifest: Path | str,
    output: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Replay a manifest on the dataset it was made for; any other dataset is refused."""
    return _replay("apply", path, Path(manifest), Path(output), overwrite, progress)


def revert(
    path: Path | str,
    manifest: Path | str,
    output: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Take every mark out of a marked dataset again: each code cell gets its exact bytes back."""
    return _replay("revert", path, Path(manifest), Path(output), overwrite, progress)


def _replay(
    action: Literal["apply", "revert"],
    path: Path | str,
    manifest_path: Path,
    output: Path,
    overwrite: bool,
    progress: Progress,
) -> Summary:
    manifest = load_manifest(manifest_path)
    header = manifest.header
    before, after = header.input, header.output
    if action == "revert":
        before, after = after, before
    corpus = open_corpus(
        path,
        code_column=header.columns["code"],
        id_column=header.columns["id"],
        language_column=header.columns["language"],
        language=header.language,
    )

    def compare(written: Rewritten) -> None:
        if written.input_digest != before.digest:
            raise ManifestError(
                f"{path}: not the dataset that {manifest_path} was made for, or changed since: "
                f"digest {written.input_digest}, expected {before.digest}"
            )
        assert written.output_digest == after.digest, "the replay differs from the plan"

    written = _rewrite(
        corpus,
        output,
        manifest.edits(undo=action == "revert"),
        header.derived,
        compare,
        overwrite,
        progress,
        digests=True,
    )
    return _summary(action, corpus, output, manifest_path, header, written)


def _rewrite(
    corpus: Corpus,
    output: Path,
    edits: Mapping[int, tuple[Edit, ...]],
    derived: Derivations,
    check: Callable[[Rewritten], None],
    overwrite: bool,
    progress: Progress,
    digests: bool = False,
) -> Rewritten:
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress("writing", done, None)

    return corpus.rewrite(
        output,
        edits,
        derived,
        overwrite=overwrite,
        progress=advance,
        check=check,
        digests=digests,
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


def _summary(
    action: str,
    corpus: Corpus,
    output: Path,
    manifest_path: Path,
    header: Header,
    written: Rewritten,
) -> Summary:
    before, after = header.input.digest, header.output.digest
    if action == "revert":
        before, after = after, before
    return Summary(
        action,
        str(corpus.path),
        str(output),
        str(manifest_path),
        written.records,
        header.counts["marked"],
        header.counts,
        header.kept,
        dict(written.recomputed),
        tuple(_warnings(written)),
        before,
        after,
    )


def _warnings(written: Rewritten) -> Iterator[str]:
    for stale in written.stale:
        yield f"column {stale.column!r}: {stale.reason} ({stale.records:,} marked records)"
    if written.ignored:
        yield f"{written.ignored:,} other files in the input folder were not copied"
