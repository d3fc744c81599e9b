"""`import puzzlemark as pm` offers exactly what it says, and costs nothing."""

import subprocess
import sys

import puzzlemark as pm


def test_every_public_name_can_be_had() -> None:
    assert sorted(pm.__all__) == list(pm.__all__)
    for name in pm.__all__:
        assert getattr(pm, name) is not None


def test_the_lazy_names_are_the_public_names() -> None:
    assert set(pm._HOMES) == set(pm.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(pm, "no_such_name")


def test_importing_loads_no_library() -> None:
    script = (
        "import sys, puzzlemark\n"
        "heavy = {'numpy', 'pyarrow', 'tree_sitter', 'pydantic', 'typer', 'rich', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
