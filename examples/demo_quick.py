"""Watermark the running Python's own standard library, look at the marks, take them out again.

Run it with `make demo-quick`: no model takes part. It needs no input and leaves its files in
`./demo/`.
"""

import gzip
import time
from pathlib import Path

import puzzlemark as pm
from examples.story import CORPUS, FOLDER, console, harvest, say, show_marks, step
from puzzlemark.embedding.drawing import save_scores_picture

STRATEGIES = {
    "P1": "fixed prefix: the name `key`, joined with the variable that follows it",
    "U1": "universal: a function's own first two variables, joined",
}
FEATURES = FOLDER / "features.parquet"
SHOWN = 2


def main() -> None:
    """The owner's side of PuzzleMark, from source code to marks and back."""
    started = time.monotonic()
    harvest()
    score()
    for mark, meaning in STRATEGIES.items():
        console.print()
        console.rule(f"[bold]{mark}[/], {meaning}", align="left")
        embed(mark)
        show(mark)
        revert(mark)
    conclude(time.monotonic() - started)


def score() -> None:
    """Simple functions are where a mark is least conspicuous."""
    step("Score: which functions are suitable to carry a mark?")
    scored = pm.score(CORPUS, FEATURES, workers=None, overwrite=True)
    say(f"{scored.candidates:,} of {scored.records:,}; suitability {scored.threshold:.4f} or more")
    picture = FEATURES.with_suffix(".svg")
    save_scores_picture(scored, picture, overwrite=True)
    say(f"-> {FEATURES}, used below so that nothing is measured again, and its picture {picture}")


def embed(mark: str) -> None:
    """Write the marked dataset and its private manifest."""
    step(f"Embed {mark}")
    summary = pm.embed(
        CORPUS,
        marked(mark),
        manifest(mark),
        mark=mark,
        features=FEATURES,
        secret_file=FOLDER / "secret",
        workers=None,
        overwrite=True,
    )
    say(f"{summary.marked:,} of {summary.records:,} records carry a mark ({summary.rate:.2%})")
    say(f"-> {marked(mark)}, to publish; {manifest(mark)}, to keep private")


def show(mark: str) -> None:
    """A few marks, before and after."""
    step("Look at what changed")
    show_marks(marked(mark), manifest(mark), SHOWN)


def revert(mark: str) -> None:
    """Take every mark out, and compare with the original."""
    step("Revert, and prove that the original is back")
    restored = FOLDER / f"restored-{mark}.jsonl.gz"
    summary = pm.revert(marked(mark), restored, manifest(mark), overwrite=True)
    original, back = pm.read(CORPUS).digest(), pm.read(restored).digest()
    say(f"digest of the original  {original}")
    say(f"digest of the marked    {summary.input_digest}")
    say(f"digest of the restored  {back}")
    if back != original:
        raise SystemExit("the restored dataset is not the original: please report this")
    if unpack(restored) != unpack(CORPUS):
        raise SystemExit("the restored lines are not the original ones: please report this")
    say("[green]The original is back: every record and every field of it, byte for byte.[/]")


def conclude(seconds: float) -> None:
    """What to do next."""
    step(f"Done in {seconds:.0f} seconds")
    say("Publish the marked dataset, keep the manifest and the secret. Next:")
    say(f"  puzzlemark show {marked('U1')} --manifest {manifest('U1')} --html {FOLDER}/marks.html")
    say("  puzzlemark embed YOUR_DATASET --output marked.jsonl.gz --mark U1")
    say("  puzzlemark harvest YOUR_PROJECT --language python --output functions.jsonl.gz")
    say("  make demo, which also trains a model on the marked dataset, and asks it; it shows marks")
    say("  with a key, too, which are recommended: puzzlemark embed ... --mark synonyms")


def marked(mark: str) -> Path:
    """The dataset with this mark in it."""
    return FOLDER / f"marked-{mark}.jsonl.gz"


def manifest(mark: str) -> Path:
    """Its manifest."""
    return FOLDER / f"marks-{mark}.manifest.jsonl.gz"


def unpack(path: Path) -> bytes:
    """The lines of a dataset, whatever the compression of its file."""
    return gzip.decompress(path.read_bytes())


if __name__ == "__main__":  # worker processes import this file
    main()
