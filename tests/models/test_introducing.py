"""A server is asked what it serves before the first question; what it says is kept as its words."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.models.base import ChoiceRequest, ModelError, Request
from puzzlemark.models.openai import OpenAI, OpenAISettings
from puzzlemark.verification.chain import introduce
from tests.servers.raw import answer, raw_server
from tests.servers.running import serve

QUESTION = Request("x = ", 4, 0.0, 7)
KEY = "sk-0123456789abcdef"


def opened(base_url: str, model: str = "suspect", **settings: Any) -> OpenAI:
    return OpenAISettings(base_url=base_url, model=model, **settings).open()


def test_the_list_of_models_and_the_words_of_each_answer_are_kept(tmp_path: Path) -> None:
    with serve(tmp_path / "log", "--serves", "suspect", "b", "--fingerprint", "fp") as server:
        model = opened(server.base_url)
        said = introduce(model)
        assert said is not None
        assert (said["models"], said["listed"], said["names"]) == (2, True, ["suspect", "b"])
        assert said["entry"] == {"id": "suspect", "object": "model", "created": 7}
        assert {"date", "server"} <= set(said)
        server.misbehave({"headers": {"x-request-id": "r-1"}})
        model.complete([QUESTION])
        heard = model.heard(QUESTION)
        assert heard is not None
        assert heard["model"] == "suspect"
        assert (heard["system_fingerprint"], heard["id"]) == ("fp", "cmpl-1")
        assert heard["request_id"] == "r-1"
        assert heard["date"].endswith("GMT")
        assert model.heard(QUESTION) is None  # told once
        choice = ChoiceRequest("x = ", ("alpha", "beta"))
        model.score([choice])
        assert (model.heard(choice) or {})["models"] == ["suspect"]
        assert model.sent == 1 + len(server.requests()) - 1  # the list is not counted as a call


def test_a_name_that_is_not_listed_is_refused_unless_it_is_accepted(tmp_path: Path) -> None:
    with serve(tmp_path / "log", "--serves", "one", "two") as server:
        model = opened(server.base_url, "gpt-99")
        with pytest.raises(ModelError, match=r"'gpt-99'; it lists: one, two.*--accept-unlisted"):
            introduce(model)
        said = introduce(model, accept_unlisted=True)
        assert said is not None
        assert said["listed"] is False
        assert not server.requests()  # nothing was asked


def test_a_server_without_a_list_is_said_to_have_none(tmp_path: Path) -> None:
    with serve(tmp_path / "log") as server:
        said = introduce(opened(server.base_url))
    assert said == {"unlisted": "the server does not say what it serves: HTTP 404: no such place"}


def test_a_wrong_port_is_found_out_before_anything_is_asked() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = opened(f"http://127.0.0.1:{port}/v1")
    with pytest.raises(ModelError, match="connection refused; nothing was asked"):
        introduce(model)
    assert model.sent == 0


@pytest.mark.parametrize(
    ("spoken", "reason"),
    [
        (answer(b"[1, 2]"), "no list of models"),
        (answer(b'{"data": 7}'), "no list of models"),
        (answer(b"hello"), "not JSON"),
        (answer(b"{}", status="403 Forbidden"), "HTTP 403"),
        (answer(b"", "Location: http://127.0.0.1:1/", status="307 Go"), "HTTP 307"),
        (b"no http at all\r\n\r\n", "not HTTP"),
        (b"", "closed without an answer"),
    ],
)
def test_whatever_else_comes_is_the_reason_why_nothing_is_known(spoken: bytes, reason: str) -> None:
    with raw_server(lambda connection: connection.sendall(spoken)) as server:
        said = introduce(opened(server.base_url))
    assert said is not None
    assert reason in said["unlisted"]


def test_a_wrong_key_ends_it_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    spoken = answer(b'{"error": {"message": "bad key %s"}}' % KEY.encode(), status="401 No")
    with raw_server(lambda connection: connection.sendall(spoken)) as server:
        with pytest.raises(ModelError, match="check base_url, model and the key") as raised:
            introduce(opened(server.base_url))
        assert server.connections == 1
    assert KEY not in str(raised.value)


def test_words_are_short_and_hold_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    entry = {"id": "suspect", KEY: KEY, "long": "a" * 9_999, "nested": {"a": 1}, "big": 1 << 80}
    listed = json.dumps({"data": [entry, "no entry", {"object": "without a name"}]})
    said_so = {"choices": [{"text": "y"}], "model": f"{'m' * 190}{KEY}", "id": ["no text"]}
    spoken = iter([listed, json.dumps(said_so)])
    with raw_server(
        lambda connection: connection.sendall(
            answer(next(spoken).encode(), f"x-request-id: {KEY}", "Connection: close")
        )
    ) as server:
        model = opened(server.base_url)
        said = introduce(model)
        assert said is not None
        assert model.complete([QUESTION]) == ["y"]
        heard = model.heard(QUESTION)
    assert said["entry"] == {"id": "suspect", "<key>": "<key>", "long": "a" * 200}
    assert heard == {"model": "m" * 190 + "<key>", "request_id": "<key>"}
