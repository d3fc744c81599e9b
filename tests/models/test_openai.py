import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from puzzlemark.errors import UsageError
from puzzlemark.models import openai
from puzzlemark.models._http import Problem
from puzzlemark.models.base import BudgetEnded, Failure, ModelError, Request, open_model
from tests.servers.completions import compute
from tests.servers.running import Server, serve


def connect(server: Server | str, **args: str) -> openai.OpenAI:
    url = server if isinstance(server, str) else server.base_url
    plain = {"base_url": url, "model": "m", "timeout": "30"}
    return cast("openai.OpenAI", open_model("openai", plain | args))


def questions(count: int) -> list[Request]:
    return [Request(f"x{n} =", 8, 0.2, n) for n in range(count)]


def expected(requests: list[Request]) -> list[str]:
    return [
        compute(r.prompt, {"temperature": r.temperature, "seed": r.seed, "max_tokens": 8})
        for r in requests
    ]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai, "FIRST_WAIT", 0.01)


def test_answers_come_in_the_order_of_the_requests(server: Server) -> None:
    requests = questions(40)
    assert connect(server, concurrency="8").complete(requests) == expected(requests)
    assert sorted(server.prompts()) == sorted(request.prompt for request in requests)


def test_a_request_is_spelled_as_the_interface_wants_it(server: Server) -> None:
    request = Request("def f(", 7, 0.5, 11, ("\n\n",))
    connect(server, body='{"top_k": 0}').complete([request])
    (sent,) = server.requests()
    assert sent["path"] == "/v1/completions"
    assert sent["body"] == {
        "model": "m",
        "prompt": "def f(",
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 1,
        "seed": 11,
        "stop": ["\n\n"],
        "top_k": 0,
    }


def test_a_chat_model_gets_the_code_as_the_users_message(server: Server) -> None:
    request = Request("def f( ", 8, 0.5, 11)
    (answer,) = connect(server, chat="true").complete([request])
    (sent,) = server.requests()
    assert sent["path"] == "/v1/chat/completions"
    system, user = sent["body"]["messages"]
    assert system == {"role": "system", "content": openai.SYSTEM}
    assert user == {"role": "user", "content": "def f( "}
    assert answer == compute("def f( ", sent["body"])


def test_one_trailing_space_goes_from_the_prompt_and_from_the_answer(server: Server) -> None:
    (answer,) = connect(server).complete([Request("a =  ", 8, 0.0, 1)])
    (sent,) = server.requests()
    assert sent["body"]["prompt"] == "a = "
    whole = compute("a = ", sent["body"])
    assert whole.startswith(" ")
    assert answer == whole[1:]


