"""`puzzlemark study score`: what the answers say."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from puzzlemark.cli.base import AsJson, Force, output_console, print_json, refuse_ignored, warn

if TYPE_CHECKING:
    from puzzlemark.studying.scoring import StudyScore


def run(
    context: typer.Context,
    answers: Annotated[
        list[Path],
        typer.Argument(metavar="ANSWERS...", help="Files of answers, or folders of them."),
    ],
    key: Annotated[Path, typer.Option(help="The private key of `study make`.")],
    page: Annotated[
        Path | None, typer.Option(help="Write a page with the paper's table beside it (Markdown).")
    ] = None,
    draws: Annotated[int, typer.Option(help="Draws of the design for the test.", min=99)] = 9_999,
    seed: Annotated[int, typer.Option(help="Of these draws.", min=0)] = 0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Suspicious rates with exact intervals, beside how often bare snippets are flagged.

    A find counts only as far as it exceeds the false flags: the test draws the design anew, with
    the answers as they are. Files that are incomplete, duplicate, tampered with or of another study
    are named, and not counted.

    Example: puzzlemark study score answers --key pages.key.json --page results.md
    """
    from puzzlemark.files import keep_apart, refuse_existing
    from puzzlemark.staging import write_text
    from puzzlemark.studying.results import results_page
    from puzzlemark.studying.scoring import score_study

    if page is None:
        refuse_ignored(context, ["force"], "without --page nothing is written")
    else:
        keep_apart({"--page": page}, {"ANSWERS": answers, "--key": key})
        refuse_existing(page, overwrite=force)
    files = [
        each
        for path in answers
        for each in (sorted(path.glob("*.json")) if path.is_dir() else [path])
    ]
    score = score_study(files, key, draws=draws, seed=seed)
    if page is not None:
        write_text(page, results_page(score))
    if as_json:
        print_json(score.to_json())
        return
    _print(score)
    if page is not None:
        output_console().print(f"page      {page}", markup=False)


def _print(score: "StudyScore") -> None:
    from puzzlemark.languages.base import title_of
    from puzzlemark.studying.results import PAPER, spell, spell_p

    console = output_console()
    people = f"{len(score.answered)} of {score.asked} participants"
    console.print(f"[bold]study {score.study}[/]: {people} answered")
    marks = Table("mark", "round", "suspicious, 95 %", "bare flagged, 95 %", "p", "Holm", "paper")
    for each in score.marks:
        paper = PAPER.get(each.mark)
        marks.add_row(
            each.mark,
            str(each.round),
            spell(each.suspicious),
            spell(each.false_flags),
            spell_p(each.p),
            spell_p(each.p_adjusted),
            "-" if paper is None else f"{paper[each.round - 1]:.2f}",
        )
    console.print(marks)
    for group in score.groups:
        agreement = "-" if group.alpha is None else f"{group.alpha:.2f}"
        console.print(
            f"{title_of(group.language)}, round {group.round}: {group.participants} people, "
            f"bare flagged {spell(group.false_flags)}, alpha {agreement}, "
            f"{group.seconds[1]:.1f} s a snippet"
        )
    for problem in score.problems:
        warn(f"not counted: {problem}")
