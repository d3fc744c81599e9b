"""A model rewrites snippets; what is not the function that was asked for is not taken."""

import json
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

import puzzlemark as pm
from puzzlemark.attacks.rewrite import _head, _prompt, read_answer
from puzzlemark.cli.__main__ import application
from puzzlemark.errors import UsageError
from puzzlemark.models.base import Answer, Failure, ModelError, Request
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from tests.attacks.making import codes, store

ONE = "def f(a, b):\n    c = a\n    return c + b\n"
TWO = "@cached\ndef g(\n    a,\n):\n    return a"
asked: list[str] = []


def answer(request: Request) -> Answer:
    """A model that rewrites `f`, talks about `g`, fails at `away`, and dies at `die`."""
    asked.append(request.prompt)
    if "def away" in request.prompt:
        return Failure("nobody is there")
    if "def die" in request.prompt:
        raise ModelError("it died")
    return (
        "    total = a + b\n    return total\n\nprint(f(1))\n"
        if "def f" in request.prompt
        else "no"
    )


MODEL = f"scripted:function={__name__}:answer"


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    asked.clear()


def snippet(code: str, language: str = "python") -> Snippet:
    return Snippet("x", code, language)


def test_the_prompt_ends_in_the_signature() -> None:
    tree = parse(snippet(TWO))
    assert _head(tree) == "@cached\ndef g(\n    a,\n):\n"
    lines = _prompt(tree, _head(tree)).splitlines()
    assert lines[0].startswith("# The function below")
    assert lines[1:6] == TWO.splitlines()
    assert lines[-4:] == TWO.splitlines()[:4]
    java = parse(snippet("int f(int a) { return a; }", "java"))
    assert _head(java) == "int f(int a) {\n"
    assert _prompt(java, _head(java)).startswith("// The function")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("    return a + b\n", "def f(a, b):\n    return a + b\n"),
        ("    return a + b\n\nx = (", "def f(a, b):\n    return a + b\n"),
        (
            "```python\ndef f(a, b):\n    return b + a\n```\nDone.",
            "def f(a, b):\n    return b + a\n",
        ),
    ],
)
def test_the_function_is_found_in_an_answer(said: str, expected: str) -> None:
    assert read_answer(snippet(ONE), "def f(a, b):\n", said) == expected


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Sure! Here it is", "not the function"),
        ("```\ndef h(a, b):\n    return a\n```", "not the function"),
        (ONE.split("\n", 1)[1], "is the original"),
        ("", "not the function"),
    ],
)
def test_anything_else_keeps_the_original(said: str, why: str) -> None:
    with pytest.raises(pm.PuzzleMarkError, match=why):
        read_answer(snippet(ONE), "def f(a, b):\n", said)


def test_rewritten_snippets_take_the_place_of_the_others(tmp_path: Path) -> None:
    source = store(tmp_path / "a.jsonl", [ONE, TWO, "x = 1\n", ONE, "x = (", "# " * 3000])
    attacked = pm.attack(source, tmp_path / "b.jsonl", attack="rewrite", settings={"model": MODEL})
    new = "def f(a, b):\n    total = a + b\n    return total\n\nprint(f(1))\n"
    new = new.removesuffix("\n\nprint(f(1))\n") + "\n"
    assert codes(tmp_path / "b.jsonl")[:4] == [new, TWO, "x = 1\n", new]
    assert attacked.counts == {"snippets rewritten": 2}
    assert attacked.spared == {
        "not one function and nothing else": 1,
        "syntax errors": 1,
        "longer than 4000 characters": 1,
        "the answer is not the function that was asked for": 1,
    }
    assert len(asked) == 2  # the same question once
    assert {path.name for path in tmp_path.iterdir()} == {"a.jsonl", "b.jsonl"}


def test_only_flagged_records_are_asked_about(tmp_path: Path) -> None:
    joined = "def f(key, value):\n    a = key\n    key_value = a\n    return key_value\n"
    source = store(tmp_path / "a.jsonl", [ONE, joined])
    pm.detect(source, tmp_path / "s.parquet", method="concat")
    pm.attack(
        source,
        tmp_path / "b.jsonl",
        attack="rewrite",
        settings={"model": MODEL},
        suspicion=tmp_path / "s.parquet",
    )
    assert len(asked) == 1
    assert joined in asked[0]


def test_a_run_that_died_goes_on_where_it_was(tmp_path: Path) -> None:
    others = [ONE.replace("c", f"c{n}") for n in range(3)]
    source = store(tmp_path / "a.jsonl", [*others, "def die(a):\n    return a\n"])
    settings = {"model": MODEL}
    with pytest.raises(ModelError):
        pm.attack(source, tmp_path / "b.jsonl", attack="rewrite", settings=settings)
    assert not (tmp_path / "b.jsonl").exists()
    (kept,) = (tmp_path / ".b.jsonl.work").glob("*/answers.jsonl")
    assert orjson.loads(kept.read_bytes().splitlines()[0])["format"].startswith("puzzlemark")
    first = len(asked)
    asked.clear()
    with pytest.raises(ModelError):
        pm.attack(source, tmp_path / "b.jsonl", attack="rewrite", settings=settings)
    assert len(kept.read_bytes().splitlines()) - 1 + len(asked) == first


def test_a_server_that_goes_away_is_an_error_and_what_it_answered_is_kept(tmp_path: Path) -> None:
    source = store(tmp_path / "a.jsonl", [ONE, "def away(a):\n    return a\n"])
    settings = {"model": MODEL}
    for questions in (2, 1):  # the second time only what failed is asked
        with pytest.raises(ModelError, match=r"1 of 2 questions got no answer \(nobody is there\)"):
            pm.attack(source, tmp_path / "b.jsonl", attack="rewrite", settings=settings)
        assert not (tmp_path / "b.jsonl").exists()
        assert len(asked) == questions
        asked.clear()


def test_a_few_questions_without_an_answer_are_counted(tmp_path: Path) -> None:
    others = [ONE.replace("c", f"c{n}") for n in range(9)]
    source = store(tmp_path / "a.jsonl", [*others, "def away(a):\n    return a\n"])
    settings = {"model": MODEL}
    attacked = pm.attack(source, tmp_path / "b.jsonl", attack="rewrite", settings=settings)
    assert attacked.counts == {"snippets rewritten": 9}
    assert attacked.spared == {"the model gave no answer": 1}


def test_a_dry_run_counts_and_asks_nothing(tmp_path: Path) -> None:
    source = store(tmp_path / "a.jsonl", [ONE, TWO, ONE])
    cost = pm.attack_cost(source, attack=f"rewrite:model={MODEL},max_tokens=50")
    assert (cost.calls, cost.completion_tokens) == (2, 100)
    assert cost.prompt_tokens > 50
    line = ["attack", str(source), "-a", f"rewrite:model={MODEL},limit=1", "--dry-run"]
    done = CliRunner().invoke(application(), [*line, "--json"])
    assert json.loads(done.stdout)["calls"] == 1
    assert "at most 1 calls" in CliRunner().invoke(application(), line).stdout
    ignored = CliRunner().invoke(application(), [*line, "-o", str(tmp_path / "x.jsonl")])
    assert ignored.exit_code == 2
    assert asked == []
    with pytest.raises(UsageError, match="asks no model"):
        pm.attack_cost(source, attack="comments")
