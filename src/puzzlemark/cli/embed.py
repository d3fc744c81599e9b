"""`puzzlemark embed`: a dataset goes in, a watermarked dataset comes out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from puzzlemark.cli._completing import features, marks, names_of, with_commas
from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    Dataset,
    EngineName,
    Fenced,
    Force,
    IdColumn,
    Language,
    LanguageColumn,
    Place,
    Projection,
    Split,
    Workers,
    code_path,
    output_console,
    piped,
    place,
    print_json,
    print_summary,
    progress,
    refuse_ignored,
    report_on,
)
from puzzlemark.errors import UsageError

if TYPE_CHECKING:
    from puzzlemark.embedding.owner import OwnerSummary


# what the profile decides
DECIDED = (
    *("manifest", "mark", "watermark", "order", "tau", "min_rate", "max_rate"),
    *("marks_per_record", "features", "projection"),
)


WHEN_INTERRUPTED = "what was done is kept; the same command goes on from there"


def run(
    context: typer.Context,
    dataset: Dataset,
    output: Annotated[
        Place,
        typer.Option(
            "--output", "-o", parser=place, metavar="<path>", help="Where the marked dataset goes."
        ),
    ],
    manifest: Annotated[
        Path | None,
        typer.Option(help="Where the private manifest goes. (default: OUTPUT.manifest.jsonl.gz)"),
    ] = None,
    mark: Annotated[
        str | None,
        typer.Option(
            help="One of the paper's marks, or a watermark with or without settings: synonyms, "
            "fixed_prefix:prefix=node. The paper's own: P1, P2, U1 (Python), P3, P4, U2 (Java). "
            "CoProtector: W1, S1 (Python), W2, S2 (Java). "
            "CodeMark: B1, B2, M1 (Python), B3, B4, M2 (Java). (default: universal)",
            autocompletion=marks,
        ),
    ] = None,
    watermark: Annotated[
        str | None,
        typer.Option(
            help="The same as --mark, for a watermark with settings.",
            autocompletion=names_of("watermarks"),
        ),
    ] = None,
    policy: Annotated[
        Literal["paper", "safe"],
        typer.Option(help="safe: nothing visible outside is renamed. paper: parameters may be."),
    ] = "safe",
    order: Annotated[
        Literal["keyed", "dataset"],
        typer.Option(help="Walk carriers in secret order (keyed) or as they stand (dataset)."),
    ] = "keyed",
    tau: Annotated[
        float | None,
        typer.Option(
            help="Leave out this share of the least suitable snippets. (default: 0.35; "
            "CoProtector and CodeMark: 0)"
        ),
    ] = None,
    min_rate: Annotated[
        float | None,
        typer.Option(
            help="Bring the prefix into snippets without it up to this rate. (default: 0.01)"
        ),
    ] = None,
    max_rate: Annotated[
        float | None,
        typer.Option(
            help="Never mark more than this share of records. (default: 0.05; CodeMark: 1)"
        ),
    ] = None,
    marks_per_record: Annotated[
        int,
        typer.Option(
            help="The most marks in a record, each in a function of its own; rates count records.",
            min=1,
        ),
    ] = 1,
    features: Annotated[
        str | None,
        typer.Option(
            help="Features to score by, with commas, or the .parquet file that `puzzlemark score` "
            "wrote of this dataset, so that it is not measured again. (default: the paper's seven)",
            autocompletion=with_commas(features),
        ),
    ] = None,
    projection: Projection = "pca",
    language: Language = None,
    code_column: CodeColumn = None,
    fenced: Fenced = False,
    id_column: IdColumn = None,
    language_column: LanguageColumn = None,
    split: Split = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the secret; made (mode 0600) when missing. Without it: the variable "
            "PUZZLEMARK_SECRET, else ~/.config/puzzlemark/secret."
        ),
    ] = None,
    beacon: Annotated[
        Path | None,
        typer.Option(
            help="A public file that appeared after you committed to the secret: what a key draws "
            "depends on it, too. Its SHA-256 stands in the manifest. For synonyms and prefixes."
        ),
    ] = None,
    profile: Annotated[
        Literal["owner"] | None,
        typer.Option(
            help="owner: both channels with a key, synonyms (quiet) and prefixes (loud), at rates "
            "that suit them; two manifests, OUTPUT.synonyms.manifest.jsonl.gz and .prefixes."
        ),
    ] = None,
    licensee: Annotated[
        str | None,
        typer.Option(
            help="Whose copy this is: the key is derived for this name, so that `puzzlemark trace` "
            "can tell copies apart. The name stands in the manifest. For synonyms and prefixes."
        ),
    ] = None,
    workers: Workers = None,
    engine: EngineName = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Watermark a dataset; keep the manifest secret.

    The output is the same dataset: same records, order, fields, shards and compression. In the
    carriers of our marks one local variable is renamed to the concatenation of two others. The
    manifest is what lets you verify a model later, and take every mark out again; it is written
    with mode 0600. When no record can carry the mark, nothing is written, and the error says why.

    [bold]Examples[/]

    puzzlemark embed train.jsonl.gz -o marked.jsonl.gz --mark U1

    puzzlemark embed shards/ -o marked/ --manifest m.jsonl.gz --mark fixed_prefix:prefix=node

    puzzlemark embed train.jsonl.gz -o marked.jsonl.gz --profile owner

    puzzlemark embed one.parquet -o all.parquet --language java --tau 0 --min-rate 1 --max-rate 1
    """
    import puzzlemark as pm

    if profile is not None:
        refuse_ignored(context, DECIDED, f"--profile {profile} decides it")
        with progress(not as_json) as report:
            both = pm.embed_owner(
                dataset,
                output,
                policy=policy,
                language=language,
                code_column=code_path(code_column, fenced),
                id_column=id_column,
                language_column=language_column,
                split=split,
                secret_file=secret_file,
                beacon=beacon,
                licensee=licensee,
                workers=workers,
                engine=engine,
                overwrite=force,
                progress=report,
            )
        print_json(both.to_json()) if as_json else _print_both(both)
        return
    if str(output) == "-" and manifest is None:
        raise UsageError("name a file for the manifest: --manifest; it must not get lost")
    with piped(dataset, output) as (source, target), progress(not as_json) as report:
        summary = pm.embed(
            source,
            target,
            manifest=manifest,
            mark=mark,
            watermark=watermark,
            policy=policy,
            order=order,
            tau=tau,
            min_rate=min_rate,
            max_rate=max_rate,
            marks_per_record=marks_per_record,
            features=features,
            projection=projection,
            language=language,
            code_column=code_path(code_column, fenced),
            id_column=id_column,
            language_column=language_column,
            split=split,
            secret_file=secret_file,
            beacon=beacon,
            licensee=licensee,
            workers=workers,
            engine=engine,
            overwrite=force,
            progress=report,
        )
    report_on(summary, dataset, output, as_json=as_json)


def _print_both(both: "OwnerSummary") -> None:
    """Each channel as any other run, and how to take both out."""
    console = output_console()
    for title, summary in (("quiet", both.quiet), ("loud", both.loud)):
        console.print(f"[bold]the {title} channel[/]")
        print_summary(summary)
    console.print("to take both out, in this order:")
    for command in both.reverts:
        console.print(f"  {escape(command)}")
