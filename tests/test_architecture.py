"""The import graph is what ARCHITECTURE.md says it is."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "puzzlemark"
GROUND = {"snippet", "errors", "plugins", "provenance", "progress", "files", "staging"}
FORBIDDEN_NAMES = {"utils", "util", "common", "core", "helpers", "misc"}


def rooms() -> set[str]:
    paths = (path for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py")
    return {path.stem for path in paths if not path.stem.startswith("__")}


def table() -> dict[str, set[str]]:
    """Each room's row of the table: which rooms it may import."""
    allowed: dict[str, set[str]] = {}
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 4 or not cells[0].startswith("`"):
            continue
        names = [name for name in re.findall(r"`([\w.]+)`", cells[0]) if "." not in name]
        may = set(re.findall(r"`(\w+)`", cells[3]))
        if "ground" in cells[3] or names[0] in GROUND:
            may |= GROUND
        if cells[3] == "everything above":
            may |= GROUND | set(allowed)
        for name in names:
            allowed[name] = may
    return allowed


def imports(path: Path) -> set[str]:
    """Rooms that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the room"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {m.split(".")[1] for m in modules if m.startswith("puzzlemark.")}
    return found & rooms()


def test_every_room_has_a_row_in_the_table() -> None:
    assert set(table()) == rooms()


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_imports_only_what_its_row_allows(room: str) -> None:
    paths = [PACKAGE / f"{room}.py"] if (PACKAGE / f"{room}.py").exists() else []
    paths += (PACKAGE / room).rglob("*.py")
    assert paths
    for path in paths:
        strangers = imports(path) - table()[room] - {room}
        # the command line speaks to users through the public names
        assert not strangers, f"{path.relative_to(ROOT)} imports {sorted(strangers)}"


def test_the_rules_can_fail() -> None:
    assert "embedding" not in table()["syntax"]
    assert "watermarks" in imports(PACKAGE / "embedding" / "plan.py")


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    stems = {path.stem for path in PACKAGE.rglob("*.py")}
    assert not stems & FORBIDDEN_NAMES


def test_no_file_or_document_names_the_machine_it_was_written_on() -> None:
    pattern = re.compile(r"(?<![\w.~])/(?:work|root|farm)/")
    suffixes = {".py", ".md", ".toml", ".cff", ".html", ".jinja"}
    for folder in ("src", "tests", "docs", "examples", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in suffixes and path.name != Path(__file__).name:
                assert not pattern.search(path.read_text()), path
