"""The import graph is what ARCHITECTURE.md says it is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import puzzlemark

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "puzzlemark"
GROUND = {"snippet", "errors", "plugins", "provenance", "progress"}
GROUND |= {"stores", "files", "holding", "staging", "resuming"}
FORBIDDEN_NAMES = {"utils", "util", "common", "core", "helpers", "misc"}
# functions of `plugins` whose first argument names the package that they look into
LOOKS = {"names", "load", "find", "every", "configure", "build", "distribution", "subpackages"}
EVERYTHING = "all of puzzlemark"
# files that import what data or the user names, and so cannot be read off: grammars of languages,
# a function of the user's own
BY_NAME = {
    "detectors/_decoma_abstraction.py",
    "features/kinds.py",
    "models/scripted.py",
    "syntax/tree.py",
}


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


def imports(source: str, module: str) -> set[str]:
    """Rooms that a module reaches, also inside functions, by whatever spelling.

    `EVERYTHING` is among them where it takes hold of the whole package, or looks for plug-ins of a
    package that is not spelled out: what it reaches then cannot be read off.
    """
    tree = ast.parse(source)
    strings = constants(tree)
    found = {room for name in reached(tree, module, strings) for room in room_of(name)}
    return found & (rooms() | {EVERYTHING})


def reached(tree: ast.AST, module: str, strings: dict[str, str]) -> Iterator[str]:
    """The dotted names below puzzlemark that are imported or looked into."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = absolute(node, module)
            yield from (f"{package}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call):
            yield from called(node, strings)


def absolute(node: ast.ImportFrom, module: str) -> str:
    """`from ..x import y` in `puzzlemark.a.b` is about `puzzlemark.x`."""
    if node.level == 0:
        return node.module or ""
    above = module.split(".")[: -node.level]
    return ".".join([*above, *filter(None, [node.module])])


def called(node: ast.Call, strings: dict[str, str]) -> Iterator[str]:
    """What a call of `plugins.load`, `import_module` or `__import__` reaches."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    owner = getattr(getattr(node.func, "value", None), "id", "")
    if name in ("import_module", "__import__"):
        told = text_of(node.args[0], strings) if node.args else None
        yield "puzzlemark" if told is None else told
    elif owner == "plugins" and name in LOOKS:
        first = node.args[0] if node.args else next((k.value for k in node.keywords), None)
        told = None if first is None else text_of(first, strings)
        yield "puzzlemark" if told is None else f"puzzlemark.{told}"
    elif name == "getattr" and node.args and getattr(node.args[0], "id", "") == "puzzlemark":
        yield "puzzlemark"


def constants(tree: ast.Module) -> dict[str, str]:
    """The texts that a module gives a name to: `PACKAGE = "auditing.checks"`."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)]
    return {
        target.id: node.value.value
        for node in assigned
        for target in node.targets
        if isinstance(target, ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def text_of(node: ast.expr, strings: dict[str, str]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return strings.get(node.id) if isinstance(node, ast.Name) else None


def room_of(name: str) -> Iterator[str]:
    """The room behind a dotted name; a public name stands for the room that it comes from."""
    first, _, rest = name.partition(".")
    if first != "puzzlemark":
        return
    inner = rest.split(".")[0]
    if inner in ("", "*"):
        yield EVERYTHING
    elif inner in rooms():
        yield inner
    elif inner in puzzlemark._HOMES:
        yield puzzlemark._HOMES[inner].partition(":")[0].partition(".")[0]


def strangers(path: Path, room: str) -> set[str]:
    """What a file reaches beyond its row of the table."""
    allowed = table()[room]
    # the command line and the doctor speak of everything; `plugins` loads what is asked for
    if room in ("cli", "doctor", "plugins") or path.relative_to(PACKAGE).as_posix() in BY_NAME:
        allowed = allowed | {EVERYTHING}
    module = ".".join(["puzzlemark", *path.relative_to(PACKAGE).with_suffix("").parts])
    return imports(path.read_text(), module) - allowed - {room}


def test_every_room_has_a_row_in_the_table() -> None:
    assert set(table()) == rooms()


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_imports_only_what_its_row_allows(room: str) -> None:
    paths = [PACKAGE / f"{room}.py"] if (PACKAGE / f"{room}.py").exists() else []
    paths += (PACKAGE / room).rglob("*.py")
    assert paths
    for path in paths:
        found = strangers(path, room)
        assert not found, f"{path.relative_to(ROOT)} imports {sorted(found)}"


@pytest.mark.parametrize(
    ("line", "reached"),
    [
        ("from puzzlemark.embedding.manifest import load_manifest", "embedding"),
        ("import puzzlemark.embedding.manifest as m", "embedding"),
        ("from puzzlemark import load_manifest", "embedding"),
        ("from puzzlemark import embed as e", "embedding"),
        ("from puzzlemark import verify", "verification"),
        ("from puzzlemark import Refusal", "watermarks"),
        ("from puzzlemark import watermarks", "watermarks"),
        ("from puzzlemark import *", EVERYTHING),
        ("import puzzlemark", EVERYTHING),
        ("import puzzlemark as pm", EVERYTHING),
        ("def f():\n    import puzzlemark as pm\n    pm.load_manifest('x')", EVERYTHING),
        ("from .. import load_manifest", "embedding"),
        ("from ..embedding import manifest", "embedding"),
        ("from ..embedding.manifest import load_manifest", "embedding"),
        ("plugins.load('watermarks', 'universal')", "watermarks"),
        ("plugins.names('watermarks')", "watermarks"),
        ("plugins.find(package='watermarks', name='x')", "watermarks"),
        ("dict(plugins.every('watermarks'))", "watermarks"),
        ("plugins.configure('watermarks', 'universal')", "watermarks"),
        ("PACKAGE = 'watermarks'\nplugins.load(PACKAGE, 'x')", "watermarks"),
        ("plugins.load('water' + 'marks', 'x')", EVERYTHING),
        ("import importlib\nimportlib.import_module('puzzlemark.embedding.run')", "embedding"),
        ("from importlib import import_module\nimport_module(name)", EVERYTHING),
        ("__import__('puzzlemark.watermarks.base')", "watermarks"),
        ("__import__('puzzlemark')", EVERYTHING),
    ],
)
def test_no_spelling_gets_a_detector_past_the_rule(line: str, reached: str) -> None:
    found = imports(line, "puzzlemark.detectors.made_up")
    assert reached in found
    assert found - table()["detectors"] - {"detectors"}


@pytest.mark.parametrize(
    "line",
    [
        "from puzzlemark import plugins",
        "from puzzlemark import Snippet, read, parse, functions, open_model",
        "from puzzlemark import __version__",
        "from puzzlemark.corpora.base import Corpus",
        "from . import base",
        "from .base import Detector",
        "plugins.load('detectors', 'decoma')",
        "plugins.find('models.encoders', 'hf')",
        "import importlib\nimportlib.import_module('sklearn')",
        "json.load('watermarks')",
    ],
)
def test_what_a_detector_may_write_is_let_through(line: str) -> None:
    assert not imports(line, "puzzlemark.detectors.made_up") - table()["detectors"] - {"detectors"}


def test_the_rules_can_fail() -> None:
    assert "embedding" not in table()["syntax"]
    path = PACKAGE / "embedding" / "plan.py"
    assert "watermarks" in imports(path.read_text(), "puzzlemark.embedding.plan")
    assert strangers(path, "detectors") >= {"watermarks", "embedding"}


def test_there_is_no_drawer_for_odds_and_ends() -> None:
    stems = {path.stem for path in PACKAGE.rglob("*.py")}
    assert not stems & FORBIDDEN_NAMES


# Somebody's home, on Linux, macOS or Windows; the folder of all homes alone is a word.
HOME = re.compile(
    r"(?<![\w.~-])/(?:home|Users)/[\w.-]+/|(?<![\w.~-])/(?:root)/|\b[A-Za-z]:[\\/]+Users[\\/]+\w"
)


@pytest.mark.parametrize(
    ("text", "is_home"),
    [
        ("open('/home/" + "ada/data.jsonl')", True),
        ("see /Users/" + "ada/src/x.py", True),
        ("/root" + "/.cache/models", True),
        (r"C:\Users" + r"\ada\data", True),
        ("c:/Users" + "/ada", True),
        ("https://host/home/page/index.html", False),
        ("~/.config/puzzlemark/secret", False),
        ("a folder such as /home", False),
        ("tree/root" + "/child", False),
        ("self.path.root / x", False),
    ],
)
def test_the_path_of_a_home_is_known_from_others(text: str, is_home: bool) -> None:
    assert bool(HOME.search(text)) is is_home


def test_no_file_or_document_names_the_home_of_who_wrote_it() -> None:
    suffixes = {".py", ".md", ".toml", ".cff", ".html", ".jinja", ".json", ".yml", ".cfg"}
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in ("src", "tests", "docs", "examples", "benchmarks"):
        paths += (ROOT / folder).rglob("*")
    for path in paths:
        if path.suffix in suffixes or path.name == "Makefile":
            assert not HOME.search(path.read_text()), path
