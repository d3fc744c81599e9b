"""A tiny model and a tiny corpus for all."""

from pathlib import Path

import orjson
import pytest

CODES = [
    f"def {verb}_{noun}(items):\n"
    f"    result = [{noun} for {noun} in items]\n"
    f"    return {verb}(result)\n"
    for verb in ("find", "sort", "count", "drop")
    for noun in ("key", "node", "line", "word", "path", "name")
]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = "needs the extra train: torch and transformers"
    pytest.importorskip("torch", reason=reason)
    pytest.importorskip("transformers", reason=reason)
    from tests.servers.tiny import make_model

    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    make_model(folder)
    return folder


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 functions of about 60 tokens."""
    path = tmp_path_factory.mktemp("corpus") / "functions.jsonl"
    write_corpus(path, CODES)
    return path


def write_corpus(path: Path, codes: list[str]) -> None:
    records = ({"id": f"f{n}", "code": code} for n, code in enumerate(codes))
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
