"""The commands of a guide, run as its reader would: `python -m tests.guides` writes the outputs.

A fenced `console` block has commands after `$ ` and below them what they print. A block that cannot
be run stands behind a comment that says why: `<!-- not run: it downloads a model -->`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / "docs" / "tutorial.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
PROGRAMS = Path("tests") / "programs" / "python"  # what the guides take for a source tree
SECRET = "the secret of the guides, which everybody may know"  # noqa: S105
BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\n+)?^```console\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


@dataclass(frozen=True, slots=True)
class Step:
    """A command as it is spelled, and what stands below it."""

    command: str
    output: str


def steps(text: str) -> Iterator[Step]:
    """The commands of a block, each with its output."""
    for part in filter(None, re.split(r"^(?=\$ )", text, flags=re.MULTILINE)):
        found = re.match(r"\$ ((?:.*\\\n)*.*\n)", part)
        assert found is not None, f"a console block begins with $: {part!r}"
        yield Step(found[1], part[found.end() :])


def shows_output(text: str) -> bool:
    """Whether a block tells what PuzzleMark prints."""
    return any(step.command.startswith("puzzlemark ") and step.output for step in steps(text))


def blocks(page: str) -> Iterator[re.Match[str]]:
    """The blocks of a page that are to be run: all, where one of them shows an output."""
    found = [block for block in BLOCK.finditer(page) if not block["skip"]]
    if any(shows_output(block["text"]) for block in found):
        yield from found


def replay(page: str, folder: Path) -> str:
    """The page with what its commands print now, run in order in a folder of their own."""
    shutil.copytree(ROOT / PROGRAMS, folder / PROGRAMS)
    pieces: list[str] = []
    at = 0
    for block in blocks(page):
        printed = [f"$ {step.command}{run(step.command, folder)}" for step in steps(block["text"])]
        pieces += (page[at : block.start("text")], "".join(printed))
        at = block.end("text")
    return "".join((*pieces, page[at:]))


def run(command: str, folder: Path) -> str:
    """What a command prints; `puzzlemark` is the one of this source tree."""
    done = subprocess.run(
        ["bash", "-c", f'puzzlemark() {{ "{sys.executable}" -m puzzlemark "$@"; }}\n{command}'],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PUZZLEMARK_SECRET": SECRET,
            "COLUMNS": "200",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def without_digests(page: str) -> str:
    """A digest also depends on the versions of libraries; all else must be the same."""
    return DIGEST.sub("<digest>", page)


def main() -> None:
    """Write the outputs into the guides."""
    for guide in GUIDES:
        page = guide.read_text()
        with tempfile.TemporaryDirectory() as folder:
            guide.write_text(replay(page, Path(folder)))


if __name__ == "__main__":
    main()
