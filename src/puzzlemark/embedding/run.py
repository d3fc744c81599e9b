"""Whole runs, from path to path: `embed`, and its manifest as a patch in `apply` and `revert`."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeGuard

import numpy as np

from puzzlemark import plugins
from puzzlemark.corpora.base import Corpus, Derivations, Rewritten, infer
from puzzlemark.corpora.records import corpus_digest
from puzzlemark.corpora.writing import refuse_output
from puzzlemark.embedding.columns import Column, Lines, pieces
from puzzlemark.embedding.manifest import (
    FORMAT,
    VERSION,
    Dataset,
    Edits,
    Header,
    Manifest,
    Scheme,
    Shard,
    is_manifest,
    load_manifest,
    write_manifest,
)
from puzzlemark.embedding.plan import Order, Plan, Settings, plan
from puzzlemark.embedding.scores import Scores, load_scores
from puzzlemark.embedding.secret import (
    Secret,
    bind_key,
    find_secret,
    secret_path,
    spell_licensee,
)
from puzzlemark.embedding.survey import open_input, reopen
from puzzlemark.embedding.unmarked import (
    leave_out_repeated,
    refuse_no_marks,
    warn_of_assumed_language,
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
from puzzlemark.resuming import Work, resumable
from puzzlemark.staging import staged_together
from puzzlemark.stores import Location, Url, local_path, locate_output
from puzzlemark.syntax.variables import Policy
from puzzlemark.watermarks.base import (
    Counting,
    Defaults,
    Keyed,
    Watermark,
    find_mark,
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
    # where records hold several snippets, `records` counts these, and this the records
    within: int | None = None

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
    """A watermark from the paper's name or a spec, or an object; by default the universal one."""
    if mark is not None and watermark is not None:
        raise UsageError("pass either a mark (P1) or a watermark (fixed_prefix:prefix=key)")
    if mark is not None:
        found = find_mark(mark)
        if not isinstance(found, tuple):
            return Choice(found)
        name, preset = found
        return Choice(preset.watermark, name, preset.language, preset.bound)
    if watermark is None:
        watermark = DEFAULT_WATERMARK
    return Choice(from_spec(watermark) if isinstance(watermark, str) else watermark)


