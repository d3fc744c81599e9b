"""A server that means harm: what it sends is bounded, harmless, and never shows the key."""

import base64
import gzip
import json
import socket
import ssl
import subprocess
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import cast
from urllib.parse import quote

import pytest

from puzzlemark.errors import PuzzleMarkWarning, UsageError
from puzzlemark.models import _http, openai
from puzzlemark.models.base import Failure, ModelError, Request, open_model
from tests.servers.raw import RawServer, answer, raw_server
from tests.servers.running import Server

KEY = "sk-Secret/With+Signs=0123456789"
QUESTION = Request("x =", 8, 0.0, 1)
LONGEST = 8 * openai.LONGEST_TOKEN


def connect(server: RawServer | Server | str, **args: str) -> openai.OpenAI:
    url = server if isinstance(server, str) else server.base_url
    plain = {"base_url": url, "model": "m", "timeout": "30", "max_retries": "0"}
    return cast("openai.OpenAI", open_model("openai", plain | args))


def ask(speak: Callable[[socket.socket], None] | bytes, **args: str) -> str | Failure:
    """What a model behind such a server answers."""

    def say(connection: socket.socket) -> None:
        connection.sendall(speak) if isinstance(speak, bytes) else speak(connection)

    with raw_server(say) as server:
        (found,) = connect(server, **args).complete([QUESTION])
        return found


def completion(text: str) -> bytes:
    return json.dumps({"choices": [{"text": text}]}).encode()


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "FIRST_WAIT", 0.01)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY


DEEP = b"[" * 200_000


@pytest.mark.parametrize("body", [DEEP, b'{"a":' * 200_000], ids=["lists", "objects"])
def test_deeply_nested_json_is_a_failure_in_a_sentence(body: bytes) -> None:
    reason = "the answer is JSON that is nested too deeply; asked once"
    assert ask(answer(body)) == Failure(reason)


def test_json_nested_as_deep_as_python_parses_it_is_a_failure_as_well() -> None:
    depth = sys.getrecursionlimit() // 2
    nested = b"[" * depth + b"]" * depth
    for body in (
        b'{"choices": [{"text": %b}]}',
        b'{"choices": [{"text": 1, "finish_reason": %b}]}',
    ):
        found = ask(answer(body % nested))
        assert isinstance(found, Failure)
        assert len(found.reason) < 100


def test_deeply_nested_json_of_an_error_is_shown_as_text_and_short() -> None:
    found = ask(answer(DEEP[:60_000], status="400 Bad Request"))
    assert found == Failure(f"HTTP 400: {'[' * _http.SHOWN}; asked once")


def test_an_error_whose_message_is_no_text_is_shown_as_it_came() -> None:
    body = b'{"error": {"message": {"code": [7]}}}'
    assert ask(answer(body, status="400 No")) == Failure(f"HTTP 400: {body.decode()}; asked once")


def endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        connection.sendall(b'{"choices": [{"text": "' + b"x" * 65536)


def test_an_endless_answer_is_given_up_at_the_size_that_was_asked_for() -> None:
    tracemalloc.start()
    try:
        found = ask(endless, max_retries="3")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    most = openai.ROOM + openai.BYTES_A_CHARACTER * (LONGEST + len(QUESTION.prompt))
    assert found == Failure(f"the answer is longer than {most:,} bytes; asked once")
    assert peak < 16 << 20


def test_whoever_asks_for_more_tokens_may_get_a_longer_answer() -> None:
    body = completion("x" * (2 << 20))
    short = ask(answer(body))
    assert isinstance(short, Failure)
    long = ask(answer(body), body='{"max_tokens": 20000}')
    assert isinstance(long, str)
    assert len(long) == 2 << 20


def test_a_text_longer_than_the_tokens_asked_for_is_cut() -> None:
    found = ask(answer(completion("ab" * LONGEST)))
    assert found == ("ab" * LONGEST)[:LONGEST]


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_a_packed_answer_is_unpacked(pack: Callable[[bytes], bytes]) -> None:
    coding = "gzip" if pack is gzip.compress else "deflate"
    assert ask(answer(pack(completion("y")), f"Content-Encoding: {coding}")) == "y"


