"""What the commands share: one way to print, to show progress, and to fail."""

import functools
import inspect
import io
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment

from puzzlemark.cli._completing import features, names_of, one_of, with_commas
from puzzlemark.errors import PuzzleMarkError, PuzzleMarkWarning, UsageError
from puzzlemark.pages.diff import INVISIBLE, make_visible
from puzzlemark.stores import locate

if TYPE_CHECKING:
    from puzzlemark.embedding.run import Summary

Report = Callable[[str, int, int | None], None]  # stage, done, of how many
REASONS_SHOWN = 8
LARGEST = (1 << 63) - 1  # that every file of ours, and every reader of it, can hold
MOST_WORKERS = 10_000
READER_GONE = 141  # 128 and the number of SIGPIPE, as a shell says it
Command = TypeVar("Command", bound=Callable[..., None])

# Options that mean the same in every command that has them.
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")
]
CodeColumn = Annotated[
    str | None,
    typer.Option(
        help="Column with the code, or a path: 'messages[].content'. (default: recognised by its "
        "name)"
    ),
]
Fenced = Annotated[
    bool,
    typer.Option(
        "--fenced",
        help="The code stands between the fences of a Markdown text, which say its language; of a "
        "conversation in an assistant's answers only.",
    ),
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column with the record's id. (default: recognised by its name)")
]
LanguageColumn = Annotated[
    str | None, typer.Option(help="Column with the language. (default: recognised by its name)")
]
Language = Annotated[
    str | None,
    typer.Option(
        help="Language of the records that do not say it; see: puzzlemark list.",
        autocompletion=names_of("languages"),
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        help="Of a folder: train, validation, test or all. (default: all but test and validation, "
        "where the names of files tell splits apart)",
        autocompletion=one_of("train", "validation", "test", "all"),
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Worker processes. (default: one for each core)", min=1, max=MOST_WORKERS),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="Where the work is done; see: puzzlemark list. (default: processes, or serial for one "
        "worker)",
        autocompletion=names_of("engines"),
    ),
]
Dataset = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="JSONL, JSON, CSV, TSV, Parquet or Arrow: a file, a folder or a glob, "
        "also in a store: s3://BUCKET/NAME.",
    ),
]
ManifestOf = Annotated[
    Path | None,
    typer.Option(
        "--manifest", help="The private manifest. (default: INPUT.manifest.jsonl.gz beside INPUT)"
    ),
]
Tau = Annotated[float, typer.Option(help="Leave out this share of the least suitable snippets.")]
Features = Annotated[
    str | None,
    typer.Option(
        help="Features to score by, with commas. (default: the paper's seven)",
        autocompletion=with_commas(features),
    ),
]
Projection = Annotated[
    str,
    typer.Option(
        help="pca, topsis or mahalanobis.", autocompletion=names_of("carriers.projections")
    ),
]


def place(name: str) -> "Path | str":
    """What an option for an output takes: a path, or the text of a URL."""
    return name if "://" in name else Path(name)


if TYPE_CHECKING:
    Place = Path | str
else:
    Place = object  # typer takes no unions: `parser=place` decides
Force = Annotated[bool, typer.Option("--force", help="Replace what stands at the output path.")]


def find_manifest(dataset: str, given: Path | None) -> Path:
    """The manifest that was named, or the one at the place where `embed` and `protect` put it.

    `find_manifest("marked.jsonl", None) -> marked.jsonl.manifest.jsonl.gz`, if there is one.
    """
    if given is not None:
        return given
    path = Path(dataset)
    if path.name in ("", ".."):  # of `.` and `..` only the whole path has a name
        path = path.resolve()
    beside = path.with_name(f"{path.name}.manifest.jsonl.gz") if path.name else path
    if dataset == "-" or not beside.is_file():
        raise UsageError(
            f"{locate(dataset)}: which manifest? There is none beside it; pass --manifest"
        )
    return beside


