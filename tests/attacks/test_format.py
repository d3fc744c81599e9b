"""A real formatter lays code out anew; what it cannot read stays and is counted."""

import os
import shutil
from pathlib import Path

import pytest

from puzzlemark.errors import UsageError
from tests.attacks.making import attack_codes

UGLY = "def f(a,b):\n  x=[a,\n     b ]\n  return  x"
NEAT = "def f(a, b):\n    x = [a, b]\n    return x"  # without a line feed at the end, as before
JAVA = "int  g(int a){ if(a>0)return a; // why\n\t\treturn  -a ; }"
NEAT_JAVA = "int g(int a) {\n  if (a > 0) return a; // why\n  return -a;\n}"


def test_python_is_formatted_by_ruff(tmp_path: Path) -> None:
    after, attacked = attack_codes(
        tmp_path, "format", [UGLY, f"{NEAT}\n", 'print "two"\n', "x = ("]
    )
    assert after == [NEAT, f"{NEAT}\n", 'print "two"\n', "x = ("]
    assert attacked.counts == {"snippets formatted": 1}
    assert attacked.spared == {"the formatter cannot read it": 1, "syntax errors": 1}


def test_the_width_is_that_of_the_settings(tmp_path: Path) -> None:
    code = "def f(first_of_all, second_of_all):\n    return first_of_all, second_of_all\n"
    assert attack_codes(tmp_path, "format", [code])[0] == [code]
    assert attack_codes(tmp_path, "format:width=30", [code])[0] != [code]
    with pytest.raises(UsageError, match="20 to 320"):
        attack_codes(tmp_path, "format:width=1", [code])


def test_other_languages_are_left_alone(tmp_path: Path) -> None:
    _, attacked = attack_codes(tmp_path, "format", ["MOVE A TO B."], "cobol")
    assert attacked.changed == 0


def test_java_without_its_formatter_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="npm install prettier prettier-plugin-java"):
        attack_codes(tmp_path, f"format:node_modules={tmp_path}", [JAVA], "java")
    assert not (tmp_path / "after.jsonl").exists()


def modules() -> Path | None:
    """Where Java's formatter is, if it is installed: PUZZLEMARK_NODE_MODULES, or below here."""
    folder = Path(os.environ.get("PUZZLEMARK_NODE_MODULES", "node_modules")).absolute()
    is_there = (folder / "prettier-plugin-java").exists() and shutil.which("node") is not None
    return folder if is_there else None


@pytest.mark.skipif(modules() is None, reason="prettier-plugin-java is not installed")
def test_java_is_formatted_without_the_class_around_it(tmp_path: Path) -> None:
    after, attacked = attack_codes(
        tmp_path, f"format:node_modules={modules()}", [JAVA, "int f( {", NEAT_JAVA], "java"
    )
    assert after == [NEAT_JAVA, "int f( {", NEAT_JAVA]
    assert attacked.spared == {"syntax errors": 1}
