"""What the experiments' commands share: datasets in, records and a page out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from puzzlemark.cli._completing import marks, with_commas
from puzzlemark.cli.base import errors_console, output_console, refuse_ignored
from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart

GOES_ON = "what is finished is kept; the same command goes on"

Corpus = Annotated[Path | None, typer.Option(help="Dataset with functions of this language.")]
Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        metavar="LANGUAGE=FILE",
        help="Dataset with functions of any language: go=go.jsonl.gz. May be given again.",
    ),
]
Records = Annotated[
    Path | None, typer.Option(help="Folder for what others need to make the page again.")
]
Marks = Annotated[
    str,
    typer.Option(
        help="Which watermarks, with commas: P1, or fixed_prefix:prefix=node.",
        autocompletion=with_commas(marks),
    ),
]
SomeMarks = Annotated[
    str | None,
    typer.Option(
        help="Which watermarks, with commas. (default: those of the paper's figure)",
        autocompletion=with_commas(marks),
    ),
]
Page = Annotated[Path | None, typer.Option(help="Write the page here, from the records.")]


Size = Annotated[str, typer.Option(help="Records to draw from each dataset, or all.")]
Seed = Annotated[int, typer.Option(help="Draws the records.")]
Processes = Annotated[
    int, typer.Option("--side-by-side", help="Languages at the same time, one core each.", min=1)
]


ONLY_RUNNING = ("output", "marks", "base")  # options of a run, with no effect on a page alone


@dataclass(frozen=True, slots=True)
class Given:
    """What the user passed to an experiment."""

    corpora: dict[str, Path]  # by language; none where a page is made from records
    output: Path
    base: Path | None
    records: Path | None
    page: Path | None

    def check(self, context: typer.Context, *more: str) -> None:
        """Refuse what would be ignored, and paths that are not apart."""
        if self.page is not None and self.records is None:
            raise UsageError("--page is written from --records; pass both")
        if not self.corpora and self.page is None:
            raise UsageError("pass a dataset (--python, --java), or --records and --page")
        if not self.corpora:
            because = "without a dataset nothing is run; the page is made from --records"
            refuse_ignored(context, (*ONLY_RUNNING, *more), because)
        keep_apart(
            {
                "--output": self.output if self.corpora else None,
                "--records": self.records,
                "--page": self.page,
            },
            {"--base": self.base, **{f"--{name}": path for name, path in self.corpora.items()}},
        )


def given_corpora(
    python: Path | None, java: Path | None, others: Sequence[str] | None = None
) -> dict[str, Path]:
    """The datasets by language; `others` are of the form `go=FILE`."""
    corpora = {"python": python, "java": java}
    given = {language: path for language, path in corpora.items() if path is not None}
    for spelled in others or ():
        language, path = _read_dataset(spelled)
        if language in given:
            raise UsageError(f"--dataset {spelled}: {language} has a dataset already")
        given[language] = path
    return given


def _read_dataset(spelled: str) -> tuple[str, Path]:
    """`"js=a.jsonl" -> ("javascript", Path("a.jsonl"))`."""
    from puzzlemark.languages.base import every_language, find

    name, equals, path = spelled.partition("=")
    if not (equals and path):
        raise UsageError(f"--dataset {spelled}: pass LANGUAGE=FILE, as in go=go.jsonl.gz")
    if (language := find(name)) is None:
        known = ", ".join(each.name for each in every_language())
        raise UsageError(f"--dataset {spelled}: no language {name!r}; known: {known}")
    return language.name, Path(path)


def refuse_marks(marks: Sequence[str], corpora: Mapping[str, Path]) -> None:
    """Refuse watermarks that do not exist, or have no dataset of their language."""
    from puzzlemark.bench.choices import choose
    from puzzlemark.languages.base import title_of

    for choice in choose(marks, corpora):
        if (language := choice.language) not in corpora:
            raise UsageError(
                f"{choice.name} is for {title_of(language)}; pass --{language} FILE, or leave "
                "it out"
            )


def read_size(size: str) -> int | None:
    """`"30000" -> 30000`; all: None."""
    if size != "all" and not size.isdecimal():
        raise UsageError(f"--size {size}: pass a number of records, or all")
    return None if size == "all" else int(size)


def make_variants(
    context: typer.Context,
    given: Given,
    *,
    experiment: ModuleType,
    pages: ModuleType,
    marks: str | None,
    size: str,
    seed: int,
    side_by_side: int,
) -> None:
    """Run an experiment on marked variants of each dataset, and write its page and pictures."""
    from puzzlemark.bench.choices import split_specs
    from puzzlemark.bench.variants import Plan, collect

    given.check(context, "size", "seed", "side_by_side")
    if given.corpora:
        chosen = tuple(split_specs(marks)) if marks else ()
        refuse_marks(chosen, given.corpora)
        plan = Plan(records=read_size(size), seed=seed, marks=chosen)
        experiment.run(given.output, given.corpora, plan, processes=side_by_side, say=say)
        if given.records is not None:
            collect(given.output, given.records)
    if given.page is not None and given.records is not None:
        write_page(given.page, pages.page(given.records))
        if hasattr(pages, "figures"):
            write_pictures(given.records, pages.figures(given.records))


def say(text: str) -> None:
    """A line about what is finished."""
    errors_console().print(text, markup=False)


def write_page(path: Path, text: str) -> None:
    """Write the page, and say where it is."""
    from puzzlemark.staging import write_text

    write_text(path, text)
    output_console().print(f"page      {path}", markup=False)


def write_pictures(folder: Path, pictures: Mapping[str, str]) -> None:
    """Write pictures beside the records that they are drawn from."""
    from puzzlemark.staging import write_text

    for name, picture in pictures.items():
        write_text(folder / name, picture)
        output_console().print(f"picture   {folder / name}", markup=False)
