"""What both demonstrations share: a folder, a dataset of real functions, and a way to tell."""

import sysconfig
from pathlib import Path

from rich.console import Console

import puzzlemark as pm

FOLDER = Path("demo")
CORPUS = FOLDER / "stdlib.jsonl.gz"
# neither the library's own tests nor what was installed later
NOT_HARVESTED = ("site-packages", "test", "tests", "idlelib", "lib2to3", "distutils", "tkinter")

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
