"""Which files of a repository may carry marks, and why the others are left alone.

Git is asked where the folder is a work tree: what it tracks, and what `.gitattributes` say. In a
plain folder `.gitignore` and `.gitattributes` are read by the same rules.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from pathspec import GitIgnoreSpec

from puzzlemark.harvesting.sources import LARGEST, TOO_LARGE
from puzzlemark.languages.base import Language, find_by_path
from puzzlemark.protecting import git

ATTRIBUTES = (
    "linguist-generated",
    "linguist-vendored",
    "filter",
    "working-tree-encoding",
    "binary",
)
TEST_FOLDERS = frozenset("test tests testing testsuite __tests__ spec specs testdata".split())
TEST_FILES = (
    "test_*.py *_test.py *_tests.py tests.py conftest.py *_test.go *Test.java *Suite.java "
    "*TestCase.java *IT.java *.test.* *.spec.* *_spec.rb *Test.php test_*.rb"
).split()
VENDORED_FOLDERS = frozenset(
    "vendor vendored _vendor _vendored third_party thirdparty third-party extern external "
    "node_modules bower_components site-packages __pycache__".split()
)
GENERATED_FILES = (
    "*_pb2.py *_pb2_grpc.py *.pb.go *_generated.* *.generated.* *.g.ts *.min.js _version.py "
    "versioneer.py parsetab.py lextab.py"
).split()
HEAD = 1024  # bytes in which a file says that it was generated
_GENERATED = re.compile(
    rb"@generated|\bdo not (?:edit|modify)\b|\b(?:auto[- ]?|automatically |was |code )generated\b"
    rb"|\bgenerated (?:automatically|by|from)\b|\bthis file is generated\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user wants to be considered at all."""

    languages: tuple[str, ...] = ()  # none: all
    include: tuple[str, ...] = ()  # patterns as in .gitignore; none: everything
    exclude: tuple[str, ...] = ()


@dataclass(slots=True)
class Chosen:
    """Source files that may carry, and the others by reason."""

    paths: list[str] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)  # path -> why it is left alone

    @property
    def left_alone(self) -> Counter[str]:
        """How many files are left alone, by reason."""
        return Counter(self.others.values())


def choose_files(folder: Path, wanted: Wanted, *, is_work_tree: bool) -> Chosen:
    """The source files of a folder that may carry marks, in the order of their paths."""
    chosen = Chosen()
    include, exclude = (GitIgnoreSpec.from_lines(each) for each in (wanted.include, wanted.exclude))
    listed = _of_git if is_work_tree else _of_folder
    for path, reason in sorted(listed(folder, wanted)):
        if wanted.include and not include.match_file(path):
            reason = "not among --include"
        elif exclude.match_file(path):
            reason = "excluded by --exclude"
        if not path.isprintable():
            reason = "its name is no plain text"
        reason = reason or _why_by_name(path) or _why_by_content(folder / path)
        if reason is None:
            chosen.paths.append(path)
        else:
            chosen.others[path] = reason
    return chosen


def _is_wanted(path: str, wanted: Wanted) -> bool:
    language: Language | None = find_by_path(path)
    return language is not None and (not wanted.languages or language.name in wanted.languages)


def _of_git(folder: Path, wanted: Wanted) -> Iterator[tuple[str, str | None]]:
    """The source files that git tracks, and why one is not to be touched."""
    known = {
        each.path: each
        for each in git.tracked(folder)
        if each.mode == git.SUBMODULE or _is_wanted(each.path, wanted)
    }
    said = git.attributes(folder, known, ATTRIBUTES)
    for path, entry in known.items():
        if entry.mode == git.SUBMODULE:
            yield path, "submodule"
        elif entry.mode == git.LINK:
            yield path, "symbolic link"
        elif (folder / path).exists():  # else removed, and not committed yet
            yield path, _why_by_attributes(said.get(path, {}))
    yield from (
        (path, "not tracked by git") for path in git.untracked(folder) if _is_wanted(path, wanted)
    )


