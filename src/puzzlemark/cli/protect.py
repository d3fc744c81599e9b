"""`puzzlemark protect`: marks in the files of a repository, kept up with its commits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli._completing import marks, names_of
from puzzlemark.cli.base import (
    REASONS_SHOWN,
    AsJson,
    output_console,
    print_json,
    progress,
    refuse_ignored,
)
from puzzlemark.errors import UsageError

if TYPE_CHECKING:
    from puzzlemark.protecting.run import Protected
    from puzzlemark.protecting.worth import Worth

WHEN_INTERRUPTED = "every file is as it was"
NOT_FOR_REVERT = (
    *("mark", "watermark", "rate", "language", "include", "exclude", "max_line_length"),
    *("secret_file", "classpath", "training_set", "update"),
)
COUNTED = {
    "kept": "kept as they stood",
    "restored": "put in again as they were",
    "again": "put in again in functions that changed",
    "new": "new",
    "dropped": "dropped",
    "reverted": "taken out",
    "not in": "were out already",
    "not found": "not found",
}


def run(
    context: typer.Context,
    repository: Annotated[
        Path, typer.Argument(metavar="REPO", help="A git work tree, or a plain folder.")
    ],
    manifest: Annotated[
        Path | None,
        typer.Option(
            help="The private manifest, outside the repository. (default: beside it, "
            "NAME.manifest.jsonl.gz)"
        ),
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option(help="Commit the marks on this branch; what is checked out stays as it is."),
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Leave the marks in the work tree.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a marked copy to this folder.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what can be done; write nothing, test nothing.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Keep the marks of an earlier run up with new code.")
    ] = False,
    revert: Annotated[
        bool, typer.Option("--revert", help="Take the marks out again, wherever they are now.")
    ] = False,
    test: Annotated[
        str | None,
        typer.Option(
            help="The project's own tests, as you would type them: 'pytest -q'. Run before and "
            "after; marks that break them are left out."
        ),
    ] = None,
    test_timeout: Annotated[
        float | None, typer.Option(help="Seconds after which a run of the tests has failed.", min=1)
    ] = None,
    message: Annotated[
        str | None, typer.Option(help="Message of the commit. (default: Rename local variables)")
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            help="Only files of this language; may be repeated. (default: all)",
            autocompletion=names_of("languages"),
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(help="Only paths like this, as in .gitignore: 'src/**'; may be repeated."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="No paths like this, as in .gitignore: 'examples/'; may be repeated."),
    ] = None,
    mark: Annotated[
        str | None,
        typer.Option(help="One of the paper's watermarks: U1, P1, ...", autocompletion=marks),
    ] = None,
    watermark: Annotated[
        str | None,
        typer.Option(
            help="A watermark with settings. (default: universal:joining=own)",
            autocompletion=names_of("watermarks"),
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="At most this share of the functions gets marks. (default: 1)"),
    ] = None,
    max_line_length: Annotated[
        int | None,
        typer.Option(
            help="No line grows beyond it. (default: what the project's formatter is told, else "
            "88)",
            min=1,
        ),
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the secret, made when it is not there. Without it: the variable "
            "PUZZLEMARK_SECRET, else ~/.config/puzzlemark/secret."
        ),
    ] = None,
    classpath: Annotated[
        str | None, typer.Option(help="What javac needs to compile the Java files, as its -cp.")
    ] = None,
    training_set: Annotated[
        int, typer.Option(help="Functions in the training set to reckon with.", min=1)
    ] = 400_000,
    as_json: AsJson = False,
) -> None:
    """Mark a repository in its own files: all functions that can carry, under the policy safe.

    Files are replaced whole, and put back when anything fails. Tests, generated and vendored files,
    submodules and whatever git ignores are left alone. Python files are compiled and compared with
    the originals, Java files too where javac can compile them.

    [bold]Examples[/]

    puzzlemark protect my-project --dry-run

    puzzlemark protect my-project --branch release --test 'pytest -q'

    puzzlemark protect my-project --update --in-place

    puzzlemark protect my-project --revert --in-place
    """
    from puzzlemark.protecting.asking import MESSAGE
    from puzzlemark.protecting.run import protect, revert_repository

    if branch is None:
        refuse_ignored(context, ["message"], "nothing is committed without --branch")
    if not as_json and dry_run:
        refuse_ignored(context, ["test", "test_timeout"], "with --dry-run nothing is tested")
    if revert and update:
        raise UsageError("pass either --update or --revert")
    with progress(not as_json) as report:
        if revert:
            refuse_ignored(context, NOT_FOR_REVERT, "the manifest says what to take out")
            done = revert_repository(
                repository,
                manifest,
                test=test,
                test_timeout=test_timeout,
                branch=branch,
                in_place=in_place,
                output=output,
                dry_run=dry_run,
                message=message or MESSAGE,
                progress=report,
            )
        else:
            done = protect(
                repository,
                manifest,
                update=update,
                mark=mark,
                watermark=watermark,
                rate=rate,
                languages=language,
                include=include,
                exclude=exclude,
                max_line_length=max_line_length,
                test=test,
                test_timeout=test_timeout,
                branch=branch,
                in_place=in_place,
                output=output,
                dry_run=dry_run,
                message=message or MESSAGE,
                secret_file=secret_file,
                classpath=classpath or "",
                training_set=training_set,
                announce=None if as_json else _announce,
                progress=report,
            )
    if as_json:
        print_json(done.to_json())
    else:
        _print(done)


def _announce(worth: "Worth") -> None:
    """What is known before anything is written."""
    console = output_console()
    for sentence in worth.sentences():
        console.print(sentence)


def _print(done: "Protected") -> None:
    from puzzlemark.languages.base import title_of

    console = output_console()
    would = "would be " if done.dry_run else ""
    if done.action == "revert":
        console.print(f"[bold]{done.counts['reverted']:,} marks {would}taken out[/]")
    else:
        console.print(f"[bold]{done.marks:,} marks[/] in {done.functions:,} functions")
    for name, count in done.counts.items():
        if count and name != "reverted":
            console.print(f"  {count:>9,}  {COUNTED[name]}")
    for id_, reason in done.dropped.items():
        console.print(f"             {escape(id_)}: {escape(reason)}")
    for id_ in done.refused:
        console.print(f"             {escape(id_)}: refused, the tests fail with its mark")
    _print_reasons("functions without a mark:", done.kept)
    _print_reasons("files left alone:", done.left_alone)
    for language, how in done.compared.items():
        console.print(f"compared  {title_of(language)}: {escape(how)}")
    if done.test_runs:
        console.print(f"tests     run {done.test_runs} times; they pass")
    console.print(f"files     {len(done.changed):,} {would}changed")
    if done.branch is not None and not done.dry_run:
        said = done.commit[:12] if done.commit else "nothing new to commit"
        console.print(f"branch    {escape(done.branch)} ({said})")
    if done.output is not None and not done.dry_run:
        console.print(f"output    {escape(done.output)}")
    if not done.dry_run:
        console.print(f"manifest  {escape(done.manifest)} (private: keep it)")


def _print_reasons(title: str, reasons: dict[str, int]) -> None:
    console = output_console()
    if reasons:
        console.print(title)
    for reason, count in list(reasons.items())[:REASONS_SHOWN]:
        console.print(f"  {count:>9,}  {escape(reason)}")
    if rest := list(reasons.values())[REASONS_SHOWN:]:
        console.print(f"  {sum(rest):>9,}  {len(rest)} other reasons (--json names them)")
