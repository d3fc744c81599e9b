import hashlib
import math
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark import plugins
from puzzlemark.errors import UsageError
from puzzlemark.models.base import Estimate, Request, estimate, open_model, parse_model_args

REQUEST = Request("def f(", 16, 0.2, 7, ("\n",))


def test_the_models_are_found_by_their_files() -> None:
    assert plugins.names("models") == ("hf", "openai", "replay", "scripted")
    with pytest.raises(UsageError, match="known: hf, openai, replay, scripted"):
        open_model("gpt", {})


def test_listing_and_opening_models_imports_no_heavy_library() -> None:
    program = (
        "import sys; from puzzlemark import plugins\n"
        "for name in plugins.names('models'): plugins.load('models', name)\n"
        "print({'torch', 'transformers', 'openai'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_a_key_is_the_digest_of_the_canonical_json() -> None:
    text = (
        '{"max_tokens":16,"prompt":"def f(","seed":7,"stop":["\\n"],"temperature":0.2}'  # by hand
    )
    assert REQUEST.key == hashlib.sha256(text.encode()).hexdigest()


def test_the_same_question_has_the_same_key() -> None:
    assert Request("a", 1, 1, 0).key == Request("a", 1, 1.0, 0).key


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, prompt="def f( "),
        replace(REQUEST, max_tokens=17),
        replace(REQUEST, temperature=0.0),
        replace(REQUEST, seed=8),
        replace(REQUEST, stop=()),
        replace(REQUEST, prompt="\ud800"),
    ],
)
def test_another_question_has_another_key(other: Request) -> None:
    assert other.key != REQUEST.key


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": math.nan}, "temperature"),
        ({"seed": -1}, "seed"),
        ({"stop": ("",)}, "stop"),
    ],
)
def test_an_impossible_request_is_refused(change: dict[str, object], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        replace(REQUEST, **change)  # type: ignore[arg-type]


def test_an_estimate_counts_each_question_once() -> None:
    requests = [Request("x" * 32, 16, 0.0, 1), Request("x" * 33, 8, 0.0, 1)]
    assert estimate(requests + requests) == Estimate(2, 10 + 11, 16 + 8)
    assert estimate([]) == Estimate(0, 0, 0)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("", {}),
        ("model=m", {"model": "m"}),
        ("base_url=http://a/v1?b=c, model = m", {"base_url": "http://a/v1?b=c", "model": "m"}),
        ("a=,b=2", {"a": "", "b": "2"}),
        ("a=1,", {"a": "1"}),
        ('a="1,2",b=3', {"a": "1,2", "b": "3"}),
        (r'body="{\"a\": 1, \"b\": 2}"', {"body": '{"a": 1, "b": 2}'}),
        (r'a="\\",b=C:\x', {"a": "\\", "b": "C:\\x"}),
    ],
)
def test_model_arguments_are_read(text: str, args: dict[str, str]) -> None:
    assert parse_model_args(text) == args


@pytest.mark.parametrize("text", ["a", "a=1,b", "=1", "a b=1", "a=1,a=2", 'a="1', 'a="1"2', ",a=1"])
def test_misspelled_model_arguments_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="model arguments"):
        parse_model_args(text)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text()))
def test_any_value_can_be_quoted(args: dict[str, str]) -> None:
    def quote(value: str) -> str:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    text = ",".join(f"{name}={quote(value)}" for name, value in args.items())
    assert parse_model_args(text) == args


def test_a_wrong_argument_is_named_and_its_value_is_not_shown() -> None:
    with pytest.raises(UsageError) as caught:
        open_model("hf", {"pretrained": "p", "batch_size": "sk-secret"})
    assert "batch_size" in str(caught.value)
    assert "sk-secret" not in str(caught.value)
