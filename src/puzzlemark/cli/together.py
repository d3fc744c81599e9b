"""`puzzlemark together`: several verdicts at once, corrected for being several."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, output_console, print_json
from puzzlemark.cli.probe import KeySecretFile

if TYPE_CHECKING:
    from puzzlemark.verification.run import Run


def run(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of verify.")],
    secret_file: KeySecretFile = None,
    as_json: AsJson = False,
) -> None:
    """Correct the verdicts of several marks or models that are judged together (Holm).

    Whoever asks about twenty models at alpha 0.05 accuses one innocent on average. After the
    correction the chance to accuse any innocent at all is at most alpha. The folders stay as they
    are.

    Example: puzzlemark together run-P1/ run-P2/ run-U1/
    """
    from puzzlemark.verification.verdict import adjust

    verdicts = adjust([_load(folder, secret_file).verdict for folder in runs])
    if as_json:
        pairs = zip(runs, verdicts, strict=True)
        print_json({"runs": [{"run": str(run), **verdict.to_json()} for run, verdict in pairs]})
        return
    console = output_console()
    for folder, verdict in zip(runs, verdicts, strict=True):
        name = escape(str(folder))
        log10_p = 0.0 if verdict.adjusted_log10_p is None else verdict.adjusted_log10_p
        console.print(f"{name:<24} [bold]{verdict.word:<14}[/] adjusted log10 p = {log10_p:.2f}")


def _load(folder: Path, secret_file: Path | None) -> "Run":
    """A run; the secret is for those of which a test needs the key of the watermark."""
    from puzzlemark.verification.probes import load_probes
    from puzzlemark.verification.run import load_run, needs_key

    is_needed = secret_file and needs_key(load_probes(folder / "probes.jsonl").design)
    return load_run(folder, secret_file=secret_file if is_needed else None)
