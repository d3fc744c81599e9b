"""A small project of our own, with tests of its own, that `protect` is tried on."""

import os
import subprocess
import sys
from pathlib import Path

SECRET = "a secret of the tests, which everybody may know"  # noqa: S105
SHELF = '''"""Shelves."""


class Shelf:
    def __init__(self, books):
        self.books = books

    def heaviest(self, limit, default=None):
        best = default
        for book in self.books:
            weight = len(book)
            if weight <= limit and (best is None or weight > len(best)):
                best = book
        return best

    @property
    def size(self):
        return len(self.books)

    @size.setter
    def size(self, number):
        kept = self.books[:number]
        rest = [book for book in self.books[number:] if book is None]
        self.books = kept + rest


def spread(start, stop, parts):
    """Equal steps between two numbers."""
    step = (stop - start) / parts
    found = []
    for number in range(parts):
        place = start + number * step
        found.append(place)
    return found


def shout(words, times):
    loud = [word.upper() for word in words]
    together = " ".join(loud * times)
    return together
'''
FRAMES = """import sys


def caller_names(first, second):
    third = first + second
    return sys._getframe(0).f_code.co_varnames, third
"""
CAMEL = """def joinReleases(optionalRelease, mandatoryRelease):
    allReleases = list(optionalRelease)
    allReleases.extend(mandatoryRelease)
    return allReleases


def countWords(givenText, stopWords):
    foundWords = [word for word in givenText.split() if word not in stopWords]
    return len(foundWords)
"""
NAMED = '''"""A function whose locals somebody looks at, from outside of its file."""


def plan(width, height):
    area = width * height
    around = 2 * (width + height)
    return area, around
'''
TESTS = """import unittest

from shelves import camel, named, shelf


class Tests(unittest.TestCase):
    def test_shelf(self):
        one = shelf.Shelf(["ab", "abcd", "abc"])
        self.assertEqual(one.heaviest(3), "abc")
        one.size = 1
        self.assertEqual(one.size, 1)

    def test_functions(self):
        self.assertEqual(shelf.spread(0, 4, 4), [0, 1, 2, 3])
        self.assertEqual(shelf.shout(["a", "b"], 2), "A B A B")
        self.assertEqual(camel.joinReleases([1], [2]), [1, 2])
        self.assertEqual(camel.countWords("a b c", ["b"]), 2)

    def test_names(self):
        self.assertEqual(named.plan(2, 3), (6, 10))
        code = named.plan.__code__
        self.assertIn("around", code.co_varnames)
        self.assertIn("area", code.co_varnames)
"""
FILES = {
    "shelves/__init__.py": "",
    "shelves/shelf.py": SHELF,
    "shelves/camel.py": CAMEL,
    "shelves/named.py": NAMED,
    "shelves/frames.py": FRAMES,
    "tests/__init__.py": "",
    "tests/test_shelves.py": TESTS,
    "pyproject.toml": '[project]\nname = "shelves"\n\n[tool.ruff]\nline-length = 79\n',
}
TEST = f"'{sys.executable}' -B -m unittest -q tests.test_shelves"


def make_project(folder: Path, *, git: bool = False) -> Path:
    """Write the project into a new folder."""
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    if git:
        run_git(folder, "init", "-q", "-b", "main")
        commit_all(folder, "First")
    return folder


def commit_all(folder: Path, message: str) -> None:
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", message)


def run_git(folder: Path, *arguments: str) -> str:
    identity = {
        f"GIT_{who}_{what}": "somebody@example.org"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but git's own and caches."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".git", "__pycache__"} & set(path.parts)
    }
