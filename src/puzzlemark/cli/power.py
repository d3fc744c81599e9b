"""`puzzlemark power`: how many probes are needed."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from puzzlemark.cli._completing import one_of
from puzzlemark.cli.base import AsJson, output_console, print_json, refuse_ignored
from puzzlemark.errors import UsageError

if TYPE_CHECKING:
    from puzzlemark.verification.power import DrawnPlan, Plan

PAIRED = ("control_rate", "alpha", "test", "ratio")
DRAWN = ("answers", "log10_e")


def run(
    context: typer.Context,
    hit_rate: Annotated[
        float | None, typer.Option(help="Hit rate with the trigger, such as 0.1.")
    ] = None,
    control_rate: Annotated[float, typer.Option(help="Hit rate without it.")] = 0.0,
    alpha: Annotated[
        float, typer.Option(help="Innocent models accused at most, as a share.")
    ] = 0.05,
    power: Annotated[
        float | None,
        typer.Option(help="Chance to show it, as a share. (default: 0.8; with --exposures: 0.9)"),
    ] = None,
    test: Annotated[
        str,
        typer.Option(
            help="mcnemar: the default of verify. fisher: the paper's. sequential.",
            autocompletion=one_of("mcnemar", "fisher", "sequential"),
        ),
    ] = "mcnemar",
    ratio: Annotated[
        float, typer.Option(help="Null ratio of armed to control; 2.9 for universal marks.")
    ] = 1.0,
    exposures: Annotated[
        int | None,
        typer.Option(help="Plan the marks of synonyms: how often a model saw each carrier.", min=1),
    ] = None,
    answers: Annotated[
        Literal["labels", "logprobs"],
        typer.Option(help="What is read of a model: completions, or log-probabilities."),
    ] = "labels",
    log10_e: Annotated[
        float, typer.Option("--log10-e", help="Evidence that is to be reached, as log10.")
    ] = 6.0,
    as_json: AsJson = False,
) -> None:
    """Say how many pairs of probes show a given hit rate, or how many drawn names an exposure.

    With --exposures: how many carriers of synonyms show that a model was trained on them so often,
    by what was measured of small models. Else by --hit-rate: each pair is two prompts, one with the
    trigger and one without; where a key decides it is one. The sequential test stops as soon as the
    evidence suffices: its number is a budget, and half of the runs end at the median.

    [bold]Examples[/]

    puzzlemark power --hit-rate 0.1

    puzzlemark power --hit-rate 0.3 --control-rate 0.01 --alpha 0.001 --test sequential

    puzzlemark power --exposures 3
    """
    from puzzlemark.verification.power import POWER, plan, plan_drawn
    from puzzlemark.verification.terms import exact_ratio

    if (hit_rate is None) == (exposures is None):
        raise UsageError("say what is to be shown: --hit-rate, or --exposures for synonyms")
    if exposures is not None:
        refuse_ignored(context, PAIRED, "--exposures plans names that a key drew")
        drawn = plan_drawn(
            exposures, answers=answers, log10_e=log10_e, power=0.9 if power is None else power
        )
        print_json(asdict(drawn)) if as_json else _print_drawn(drawn)
        return
    assert hit_rate is not None, "one of the two was given"
    refuse_ignored(context, DRAWN, "--hit-rate plans pairs of probes")
    planned = plan(
        test,
        hit_rate=hit_rate,
        control_rate=control_rate,
        alpha=alpha,
        power=POWER if power is None else power,
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


def _print_drawn(planned: "DrawnPlan") -> None:
    console = output_console()
    seen = "exposure" if planned.exposures == 1 else "exposures"
    console.print(f"[bold]{planned.carriers:,} carriers[/] ({planned.requests:,} requests)")
    console.print(
        f"show {planned.exposures} {seen} with e >= 1e{planned.log10_e:g} and a chance of "
        f"{planned.power:.0%}, from {planned.answers}"
    )
    console.print(
        f"dataset   {planned.eligible:,} eligible records keep them concealed, a fifth of which "
        f"carry; about {planned.records:,} functions in all have as many"
    )
    console.print(f"source    {planned.nats_per_carrier:g} nats a carrier: {planned.source}")
