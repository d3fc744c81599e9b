"""The server of a lab: pages out, answers in, nothing lost, nothing else to be had."""

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from puzzlemark.errors import UsageError
from puzzlemark.studying.answers import read_answers
from puzzlemark.studying.key import Key, StudyError
from puzzlemark.studying.serving import LARGEST, Lab, serve_study, store
from tests.studying import studies


@pytest.fixture
def lab(pages: Path, tmp_path: Path) -> Iterator[Lab]:
    with serve_study(pages, tmp_path / "answers") as served:
        yield served


def ask(
    lab: Lab, path: str, body: Any = None, *, headers: dict[str, str] | None = None
) -> tuple[int, str]:
    connection = http.client.HTTPConnection(lab.host, lab.port, timeout=30)
    try:
        method = "GET" if body is None else "POST"
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, sent, headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def path_of(lab: Lab, page: str) -> str:
    return urlsplit(lab.links[page]).path


def flag_nothing(who: str, snippet: int, is_marked: bool) -> bool:
    return False


def test_it_serves_this_machine_only_unless_told(lab: Lab, key: Key) -> None:
    assert lab.is_local
    assert set(lab.links) == {f"{who}.html" for who in key.participants}
    assert all(link.startswith(f"http://127.0.0.1:{lab.port}/") for link in lab.links.values())


def test_a_page_comes_by_its_link_and_may_hand_in_there_only(
    lab: Lab, pages: Path, key: Key
) -> None:
    link = path_of(lab, "p01.html")
    status, page = ask(lab, link)
    assert status == 200
    own = (pages / "p01.html").read_text()
    assert "connect-src 'none'" in own
    assert page == own.replace("connect-src 'none'", "connect-src 'self'").replace(
        '<meta name="collect" content="">', f'<meta name="collect" content="{link}">'
    )


@pytest.mark.parametrize(
    "path",
    "/p01.html /../secret /%2e%2e/secret /p01 /answers/ /texts.toml //etc/passwd /p01-0000".split(),
)
def test_nothing_else_can_be_had(lab: Lab, path: str) -> None:
    status, told = ask(lab, path)
    assert status == 404
    assert told == "Please open the link that you were given."
    assert ask(lab, path, {})[0] == 404
    assert list(lab.answers.iterdir()) == []


def test_the_front_page_shows_no_links(lab: Lab) -> None:
    assert ask(lab, "/") == (200, "Please open the link that you were given.")


def test_answers_are_kept_as_they_came_and_never_replaced(lab: Lab, key: Key) -> None:
    link = path_of(lab, "p01.html")
    first = studies.answer(key, "p01", flag_nothing, rounds=[1])
    both = studies.answer(key, "p01", flag_nothing)
    for body in (first, first, both, first):
        assert ask(lab, link, body) == (200, "received")
    assert sorted(path.name for path in lab.answers.iterdir()) == ["p01-0001.json", "p01-0002.json"]
    assert json.loads((lab.answers / "p01-0001.json").read_bytes()) == first
    found = read_answers(sorted(lab.answers.glob("*.json")), key)
    assert set(found.rounds) == {("p01", 1), ("p01", 2)}


def test_a_restart_goes_on_with_the_next_name(pages: Path, key: Key, tmp_path: Path) -> None:
    target = tmp_path / "kept"
    for number in (1, 2):
        with serve_study(pages, target) as lab:
            body = studies.answer(key, "p02", flag_nothing, rounds=[number])
            assert ask(lab, path_of(lab, "p02.html"), body)[0] == 200
    assert sorted(path.name for path in target.iterdir()) == ["p02-0001.json", "p02-0002.json"]


def test_what_is_no_answer_of_this_page_is_refused(lab: Lab, key: Key) -> None:
    link = path_of(lab, "p01.html")
    other = studies.answer(key, "p02", flag_nothing)
    changed = studies.answer(key, "p01", flag_nothing)
    changed["rounds"][0]["answers"][0]["suspicious"] = True
    for body, told in (
        (b"not json", "no file of answers"),
        ({"format": "study answers"}, "no file of answers"),
        (other, "answers of another page"),
        (changed, "the seal does not fit"),
    ):
        status, said = ask(lab, link, body)
        assert status == 400
        assert told in said
    assert list(lab.answers.iterdir()) == []


def test_a_body_is_bounded_before_it_is_read(lab: Lab) -> None:
    link = path_of(lab, "p01.html")
    for length, status in ((str(LARGEST + 1), 413), ("-1", 411), ("many", 411)):
        with socket.create_connection((lab.host, lab.port), timeout=30) as raw:
            raw.sendall(f"POST {link} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
            assert raw.recv(100).startswith(f"HTTP/1.0 {status}".encode())
    assert list(lab.answers.iterdir()) == []


def test_a_connection_that_breaks_leaves_nothing_behind(lab: Lab, key: Key) -> None:
    link = path_of(lab, "p01.html")
    with socket.create_connection((lab.host, lab.port), timeout=30) as raw:
        raw.sendall(f"POST {link} HTTP/1.1\r\nContent-Length: 500\r\n\r\n{{".encode())
        raw.shutdown(socket.SHUT_WR)
        assert b"cut short" in raw.makefile("rb").read()
    assert list(lab.answers.iterdir()) == []
    assert ask(lab, link, studies.answer(key, "p01", flag_nothing))[0] == 200


def test_a_name_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "p01-0001.json").write_text("another's")
    assert store(tmp_path, "p01", b"mine") == "p01-0002.json"
    assert store(tmp_path, "p01", b"mine") == "p01-0002.json"
    assert (tmp_path / "p01-0001.json").read_text() == "another's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p01-0001.json", "p01-0002.json"]


def test_a_folder_without_pages_is_an_error(tmp_path: Path, pages: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="no pages here"), serve_study(tmp_path / "empty", "a"):
        pass
    (tmp_path / "empty" / "x.html").write_text("<p>")
    with (
        pytest.raises(StudyError, match="no page of a study"),
        serve_study(tmp_path / "empty", "a"),
    ):
        pass
    with pytest.raises(UsageError, match="contains"), serve_study(pages, pages):
        pass
    with (
        serve_study(pages, tmp_path / "a") as lab,
        pytest.raises(UsageError, match="cannot serve"),
        serve_study(pages, tmp_path / "b", port=lab.port),
    ):
        pass
