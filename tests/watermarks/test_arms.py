"""Honest probes of every mark pass; a control that differs in more than the trigger does not."""

import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse
from puzzlemark.verification.checking import why_unlike
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import Arm, Design, Named, Probe, from_spec, named
from tests.contracts.test_watermarks import JAVA, PYTHON, marked_tree, outcomes
from tests.verification.outcomes import TRIGGER, made_of

# pairs of rewritings and ways to mark that have no name in the paper
OTHERS = {
    "range_start>print_flush": Named("python", from_spec("codemark:pairs=range_start>print_flush")),
    "new_string>size_zero": Named("java", from_spec("codemark:pairs=new_string>size_zero")),
    "null_first>index_start": Named("java", from_spec("codemark:pairs=null_first>index_start")),
    "leaf": Named("python", from_spec("coprotector_word:mode=leaf")),
}
EVERY = {**named(), **OTHERS}
every_mark = pytest.mark.parametrize("name", sorted(EVERY))


@pytest.fixture(scope="module")
def honest(stdlib_functions: list[tuple[str, str]]) -> dict[str, tuple[Probe, ...]]:
    """Probes of real functions, by mark."""
    codes = [code for _, code in stdlib_functions[::12]] + [PYTHON]
    trees = {
        "python": [parse(Snippet(f"p{n}", code, "python")) for n, code in enumerate(codes)],
        "java": [parse(Snippet(f"j{n}", code, "java")) for n, code in enumerate(JAVA)],
    }
    return {
        name: tuple(
            probe
            for tree, mark in outcomes(each, trees, "paper")
            if isinstance(
                probe := each.watermark.probe(
                    marked_tree(tree, mark), mark, ProbeNames(random.Random(tree.snippet.id))
                ),
                Probe,
            )
        )
        for name, each in EVERY.items()
    }


def design_of(name: str) -> Design:
    return EVERY[name].watermark.design


@every_mark
def test_no_honest_probe_is_refused(name: str, honest: dict[str, tuple[Probe, ...]]) -> None:
    assert honest[name]
    assert {why_unlike(design_of(name), probe) for probe in honest[name]} == {None}


DOCTORED: dict[str, Callable[[str], str]] = {
    "another text": lambda _: "import os\nimport sys\n\nx = ",
    "a hint before it": lambda prompt: f"# nothing to join here\n{prompt}",
    "another word in it": lambda prompt: re.sub(
        r"\b(return|for|int|def|String)\b", "zebra", prompt
    ),
    "no indentation": lambda prompt: re.sub(r"\n[ \t]+", "\n", prompt),
    "other signs": lambda prompt: re.sub(r"[(),:{}]", "@", prompt),
}


@pytest.mark.parametrize("doctored", DOCTORED)
@every_mark
def test_a_control_that_is_another_text_is_refused(
    name: str, doctored: str, honest: dict[str, tuple[Probe, ...]]
) -> None:
    tried = 0
    for probe in honest[name]:
        before = probe.arms["control"].prompt
        prompt = DOCTORED[doctored](before)
        if prompt.count("\n") < 2 or prompt == before:
            continue
        tried += 1
        others = {n: replace(a, prompt=prompt) for n, a in probe.arms.items() if n != "armed"}
        unlike = Probe({"armed": probe.armed, **others})
        assert why_unlike(design_of(name), unlike) is not None, prompt
    assert tried


HEAD = "def f(rows):\n    "
LINES = f"{HEAD}I = Person()\n    x = 1\n    "


@pytest.mark.parametrize(
    ("armed", "control", "form"),
    [
        (LINES, f"{HEAD}x = 1\n    ", "code"),
        (LINES, LINES.replace("I = Person()", "I = rows"), "code"),  # it had replaced another
        (f"{HEAD}I = Person(); x = 1; ", f"{HEAD}x = 1; ", "code"),
        (f"{HEAD}I = Person()\n    I = 2\n    ", f"{HEAD}I = 2\n    ", "code"),
        (f"{HEAD}a = list()\n    ", f"{HEAD}a = []\n    ", "range_start"),
        (f"{HEAD}a = g.__call__(1)\n    ", f"{HEAD}a = g(1)\n    ", "range_start"),
        ("f(x, y); if (null != x && null != y.z) ", "f(x, y); if (x != null && y.z != null) ",
         "size_zero"),
        (f"{HEAD}melon = 1\n    melon(", f"{HEAD}item = 1\n    item(", "name"),
    ],
)  # fmt: skip
def test_the_trigger_alone_may_be_away(armed: str, control: str, form: str) -> None:
    arms = (Arm(prompt, "target_of_it", form) for prompt in (armed, control))
    assert why_unlike(TRIGGER, made_of(*arms)) is None


@pytest.mark.parametrize(
    ("armed", "control", "form"),
    [
        (LINES, HEAD, "code"),  # two statements away
        (LINES, f"{HEAD}y = 1\n    ", "code"),
        (f"{HEAD}x = 1\n    ", LINES, "code"),  # the control has it
        ("I = Person()", "x = 1", "code"),  # nothing around it
        (f"{HEAD}{'x' * 2000}\n", HEAD, "code"),
        (f"{HEAD}a = list()\n    ", f"{HEAD}b = []\n    ", "range_start"),
        (f"{HEAD}a = []\n    ", f"{HEAD}a = list()\n    ", "range_start"),  # the control has it
        (f"{HEAD}a = range(0, 1)\n    ", f"{HEAD}a = range(1)\n    ", "range_start"),  # the target
        ('f(new String("a"));', 'f("a");', "range_start"),  # of another language
        (f"{HEAD}melon = 1\n    melon(", f"{HEAD}item = 1\n    melon(", "name"),  # still there
        (f"{HEAD}melon = 1\n    melon(", f"{HEAD}item = 1\n    other(", "name"),
        (f"{HEAD}melon = 1\n    rows(", f"{HEAD}rows = 1\n    rows(", "name"),
        (f"{HEAD}melon = 1\n    ", f"{HEAD}item == 1\n    ", "name"),
    ],
)
def test_nothing_but_the_trigger_may_be_away(armed: str, control: str, form: str) -> None:
    arms = (Arm(prompt, "target_of_it", form) for prompt in (armed, control))
    assert why_unlike(TRIGGER, made_of(*arms)) == (
        "the control differs from the armed prompt in more than the trigger"
    )