def embed(
    path: Location | str | Corpus,
    output: Location | str,
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
    features: Sequence[str] | Location | None = None,
    projection: str = "pca",
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    split: str | None = None,
    secret_file: Path | None = None,
    secret: Secret | None = None,
    beacon: Path | None = None,
    licensee: str | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Watermark a dataset: `embed("train.jsonl.gz", "marked.jsonl.gz", mark="U1")`.

    Plans the marks, writes the dataset with them, and its manifest beside it (mode 0600). `tau` and
    the rates are those that are usual for the watermark. `features` names what suitability is made
    of, or is the file that `score` wrote of this dataset: then nothing is measured again. `secret`:
    in place of the file of one. `beacon` is a public file that is younger than the secret: see
    `with_beacon`. `licensee`: whose copy this is, which a model that learnt from it can be traced
    to; see docs/licensees.md.
    """
    choice = choose(mark, watermark)
    if beacon is not None:
        choice = replace(choice, watermark=with_beacon(choice.watermark, beacon))
    if licensee is not None:
        licensee = spell_licensee(licensee)
        _refuse_public_pattern(choice.watermark)
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
    output = locate_output(output)
    manifest_path = local_path(manifest or beside(output), "the manifest")
    takes_secret = order == "keyed" or isinstance(choice.watermark, Keyed)
    if (secret_file or secret) is not None and not takes_secret:
        raise UsageError("--order dataset uses no secret; leave out --secret-file")
    if secret_file is not None and secret is not None:
        raise UsageError("pass either a secret or the file of one")
    corpus = open_input(
        path,
        language=language,
        default_language=choice.language,
        code_column=code_column,
        id_column=id_column,
        language_column=language_column,
        split=split,
    )
    keep_apart(
        {"--output": output, "--manifest": manifest_path},
        {
            "INPUT": corpus.paths,
            "--features": None if scores is None else scores.path,
            "--beacon": beacon,
            "--secret-file" if secret_file else "the secret": (
                secret_path(secret_file) if takes_secret and secret is None else None
            ),
        },
    )
    refuse_output(corpus.layout, corpus.path, output)
    _refuse_private(corpus, secret_path(secret_file) if takes_secret and secret is None else None)
    if manifest_path.is_dir():
        raise UsageError(f"{manifest_path}: is a folder; name a file for the manifest")
    if scores is not None:
        scores.refuse_other(corpus)
    if isinstance(choice.watermark, Counting):
        corpus = corpus.with_projects(choice.watermark.project)
    # the manifest first: marks without it are lost to their owner
    with staged_together((manifest_path, output), overwrite=overwrite) as (record, dataset):
        assert isinstance(record, Path), "the manifest is kept on this machine"
        if secret is None and takes_secret:
            secret = find_secret(secret_file)
        with (
            resumable(output, facts_of(corpus, settings, secret, licensee, scores)) as work,
            open_engine(engine, workers) as opened,
        ):
            done = mark_into(
                dataset,
                record,
                corpus,
                settings,
                secret,
                opened,
                scores=scores,
                name=choice.name,
                licensee=licensee,
                progress=progress,
                work=work,
            )
    summary = done.summary(corpus, output, manifest_path)
    said = language or (path.language if isinstance(path, Corpus) else None)
    if said is None and not corpus.columns.tell_language:
        more = warn_of_assumed_language(summary.kept, summary.records, choice.language, choice.name)
        summary = replace(summary, warnings=(*summary.warnings, *more))
    return summary


@dataclass(frozen=True, slots=True)
class Done:
    """A dataset that was marked, wherever it was written."""

    manifest: Manifest
    written: Rewritten
    warnings: tuple[str, ...]

    def summary(self, corpus: Corpus, output: Location, manifest: Path) -> Summary:
        """What was done, with the paths as the user calls them."""
        header = self.manifest.header
        return summarise("embed", corpus, output, manifest, header, self.written, self.warnings)


def mark_into(
    dataset: Location,
    record: Path,
    corpus: Corpus,
    settings: Settings,
    secret: Secret | None,
    engine: Engine,
    *,
    scores: Scores | None = None,
    name: str | None = None,
    licensee: str | None = None,
    skipped: Collection[int] = (),
    progress: Progress = no_progress,
    work: Work | None = None,
) -> Done:
    """Plan the marks, write the dataset with them and its manifest, at two places that are free.

    `skipped` rows carry another watermark's marks already, and get none of this one. What an
    interrupted run kept in `work` is not done again.
    """
    secret = secret.licensed(licensee) if secret else None
    corpus = corpus.counted(engine)
    derived = infer(corpus)
    planned = _plan(corpus, settings, secret, scores, engine, progress, skipped, derived, work)
    leave_out_repeated(planned)
    refuse_no_marks(corpus.path, planned, settings, name)
    written = corpus.write(
        dataset,
        Edits(planned.lines),
        derived,
        engine=engine,
        progress=counting(progress),
        work=work,
        searched=planned.searched,
    )
    header = _header(corpus, settings, derived, planned, written, secret, name, licensee)
    manifest = Manifest(header, planned.lines)
    write_manifest(manifest, record)
    warnings = (*warn_of_missed_rate(planned, settings), *warn_of_few(planned, settings))
    return Done(manifest, written, warnings)


def facts_of(
    corpus: Corpus,
    settings: Settings,
    secret: Secret | None,
    licensee: str | None,
    scores: Scores | None = None,
) -> dict[str, Any]:
    """All that decides the marks, to tell an interrupted run from another one; nothing secret."""
    names = (each.name for each in fields(settings))
    return {
        **{name: getattr(settings, name) for name in names if name != "watermark"},
        "watermark": {settings.watermark.name: to_settings(settings.watermark)},
        "secret": None if secret is None else secret.fingerprint,
        "licensee": licensee,
        "features of": None if scores is None else scores.digest,
        "columns": corpus.columns.to_json(),
        "language of records": corpus.language,
        "versions": versions(*parsing_packages()),
        "input": corpus.stamps,
    }


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


def _refuse_public_pattern(watermark: Watermark) -> None:
    """Copies can be told apart only by what a key drew."""
    if not isinstance(watermark, Keyed):
        raise UsageError(
            f"the pattern of {watermark.name} is public and the same in every copy, so a model "
            "that learnt it could not be traced to one; licensees need marks that a key draws: "
            "--watermark synonyms or prefixes, or --profile owner"
        )


def _refuse_private(corpus: Corpus, secret: Path | None) -> None:
    """Raise when the secret, or a manifest, stands in a folder that is copied whole."""
    for name, path in corpus.layout.others:
        if not isinstance(path, Path):
            continue
        is_secret = secret is not None and secret.exists() and path.samefile(secret)
        if is_secret or is_manifest(path):
            what = "the secret" if is_secret else "a private manifest"
            raise UsageError(
                f"{name}: is {what}, and would be copied into the output, which others get; move "
                "it out of the input"
            )


def beside(output: Location) -> Path:
    """Where the manifest of a dataset stands, unless its owner says so."""
    if isinstance(output, Url):
        raise UsageError(
            f"{output}: the manifest is private, so it is kept on this machine; name its file: "
            "--manifest"
        )
    return output.with_name(f"{output.name}.manifest.jsonl.gz")


def _is_file(features: Sequence[str] | Location | None) -> TypeGuard[Location | str]:
    return isinstance(features, Path | Url) or (
        isinstance(features, str) and features.lower().endswith(".parquet")
    )


def _feature_names(features: Sequence[str] | Location | None) -> tuple[str, ...]:
    """`"cc,nloc" -> ("cc", "nloc")`, as `("cc", "nloc")` itself; None: the paper's."""
    if not features:
        return DEFAULT
    assert not isinstance(features, Path | Url), "read as a file"
    return tuple(features.split(",") if isinstance(features, str) else features)


def _plan(
    corpus: Corpus,
    settings: Settings,
    secret: Secret | None,
    scores: Scores | None,
    engine: Engine,
    progress: Progress,
    skipped: Collection[int],
    derived: Derivations,
    work: Work | None = None,
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
        measured=scores.measured() if scores else None,
        skipped=skipped,
        derived=derived,
        progress=progress,
        work=work,
    )
    if scores is not None:
        scores.refuse_changed(corpus.path, corpus_digest(_in_pieces(planned.before)))
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
    licensee: str | None,
) -> Header:
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
        input=Dataset(
            records=len(planned.before),
            digest=corpus_digest(_in_pieces(planned.before)),
            shards=_shards((s.name, s.records, s.input_sha256) for s in written.shards),
        ),
        output=Dataset(
            records=len(planned.before),
            digest=corpus_digest(_in_pieces(planned.before, planned.digests)),
            shards=_shards((s.name, s.records, s.output_sha256) for s in written.shards),
        ),
        counts={
            "marked": len(planned.lines),
            **planned.counts,
            **({} if planned.eligible is None else {"eligible": planned.eligible}),
        },
        kept=dict(planned.kept.most_common()),
        languages=planned.languages or None,
        licensee=licensee,
    )


