"""What git knows of a work tree, asked of git itself, and a commit made beside the user's own."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from puzzlemark.errors import CorpusError, UsageError

SUBMODULE, LINK = "160000", "120000"  # modes


@dataclass(frozen=True, slots=True)
class Tracked:
    """A path in git's index."""

    path: str  # below the folder that was asked about
    mode: str
    blob: str


def top_level(folder: Path) -> Path | None:
    """The root of the work tree around a folder; None: there is none, or no git to ask."""
    above = (folder.resolve(), *folder.resolve().parents)
    if shutil.which("git") is None or not any((each / ".git").exists() for each in above):
        return None
    return Path(os.fsdecode(git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))


def tracked(folder: Path) -> list[Tracked]:
    """Every path of the index below a folder."""
    found: list[Tracked] = []
    for entry in _split(git(folder, "ls-files", "--stage", "-z")):
        head, _, path = entry.partition("\t")
        mode, blob, stage = head.split(" ")
        if stage != "0":
            raise UsageError(f"{folder}: {path} is in the middle of a merge; finish it first")
        found.append(Tracked(path, mode, blob))
    return found


def untracked(folder: Path) -> list[str]:
    """Files that git does not know and does not ignore either."""
    return list(_split(git(folder, "ls-files", "--others", "--exclude-standard", "-z")))


def attributes(
    folder: Path, paths: Iterable[str], names: Iterable[str]
) -> dict[str, dict[str, str]]:
    """What `.gitattributes` say of some paths: `{"a.py": {"linguist-generated": "set"}}`."""
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if not asked:
        return {}
    fields = _split(git(folder, "check-attr", "--stdin", "-z", *names, given=asked))
    found: dict[str, dict[str, str]] = {}
    for path, name, value in zip(fields, fields, fields, strict=True):
        found.setdefault(path, {})[name] = value
    return found


def changed(folder: Path) -> list[str]:
    """Paths below a folder that differ from the last commit, in the work tree or in the index."""
    listed = git(folder, "status", "--porcelain", "--untracked-files=no", "-z", "--", ".")
    return [entry[3:] for entry in _split(listed)]


def current_branch(folder: Path) -> str | None:
    """The branch that is checked out; None: none is."""
    done = _run(folder, "symbolic-ref", "--quiet", "--short", "HEAD", check=False)
    return os.fsdecode(done.stdout).strip() or None


def tip(folder: Path, branch: str) -> str | None:
    """The commit that a branch stands at; None: there is no such branch."""
    done = _run(folder, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", check=False)
    return done.stdout.decode().strip() or None


def commit(folder: Path, files: Iterable[str], branch: str, message: str) -> str | None:
    """Commit some files of the work tree on a branch; neither index nor checkout are touched.

    The new commit has the last one checked out as its parent, and the branch's own tip as a second
    one where that is elsewhere: the branch only ever moves forward. None: it would say nothing new.
    """
    if _run(folder, "check-ref-format", "--branch", branch, check=False).returncode:
        raise UsageError(f"{branch!r} is no name for a branch; choose another one")
    before = tip(folder, branch)
    head = git(folder, "rev-parse", "HEAD").decode().strip()
    index = Path(os.fsdecode(git(folder, "rev-parse", "--absolute-git-dir").rstrip(b"\n")))
    index /= f"puzzlemark-index-{os.getpid()}"
    own = {"GIT_INDEX_FILE": str(index)}
    try:
        git(folder, "read-tree", "HEAD", env=own)
        known = {each.path: each for each in _tracked_by(folder, own)}
        for path in files:
            blob = git(folder, "hash-object", "-w", f"--path={path}", "--", path).decode().strip()
            entry = f"{known[path].mode},{blob},{_prefix(folder)}{path}"
            git(folder, "update-index", "--cacheinfo", entry, env=own)
        tree = git(folder, "write-tree", env=own).decode().strip()
    finally:
        index.unlink(missing_ok=True)
    if (
        before is not None
        and tree == _tree_of(folder, before)
        and _is_ancestor(folder, head, before)
    ):
        return None
    if before is None and tree == _tree_of(folder, head):
        return None
    others = [] if before is None or _is_ancestor(folder, before, head) else ["-p", before]
    made = git(folder, "commit-tree", tree, "-p", head, *others, given=message.encode())
    name = made.decode().strip()
    git(folder, "update-ref", f"refs/heads/{branch}", name, *([before] if before else []))
    return name


def refresh(folder: Path) -> None:
    """Let the index follow a commit on the branch that is checked out."""
    git(folder, "reset", "--quiet", "--mixed", "HEAD")


def _tree_of(folder: Path, name: str) -> str:
    return git(folder, "rev-parse", f"{name}^{{tree}}").decode().strip()


def _is_ancestor(folder: Path, older: str, newer: str) -> bool:
    return not _run(folder, "merge-base", "--is-ancestor", older, newer, check=False).returncode


def _tracked_by(folder: Path, env: Mapping[str, str]) -> Iterator[Tracked]:
    for entry in _split(git(folder, "ls-files", "--stage", "-z", env=env)):
        head, _, path = entry.partition("\t")
        mode, blob, _ = head.split(" ")
        yield Tracked(path, mode, blob)


def _prefix(folder: Path) -> str:
    """What git puts before the folder's own paths: `sub/` where it lies below the top."""
    return os.fsdecode(git(folder, "rev-parse", "--show-prefix").rstrip(b"\n"))


def git(
    folder: Path, *arguments: str, given: bytes = b"", env: Mapping[str, str] | None = None
) -> bytes:
    """What git answers; raises with git's own words when it fails."""
    return _run(folder, *arguments, given=given, env=env).stdout


def _run(
    folder: Path,
    *arguments: str,
    given: bytes = b"",
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> "subprocess.CompletedProcess[bytes]":
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        input=given,
        env={**os.environ, "LC_ALL": "C", **(env or {})},
        capture_output=True,
        check=False,
    )
    if check and done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise CorpusError(f"{folder}: git {arguments[0]} failed: {said}")
    return done


def _split(text: bytes) -> Iterator[str]:
    return (os.fsdecode(each) for each in text.split(b"\0")[:-1])
