"""`puzzlemark study make`: one page for each participant, and the private key."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from puzzlemark.cli._completing import marks, with_commas
from puzzlemark.cli.base import (
    AsJson,
    CodeColumn,
    EngineName,
    Fenced,
    Force,
    IdColumn,
    Language,
    LanguageColumn,
    Workers,
    code_path,
    output_console,
    print_json,
    progress,
)

if TYPE_CHECKING:
    from puzzlemark.studying.making import Made


def run(
    datasets: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...", help="Bare datasets, of one or several languages; see embed."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pages.")],
    marks: Annotated[
        str | None,
        typer.Option(
            help="Which watermarks, with commas: P1, or fixed_prefix:prefix=node. (default: the "
            "paper's fourteen)",
            autocompletion=with_commas(marks),
        ),
    ] = None,
    participants: Annotated[
        int, typer.Option(help="Pages to make; each participant reads one language.", min=1)
    ] = 10,
    snippets: Annotated[int, typer.Option(help="Snippets of each watermark.", min=2)] = 20,
    marked: Annotated[int, typer.Option(help="How many of them are marked.", min=1)] = 5,
    rounds: Annotated[
        int, typer.Option(help="2: a second round tells more about the marks.", min=1, max=2)
    ] = 2,
    design: Annotated[
        Literal["balanced", "paper"],
        typer.Option(
            help="balanced: each snippet is marked for some and bare for others. paper: the same "
            "are marked for everybody, the others are any other functions."
        ),
    ] = "balanced",
    two_files: Annotated[
        bool,
        typer.Option(
            "--two-files",
            help="A page for each round, so that the second is handed out when the first is back.",
        ),
    ] = False,
    texts: Annotated[
        Path | None,
        typer.Option(help="TOML file with texts of your own; OUTPUT/texts.toml has ours."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="Where the private key goes. (default: OUTPUT.key.json)"),
    ] = None,
    name: Annotated[
        str, typer.Option(help="Of the study: another name draws other snippets.")
    ] = "study",
    policy: Annotated[
        Literal["paper", "safe"], typer.Option(help="How the private copies are marked; see embed.")
    ] = "paper",
    tau: Annotated[float | None, typer.Option(help="As in embed.")] = None,
    min_rate: Annotated[float | None, typer.Option(help="As in embed.")] = None,
    max_rate: Annotated[float | None, typer.Option(help="As in embed.")] = None,
    min_lines: Annotated[int, typer.Option(help="Leave out shorter functions.", min=1)] = 4,
    max_lines: Annotated[int, typer.Option(help="Leave out longer functions.", min=1)] = 40,
    language: Language = None,
    code_column: CodeColumn = None,
    fenced: Fenced = False,
    id_column: IdColumn = None,
    language_column: LanguageColumn = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the secret that all draws follow from; made (mode 0600) when missing. "
            "Without it: the variable PUZZLEMARK_SECRET, else ~/.config/puzzlemark/secret."
        ),
    ] = None,
    workers: Workers = None,
    engine: EngineName = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Lay out a study with people, as the paper's or otherwise.

    Private copies of the datasets are marked, snippets are drawn, and each participant gets one
    HTML page that works offline and exports a file of answers. Nothing in a page tells which
    snippets are marked; the key does, and stays with you.

    [bold]Examples[/]

    puzzlemark study make python.jsonl.gz java.jsonl.gz -o pages

    puzzlemark study make python.jsonl.gz --marks P1,U1,W1 --participants 6 -o pages
    """
    from puzzlemark.bench.choices import split_specs
    from puzzlemark.studying.design import Design
    from puzzlemark.studying.making import PAPER_MARKS, make_study
    from puzzlemark.studying.material import Marking

    with progress(not as_json) as report:
        made = make_study(
            datasets,
            output,
            marks=split_specs(marks) if marks is not None else PAPER_MARKS,
            design=Design(design, snippets, marked, rounds, participants),
            marking=Marking(policy, tau, min_rate, max_rate, min_lines, max_lines),
            name=name,
            texts=texts,
            two_files=two_files,
            key=key,
            language=language,
            code_column=code_path(code_column, fenced),
            id_column=id_column,
            language_column=language_column,
            secret_file=secret_file,
            workers=workers,
            engine=engine,
            overwrite=force,
            progress=report,
        )
    print_json(made.to_json()) if as_json else _print(made, rounds)


def _print(made: "Made", rounds: int) -> None:
    from puzzlemark.languages.base import title_of

    console = output_console()
    people = len(made.participants)
    console.print(f"[bold]study {made.study}[/]: {people} participants, {len(made.pages)} pages")
    for language, count in made.snippets.items():
        readers = sum(each == language for each in made.participants.values())
        times = f", {rounds} times" if rounds > 1 else ""
        console.print(
            f"  {title_of(language)}: {readers} participants judge {count} snippets each{times}"
        )
    console.print(f"pages     {escape(made.output)}")
    console.print(f"key       {escape(made.key)} (private: it says what is marked)")
