"""Whole runs, from path to path: `embed`, and its manifest as a patch in `apply` and `revert`."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

from puzzlemark import plugins
from puzzlemark.corpora.base import Corpus, Derivations, Rewritten, infer, open_corpus
from puzzlemark.corpora.records import corpus_digest
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
    write_manifest,
)
from puzzlemark.embedding.plan import Order, Plan, Settings, plan
from puzzlemark.embedding.scores import Scores, load_scores
from puzzlemark.embedding.secret import Secret, bind_key, find_secret, secret_path
from puzzlemark.embedding.survey import open_input
from puzzlemark.embedding.unmarked import (
    leave_out_repeated,
    refuse_no_marks,
    warn_of_few,
    warn_of_missed_rate,
)
from puzzlemark.engines.base import Engine, open_engine
from puzzlemark.errors import ManifestError, UsageError
from puzzlemark.features.measure import DEFAULT
from puzzlemark.files import keep_apart
from puzzlemark.languages.base import parsing_packages
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.staging import staged_together
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import (
    Counting,
    Defaults,
    Keyed,
    Watermark,
    find_preset,
    from_settings,
    from_spec,
    to_settings,
)

Action = Literal["embed", "apply", "revert"]


DEFAULT_WATERMARK = "universal"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did; the same content as `--json` prints."""

    action: Action
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
    # of a dataset in several languages: {"go": {"records": 800, "marked": 40}}
    languages: dict[str, dict[str, int]] = field(default_factory=dict)

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
    language: str | None = None  # that of the paper's name, for records that do not say theirs
    bound: bool = False  # marks records in that language only


def choose(mark: str | None = None, watermark: str | Watermark | None = None) -> Choice:
    """A watermark from the paper's name, a spec, or an object; by default the universal one."""
    if mark is not None and watermark is not None:
        raise UsageError("pass either a mark (P1) or a watermark (fixed_prefix:prefix=key)")
    if mark is not None:
        name, preset = find_preset(mark)
        return Choice(preset.watermark, name, preset.language, preset.bound)
    if watermark is None:
        watermark = DEFAULT_WATERMARK
    return Choice(from_spec(watermark) if isinstance(watermark, str) else watermark)


