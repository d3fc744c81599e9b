"""The hook and the CI recipe of the guide, run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.protecting.run import protect
from tests.protecting.project import SECRET, TEST, commit_all, run_git

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "protect-a-repository.md"
HOOK, CI = re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
ENTRY = re.search(r"^ +entry: (.*)$", GUIDE.read_text(), re.MULTILINE)
NEW = "def added(one, two):\n    other = one * two\n    return other - one\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the command `puzzlemark` in its path, and a folder for what is private."""
    for name in ("bin", "private"):
        (tmp_path / "home" / name).mkdir(parents=True)
    command = tmp_path / "home" / "bin" / "puzzlemark"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m puzzlemark "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "home"


def sh(text: str, folder: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["sh", "-c", text],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_hook_lets_marks_in_with_the_work_of_each_commit(home: Path, repository: Path) -> None:
    manifest = home / "private" / "marks.jsonl.gz"
    protect(repository, manifest, in_place=True)
    commit_all(repository, "Marks")
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK)
    hook.chmod(0o755)
    shelf = repository / "shelves" / "shelf.py"
    shelf.write_text("# new\n" + shelf.read_text())
    (repository / "shelves" / "new.py").write_text(NEW)
    commit_all(repository, "Second")
    assert run_git(repository, "status", "--porcelain") == ""
    assert "one_two = one * two" in run_git(repository, "show", "HEAD:shelves/new.py")
    assert len(load_manifest(manifest)) == 7
    run_git(repository, "mv", "shelves/new.py", "shelves/newer.py")
    shelf.write_text(shelf.read_text() + "\n")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run_git(repository, "commit", "-q", "-m", "Third")
    assert "not staged" in failed.value.stdout + failed.value.stderr
    run_git(repository, "commit", "-q", "-a", "-m", "Third")
    assert "shelves/newer.py::added" in {carrier.id for carrier in load_manifest(manifest)}


def test_the_entry_for_pre_commit_changes_files_and_then_no_more(
    home: Path, repository: Path
) -> None:
    assert ENTRY is not None
    protect(repository, home / "private" / "marks.jsonl.gz", in_place=True)
    (repository / "shelves" / "new.py").write_text(NEW)
    commit_all(repository, "Marks")
    first = sh(ENTRY[1], repository)
    assert first.returncode == 0, first.stderr
    assert run_git(repository, "status", "--porcelain") == " M shelves/new.py\n"
    commit_all(repository, "Second")
    assert sh(ENTRY[1], repository).returncode == 0
    assert run_git(repository, "status", "--porcelain") == ""


def test_the_ci_recipe_keeps_a_branch_with_marks_and_their_manifest(
    home: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PUZZLEMARK_SECRET")
    origin, private = tmp_path / "origin.git", tmp_path / "private.git"
    keep = home / "private"
    (keep / "secret").write_text(SECRET)
    (keep / "secret").chmod(0o600)
    protect(repository, keep / "marks.jsonl.gz", branch="release", secret_file=keep / "secret")
    run_git(keep, "init", "-q", "-b", "main")
    commit_all(keep, "Marks")
    for bare, source in ((origin, repository), (private, keep)):
        run_git(source, "clone", "-q", "--bare", str(source), str(bare))
        run_git(source, "remote", "add", "origin", str(bare))
    for number in range(2):
        (repository / "shelves" / f"new{number}.py").write_text(NEW)
        commit_all(repository, f"Work {number}")
        run_git(repository, "push", "-q", "origin", "main")
        checkout = tmp_path / f"job{number}" / "checkout"
        run_git(repository, "clone", "-q", str(origin), str(checkout))
        done = sh(CI, checkout, PRIVATE=str(private), TESTS=TEST)
        assert done.returncode == 0, done.stderr
        marked = run_git(origin, "show", f"release:shelves/new{number}.py")
        assert "one_two = one * two" in marked
    assert run_git(origin, "show", "main:shelves/new1.py") == NEW
    run_git(origin, "merge-base", "--is-ancestor", "main", "release")
    manifest = tmp_path / "last"
    run_git(private, "clone", "-q", str(private), str(manifest))
    assert len(load_manifest(manifest / "marks.jsonl.gz")) == 5 + 2
