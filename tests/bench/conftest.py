"""A corpus and a toy model that the experiments share."""

from pathlib import Path

import pytest

from puzzlemark.corpora.writing import write_records


@pytest.fixture(scope="session")
def functions_file(
    tmp_path_factory: pytest.TempPathFactory, stdlib_functions: list[tuple[str, str]]
) -> Path:
    """Python functions of the standard library, as if of twelve projects."""
    path = tmp_path_factory.mktemp("corpus") / "functions.jsonl.gz"
    records = [
        {"id": id_, "repo": f"{n % 12}", "language": "python", "code": code}
        for n, (id_, code) in enumerate(stdlib_functions)
    ]
    write_records(records, path)
    return path


@pytest.fixture(scope="session")
def toy_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two layers that take long rows: its tokenizer needs many tokens."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.servers.tiny import make_model

    base = tmp_path_factory.mktemp("tiny")
    make_model(base, positions=2048)
    return base
