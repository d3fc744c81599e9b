from pathlib import Path

import pytest

from tests.protecting.project import SECRET, make_project


@pytest.fixture(autouse=True)
def _somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLEMARK_SECRET", SECRET)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "somebody@example.org")
    # a hook of git's, in which these tests may run, has its own idea of where the repository is
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "shelves-1.0")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_project(tmp_path / "shelves", git=True)
