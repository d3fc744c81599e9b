import shutil
from pathlib import Path

import pytest

from puzzlemark.protecting.classes import compare_classes
from puzzlemark.protecting.run import protect, revert_repository
from puzzlemark.protecting.sources import SourceFile, read_source
from tests.protecting.project import contents

JAVA = """package org.example;

public class Shelf {
    private final int size;

    public Shelf(int size) { this.size = size; }

    public int spread(int first, int second) {
        int total = first + second;
        int half = total / 2;
        Runnable shown = new Runnable() {
            public void run() { System.out.println(size); }
        };
        shown.run();
        return half;
    }

    public int spread(int first) {
        int number = first * size;
        int rest = number % 7;
        return rest;
    }
}
"""
needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="no javac")


def source(folder: Path, text: str) -> dict[str, SourceFile]:
    folder.mkdir(exist_ok=True)
    (folder / "Shelf.java").write_text(text)
    file = read_source(folder, "Shelf.java")
    assert isinstance(file, SourceFile)
    return {"Shelf.java": file}


@needs_javac
def test_classes_tell_a_change_of_meaning_and_no_change_of_a_name(tmp_path: Path) -> None:
    before = source(tmp_path, JAVA)
    renamed = source(tmp_path, JAVA.replace("total", "firstSecond"))
    changed = source(tmp_path, JAVA.replace("first + second", "first - second"))
    same = compare_classes(tmp_path, before, renamed, "")
    assert (same.different, same.why_not, same.classes) == ((), None, 2)
    assert compare_classes(tmp_path, before, changed, "").different == ("Shelf.java",)


@needs_javac
def test_what_does_not_compile_is_not_compared_and_says_why(tmp_path: Path) -> None:
    broken = source(tmp_path, JAVA.replace("private final int size", "private final Strange size"))
    found = compare_classes(tmp_path, broken, broken, "")
    assert found.why_not is not None
    assert "cannot find symbol" in found.why_not
    assert str(tmp_path) not in found.why_not


@needs_javac
def test_a_java_project_is_protected_and_reverted(tmp_path: Path) -> None:
    folder = tmp_path / "shelf"
    place = folder / "src" / "main" / "java" / "org" / "example"
    place.mkdir(parents=True)
    (place / "Shelf.java").write_text(JAVA)
    before = contents(folder)
    done = protect(folder, in_place=True)
    assert done.compared == {"java": "2 class files, javac -g:none"}
    assert done.marks == 2
    text = (place / "Shelf.java").read_text()
    assert "int firstSecond = " in text
    assert "int firstNumber = number % 7;" in text
    revert_repository(folder, in_place=True)
    assert contents(folder) == before
