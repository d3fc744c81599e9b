"""A server for each test that wants one, and one tiny model for all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.running import Server, serve


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands between a test and its server; no key comes from the user."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path / "requests.jsonl") as running:
        yield running


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = "needs the extra hf: torch and transformers"
    pytest.importorskip("torch", reason=reason)
    pytest.importorskip("transformers", reason=reason)
    from tests.servers.tiny import make_model

    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    make_model(folder)
    return folder