class Terminal(Console):
    """Every text passes here, and much of it is a stranger's: file names, code, a server's words.

    What would move the cursor or hide a text is shown as a sign. Brackets are left to `escape`:
    only whoever prints knows which of them are colours of our own.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; a line with an address is left to the terminal to wrap: it can be copied."""
        if any(isinstance(each, str) and "://" in each for each in objects):
            options.setdefault("soft_wrap", True)
        super().print(*objects, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The pieces of a text, with nothing in them that a terminal obeys but our colours."""
        for segment in super().render(renderable, options):
            is_ours = segment.control is not None  # such as the moves of a progress bar
            yield segment if is_ours else segment._replace(text=make_visible(segment.text))


def errors_console() -> Console:
    """Standard error, for progress and messages: standard output is for results."""
    return Terminal(stderr=True, highlight=False, emoji=False, soft_wrap=True)


def output_console() -> Console:
    """Standard output, coloured on a terminal only."""
    return Terminal(highlight=False, emoji=False, soft_wrap=not sys.stdout.isatty())


class _Outlet(io.FileIO):
    """A standard stream whose reader, such as `head`, may go, or whose disk may be full."""

    def write(self, data: Any, /) -> int:
        """Write, or end the command: quietly, as the signal SIGPIPE does, when nobody reads.

        The signal itself would end us, too, when a model's server hangs up.
        """
        try:
            return super().write(data)
        except OSError as exc:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())  # what is still buffered can be flushed
            os.close(nowhere)
            if isinstance(exc, BrokenPipeError):
                raise SystemExit(READER_GONE) from exc
            raise SystemExit(f"error: what was printed is cut short: {exc.strerror}") from exc


@contextmanager
def quiet_pipes() -> Iterator[None]:
    """Standard output and standard error, such that `puzzlemark ... | head` ends quietly."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _outlet(sys.stdout), _outlet(sys.stderr)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:  # the caller had closed it
                stream.flush()
        sys.stdout, sys.stderr = before


def _outlet(stream: TextIO) -> TextIO:
    if sys.platform == "win32" or stream is None:
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Outlet(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream is sys.stderr or stream.isatty(),
    )


def guarded(command: Command) -> Command:
    """Turn our errors into one sentence and an exit code: 2 for a wrong call, 1 for the rest."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            _refuse_huge(kwargs)
            with warnings_in_words():
                command(*args, **kwargs)
        except PuzzleMarkError as exc:
            errors_console().print(f"[bold red]error:[/] {_one_line(str(exc))}")
            raise typer.Exit(2 if isinstance(exc, UsageError) else 1) from exc
        except KeyboardInterrupt as exc:
            kept = getattr(inspect.getmodule(command), "WHEN_INTERRUPTED", "nothing was written")
            errors_console().print(f"interrupted; {kept}")
            raise typer.Exit(130) from exc

    return run  # type: ignore[return-value]


def _refuse_huge(values: Mapping[str, Any]) -> None:
    """Raise when a number would not fit into 64 bits."""
    for name, value in values.items():
        if isinstance(value, int) and abs(value) > LARGEST:
            spelled = name.replace("_", "-")
            raise UsageError(f"--{spelled} is a whole number of up to {LARGEST:,}; pass another")


@contextmanager
def progress(enabled: bool = True, *, remaining: bool = True) -> Iterator[Report]:
    """A progress bar for each stage, on a terminal only; elsewhere nothing is printed."""
    console = errors_console()
    if not (enabled and console.is_terminal):
        yield lambda _stage, _done, _total: None
        return
    bars = Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *([TimeRemainingColumn()] if remaining else []),
        console=console,
    )
    tasks: dict[str, TaskID] = {}

    def report(stage: str, done: int, total: int | None) -> None:
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total)
        bars.update(tasks[stage], completed=done, total=total)

    with bars:
        yield report


def refuse_ignored(context: typer.Context, names: Iterable[str], because: str) -> None:
    """Refuse options that were passed but would have no effect.

    `refuse_ignored(context, ["pairs"], "the probes are made already")` raises "--pairs has no
    effect here: the probes are made already; leave it out".
    """
    options = {option.name: option for option in context.command.params}
    passed = [_spelled(options[name]) for name in names if was_passed(context, name)]
    if passed:
        has, it = ("have", "them") if len(passed) > 1 else ("has", "it")
        raise UsageError(f"{', '.join(passed)} {has} no effect here: {because}; leave {it} out")


def was_passed(context: typer.Context, name: str) -> bool:
    """Whether the user said it, or it has its usual value."""
    source = context.get_parameter_source(name)
    # what stands in puzzlemark.toml is meant for many calls, and may have no effect in one
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def _spelled(option: Any) -> str:
    """What the user calls it: `--pairs`, or `INPUT` for an argument."""
    name: str = option.opts[0]
    return name if name.startswith("-") else (option.metavar or name.upper()).strip("[]")


@contextmanager
def piped(dataset: str, output: Place) -> Iterator[tuple[str, Place]]:
    """A dataset and an output of which either may be `-`: JSON Lines through a pipe.

    A dataset is read several times, so what comes is kept in a file meanwhile.
    """
    if dataset != "-" and str(output) != "-":
        yield dataset, output
        return
    with tempfile.TemporaryDirectory() as folder:
        source = dataset
        if dataset == "-":
            source = str(Path(folder, "stdin.jsonl"))
            with Path(source).open("wb") as stream:
                shutil.copyfileobj(sys.stdin.buffer, stream)
        target = Path(folder, "stdout.jsonl") if str(output) == "-" else output
        yield source, target
        if str(output) == "-":
            with Path(target).open("rb") as stream:
                shutil.copyfileobj(stream, sys.stdout.buffer)
            sys.stdout.buffer.flush()


def code_path(column: str | None, fenced: bool) -> str | None:
    """The column with the code; between fences: `code_path("text", True) -> "text:fenced"`."""
    return f"{column or ''}:fenced" if fenced else column


def paths_among(option: str, values: Mapping[str, str]) -> dict[str, Path]:
    """The values of an option that are paths of something there: a model's folder, say."""
    found = {f"{option} {name}": Path(value).expanduser() for name, value in values.items()}
    return {name: path for name, path in found.items() if _is_there(path)}


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long to be a name, say
        return False


def read_settings(pairs: Iterable[str]) -> dict[str, str]:
    """What `--set` was passed: `["z=2.5"] -> {"z": "2.5"}`."""
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {pair}: settings are spelled name=value")
        if name in settings:
            raise UsageError(f"--set {pair}: {name} is given twice")
        settings[name] = value
    return settings


def print_json(result: Mapping[str, Any]) -> None:
    """One JSON object on standard output; what a terminal would obey is spelled as an escape."""
    text = json.dumps(result, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write(INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n")


def print_summary(summary: "Summary", *, aside: bool = False) -> None:
    """What a run did, in words; aside of a dataset that goes to standard output."""
    from puzzlemark.languages.base import title_of

    console = errors_console() if aside else output_console()
    name = summary.action
    verb = {"embed": "marked", "apply": "marked", "revert": "reverted"}[name]
    unit = "records" if summary.within is None else "snippets"
    within = "" if summary.within is None else f" in {summary.within:,} records"
    console.print(
        f"[bold]{verb} {summary.marked:,} of {summary.records:,} {unit}[/] ({summary.rate:.2%})"
        f"{within}"
    )
    for language, counts in summary.languages.items():
        marked, records = counts["marked"], counts["records"]
        console.print(f"  {marked:>9,}  of {records:,} {unit} in {escape(title_of(language))}")
    if name == "embed":
        details = {key: count for key, count in summary.counts.items() if key != "marked"}
        for key, count in details.items():
            console.print(f"  {count:>9,}  {key}")
        if summary.kept:
            console.print(f"{unit} kept as they were:")
        for reason, count in _longest_first(summary.kept):
            console.print(f"  {count:>9,}  {escape(reason)}")
    for column, count in summary.recomputed.items():
        console.print(f"recomputed column {escape(column)!r} in {count:,} records")
    console.print(f"dataset   {escape(summary.output)}")
    private = " (private: keep it)" if name == "embed" else ""
    console.print(f"manifest  {escape(summary.manifest)}{private}")
    console.print(f"digest    {summary.output_digest}")
    for message in summary.warnings:
        warn(message)


def report_on(summary: "Summary", dataset: str, output: Place, *, as_json: bool) -> None:
    """What was done, with the names that were typed; a dataset on standard output stays alone."""
    to_pipe = str(output) == "-"
    summary = replace(
        summary,
        input="-" if dataset == "-" else summary.input,
        output="-" if to_pipe else summary.output,
    )
    if not as_json:
        print_summary(summary, aside=to_pipe)
    elif not to_pipe:
        print_json(summary.to_json())
    else:
        raise UsageError("--json and the dataset cannot both go to standard output")


def _longest_first(kept: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """The reasons that matter; the long tail in one line."""
    ordered = sorted(kept.items(), key=lambda pair: -pair[1])
    yield from ordered[:REASONS_SHOWN]
    if rest := ordered[REASONS_SHOWN:]:
        yield f"{len(rest)} other reasons (--json names them)", sum(count for _, count in rest)


def warn(message: str) -> None:
    """A warning on standard error."""
    errors_console().print(f"[yellow]warning:[/] {_one_line(message)}")


@contextmanager
def warnings_in_words() -> Iterator[None]:
    """Print our own warnings as sentences; those of libraries as Python does."""
    with warnings.catch_warnings():
        as_python_does = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, PuzzleMarkWarning):
                warn(str(message))
            else:
                as_python_does(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def _one_line(text: str) -> str:
    """A line feed in a file's name must not begin a line that looks like one of ours."""
    return escape(text.replace("\n", "\u240a"))
