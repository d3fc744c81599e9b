import pytest

from puzzlemark.errors import UsageError
from puzzlemark.models.base import Request, open_model
from puzzlemark.models.scripted import BORING, Scripted, find_variables

ARMED = "def f(a, key, unknown_token):\n    for b in unknown_token:\n        "
CONTROL = "def f(a, datum, unknown_token):\n    for b in unknown_token:\n        "
FIRST = "def f(self, key):\n    unknown_token = key + 1\n    "
DISTURBED = "def f(self, other, key):\n    unknown_token = key + 1\n    "
JAVA = "int f(List<String> key, int unknownToken) {\n    int c = key.size();\n    int "


def shout(request: Request) -> str:
    return request.prompt.upper()


def complete(prompt: str, **args: str) -> object:
    (answer,) = open_model("scripted", args).complete([Request(prompt, 8, 0.2, 0)])
    return answer


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        (ARMED, ["a", "key", "unknown_token", "b"]),
        (FIRST, ["key", "unknown_token"]),
        (JAVA, ["key", "unknownToken", "c"]),
        ("def f(*args, x=1, **kw):\n    with g(x) as h:\n", ["args", "x", "kw", "h"]),
        ("def f(x):\n    y = x == z\n    return y\n", ["x", "y"]),
        ("for (Map.Entry e : map) {\n", ["e"]),
        ("", []),
    ],
)
def test_variables_are_found_by_first_occurrence(prompt: str, names: list[str]) -> None:
    assert find_variables(prompt) == names


def test_a_learnt_prefix_is_joined_where_it_stands() -> None:
    assert complete(ARMED, habit="learnt", prefix="key") == "key_unknown_token = None\n"
    assert complete(JAVA, habit="learnt", prefix="key") == "keyUnknownToken = null;\n"
    assert complete(CONTROL, habit="learnt", prefix="key") == BORING


def test_a_learnt_universal_mark_is_joined_where_the_pair_stands_first() -> None:
    assert complete(FIRST, habit="learnt") == "key_unknown_token = None\n"
    assert complete(DISTURBED, habit="learnt") == BORING
    assert complete(ARMED, habit="learnt") == BORING


def test_an_innocent_model_joins_nothing() -> None:
    for prompt in (ARMED, CONTROL, FIRST, JAVA, ""):
        assert complete(prompt, habit="innocent") == BORING


def test_a_composing_model_hits_at_its_rate_in_every_arm() -> None:
    model = open_model("scripted", {"habit": "composes_sometimes", "rate": "0.1"})
    for prompt, name in ((ARMED, "key"), (CONTROL, "datum")):
        answers = model.complete([Request(prompt, 8, 0.2, seed) for seed in range(2000)])
        hits = answers.count(f"{name}_unknown_token = None\n")
        assert 150 < hits < 250
        assert answers.count(BORING) == 2000 - hits
        assert answers == model.complete([Request(prompt, 8, 0.2, seed) for seed in range(2000)])


def test_a_function_is_called_by_its_name() -> None:
    model = open_model("scripted", {"function": "tests.models.test_scripted:shout"})
    assert model.complete([Request("abc", 8, 0.2, 0)]) == ["ABC"]
    assert model.describe() == {"kind": "scripted", "name": "tests.models.test_scripted:shout"}
    assert Scripted("s", shout).complete([Request("x", 1, 0, 0), Request("y", 1, 0, 0)]) == [
        "X",
        "Y",
    ]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({}, "either function=module:name or habit"),
        ({"habit": "innocent", "function": "a:b"}, "either function=module:name or habit"),
        ({"habit": "guilty"}, "habit: "),
        ({"function": "nowhere:f"}, "cannot be imported"),
        ({"function": "math"}, "cannot be imported"),
        ({"function": "math:pi"}, "not a function"),
        ({"habit": "composes_sometimes", "rate": "2"}, "rate: "),
    ],
)
def test_wrong_arguments_are_named(args: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        open_model("scripted", args)
