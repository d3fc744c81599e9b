import stat
from pathlib import Path

import pytest

from puzzlemark.protecting.run import protect, revert_repository
from puzzlemark.protecting.sources import SourceFile, read_source

CODE = "def join(first, second):\n    both = first + second\n    return both\n"
SPELLINGS = {
    "utf-8": CODE.encode(),
    "byte order mark": b"\xef\xbb\xbf" + CODE.encode(),
    "line ends of Windows": CODE.replace("\n", "\r\n").encode(),
    "both line ends": CODE.replace("\n", "\r\n", 1).encode(),
    "no line end at the end": CODE.rstrip().encode(),
    "a coding cookie": f"# -*- coding: latin-1 -*-\n# caf\xe9\n{CODE}".encode("latin-1"),
    "a cookie in the second line": (
        f"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# \u20ac\n{CODE}".encode("cp1252")
    ),
    "tabs": CODE.replace("    ", "\t").encode(),
    "a form feed": f"import os\n\x0c\n{CODE}".encode(),
    "beyond ASCII": f"# \u00e9\U0001f600\n{CODE}# caf\u00e9\n".encode(),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_everything_but_the_name_keeps_its_bytes(tmp_path: Path, name: str) -> None:
    content = SPELLINGS[name]
    folder = tmp_path / "repo"
    folder.mkdir()
    file = folder / "code.py"
    file.write_bytes(content)
    file.chmod(0o751)
    protect(folder, in_place=True)
    assert file.read_bytes() == content.replace(b"both", b"first_second")
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    revert_repository(folder, in_place=True)
    assert file.read_bytes() == content
    assert stat.S_IMODE(file.stat().st_mode) == 0o751


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"def f(:\n", "syntax errors"),
        (b"\n\n# caf\xe9\ndef f(): pass\n", "not valid utf-8"),
        (b"# coding: no-such-thing\ndef f(): pass\n", "unknown or contradictory encoding"),
        (b"", "empty code"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "code.py").write_bytes(content)
    assert read_source(tmp_path, "code.py") == reason


def test_functions_are_named_and_placed(tmp_path: Path) -> None:
    text = "class A:\n    def f(self):\n        def g(): pass\n    def f(self): pass\n"
    (tmp_path / "code.py").write_text(text)
    file = read_source(tmp_path, "code.py")
    assert isinstance(file, SourceFile)
    assert [each.id for each in file.functions] == ["code.py::A.f", "code.py::A.f#2"]
    for each in file.functions:
        assert file.text[each.start : each.start + len(each.code)] == each.code
    assert [each.index for each in file.functions] == [0, 2]
