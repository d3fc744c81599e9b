"""The commands of the tutorial, in their order, with a tiny model and few steps."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests import guides

TUTORIAL = (guides.ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
# so that it takes seconds: a dataset of some files, a model of two layers, two steps, four pairs
SMALLER = {
    "--steps 160": "--steps 2 --layers 2",
    "--pairs 60": "--pairs 4",
    "--base smollm2": "--base tiny",
    "pretrained=$HOME/.cache/puzzlemark/models/smollm2": "pretrained=tiny",
    '"$(python3 -c \'import sysconfig; print(sysconfig.get_path("stdlib"))\')"': "library",
}
ELSEWHERE = ("python3 -m venv", ". .venv", "pip install", "puzzlemark model fetch")
MODULES = ("_collections_abc", "argparse", "difflib", "mailbox", "tarfile", "configparser")


@pytest.fixture
def place(tmp_path: Path, tutorial_model: Path) -> Path:
    library = Path(os.__file__).parent
    (tmp_path / "library").mkdir()
    for name in MODULES:
        (tmp_path / "library" / f"{name}.py").write_bytes((library / f"{name}.py").read_bytes())
    (tmp_path / "tiny").symlink_to(tutorial_model)
    return tmp_path


@pytest.fixture(scope="module")
def tutorial_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for library in ("torch", "transformers", "accelerate"):
        pytest.importorskip(library, reason="needs the extra train")
    from tests.servers.tiny import make_model

    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    make_model(folder, positions=512)
    return folder


def commands() -> list[str]:
    blocks = [block["text"] for block in guides.BLOCK.finditer(TUTORIAL)]
    found = [step.command for text in blocks for step in guides.steps(text)]
    return [command for command in found if not command.startswith(ELSEWHERE)]


def smaller(command: str) -> str:
    for long, short in SMALLER.items():
        command = command.replace(long, short)
    return command


def test_every_command_of_the_tutorial_works_after_the_one_before(place: Path) -> None:
    for command in map(smaller, commands()):
        words = f'puzzlemark() {{ "{sys.executable}" -m puzzlemark "$@"; }}\n'
        words += f'python() {{ "{sys.executable}" "$@"; }}\n{command}'
        done = subprocess.run(
            ["bash", "-c", words],
            cwd=place,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(guides.ROOT / "src"), str(guides.ROOT)]),
                "HF_HUB_OFFLINE": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        if command.startswith("cmp"):
            assert done.stdout == "same\n"
    assert (place / "run" / "report.html").exists()


def test_what_is_made_smaller_stands_in_the_tutorial() -> None:
    assert all(long in TUTORIAL for long in SMALLER)
    programs = {shlex.split(command)[0] for command in commands()}
    assert programs == {"puzzlemark", "python", "cmp"}
