"""How likely names are: a local model against its own forward pass, a server step by step."""

import json
import math
import re
from pathlib import Path
from typing import Any, cast

import pytest

from puzzlemark.errors import UsageError
from puzzlemark.models import openai
from puzzlemark.models._scoring import Vocabulary, continue_with, ends_name
from puzzlemark.models._walking import read_tops, score_by_steps
from puzzlemark.models.base import (
    BudgetEnded,
    ChoiceRequest,
    Failure,
    LogProbs,
    ModelError,
    Request,
    Scoring,
    estimate,
    open_model,
)
from puzzlemark.models.hf import HuggingFace
from tests.servers.completions import load_logprobs, made_up_logprobs
from tests.servers.running import Server, serve

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\x80-\uffff]*")  # what is beyond ASCII may go on a name


def open_tiny(folder: Path) -> HuggingFace:
    args = {"pretrained": str(folder), "device": "cpu", "threads": "1"}
    return cast("HuggingFace", open_model("hf", args))


def connect(server: Server, **args: str) -> openai.OpenAI:
    plain = {"base_url": server.base_url, "model": "m", "timeout": "30"}
    return cast("openai.OpenAI", open_model("openai", plain | args))


def values_of(answer: LogProbs | Failure) -> tuple[float, ...]:
    assert isinstance(answer, LogProbs), answer
    return answer.values


def test_a_question_about_names_is_none_about_a_completion() -> None:
    choice = ChoiceRequest("x = (", ("a", "b"))
    assert choice.key == ChoiceRequest("x = (", ("a", "b")).key
    others = [ChoiceRequest("x = (", ("b", "a")), ChoiceRequest("x = [", ("a", "b"))]
    assert len({choice.key, *(each.key for each in others), Request("x = (", 1, 0.0, 0).key}) == 4
    for names in ((), ("a b",), ("",)):
        with pytest.raises(UsageError, match="plain names"):
            ChoiceRequest("x", names)
    with pytest.raises(ValueError, match="finite"):
        LogProbs((-math.inf,))
    assert estimate([choice, Request("x", 5, 0.0, 0)]).calls == 4


def test_which_tokens_end_a_name() -> None:
    ends = ["\u0120in", "\u010a", "(", ",", "\u2581in", "<0x0A>", "<0x2C>", "\u0109", "."]
    goes_on = ["in", "_list", "9", "<0x41>", "\u00c3\u00a9", "Item"]
    assert [token for token in ends + goes_on if ends_name(token)] == ends


def test_the_tokens_of_a_name_are_those_behind_the_prompt() -> None:
    assert continue_with([1, 2], [1, 2, 3, 4]) == [3, 4]
    assert continue_with([1, 2], [1, 5, 3]) is None
    assert continue_with([1, 2], [1, 2]) is None
    vocabulary = Vocabulary({"na": 1, "n": 2, "me": 3, "\u0120na": 4}, None)
    assert vocabulary.spell("name") == [1, 3]
    assert vocabulary.spell(" name") == [4, 3]
    assert vocabulary.spell("nix") is None


def by_the_forward_pass(folder: Path, prompt: str, name: str) -> float:
    """An oracle: tokens of the name one by one, then all texts that no name goes on with."""
    from transformers import AutoTokenizer

    tokenizer, next_of = AutoTokenizer.from_pretrained(folder), load_logprobs(folder)
    before = tokenizer(prompt)["input_ids"]
    whole = tokenizer(prompt + name)["input_ids"]
    assert whole[: len(before)] == before
    found, text = 0.0, prompt
    for token in whole[len(before) :]:
        piece = tokenizer.decode([token])
        found += next_of(text)[piece]
        text += piece
    ending = [
        v for t, v in next_of(text).items() if not t or not re.match(r"[A-Za-z0-9_\x80-\uffff]", t)
    ]
    return found + math.log(sum(map(math.exp, ending)))


@pytest.mark.parametrize("prompt", ["def merge(", "for", "left = (", "x"])
def test_a_local_model_tells_what_its_forward_pass_gives(tiny_model: Path, prompt: str) -> None:
    names = ("left", "right", "key", "items", "zz")
    (answer,) = open_tiny(tiny_model).score([ChoiceRequest(prompt, names)])
    for name, value in zip(names, values_of(answer), strict=True):
        if prompt not in ("for", "x"):  # there the name would become a part of the word before it
            assert value == pytest.approx(by_the_forward_pass(tiny_model, prompt, name), abs=1e-4)
        assert value < 0


