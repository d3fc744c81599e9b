"""The workflow and the hooks call what there is: scripts, tools, versions, targets of make."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="comes with mkdocs")
ROOT = Path(__file__).parents[1]
SCRIPTS = [ROOT / ".ci" / name for name in ("run", "wheels")]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def jobs() -> Iterator[dict[str, Any]]:
    for path in WORKFLOWS:
        yield from read(path)["jobs"].values()


def steps() -> Iterator[dict[str, Any]]:
    for job in jobs():
        yield from job["steps"]


def hooks() -> list[dict[str, Any]]:
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local", "nothing is fetched for a hook"
    found: list[dict[str, Any]] = repository["hooks"]
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_of_the_gate_can_be_run(script: Path) -> None:
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck here")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    done = subprocess.run(["shellcheck", "-S", "warning", script], capture_output=True, text=True)
    assert done.stdout == ""


def test_the_workflow_runs_the_gate_and_nothing_that_is_not_there() -> None:
    commands = [shlex.split(line) for step in steps() for line in step.get("run", "").splitlines()]
    assert [".ci/run"] in commands
    for command in commands:
        assert command[0] == "python" or os.access(ROOT / command[0], os.X_OK), command


def test_what_the_workflow_borrows_has_a_version() -> None:
    borrowed = [step["uses"] for step in steps() if "uses" in step]
    assert borrowed
    assert [name for name in borrowed if not re.fullmatch(r"[\w/-]+@v\d+", name)] == []


def test_every_version_of_python_that_is_named_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        found[1]
        for each in project["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each))
    ]
    tried = [job["strategy"]["matrix"]["python"] for job in jobs() if "strategy" in job]
    assert tried == [named]


def test_what_was_never_tried_may_fail() -> None:
    (job,) = (job for job in jobs() if "strategy" in job)
    assert job["continue-on-error"] == "${{ matrix.os != 'ubuntu-24.04' }}"
    assert "ubuntu-24.04" in job["strategy"]["matrix"]["os"]


def test_hooks_use_the_tools_of_the_environment_that_make_makes() -> None:
    named = {word for hook in hooks() for word in shlex.split(hook["entry"])}
    assert {word for word in named if word.startswith(".venv/bin/")} == {
        ".venv/bin/ruff",
        ".venv/bin/mypy",
        ".venv/bin/python",
    }
    assert [
        path for path in named if path.startswith("tests/") and not (ROOT / path).exists()
    ] == []


def test_hooks_ask_for_all_that_make_check_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^check:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    asked = [line.partition("#")[0].strip() for line in recipe.splitlines()]
    wanted = {line.replace("$(RUN)/", ".venv/bin/").replace(" --check .", "") for line in asked}
    entries = {hook["entry"].replace(" --fix", "") for hook in hooks()}
    assert {line.removesuffix(" .") for line in wanted} <= entries
