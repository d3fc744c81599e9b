"""Packages of third parties, installed into a folder without a network: what pip would leave."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def install(
    site: Path,
    name: str,
    modules: Mapping[str, str],
    entry_points: Mapping[str, Mapping[str, str]],
    version: str = "1.0",
) -> None:
    """Write modules and the metadata of one distribution: `{"puzzlemark.models": {"x": "mod"}}`."""
    site.mkdir(parents=True, exist_ok=True)
    for path, text in modules.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    metadata = site / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, points in entry_points.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")


def install_project(site: Path, project: Path) -> None:
    """The package of a `pyproject.toml`, with the entry points that stand in it."""
    told = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    files = sorted((project / "src").rglob("*.py"))
    modules = {str(path.relative_to(project / "src")): path.read_text() for path in files}
    install(site, told["name"], modules, told["entry-points"], told["version"])


def run_with(site: Path, *words: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """A command of PuzzleMark in a process that sees the packages of a folder."""
    return subprocess.run(
        [sys.executable, "-m", "puzzlemark", *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(site)])},
        capture_output=True,
        text=True,
        check=False,
    )
