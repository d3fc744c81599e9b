import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.auditing.making import SECRET, Marked, write, write_shards


@pytest.fixture(scope="session")
def functions(stdlib_functions: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Records of real functions, with columns computed from the code."""
    return [
        {
            "id": id_,
            "language": "python",
            "repo": "cpython/é",
            "code": code,
            "size": len(code),
            "sha": hashlib.sha256(code.encode()).hexdigest()[:16],
            "url": f"https://example.org/{id_}",
        }
        for id_, code in stdlib_functions[:400]
    ]


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch, own_secret: None) -> None:
    monkeypatch.setenv("PUZZLEMARK_SECRET", SECRET)


@pytest.fixture(scope="session")
def _marked(
    functions: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Marked]:
    """One marked dataset of each shape."""
    made: dict[str, Marked] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PUZZLEMARK_SECRET", SECRET)
        for name in ("a.jsonl", "a.jsonl.gz", "a.parquet"):
            made[name] = Marked(tmp_path_factory.mktemp("one"), name)
            options = {"row_group_size": 250} if name.endswith("parquet") else {}
            write(made[name].original, functions, **options)
        for ending in (".jsonl", ".jsonl.gz", ".parquet"):
            made[f"shards{ending}"] = Marked(tmp_path_factory.mktemp("many"), "shards")
            write_shards(made[f"shards{ending}"].original, functions, 12, ending)
        return {name: each.embed() for name, each in made.items()}


@pytest.fixture
def marked(_marked: dict[str, Marked], tmp_path: Path, request: pytest.FixtureRequest) -> Marked:
    """A copy of one of them, to plant something in; named by the test's parameter."""
    return _marked[request.param].copy(tmp_path)