def test_a_gzip_bomb_is_given_up_while_it_unpacks() -> None:
    bomb = gzip.compress(bytes(200 << 20), 9)
    assert len(bomb) < 300_000
    tracemalloc.start()
    try:
        found = ask(answer(bomb, "Content-Encoding: gzip"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(found, Failure)
    assert found.reason.startswith("the answer is longer than")
    assert peak < 16 << 20


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "zstd"])
def test_a_packing_that_was_not_asked_for_is_refused(coding: str) -> None:
    bomb = gzip.compress(gzip.compress(bytes(1 << 20)))
    found = ask(answer(bomb, f"Content-Encoding: {coding}"))
    assert found == Failure("the answer is packed in a way that was not asked for; asked once")


def test_what_cannot_be_unpacked_is_a_failure() -> None:
    found = ask(answer(b"\x1f\x8bgarbage", "Content-Encoding: gzip"))
    assert found == Failure("the answer cannot be decompressed; asked once")


def test_bytes_after_the_end_of_a_packed_answer_count() -> None:
    def speak(connection: socket.socket) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"
        connection.sendall(head + gzip.compress(b"{}"))
        while True:
            connection.sendall(bytes(65536))

    found = ask(speak)
    assert isinstance(found, Failure)
    assert found.reason.startswith("the answer is longer than")


def drip(what: bytes) -> Callable[[socket.socket], None]:
    def speak(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(what)
            time.sleep(0.05)

    return speak


def inform(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


@pytest.mark.parametrize(
    "speak",
    [drip(b"X-A: b\r\n"), drip(b"x"), drip(b"Connection: close\r\n\r\n "), inform],
    ids=["headers", "one header", "body", "100 Continue"],
)
def test_an_answer_that_never_ends_is_given_up_in_time(
    speak: Callable[[socket.socket], None],
) -> None:
    assert ask(speak, timeout="1") == Failure("no answer in time; asked once")


@pytest.mark.parametrize(
    ("bytes_", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "the answer is not HTTP"),
        (
            b"HTTP/1.1 302 No\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n",
            "not HTTP|HTTP 302",
        ),
        (answer(b"\xff\xfe\x00"), "the answer is not JSON"),
        (answer(b"9" * 5000), "the answer is not JSON"),
    ],
)
def test_what_is_no_answer_at_all_is_a_failure(bytes_: bytes, reason: str) -> None:
    found = ask(bytes_)
    assert isinstance(found, Failure)
    assert found.reason.endswith("; asked once")
    assert any(each in found.reason for each in reason.split("|"))


def test_a_wait_without_measure_is_no_wait() -> None:
    found = ask(answer(b"", f"Retry-After: {'9' * 400}", status="429 No"), max_retries="1")
    assert found == Failure("HTTP 429 (to be asked again in inf s only); asked once")


def spellings(key: str) -> list[str]:
    return [
        f"Bearer {key}",
        f"authorization: bearer {key.upper()}",
        quote(key, safe=""),
        quote(key),
        json.dumps({"k": key}).replace("/", r"\/"),
        *(base64.b64encode(f"{user}:{key}".encode()).decode() for user in ("", "u", "me", "you")),
        base64.urlsafe_b64encode(key.encode()).decode(),
    ]


def leaks(text: str, key: str) -> bool:
    """Whether eight neighbouring characters of any spelling of the key stand in the text."""
    shown = text.lower()
    forms = [key, quote(key, safe=""), base64.b64encode(key.encode()).decode().rstrip("=")[:-1]]
    pieces = {form.lower()[at : at + 8] for form in forms for at in range(len(form) - 7)}
    return any(piece in shown for piece in pieces)


@pytest.mark.parametrize("number", range(len(spellings(KEY))))
def test_the_key_is_in_no_message_and_no_completion(key: str, number: int) -> None:
    said = spellings(key)[number]
    for speech in (
        answer(said.encode(), status="400 No"),
        answer(json.dumps({"error": {"message": said}}).encode(), status="400 No"),
    ):
        found = ask(speech)
        assert isinstance(found, Failure)
        assert "<key>" in found.reason
        assert not leaks(found.reason, key)
    text = ask(answer(completion(f"before {said} after")))
    assert isinstance(text, str)
    assert "<key>" in text
    assert not leaks(text, key)


def test_no_half_of_a_key_stays_at_a_cut(key: str) -> None:
    for before in range(_http.SHOWN - len(key) - 2, _http.SHOWN + 1):
        found = ask(answer(("." * before + key).encode(), status="400 No"))
        assert isinstance(found, Failure)
        assert "sk-S" not in found.reason
    for before in range(LONGEST - len(key) - 1, LONGEST + 1, 7):
        text = ask(answer(completion("." * before + key)))
        assert isinstance(text, str)
        assert "sk-S" not in text


def test_no_half_of_a_key_stays_where_a_long_complaint_ends(key: str) -> None:
    spaces = b" " * (_http.MAX_COMPLAINT - 10)
    found = ask(answer(spaces + key.encode(), status="400 No"))
    assert found == Failure("HTTP 400: (a message too long to show); asked once")


def test_a_short_key_is_taken_out_of_messages_but_completions_stay_evidence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "token")
    assert ask(answer(completion("token_iterator = token"))) == "token_iterator = token"
    assert ask(answer(b"no token", status="400 No")) == Failure("HTTP 400: no <key>; asked once")


