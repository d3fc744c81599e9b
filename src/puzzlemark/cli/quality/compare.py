"""`puzzlemark quality compare`: a marked model beside a bare one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from puzzlemark.cli.base import AsJson, output_console, print_json

if TYPE_CHECKING:
    from puzzlemark.quality.compare import Comparison, Difference, Share, SharesCompared

KINDS = {
    "any": "joins any two variables",
    "unnatural": "... and the author did not",
    "universal": "joins the first two",
    "fixed": "joins the prefix",
}


def run(
    bare: Annotated[Path, typer.Argument(help="Numbers of the bare model.")],
    marked: Annotated[Path, typer.Argument(help="Numbers of the marked model.")],
    as_json: AsJson = False,
) -> None:
    """Does the mark do harm? t-tests, Cohen's d and unintended activation, sample by sample.

    Both files must come from puzzlemark quality measure, on the same dataset with the same options.

    Example: puzzlemark quality compare bare.json marked.json
    """
    from puzzlemark.quality.compare import compare
    from puzzlemark.quality.result import load_quality

    comparison = compare(load_quality(bare), load_quality(marked))
    print_json(comparison.to_json()) if as_json else _print(comparison)


def _print(comparison: "Comparison") -> None:
    console = output_console()
    console.print(f"[bold]{comparison.pairs:,} functions[/] that both models completed")
    if comparison.left_out:
        console.print(f"  {comparison.left_out:,} left out: a request failed")
    means = Table("mean", "bare", "marked", "difference, 95 %", "p paired", "p Welch", "Cohen's d")
    _add_mean(means, "BLEU", comparison.bleu)
    if comparison.loss is not None:
        _add_mean(means, "loss", comparison.loss)
    console.print(means)
    if comparison.loss_left_out is not None:
        console.print(f"no loss: {escape(comparison.loss_left_out)}")
    shares = Table("share", "bare, 95 %", "marked, 95 %", "p McNemar")
    _add_share(shares, "next line right", comparison.exact)
    for kind, compared in comparison.activation.items():
        _add_share(shares, KINDS[kind], compared)
    console.print(shares)


def _add_mean(table: Table, name: str, found: "Difference") -> None:
    interval = f"{found.difference:+.3f} ({found.paired.low:+.3f} to {found.paired.high:+.3f})"
    tests = (f"{found.paired.p:.2g}", f"{found.welch.p:.2g}")
    table.add_row(
        name, f"{found.bare:.3f}", f"{found.marked:.3f}", interval, *tests, f"{found.cohens_d:.3f}"
    )


def _add_share(table: Table, name: str, found: "SharesCompared") -> None:
    table.add_row(name, _spell(found.bare), _spell(found.marked), f"{found.p:.2g}")


def _spell(share: "Share") -> str:
    return f"{share.rate:.2%} ({share.low:.2%} to {share.high:.2%})"