def test_names_are_as_likely_as_they_are_sampled(tiny_model: Path) -> None:
    """Of one letter, which can be spelled in one way only."""
    model, letters = open_tiny(tiny_model), tuple("abcdefghijklmnopqrstuvwxyz")
    requests = [ChoiceRequest(f"x{sign}", letters) for sign in "()[]{}.,;:+-*/%&|<>=!?@#'\n"]
    likely = {r: values_of(a) for r, a in zip(requests, model.score(requests), strict=True)}
    request = max(likely, key=lambda each: max(likely[each]))
    chances = [math.exp(value) for value in likely[request]]
    assert max(chances) > 0.03
    texts = model.complete([Request(request.prompt, 2, 1.0, seed) for seed in range(1500)])
    firsts = [match[0] for text in texts if isinstance(text, str) and (match := NAME.match(text))]
    for letter, chance in zip(letters, chances, strict=True):
        spread = math.sqrt(1500 * chance * (1 - chance)) + 1
        assert abs(firsts.count(letter) - 1500 * chance) < 5 * spread


def test_a_longer_name_takes_nothing_from_a_shorter_one(tiny_model: Path) -> None:
    model = open_tiny(tiny_model)
    (answer,) = model.score([ChoiceRequest("x = (", ("re", "res", "result"))])
    assert sum(map(math.exp, values_of(answer))) <= 1
    (space,) = model.score([ChoiceRequest("for ", ("key", "left"))])  # the trailing space
    assert all(value < 0 for value in values_of(space))


def test_answers_do_not_depend_on_the_others(tiny_model: Path) -> None:
    model = open_tiny(tiny_model)
    requests = [ChoiceRequest(p, ("key", "left")) for p in ("def f(", "return (", "a, b = ")]
    alone = [model.score([request])[0] for request in requests]
    assert model.score(requests) == alone
    assert model.score(requests[::-1]) == alone[::-1]


def test_a_prompt_that_does_not_fit_is_a_failure(tiny_model: Path) -> None:
    model = open_tiny(tiny_model)
    (answer,) = model.score([ChoiceRequest("x = " * 200 + "(", ("key",))])
    assert isinstance(answer, Failure)
    assert "the model takes 128" in answer.reason


def test_the_two_shapes_of_servers() -> None:
    as_object = {"choices": [{"logprobs": {"top_logprobs": [{"a": -1.0, "b": -2.0}]}}]}
    listed = [{"token": "a", "logprob": -1.0}, {"token": "b", "logprob": -2.0}]
    as_list = {"choices": [{"logprobs": {"content": [{"top_logprobs": listed}]}}]}
    assert read_tops(as_object) == read_tops(as_list) == {"a": -1.0, "b": -2.0}
    nothing: list[Any] = [
        {},
        {"choices": [{}]},
        {"choices": [{"logprobs": None}]},
        {"choices": [{"logprobs": {"top_logprobs": []}}]},
        {"choices": [{"logprobs": {"top_logprobs": [{"a": "x"}]}}]},
        {"choices": [{"logprobs": {"content": [{"top_logprobs": []}]}}]},
    ]
    for answer in nothing:
        with pytest.raises(ModelError, match="gives no log-probabilities"):
            read_tops(answer)


def test_a_walk_by_hand() -> None:
    half, quarter = math.log(0.5), math.log(0.25)
    tables = {
        "x": {" a": half, " b": quarter, ",": math.log(0.125)},
        "x a": {"b": quarter, "(": half, "\n": math.log(0.125)},
        "x ab": {"c": math.log(0.9)},
    }
    asked: list[str] = []

    def next_tokens(prompts: Any) -> Any:
        asked.extend(prompts)
        return [tables.get(prompt, Failure("busy")) for prompt in prompts]

    walked, failed = score_by_steps(
        [ChoiceRequest("x ", ("a", "ab", "zeta")), ChoiceRequest("y", ("a",))], next_tokens
    )
    a, ab, zeta = values_of(walked)
    assert a == pytest.approx(math.log(0.5 * 0.625))
    assert ab == pytest.approx(math.log(0.5 * 0.25 * 0.1))  # no end is shown: 0.1 is left over
    assert zeta == pytest.approx(math.log(0.125))  # the last that is shown, and what is left over
    assert failed == Failure("busy")
    assert sorted(asked) == ["x", "x a", "x ab", "y"]