PASSING = {
    "too many requests": {"status": 429},
    "server error": {"status": 500},
    "unavailable": {"status": 503, "headers": {"Retry-After": "0"}},
    "broken JSON": {"body": '{"choices": [{"text": "x'},
    "no choices": {"body": '{"choices": []}'},
    "another shape": {"body": '["text"]'},
    "closed": {"close": True},
    "cut off": {"cut": True},
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_passing_fault_is_asked_again(server: Server, fault: dict[str, object]) -> None:
    server.misbehave(fault, fault)
    requests = questions(3)
    assert connect(server, concurrency="1").complete(requests) == expected(requests)
    assert server.prompts() == ["x0 ="] * 3 + ["x1 =", "x2 ="]


LASTING = {
    "too many requests": ({"status": 429}, "HTTP 429: told to; asked 3 times"),
    "server error": ({"status": 500, "body": "<b>oh</b>"}, "HTTP 500: <b>oh</b>; asked 3 times"),
    "broken JSON": ({"body": "{"}, "the answer is not JSON; asked 3 times"),
    "closed": ({"close": True}, "connection closed without an answer; asked 3 times"),
    "cut off": (
        {"cut": True},
        "the connection was closed in the middle of the answer; asked 3 times",
    ),
    "wrong request": ({"status": 400}, "HTTP 400: told to; asked once"),
    "redirect": (
        {"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}},
        "HTTP 302: told to; asked once",
    ),
    "long pause": (
        {"status": 429, "headers": {"Retry-After": "9999"}},
        "HTTP 429: told to (to be asked again in 9999 s only); asked once",
    ),
}


@pytest.mark.parametrize(("fault", "reason"), LASTING.values(), ids=LASTING)
def test_a_lasting_fault_is_a_failure_and_the_others_are_answered(
    server: Server, fault: dict[str, object], reason: str
) -> None:
    times = 1 if reason.endswith("once") else 3
    server.misbehave(*[fault] * times)
    requests = questions(2)
    answers = connect(server, concurrency="1", max_retries="2").complete(requests)
    assert answers == [Failure(reason), expected(requests)[1]]
    assert server.prompts() == ["x0 ="] * times + ["x1 ="]


@pytest.mark.parametrize("fault", [{"sleep": 20}, {"trickle": 0.1}], ids=["silent", "trickling"])
def test_a_slow_answer_is_given_up_and_asked_again(server: Server, fault: dict[str, float]) -> None:
    server.misbehave(fault)
    requests = questions(1)
    assert connect(server, timeout="1").complete(requests) == expected(requests)
    assert len(server.requests()) == 2
    server.misbehave(fault)
    answers = connect(server, timeout="1", max_retries="0").complete(requests)
    assert answers == [Failure("no answer in time; asked once")]


def test_the_wait_that_the_server_asks_for_is_kept(server: Server) -> None:
    server.misbehave({"status": 429, "headers": {"Retry-After": "1"}})
    connect(server).complete(questions(1))
    first, second = (request["at"] for request in server.requests())
    assert second - first >= 1


def test_waits_double_with_jitter_and_add_to_what_the_server_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(openai, "FIRST_WAIT", 0.5)
    model = connect("http://127.0.0.1:1/v1")
    model.rng = np.random.default_rng(1)
    waits = [model._wait(attempt, Problem("")) for attempt in (1, 2, 3, 4, 20)]
    for wait, longest in zip(waits, (0.5, 1, 2, 4, openai.LONGEST_WAIT), strict=True):
        assert longest / 2 <= wait <= longest
    assert 7.25 <= model._wait(1, Problem("", wait=7.0)) <= 7.5
    model.rng = np.random.default_rng(1)
    assert [model._wait(attempt, Problem("")) for attempt in (1, 2, 3, 4, 20)] == waits


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port at which nobody listens, and nobody else can begin to: it is held meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def test_a_refused_connection_is_a_failure(dead_port: int) -> None:
    model = connect(f"http://127.0.0.1:{dead_port}/v1", max_retries="1")
    assert model.complete(questions(2)) == [Failure("connection refused; asked 2 times")] * 2


def test_a_dead_server_ends_the_run(dead_port: int) -> None:
    model = connect(f"http://127.0.0.1:{dead_port}/v1", max_retries="0", concurrency="1")
    with pytest.raises(ModelError, match=r"20 requests in a row failed.*connection refused"):
        model.complete(questions(100))
    assert model.sent < 30


def test_failures_that_are_not_in_a_row_do_not_end_the_run(server: Server) -> None:
    server.misbehave(*([{"status": 400}] * 15 + [{}] + [{"status": 400}] * 15))
    answers = connect(server, concurrency="1").complete(questions(40))
    assert sum(isinstance(answer, Failure) for answer in answers) == 30


def test_a_wrong_key_ends_the_run_and_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-wrong-and-secret")
    with serve(tmp_path / "log", "--key", "right") as server:
        model = connect(server, key_env="MY_KEY")
        with pytest.raises(ModelError) as caught:
            model.complete(questions(50))
        assert "wrong key: Bearer <key>" in str(caught.value)
        assert "the key in MY_KEY" in str(caught.value)
        for shown in (str(caught.value), repr(model), str(model.describe())):
            assert "sk-wrong" not in shown
        assert len(server.requests()) <= model.batch_size
        with pytest.raises(ModelError, match="no key in OPENAI_API_KEY"):
            connect(server).complete(questions(1))


def test_the_key_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    with serve(tmp_path / "log", "--key", "right") as server:
        requests = questions(2)
        assert connect(server).complete(requests) == expected(requests)


def test_a_key_as_an_argument_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError) as caught:
        connect("http://127.0.0.1/v1", api_key="sk-secret")
    assert "environment" in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    with pytest.raises(UsageError) as caught:
        connect("http://user:sk-secret@127.0.0.1/v1")
    assert "sk-secret" not in str(caught.value)


def test_the_budget_ends_the_run_after_what_is_under_way(server: Server) -> None:
    requests = questions(10)
    model = connect(server, max_requests="6", concurrency="3")
    with pytest.raises(BudgetEnded, match="budget of 6 requests") as caught:
        model.complete(requests)
    answers = dict(enumerate(expected(requests)))
    assert len(caught.value.answers) == len(server.requests()) == 6
    assert caught.value.answers.items() <= answers.items()


def test_retries_count_against_the_budget(server: Server) -> None:
    server.misbehave({"status": 500}, {"status": 500})
    requests = questions(3)
    with pytest.raises(BudgetEnded) as caught:
        connect(server, max_requests="3", concurrency="1").complete(requests)
    assert caught.value.answers == {0: expected(requests)[0]}


def test_one_slow_answer_does_not_hold_up_the_others(server: Server) -> None:
    server.misbehave({"sleep": 3})
    requests = questions(8)  # so few are answered in three seconds on any machine
    order = [
        index
        for arrived in connect(server, concurrency="2").stream(requests)
        for index, _ in arrived
    ]
    assert sorted(order) == list(range(8))
    assert order.index(7) < 7


def test_a_thread_asks_on_only_when_its_answer_was_taken(server: Server) -> None:
    stream = connect(server, concurrency="3").stream(questions(30))
    taken = len(next(stream))
    for arrived in stream:
        time.sleep(0.05)  # time enough to ask for more, if it did
        assert len(server.requests()) <= taken + 3
        taken += len(arrived)
    assert taken == 30


def test_nobody_who_stops_reading_waits_for_the_rest(server: Server) -> None:
    server.misbehave({}, {"sleep": 60})
    stream = connect(server, concurrency="1", timeout="90").stream(questions(50))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    time.sleep(0.2)
    assert len(server.requests()) <= 2


def test_a_chat_answer_without_text_is_a_failure_and_not_a_miss(server: Server) -> None:
    body = '{"choices": [{"message": {"content": null}, "finish_reason": "length"}]}'
    server.misbehave({"body": body})
    answers = connect(server, chat="true").complete(questions(1))
    assert answers == [Failure("the answer holds no text (finish_reason 'length')")]
    assert len(server.requests()) == 1


def test_an_empty_completion_is_an_answer(server: Server) -> None:
    server.misbehave({"body": '{"choices": [{"text": ""}]}'})
    assert connect(server).complete(questions(1)) == [""]


def test_the_record_names_what_decides_the_answers_and_not_how_patiently_we_ask() -> None:
    url = "https://host:1/v1"
    plain = connect(url).describe()
    assert plain == {
        "kind": "openai",
        "base_url": url,
        "model": "m",
        "interface": "completions",
        "body": {},
    }
    patient = connect(url + "/completions", concurrency="3", max_retries="9", max_requests="7")
    assert patient.describe() == plain
    assert connect(url, chat="true").describe() != plain
    assert connect(url, body='{"top_k": 1}').describe() != plain


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"base_url": "ftp://a/v1", "model": "m"}, "base_url: expected http"),
        ({"base_url": "http://a/v1?k=v", "model": "m"}, "no user, password or query"),
        ({"base_url": "http://a/v1"}, "openai needs model: openai:model=..."),
        ({"base_url": "http://a/v1", "model": "m", "concurrency": "0"}, "concurrency: "),
        ({"base_url": "http://a/v1", "model": "m", "body": "[1]"}, "body: "),
        ({"base_url": "http://a/v1", "model": "m", "tempo": "1"}, "no setting 'tempo'; it takes"),
    ],
)
def test_wrong_arguments_are_named(args: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        open_model("openai", args)
