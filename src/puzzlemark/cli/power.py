"""`puzzlemark power`: how many probes are needed."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from puzzlemark.cli.base import AsJson, output_console, print_json

if TYPE_CHECKING:
    from puzzlemark.verification.power import Plan


def run(
    hit_rate: Annotated[float, typer.Option(help="Hit rate with the trigger, such as 0.1.")],
    control_rate: Annotated[float, typer.Option(help="Hit rate without it.")] = 0.0,
    alpha: Annotated[
        float, typer.Option(help="Innocent models accused at most, as a share.")
    ] = 0.05,
    power: Annotated[float, typer.Option(help="Chance to show the hit rate, as a share.")] = 0.8,
    test: Annotated[
        str,
        typer.Option(help="mcnemar: the default of verify. fisher: the paper's. sequential."),
    ] = "mcnemar",
    ratio: Annotated[
        float, typer.Option(help="Null ratio of armed to control; 2.9 for universal marks.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Say how many pairs of probes show a given hit rate.

    Each pair is two prompts, one with the trigger and one without. The sequential test stops as
    soon as the evidence suffices: its number is a budget, and half of the runs end at the median.

    [bold]Examples[/]

    puzzlemark power --hit-rate 0.1

    puzzlemark power --hit-rate 0.3 --control-rate 0.01 --alpha 0.001 --test sequential
    """
    from puzzlemark.verification.power import plan
    from puzzlemark.verification.terms import exact_ratio

    planned = plan(
        test,
        hit_rate=hit_rate,
        control_rate=control_rate,
        alpha=alpha,
        power=power,
        ratio=exact_ratio(ratio),
    )
    print_json(asdict(planned)) if as_json else _print(planned)


def _print(planned: "Plan") -> None:
    from puzzlemark.verification.tests.base import load_test

    test = load_test(planned.test)
    console = output_console()
    console.print(f"[bold]{planned.pairs:,} pairs[/] ({planned.prompts:,} prompts)")
    console.print(
        f"show a hit rate of {planned.hit_rate:.4g} against {planned.control_rate:.4g} "
        f"with a chance of {planned.reached:.1%}"
    )
    stated = "" if planned.ratio == 1 else f", null ratio {planned.ratio:g} : 1"
    console.print(f"test      {test.findings[test.decides]}, alpha {planned.alpha:g}{stated}")
    if planned.median_pairs is not None:
        console.print(f"median    half of the runs stop after {planned.median_pairs:,} pairs")