def test_a_line_feed_after_the_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    with raw_server(lambda connection: connection.sendall(answer(completion("y")))) as server:
        assert connect(server).complete([QUESTION]) == ["y"]
    assert f"Authorization: Bearer {KEY}\r\n".encode() in server.heard[0]


@pytest.mark.parametrize("odd", ["sk-\n-secret", "sk-s\u00e9cret", "sk\x1b[2J"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", odd)
    with pytest.raises(UsageError, match="OPENAI_API_KEY: a key is printable ASCII") as caught:
        connect("http://127.0.0.1/v1")
    assert "sk" not in str(caught.value)


@pytest.mark.parametrize("argument", ["body", "system", "model"])
def test_a_key_in_an_argument_that_is_recorded_is_refused(key: str, argument: str) -> None:
    value = json.dumps({"api_key": key}) if argument == "body" else f"a {key}"
    with pytest.raises(UsageError, match="the key in OPENAI_API_KEY stands in another") as caught:
        connect("http://127.0.0.1/v1", **{argument: value})
    assert not leaks(str(caught.value), key)


def test_a_key_over_plain_http_to_another_host_warns(key: str) -> None:
    with pytest.warns(PuzzleMarkWarning, match="goes to gpu-7 over plain http") as caught:
        connect("http://gpu-7:8000/v1")
    assert len(caught) == 1
    assert key not in str(caught[0].message)


@pytest.mark.parametrize(
    "url",
    ["https://gpu-7/v1", "http://127.0.0.1/v1", "http://localhost:1/v1", "http://[::1]:8000/v1"],
)
def test_a_key_that_nobody_can_read_on_the_way_warns_of_nothing(key: str, url: str) -> None:
    connect(url)  # a warning is an error in these tests


def test_without_a_key_plain_http_is_fine() -> None:
    connect("http://gpu-7:8000/v1")


FORBIDDEN = (b"puzzle", b"watermark", b"probe", b"mark")


@pytest.mark.parametrize("chat", ["false", "true"])
def test_no_request_says_who_asks(chat: str) -> None:
    with raw_server(lambda connection: connection.sendall(answer(completion("y")))) as server:
        connect(server, chat=chat).complete([QUESTION])
    (heard,) = server.heard
    assert not [word for word in FORBIDDEN if word in heard.lower()]
    head = heard.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    names = {line.partition(":")[0].lower() for line in head[1:]}
    assert names == {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "user-agent",
        "content-type",
        "content-length",
    }
    (agent,) = (line for line in head if line.lower().startswith("user-agent"))
    assert agent.startswith("User-Agent: python-httpx2/")


def test_the_user_agent_can_be_chosen() -> None:
    with raw_server(lambda connection: connection.sendall(answer(completion("y")))) as server:
        connect(server, user_agent="curl/8.5.0").complete([QUESTION])
    assert b"User-Agent: curl/8.5.0\r\n" in server.heard[0]
    with pytest.raises(UsageError, match="user_agent"):
        connect("http://127.0.0.1/v1", user_agent="a\r\nX-Evil: b")


def test_cookies_are_not_kept(server: Server) -> None:
    cookie = {"Set-Cookie": "who=you; Path=/"}
    server.misbehave({"status": 500, "headers": cookie}, {"status": 500, "headers": cookie})
    connect(server, max_retries="2", concurrency="1").complete([QUESTION])
    assert len(server.requests()) == 3
    assert all("cookie" not in each["headers"] for each in server.requests())


def test_connections_are_used_again(server: Server) -> None:
    requests = [Request(f"x{n} =", 8, 0.0, n) for n in range(30)]
    connect(server, concurrency="3").complete(requests)
    ports = {each["port"] for each in server.requests()}
    assert len(server.requests()) == 30
    assert len(ports) <= 3


def test_a_redirect_is_not_followed_and_no_other_host_gets_the_key(key: str) -> None:
    with raw_server(lambda connection: connection.sendall(answer(completion("z")))) as other:
        moved = answer(b"", f"Location: {other.base_url}/completions", status="307 Moved")
        assert ask(moved) == Failure("HTTP 307; asked once")
    assert other.heard == []


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(lambda connection: connection.sendall(answer(completion("y")))) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        assert connect("http://suspect.example/v1").complete([QUESTION]) == ["y"]
        monkeypatch.setenv("no_proxy", "suspect.example")
        (found,) = connect("http://suspect.example/v1").complete([QUESTION])
        assert found == Failure("the host's name is not known; asked once")
    assert proxy.heard[0].startswith(b"POST http://suspect.example/v1/completions HTTP/1.1\r\n")
    assert len(proxy.heard) == 1


def test_what_is_for_this_machine_goes_to_no_proxy(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    with raw_server(lambda connection: connection.sendall(answer(completion("z")))) as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "")
        assert ask(answer(completion("y"))) == "y"
    assert proxy.heard == []


@pytest.mark.parametrize("proxy", ["ftp://u:hunter2hunter2@h", "http://u:hunter2hunter2@h:port"])
def test_a_proxy_that_is_not_understood_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(ModelError, match="the proxy in HTTP_PROXY") as caught:
        connect("http://suspect.example/v1").complete([QUESTION])
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.fixture
def authority(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's certificate for this machine, and the file of the authority that signed it."""
    trustme = pytest.importorskip("trustme")
    signer = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    signer.issue_cert("127.0.0.1").configure_cert(context)
    signer.cert_pem.write_to_path(tmp_path / "ca.pem")
    return context, tmp_path / "ca.pem"


def test_a_certificate_of_an_unknown_authority_is_refused_at_once_and_gets_no_key(
    authority: tuple[ssl.SSLContext, Path], key: str
) -> None:
    with raw_server(lambda connection: connection.sendall(b""), tls=authority[0]) as server:
        (found,) = connect(server, max_retries="3").complete([QUESTION])
    reason = "the server's certificate is not trusted; see ca_bundle; asked once"
    assert found == Failure(reason)
    assert server.heard == []


def test_a_bundle_of_authorities_can_be_named(authority: tuple[ssl.SSLContext, Path]) -> None:
    context, bundle = authority
    speech = answer(completion("y"))
    with raw_server(lambda connection: connection.sendall(speech), tls=context) as server:
        assert connect(server, ca_bundle=str(bundle)).complete([QUESTION]) == ["y"]


def test_a_bundle_that_is_none_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"ca_bundle: .*gone.pem: No such file"):
        connect("https://h/v1", ca_bundle=str(tmp_path / "gone.pem"))
    (tmp_path / "empty.pem").write_text("")
    with pytest.raises(UsageError, match="holds no certificates"):
        connect("https://h/v1", ca_bundle=str(tmp_path / "empty.pem"))


@pytest.mark.parametrize("url", ["http://[::1/v1", "http://a:port/v1", "http://a\x1b[2J/v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="base_url: expected http"):
        connect(url)


def test_the_http_library_is_imported_by_whoever_asks_a_server_and_by_nobody_else() -> None:
    program = """
import sys
import puzzlemark, puzzlemark.models.openai, puzzlemark.cli.verify
assert "httpx2" not in sys.modules
puzzlemark.open_model("openai", {"base_url": "http://127.0.0.1/v1", "model": "m"})
assert "httpx2" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
