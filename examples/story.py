"""What both demonstrations share: a folder, a dataset of real functions, and a way to tell."""

import sysconfig
from pathlib import Path

from rich.console import Console

import puzzlemark as pm
from puzzlemark.cli.show import changes, heading

FOLDER = Path("demo")
CORPUS = FOLDER / "stdlib.jsonl.gz"
# neither the library's own tests nor what was installed later
NOT_HARVESTED = ("site-packages", "test", "tests", "idlelib", "lib2to3", "distutils", "tkinter")

EASY_LINES = 8  # a function of about this size can be taken in at a glance

console = Console(highlight=False)


def harvest() -> None:
    """Functions of the standard library become a dataset like CodeSearchNet."""
    step("Harvest a dataset from real code")
    folder = Path(sysconfig.get_path("stdlib"))
    harvested = pm.harvest(folder, CORPUS, "python", exclude=NOT_HARVESTED, overwrite=True)
    say(f"{harvested.records:,} functions of {harvested.files:,} files in {folder}")
    say(f"-> {CORPUS}")


def step(title: str) -> None:
    """Say what comes next."""
    console.print(f"\n[bold]{title}[/]", soft_wrap=True)


def say(text: str) -> None:
    """One line below the step."""
    console.print(f"  {text}", soft_wrap=True)


def show_marks(dataset: Path, manifest: Path, count: int) -> None:
    """A few marks, before and after."""
    marks = pm.show(dataset, manifest, limit=None).marks
    # where the trigger was there by nature, so that one name changed and no more
    readable = [each for each in marks if sum(part.was is not None for part in each.parts) == 1]
    readable.sort(key=lambda each: abs(each.before.code.count("\n") - EASY_LINES))
    for each in readable[:count]:
        for line in (*heading(each).split("\n"), *changes(each), ""):
            # code as it is: `names[key]` would be taken for markup
            console.print(f"    {line}" if line else "", soft_wrap=True, markup=False)
