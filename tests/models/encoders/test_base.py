import ast
from pathlib import Path

import pytest

from puzzlemark import plugins
from puzzlemark.errors import UsageError
from puzzlemark.models.encoders.base import open_encoder

PACKAGE = Path(plugins.__file__).parent


def modules(path: Path) -> set[str]:
    """Every module a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def opens_a_white_box(path: Path) -> bool:
    return any(module.startswith("puzzlemark.models.encoders") for module in modules(path))


def test_verification_never_looks_inside_a_model() -> None:
    black_box = [*(PACKAGE / "verification").rglob("*.py"), *(PACKAGE / "models").glob("*.py")]
    assert not [path.name for path in black_box if opens_a_white_box(path)]
    assert opens_a_white_box(PACKAGE / "detectors" / "_states.py")


def test_the_room_has_one_file_for_each_kind() -> None:
    assert plugins.names("models.encoders") == ("hf",)


def test_an_unknown_kind_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(UsageError, match="known: hf"):
        open_encoder("abacus", {})


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(UsageError, match="pooling: "):
        open_encoder("hf", {"pretrained": "x", "pooling": "max"})
    with pytest.raises(UsageError, match="layer: "):
        open_encoder("hf", {"pretrained": "x", "layer": "-1"})
    with pytest.raises(UsageError, match="no setting 'revision'"):
        open_encoder("hf", {"pretrained": "x", "revision": "y"})
