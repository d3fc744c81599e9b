"""The documents are true: their links lead somewhere, their commands exist and work."""

import gzip
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from puzzlemark import plugins
from puzzlemark.cli.__main__ import application

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path for path in ROOT.rglob("*.md") if not {".venv", "golden", "demo"} & set(path.parts)
    and not any(part.startswith(".venv") for part in path.parts)
)  # fmt: skip
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
COMMAND = re.compile(r"^(?:\$ )?(puzzlemark [a-z]+ .*?)(?:\s+#.*)?$", re.MULTILINE)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    prose = re.sub(r"`[^`]*`", "", BLOCK.sub("", page.read_text()))
    for target in LINK.findall(prose):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def commands(page: Path) -> list[str]:
    blocks = (text for _, text in BLOCK.findall(page.read_text()))
    return [line for text in blocks for line in COMMAND.findall(text.replace("\\\n", " "))]


def name_and_words(line: str) -> tuple[list[str], list[str]]:
    """`puzzlemark model fetch x` -> (["model", "fetch"], ["x"])."""
    words = shlex.split(line)[1:]
    length = 2 if words[0] in plugins.subpackages("cli") else 1
    return words[:length], words[length:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_of_every_command_in_a_page_exists(page: Path) -> None:
    for line in commands(page):
        name, words = name_and_words(line)
        told = CliRunner(env={"COLUMNS": "200"}).invoke(application(), [*name, "--help"])
        assert told.exit_code == 0, line
        for word in words:
            if re.fullmatch(r"--[a-z-]+", word):
                assert word in told.output, f"{page}: {word} in {line!r}"


def test_the_commands_of_the_readme_work(tmp_path: Path, corpus_bytes: bytes) -> None:
    (tmp_path / "train.jsonl.gz").write_bytes(gzip.compress(corpus_bytes))
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    lines = [
        line.removeprefix("$ ")
        for kind, text in blocks
        if kind == "console"
        for line in text.replace("\\\n", " ").splitlines()
        if line.startswith("$ puzzlemark")
    ]
    assert len(lines) >= 3
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        if words[0] in ("model", "train", "verify", "report"):
            continue  # need a model; tests/models, tests/training and tests/stories have them
        done = subprocess.run(
            [sys.executable, "-m", "puzzlemark", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_the_python_of_the_readme_works(tmp_path: Path, corpus_bytes: bytes) -> None:
    (tmp_path / "train.jsonl.gz").write_bytes(gzip.compress(corpus_bytes))
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    (script,) = [text for kind, text in blocks if kind == "python"]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_there_are_pages_with_commands_to_test() -> None:
    assert sum(bool(commands(page)) for page in PAGES) >= 3
