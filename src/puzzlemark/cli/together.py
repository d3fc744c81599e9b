"""`puzzlemark together`: several verdicts at once, corrected for being several."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from puzzlemark.cli.base import AsJson, output_console, print_json
from puzzlemark.cli.probe import KeySecretFile, Licensee

if TYPE_CHECKING:
    from puzzlemark.verification.run import Run


def run(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of verify.")],
    secret_file: KeySecretFile = None,
    licensee: Licensee = None,
    multiply: Annotated[
        bool,
        typer.Option(
            "--multiply", help="Multiply the evidence of marks with independent keys, instead."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Correct the verdicts of several marks or models that are judged together (Holm).

    Whoever asks about twenty models at alpha 0.05 accuses one innocent on average. After the
    correction the chance to accuse any innocent at all is at most alpha. The folders stay as they
    are. With --multiply, evidence against one model by several marks with a key becomes one number.

    Example: puzzlemark together run-P1/ run-P2/ run-U1/
    """
    from puzzlemark.verification.verdict import adjust

    if multiply:
        _multiply(runs, secret_file, licensee, as_json)
        return
    verdicts = adjust([_load(folder, secret_file, licensee).verdict for folder in runs])
    if as_json:
        pairs = zip(runs, verdicts, strict=True)
        print_json({"runs": [{"run": str(run), **verdict.to_json()} for run, verdict in pairs]})
        return
    console = output_console()
    for folder, verdict in zip(runs, verdicts, strict=True):
        name = escape(str(folder))
        log10_p = 0.0 if verdict.adjusted_log10_p is None else verdict.adjusted_log10_p
        console.print(f"{name:<24} [bold]{verdict.word:<14}[/] adjusted log10 p = {log10_p:.2f}")


def _multiply(
    runs: list[Path], secret_file: Path | None, licensee: str | None, as_json: bool
) -> None:
    from puzzlemark.verification.together import product

    found = product([_load(folder, secret_file, licensee) for folder in runs])
    if as_json:
        print_json({"runs": [str(run) for run in runs], **found.to_json()})
        return
    console = output_console()
    for folder, part in zip(runs, found.parts, strict=True):
        console.print(f"{escape(str(folder)):<24} log10 e = {part:.2f}")
    console.print(escape(found.sentence))


def _load(folder: Path, secret_file: Path | None, licensee: str | None) -> "Run":
    """A run; the secret is for those of which a test needs the key of the watermark."""
    from puzzlemark.embedding.secret import find_secret
    from puzzlemark.verification.probes import load_probes
    from puzzlemark.verification.run import load_run, needs_key

    is_keyed = needs_key(load_probes(folder / "probes.jsonl").design)
    if is_keyed and licensee is not None:
        secret = find_secret(secret_file, make=False).licensed(licensee)
        return load_run(folder, secret=secret)
    is_needed = secret_file and is_keyed
    return load_run(folder, secret_file=secret_file if is_needed else None)