def embed(
    path: Path | str | Corpus,
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
    marks_per_record: int = 1,
    features: Sequence[str] | Path | None = None,
    projection: str = "pca",
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    secret_file: Path | None = None,
    beacon: Path | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Watermark a dataset: `embed("train.jsonl.gz", "marked.jsonl.gz", mark="U1")`.

    Plans the marks, writes the dataset with them, and its manifest beside it (mode 0600). `tau` and
    the rates are those that are usual for the watermark. `features` names what suitability is made
    of, or is the file that `score` wrote of this dataset: then nothing is measured again. `beacon`
    is a public file that is younger than the secret: see `with_beacon`.
    """
    choice = choose(mark, watermark)
    if beacon is not None:
        choice = replace(choice, watermark=with_beacon(choice.watermark, beacon))
    scores = load_scores(features) if _is_file(features) else None
    settings = Settings(
        choice.watermark,
        policy,
        order,
        *choose_rates(choice.watermark.defaults, tau, min_rate, max_rate),
        _feature_names(features) if scores is None else scores.features,
        projection,
        choice.language if choice.bound else None,
        marks_per_record,
    )
    output = Path(output)
    manifest_path = Path(manifest or output.with_name(f"{output.name}.manifest.jsonl.gz"))
    takes_secret = order == "keyed" or isinstance(choice.watermark, Keyed)
    if secret_file is not None and not takes_secret:
        raise UsageError("--order dataset uses no secret; leave out --secret-file")
    corpus = open_input(
        path,
        language=language,
        default_language=choice.language,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
    )
    keep_apart(
        {"--output": output, "--manifest": manifest_path},
        {
            "INPUT": corpus.paths,
            "--features": None if scores is None else scores.path,
            "--beacon": beacon,
            "--secret-file" if secret_file else "the secret": (
                secret_path(secret_file) if takes_secret else None
            ),
        },
    )
    refuse_output(corpus.layout, corpus.path, output)
    if manifest_path.is_dir():
        raise UsageError(f"{manifest_path}: is a folder; name a file for the manifest")
    if scores is not None:
        scores.refuse_other(corpus)
    if isinstance(choice.watermark, Counting):
        corpus = corpus.with_projects(choice.watermark.project)
    # the manifest first: marks without it are lost to their owner
    with staged_together((manifest_path, output), overwrite=overwrite) as (record, dataset):
        secret = find_secret(secret_file) if takes_secret else None
        with open_engine(engine, workers) as opened:
            done = mark_into(
                dataset,
                record,
                corpus,
                settings,
                secret,
                opened,
                scores=scores,
                name=choice.name,
                progress=progress,
            )
    return done.summary(corpus, output, manifest_path)


@dataclass(frozen=True, slots=True)
class Done:
    """A dataset that was marked, wherever it was written."""

    manifest: Manifest
    written: Rewritten
    warnings: tuple[str, ...]

    def summary(self, corpus: Corpus, output: Path, manifest: Path) -> Summary:
        """What was done, with the paths as the user calls them."""
        header = self.manifest.header
        return summarise("embed", corpus, output, manifest, header, self.written, self.warnings)


def mark_into(
    dataset: Path,
    record: Path,
    corpus: Corpus,
    settings: Settings,
    secret: Secret | None,
    engine: Engine,
    *,
    scores: Scores | None = None,
    name: str | None = None,
    skipped: Collection[int] = (),
    progress: Progress = no_progress,
) -> Done:
    """Plan the marks, write the dataset with them and its manifest, at two places that are free.

    `skipped` rows carry another watermark's marks already, and get none of this one.
    """
    planned = _plan(corpus, settings, secret, scores, engine, progress, skipped)
    derived = infer(corpus)
    leave_out_repeated(corpus, planned, derived)
    refuse_no_marks(corpus.path, planned, settings, name)
    written = corpus.write(
        dataset, Edits(planned.lines), derived, engine=engine, progress=counting(progress)
    )
    header = _header(corpus, settings, derived, planned, written, secret, name)
    manifest = Manifest(header, planned.lines)
    write_manifest(manifest, record)
    warnings = (*warn_of_missed_rate(planned, settings), *warn_of_few(planned, settings))
    return Done(manifest, written, warnings)


def with_beacon(watermark: Watermark, beacon: Path) -> Watermark:
    """A keyed watermark whose draws follow from a public file, too, by its SHA-256.

    Published after the owner committed to his secret, it shows that not even he could look for a
    key that suits a model.
    """
    if "beacon" not in plugins.fields(type(watermark)):
        raise UsageError(f"{watermark.name} draws nothing by a key; leave out --beacon")
    try:
        digest = hashlib.sha256(beacon.read_bytes()).hexdigest()
    except OSError as exc:
        raise UsageError(f"{beacon}: cannot read the beacon: {exc.strerror}") from exc
    return from_settings(watermark.name, {**to_settings(watermark), "beacon": digest})


def _is_file(features: Sequence[str] | Path | None) -> TypeGuard[Path | str]:
    return isinstance(features, Path) or (
        isinstance(features, str) and features.lower().endswith(".parquet")
    )


def _feature_names(features: Sequence[str] | Path | None) -> tuple[str, ...]:
    """`"cc,nloc" -> ("cc", "nloc")`, as `("cc", "nloc")` itself; None: the paper's."""
    if not features:
        return DEFAULT
    assert not isinstance(features, Path), "read as a file"
    return tuple(features.split(",") if isinstance(features, str) else features)


def _plan(
    corpus: Corpus,
    settings: Settings,
    secret: Secret | None,
    scores: Scores | None,
    engine: Engine,
    progress: Progress,
    skipped: Collection[int],
) -> Plan:
    """Plan with the keys that come from the secret; none of them leaves this function."""
    watermark = settings.watermark if secret is None else bind_key(settings.watermark, secret)[0]
    keyed = secret if settings.order == "keyed" else None
    planned = plan(
        corpus,
        replace(settings, watermark=watermark),
        engine,
        order_key=keyed.derive("order") if keyed else None,
        draw_key=keyed.derive("draw") if keyed else b"",
        measured=scores.measured if scores else None,
        skipped=skipped,
        progress=progress,
    )
    if scores is not None:
        scores.refuse_changed(corpus.path, corpus_digest(planned.before.view(np.uint8).data))
    return planned


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
        key_fingerprint=bind_key(settings.watermark, secret)[1] if secret else None,
        priors=planned.priors,
        tau=settings.tau,
        min_rate=settings.min_rate,
        max_rate=settings.max_rate,
        marks_per_record=settings.marks_per_record,
        features=settings.features,
        projection=settings.projection,
        suitability=planned.suitability,
        language=corpus.language,
        columns=corpus.columns.to_json(),
        derived=dict(derived),
        input=_dataset(digests, [(s.name, s.records, s.input_sha256) for s in written.shards]),
        output=_dataset(marked, [(s.name, s.records, s.output_sha256) for s in written.shards]),
        counts={
            "marked": len(planned.lines),
            **planned.counts,
            **({} if planned.eligible is None else {"eligible": planned.eligible}),
        },
        kept=dict(planned.kept.most_common()),
        languages=planned.languages or None,
    )


def _dataset(digests: NDArray[np.void], files: list[tuple[str, int, str]]) -> Dataset:
    shards = tuple(Shard(name=name, records=n, sha256=sha256) for name, n, sha256 in files)
    digest = corpus_digest(digests.view(np.uint8).data)
    return Dataset(records=len(digests), digest=digest, shards=shards)


def apply(
    path: Path | str,
    output: Path | str,
    manifest: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Replay a manifest on the dataset it was made for; any other dataset is refused."""
    return _replay("apply", path, Path(output), Path(manifest), overwrite, progress)


def revert(
    path: Path | str,
    output: Path | str,
    manifest: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Take every mark out of a marked dataset again: each code cell gets its exact bytes back."""
    return _replay("revert", path, Path(output), Path(manifest), overwrite, progress)


def _replay(
    action: Literal["apply", "revert"],
    path: Path | str,
    output: Path,
    manifest_path: Path,
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

    keep_apart({"--output": output}, {"INPUT": corpus.paths, "--manifest": manifest_path})
    written = corpus.rewrite(
        output,
        manifest.edits(undo=action == "revert"),
        header.derived,
        overwrite=overwrite,
        progress=counting(progress),
        check=compare,
        digests=True,
    )
    return summarise(action, corpus, output, manifest_path, header, written)


def counting(progress: Progress) -> Callable[[int], None]:
    """Progress of writing, told by how many more records are written."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress("writing", done, None)

    return advance


def summarise(
    action: Action,
    corpus: Corpus,
    output: Path,
    manifest_path: Path,
    header: Header,
    written: Rewritten,
    warnings: Sequence[str] = (),
) -> Summary:
    """A summary, from the manifest's header and what was written."""
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
        (*warnings, *_warnings(written)),
        before,
        after,
        header.languages or {},
    )


def _warnings(written: Rewritten) -> Iterator[str]:
    for stale in written.stale:
        yield f"column {stale.column!r}: {stale.reason} ({stale.records:,} marked records)"
    if written.ignored:
        yield f"{written.ignored:,} other files in the input folder were not copied"
