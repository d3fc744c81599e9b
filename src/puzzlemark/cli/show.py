"""`puzzlemark show`: look at the marks of a dataset, before and after."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from puzzlemark.cli.base import (
    AsJson,
    Force,
    ManifestOf,
    find_manifest,
    output_console,
    print_json,
    refuse_ignored,
)

if TYPE_CHECKING:
    from puzzlemark.embedding.showing import Showing, Shown
    from puzzlemark.pages.diff import Line, Row

ON_TERMINAL = 5
ON_PAGE = 1_000  # a page with many more takes a browser minutes to open
CONTEXT = 1
STYLES = {
    "prefix": "bold blue",
    "suffix": "bold magenta",
    "trigger": "bold blue",
    "target": "bold yellow reverse",
}


def run(
    context: typer.Context,
    dataset: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="The marked dataset or repository, or the original."),
    ],
    manifest: ManifestOf = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write the marks as one self-contained page (mode 0600) instead."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(help="Show so many marks, 0 for all. (default: 5, and 1000 on a page)", min=0),
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Option("--id", help="Show the mark in this record; may be repeated."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what the marks changed: triggers and targets in their places.

    [bold]Examples[/]

    puzzlemark show marked.jsonl.gz --manifest marks.jsonl.gz

    puzzlemark show marked.jsonl.gz --manifest marks.jsonl.gz --html marks.html

    puzzlemark show my-project --manifest my-project.manifest.jsonl.gz
    """
    from puzzlemark.corpora.shards import dataset_paths
    from puzzlemark.embedding.drawing import save_marks_page
    from puzzlemark.embedding.showing import show
    from puzzlemark.files import keep_apart, refuse_existing
    from puzzlemark.protecting.dataset import as_dataset, is_repository, show_files

    manifest = find_manifest(dataset, manifest)
    is_tree = is_repository(dataset, manifest)
    if html is None:
        refuse_ignored(context, ["force"], "without --html nothing is written")
    else:
        inputs = Path(dataset) if is_tree else dataset_paths(dataset)
        keep_apart({"--html": html}, {"INPUT": inputs, "--manifest": manifest})
        refuse_existing(html, overwrite=force)
    if is_tree and html is None and not ids:
        refuse_ignored(context, ["limit"], "of a repository the files are shown, all of them")
        _print_files(show_files(dataset, manifest), as_json)
        return
    usual = ON_TERMINAL if html is None else ON_PAGE
    wanted = None if limit == 0 or (limit is None and ids) else limit or usual
    with as_dataset(dataset, manifest) as (functions, marks):
        showing = replace(show(functions, marks, limit=wanted, ids=ids or ()), input=dataset)
    if html is not None:
        save_marks_page(showing, html, overwrite=force)
    if as_json:
        print_json(_plain(showing, html))
    elif html is not None:
        _print_page(showing, html)
    else:
        _print_marks(showing)


def _print_files(diffs: dict[str, str], as_json: bool) -> None:
    """A unified diff for each file of a repository, from the original to the marked one."""
    if as_json:
        print_json({"files": [{"path": path, "diff": text} for path, text in diffs.items()]})
        return
    console = output_console()
    for line in "".join(diffs.values()).splitlines():
        tint = {"-": "red", "+": "green", "@": "dim"}.get(line[:1], "")
        console.print(Text(line, "bold" if line.startswith(("---", "+++")) else tint))
    console.print(Text(f"{len(diffs):,} files", "dim"))


def _plain(showing: "Showing", html: Path | None) -> dict[str, object]:
    return {
        "input": showing.input,
        "side": showing.side,
        "total": showing.total,
        "shown": len(showing.marks),
        "html": None if html is None else str(html),
        "marks": [mark.to_json() for mark in showing.marks],
    }


def _print_page(showing: "Showing", html: Path) -> None:
    text = Text.assemble((f"{len(showing.marks):,} of {showing.total:,} marks", "bold"))
    text.append(f" -> {html} (private: it shows where they are)")
    output_console().print(text)


def _print_marks(showing: "Showing") -> None:
    console = output_console()
    for mark in showing.marks:
        console.print(heading(mark))
        for line in changes(mark):
            console.print(line)
        console.print()
    console.print(
        Text(f"{len(showing.marks):,} of {showing.total:,} marks; --limit shows more", "dim")
    )


def heading(mark: "Shown") -> Text:
    """`key + iterator -> key_iterator (target was a)`, and where it is."""
    from puzzlemark.pages.diff import make_visible
    from puzzlemark.pages.marks import join, tell_origins

    text = Text()
    for part in join(mark.parts):
        text.append(part.joint).append(part.text, STYLES[part.role])
    text.append(f" ({', '.join(tell_origins(mark.parts)) or 'there by nature'})")
    function = f", function {mark.function:,}" if mark.function else ""
    text.append(f"\nrow {mark.row:,}{function}  {make_visible(mark.id)}", "dim")
    return text


def changes(mark: "Shown") -> list[Text]:
    """A unified diff of the mark's snippet with little around the changed lines."""
    from puzzlemark.pages.diff import diff, hunks

    # where nothing changed, there are still the names to look at
    edited = mark.before.code != mark.after.code
    lines: list[Text] = []
    for hunk in hunks(diff(mark.before, mark.after), context=CONTEXT, changed_only=edited):
        if hunk.skipped:
            lines.append(Text(f"       ... {hunk.skipped} more", "dim"))
        lines += _unified(hunk.rows)
    return lines


def _unified(rows: "tuple[Row, ...]") -> list[Text]:
    lines: list[Text] = []
    added: list[Text] = []
    for row in rows:
        if not row.is_changed:
            lines += added
            added = []
        if row.before is not None:
            lines.append(_line("-" if row.is_changed else " ", row.before))
        if row.is_changed and row.after is not None:
            added.append(_line("+", row.after))
    return lines + added


def _line(sign: str, line: "Line") -> Text:
    tint = {"-": "red", "+": "green", " ": ""}[sign]
    text = Text.assemble((f"{line.number:>5} ", "dim"), (f"{sign} ", tint))
    for piece in line.pieces:
        text.append(piece.text, STYLES[piece.role] if piece.role else tint)
    return text