def _shards(files: Iterable[tuple[str, int, str]]) -> tuple[Shard, ...]:
    return tuple(Shard(name=name, records=n, sha256=sha256) for name, n, sha256 in files)


def _in_pieces(digests: Column[np.void], marked: Lines | None = None) -> Iterator[bytes]:
    """The digests of all records, with those of the marked ones in their places."""
    for rows in pieces(len(digests)):
        some = digests[rows]
        if marked is not None:
            some = some.copy()
            first, last = np.searchsorted(marked.rows, (rows.start, rows.stop))
            for row in marked.rows[first:last].tolist():
                some[row - rows.start] = np.void(marked[row])
        yield some.tobytes()


def apply(
    path: Location | str,
    output: Location | str,
    manifest: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Replay a manifest on the dataset it was made for; any other dataset is refused."""
    return _replay("apply", path, output, manifest, overwrite, progress)


def revert(
    path: Location | str,
    output: Location | str,
    manifest: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Take every mark out of a marked dataset again: each code cell gets its exact bytes back."""
    return _replay("revert", path, output, manifest, overwrite, progress)


def _replay(
    action: Literal["apply", "revert"],
    path: Location | str,
    output: Location | str,
    manifest_path: Path | str,
    overwrite: bool,
    progress: Progress,
) -> Summary:
    output, manifest_path = locate_output(output), local_path(manifest_path, "the manifest")
    manifest = load_manifest(manifest_path)
    header = manifest.header
    if header.repository is not None:
        instead = "--revert" if action == "revert" else "--update"
        raise UsageError(
            f"{manifest_path}: the manifest of a repository; use: puzzlemark protect {instead}"
        )
    before, after = header.input, header.output
    if action == "revert":
        before, after = after, before
    corpus = reopen(path, header)

    def compare(written: Rewritten) -> None:
        if written.input_digest != before.digest:
            raise ManifestError(
                f"{corpus.path}: not the dataset that {manifest_path} was made for, or changed "
                f"since: digest {written.input_digest}, expected {before.digest}"
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
    output: Location,
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
        header.input.records,
        header.counts["marked"],
        header.counts,
        header.kept,
        dict(written.recomputed),
        (*warnings, *_warnings(written)),
        before,
        after,
        header.languages or {},
        None if corpus.columns.inner is None else written.records,
    )


def _warnings(written: Rewritten) -> Iterator[str]:
    for stale in written.stale:
        yield f"column {stale.column!r}: {stale.reason} ({stale.records:,} marked records)"
    if written.left:
        yield (
            f"{len(written.left):,} files of other splits were copied as they are, such as "
            f"{written.left[0]}; --split all takes them, too"
        )
    if written.ignored:
        yield f"{written.ignored:,} other files in the input folder were not copied"