def _of_folder(folder: Path, wanted: Wanted) -> Iterator[tuple[str, str | None]]:
    """The source files of a plain folder, by the rules that git would follow."""
    ignoring: list[tuple[str, GitIgnoreSpec]] = []
    saying: list[tuple[str, GitIgnoreSpec, dict[str, str]]] = []
    for parent, folders, files in os.walk(folder):
        folders.sort()
        here = Path(parent).relative_to(folder).as_posix()
        base = "" if here == "." else f"{here}/"
        if ".gitignore" in files:
            lines = Path(parent, ".gitignore").read_text("utf-8", "replace").splitlines()
            ignoring.append((base, GitIgnoreSpec.from_lines(lines)))
        if ".gitattributes" in files:
            saying += _read_attributes(base, Path(parent, ".gitattributes"))
        folders[:] = [
            each
            for each in folders
            if not each.startswith(".") and not _is_ignored(f"{base}{each}/", ignoring)
        ]
        for name in files:
            path = f"{base}{name}"
            if not _is_wanted(path, wanted):
                continue
            if Path(parent, name).is_symlink():
                yield path, "symbolic link"
            elif _is_ignored(path, ignoring):
                yield path, "ignored by .gitignore"
            else:
                yield path, _why_by_attributes(_attributes_of(path, saying))


def _is_ignored(path: str, ignoring: Sequence[tuple[str, GitIgnoreSpec]]) -> bool:
    """By the deepest .gitignore that has anything to say of a path."""
    for base, spec in reversed(ignoring):
        if path.startswith(base):
            found = spec.check_file(path[len(base) :]).include
            if found is not None:
                return found
    return False


def _read_attributes(base: str, file: Path) -> Iterator[tuple[str, GitIgnoreSpec, dict[str, str]]]:
    for line in file.read_text("utf-8", "replace").splitlines():
        pattern, *words = line.split() or ["#"]
        if pattern.startswith(("#", "[attr]")):
            continue
        said: dict[str, str] = {}
        for word in words:
            name, equals, value = word.partition("=")
            if word.startswith("-"):
                said[word[1:]] = "unset"
            elif word.startswith("!"):
                said[word[1:]] = "unspecified"
            else:
                said[name] = value if equals else "set"
        yield base, GitIgnoreSpec.from_lines([pattern]), said


def _attributes_of(
    path: str, saying: Sequence[tuple[str, GitIgnoreSpec, dict[str, str]]]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for base, spec, said in saying:  # what comes later, or deeper, counts
        if path.startswith(base) and spec.match_file(path[len(base) :]):
            found |= said
    return found


def _why_by_attributes(said: dict[str, str]) -> str | None:
    if said.get("linguist-generated") in ("set", "true"):
        return "generated (.gitattributes)"
    if said.get("linguist-vendored") in ("set", "true"):
        return "vendored (.gitattributes)"
    unusual = (said.get(name, "unspecified") for name in ("filter", "working-tree-encoding"))
    if said.get("binary") == "set" or any(v not in ("unspecified", "unset") for v in unusual):
        return "stored by a filter (.gitattributes)"
    return None


def _why_by_name(path: str) -> str | None:
    *folders, name = path.split("/")
    if not VENDORED_FOLDERS.isdisjoint(folders):
        return "vendored (folder)"
    if not TEST_FOLDERS.isdisjoint(folders) or _matches(name, TEST_FILES):
        return "tests"
    return "generated (file name)" if _matches(name, GENERATED_FILES) else None


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _why_by_content(file: Path) -> str | None:
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            return "not a regular file"
        if found.st_size > LARGEST:
            return TOO_LARGE
        with file.open("rb") as stream:
            return "generated (says so)" if _GENERATED.search(stream.read(HEAD)) else None
    except OSError as exc:
        return (exc.strerror or "unreadable").lower()
