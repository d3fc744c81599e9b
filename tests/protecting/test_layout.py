from pathlib import Path

import pytest

from puzzlemark.languages.base import find
from puzzlemark.protecting.layout import ALIGNED, TOO_LONG, USUAL, Limits, why_unfit
from puzzlemark.snippet import Edit

CONFIGURED = {
    "ruff": ("pyproject.toml", "[tool.ruff]\nline-length = 99\n", 99),
    "ruff without a length": ("pyproject.toml", "[tool.ruff.lint]\nselect = []\n", 88),
    "ruff.toml": ("ruff.toml", "line-length = 77\n", 77),
    "ruff's own pycodestyle": (
        "pyproject.toml",
        "[tool.ruff]\nline-length = 99\n[tool.ruff.lint.pycodestyle]\nmax-line-length = 90\n",
        90,
    ),
    "black": ("pyproject.toml", "[tool.black]\nline-length = 120\n", 120),
    "black without a length": ("pyproject.toml", "[tool.black]\n", 88),
    "flake8 in setup.cfg": ("setup.cfg", "[flake8]\nmax-line-length = 101\n", 101),
    "flake8 with an underscore": ("tox.ini", "[flake8]\nmax_line_length=102\n", 102),
    "flake8 without a length": (".flake8", "[flake8]\nignore = E1\n", 79),
    "pycodestyle": ("tox.ini", "[pycodestyle]\nmax-line-length = 103  # why\n", 103),
    "editorconfig for all": (".editorconfig", "root = true\n[*]\nmax_line_length = 104\n", 104),
    "editorconfig by name": (
        ".editorconfig",
        "[*]\nmax_line_length=60\n[*.{py,pyi}]\nmax_line_length = 105\n[*.go]\nmax_line_length=9\n",
        105,
    ),
    "nothing that can be read": ("pyproject.toml", "[tool.ruff\n", USUAL),
}


@pytest.mark.parametrize("name", CONFIGURED)
def test_the_projects_own_line_length_is_read(tmp_path: Path, name: str) -> None:
    file, text, columns = CONFIGURED[name]
    (tmp_path / file).write_text(text)
    python = find("python")
    assert python is not None
    assert Limits(tmp_path).of("pkg/code.py", python).columns == columns
    assert Limits(tmp_path, 50).of("pkg/code.py", python).columns == 50


def test_the_shortest_of_several_counts_and_other_languages_are_not_concerned(
    tmp_path: Path,
) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.black]\nline-length = 120\n")
    (tmp_path / ".flake8").write_text("[flake8]\nmax-line-length = 110\n")
    (tmp_path / "checkstyle.xml").write_text(
        '<module name="Checker"><module name="LineLength"><property name="max" value="160"/>'
        "</module></module>"
    )
    (tmp_path / ".prettierrc").write_text('{"printWidth": 70}')
    limits = Limits(tmp_path)
    found = {
        name: limits.of("code", language).columns
        for name in ("python", "java", "javascript", "go")
        if (language := find(name)) is not None
    }
    assert found == {"python": 110, "java": 160, "javascript": 70, "go": USUAL}


def rename(text: str, old: str, new: str) -> list[Edit]:
    code, word = text.encode(), old.encode()
    starts = [at for at in range(len(code)) if code.startswith(word, at)]
    return [Edit(at, word, new.encode()) for at in starts]


@pytest.mark.parametrize(
    ("text", "new", "limit", "reason"),
    [
        ("abc = qq\n", "seven77", 13, None),
        ("abc = qq\n", "seven77", 12, TOO_LONG),
        ("abc = qq\r\n", "seven77", 13, None),
        ("é = qq\n", "seven77", 11, None),  # characters, not bytes
        ("abc = qq + 'long already'\n", "q", 10, None),
        ("abc = qq + 'long already'\n", "rr", 10, None),
        ("x = qq(one,\n       two)\n", "q", 80, ALIGNED),
        ("x = qq(\n    one, two)\n", "q", 80, None),
        ("x = ab(qq,\n       two)\n", "q", 80, None),
        ("if x:\n    qq = 1\n    y = 2\n", "q", 80, None),
    ],
)
def test_a_mark_keeps_the_layout(text: str, new: str, limit: int, reason: str | None) -> None:
    assert why_unfit(text.encode(), rename(text, "qq", new), limit) == reason