@pytest.mark.parametrize("shape", ["object", "list"])
def test_a_server_is_walked(tmp_path: Path, shape: str) -> None:
    with serve(tmp_path / "log.jsonl", "--logprobs", shape) as server:
        model = connect(server)
        assert isinstance(model, Scoring)
        (answer,) = model.score([ChoiceRequest("x = (", ("alpha", "gamma", "other"))])
        prompts = server.prompts()
    alpha, gamma, other = values_of(answer)
    first = made_up_logprobs("x = (")

    def ending(prompt: str) -> float:
        return math.log(
            sum(math.exp(v) for t, v in made_up_logprobs(prompt).items() if t in "),(\n = ")
        )

    assert alpha == pytest.approx(first["alpha"] + ending("x = (alpha"))
    then = made_up_logprobs("x = (ga")["mma"]
    assert gamma == pytest.approx(first["ga"] + then + ending("x = (gamma"))
    assert other <= min(first.values())
    assert sorted(prompts) == ["x = (", "x = (alpha", "x = (ga", "x = (gamma"]
    sent = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])["body"]
    assert (sent["logprobs"], sent["max_tokens"], sent["temperature"]) == (20, 1, 1.0)


def test_a_server_and_a_local_model_agree(tiny_model: Path, tmp_path: Path) -> None:
    requests = [ChoiceRequest(prompt, ("left", "key", "k")) for prompt in ("def merge(", "x = (")]
    with serve(tmp_path / "log.jsonl", "--model", str(tiny_model)) as server:
        walked = connect(server, top_logprobs="300").score(requests)
    for one, other in zip(walked, open_tiny(tiny_model).score(requests), strict=True):
        assert values_of(one) == pytest.approx(values_of(other), abs=1e-3)


def test_a_server_without_them_is_refused_and_a_budget_ends(tmp_path: Path) -> None:
    request = ChoiceRequest("x = (", ("alpha", "beta"))
    with serve(tmp_path / "log.jsonl", "--logprobs", "none") as server:
        with pytest.raises(ModelError, match="gives no log-probabilities"):
            connect(server).score([request])
        with pytest.raises(ModelError, match="a chat cannot"):
            connect(server, chat="true").score([request])
        server.misbehave({"status": 400, "body": "{}"})
        (answer,) = connect(server).score([request])
        assert isinstance(answer, Failure)
    with serve(tmp_path / "other.jsonl") as server, pytest.raises(BudgetEnded):
        connect(server, max_requests="2").score([request])


def test_a_file_has_them_by_key(tmp_path: Path) -> None:
    request, other = ChoiceRequest("x", ("a", "b")), ChoiceRequest("y", ("a", "b"))
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"key": request.key, "logprobs": [-1.5, -2.0]}) + "\n")
    model = open_model("replay", file=str(path))
    assert isinstance(model, Scoring)
    assert model.score([request, other]) == [
        LogProbs((-1.5, -2.0)),
        Failure("no log-probabilities in the file"),
    ]
    path.write_text(json.dumps({"key": request.key, "logprobs": [-1.5, "x"]}) + "\n")
    with pytest.raises(ModelError, match="expected an object"):
        open_model("replay", file=str(path))


def even(request: ChoiceRequest) -> LogProbs:
    return LogProbs((-math.log(len(request.names)),) * len(request.names))


def test_a_script_may_tell_them() -> None:
    plain = open_model("scripted", habit="innocent")
    assert not isinstance(plain, Scoring)
    telling = open_model("scripted", habit="innocent", scores=f"{__name__}:even")
    assert isinstance(telling, Scoring)
    (answer,) = telling.score([ChoiceRequest("x", ("a", "b"))])
    assert values_of(answer) == pytest.approx((-math.log(2),) * 2)
    assert telling.describe()["scores"] == f"{__name__}:even"
