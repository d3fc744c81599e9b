"""What many tests need: real functions, and a dataset of them."""

import ast
import hashlib
import itertools
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
from hypothesis import HealthCheck, settings

from puzzlemark.embedding import secret
from tests.slowness import Timing

# one thread each: tests run side by side already, and waiting threads of OpenMP burn the processor
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

# a shared machine may pause for longer than any deadline, also while an example is drawn
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Timing(), "puzzlemark-timing")


MODULES = ("argparse", "calendar", "configparser", "difflib", "inspect", "mailbox", "tarfile")


def harvest_with_ast(path: Path) -> Iterator[tuple[str, str]]:
    """(id, code) of every top-level function and method of a file, found without our parser."""
    text = path.read_bytes()
    lines = text.split(b"\n")
    for node in ast.parse(text).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        for member in members:
            if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                # ast.get_source_segment would split the whole file for each of them
                assert member.end_lineno is not None
                found = lines[member.lineno - 1 : member.end_lineno]
                found[-1] = found[-1][: member.end_col_offset]
                found[0] = found[0][member.col_offset :]
                yield f"{path.stem}:{member.lineno}", b"\n".join(found).decode()


@pytest.fixture(scope="session")
def stdlib_functions() -> list[tuple[str, str]]:
    folder = Path(sysconfig.get_path("stdlib"))
    return [pair for name in MODULES for pair in harvest_with_ast(folder / f"{name}.py")]


@pytest.fixture(scope="session")
def corpus_bytes(stdlib_functions: list[tuple[str, str]]) -> bytes:
    records = (
        {"id": id_, "language": "python", "code": code, "original_string": code, "size": len(code)}
        for id_, code in stdlib_functions
    )
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


@pytest.fixture
def corpus_path(tmp_path: Path, corpus_bytes: bytes) -> Path:
    """A dataset of some 600 real functions as JSON Lines."""
    path = tmp_path / "functions.jsonl"
    path.write_bytes(corpus_bytes)
    return path


NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def own_secret(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """No test finds or leaves a secret in the user's own configuration.

    One that is made in this process is the same in every run: which records carry, and whether a
    test at some level says something of them, is not left to chance.
    """
    made = itertools.count()

    def draw(size: int) -> str:
        text = f"{request.node.nodeid}: secret {next(made)}"
        return hashlib.shake_256(text.encode()).hexdigest(size)

    monkeypatch.setattr(secret, "secrets", SimpleNamespace(token_hex=draw))
    # made by whoever needs it; `mktemp` would read a list of thousands of folders for each test
    config = tmp_path_factory.getbasetemp() / "config" / str(next(NUMBERS))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    monkeypatch.delenv("PUZZLEMARK_SECRET", raising=False)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """A folder with CodeSearchNet and HumanEval files, named by PUZZLEMARK_DATA; not shipped."""
    folder = os.environ.get("PUZZLEMARK_DATA")
    if not folder:
        pytest.skip("PUZZLEMARK_DATA names no folder with real datasets")
    return Path(folder)
