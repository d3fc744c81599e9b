"""The documents are true: their links lead somewhere, their commands exist and work."""

import gzip
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from puzzlemark import plugins
from puzzlemark.cli.__main__ import application
from tests import guides

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
    """`puzzlemark model fetch x` -> (["model", "fetch"], ["x"]); a group may be a command, too."""
    words = shlex.split(line)[1:]
    words = words[: words.index("|")] if "|" in words else words  # what another program is told
    is_group = words[0] in plugins.subpackages("cli")
    length = 2 if is_group and not words[1].startswith("-") else 1
    return words[:length], words[length:]


def options(name: list[str]) -> set[str]:
    """The spellings that a command takes; none where there is no such command."""
    command: Any = get_command(application())
    for word in name:
        command = command.commands.get(word)
        if command is None:
            return set()
    return {"-h", "--help"} | {spelling for each in command.params for spelling in each.opts}


def test_a_command_or_an_option_that_there_is_not_is_noticed() -> None:
    assert {"--output", "-o", "--mark"} <= options(["embed"])
    assert "--out" not in options(["embed"])  # a part of another one
    assert "--fetch" not in options(["model", "fetch"])
    assert options(["embett"]) == options(["model", "nothing"]) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_option_of_every_command_in_a_page_exists(page: Path) -> None:
    for line in commands(page):
        name, words = name_and_words(line)
        known = options(name)
        assert known, f"{page}: no such command: {line!r}"
        for word in words:
            if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?", word):
                assert word.partition("=")[0] in known, f"{page}: {word} in {line!r}"


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
    pages = {str(page.relative_to(ROOT)) for page in PAGES if commands(page)}
    assert {"README.md", "docs/guides/first-watermark.md", "docs/quality.md"} <= pages


REPLAYED = [guide for guide in guides.GUIDES if any(guides.blocks(guide.read_text()))]


@pytest.mark.parametrize("guide", REPLAYED, ids=lambda guide: guide.stem)
def test_a_guide_shows_what_the_program_prints(guide: Path, tmp_path: Path) -> None:
    """To bring the pages up to date: `python -m tests.guides`."""
    page = guide.read_text()
    printed = guides.replay(page, tmp_path)
    assert guides.without_digests(page) == guides.without_digests(printed)


def test_every_guide_that_shows_an_output_is_run_or_says_why_not() -> None:
    assert {guide.stem for guide in REPLAYED} >= {
        "first-watermark",
        "protect-a-repository",
        "run-a-study",
        "attack-a-dataset",
        "publish-a-dataset",
    }
    for guide in guides.GUIDES:
        for block in guides.BLOCK.finditer(guide.read_text()):
            if guides.shows_output(block["text"]) and guide not in REPLAYED:
                assert block["skip"], f"{guide}: neither run nor marked: {block['text']}"


def test_the_commands_of_a_guide_are_told_from_their_outputs(tmp_path: Path) -> None:
    page = "```console\n$ echo a \\\n  b\nold\n$ true\n```\n"
    (block,) = guides.BLOCK.finditer(page)
    assert [step.output for step in guides.steps(block["text"])] == ["old\n", ""]
    assert not guides.shows_output(block["text"])
    assert guides.run("echo a \\\n  b\n", tmp_path) == "a b\n"
    (skipped,) = guides.BLOCK.finditer("<!-- not run: slow -->\n" + page)
    assert skipped["skip"]
    shown = page.replace("echo", "puzzlemark")
    assert next(guides.blocks(shown))["text"] == shown[11:-4]


STATISTICS = (ROOT / "docs" / "verification" / "statistics.md").read_text()


@pytest.mark.parametrize("page", ["verification/statistics.md", "extend/README.md"])
def test_the_python_of_a_page_works(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    (script,) = [text for kind, text in BLOCK.findall(text) if kind == "python"]
    exec(script, {})  # noqa: S102


def test_the_page_on_statistics_shows_the_numbers_of_power() -> None:
    row = re.compile(r"^\| (\d+)% \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
    found = row.findall(STATISTICS)
    assert [cells[0] for cells in found] == ["60", "30", "10", "5", "1"]
    for rate, *numbers in found:
        printed: list[int] = []
        for test in ("mcnemar", "fisher", "sequential"):
            words = ["power", "--hit-rate", str(int(rate) / 100), "--test", test, "--json"]
            told = json.loads(CliRunner().invoke(application(), words).stdout)
            printed += [told["pairs"], *([told["median_pairs"]] if test == "sequential" else [])]
        assert printed == [int(number) for number in numbers], rate
