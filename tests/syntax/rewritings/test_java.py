"""The Java rewritings against javac and java: a program of ours prints the same before and after.

The program has many expressions, nested at random; it is built from the pieces below and from
nothing else.
"""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from puzzlemark import plugins
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.rewritings.base import Form, compose, load
from puzzlemark.syntax.tree import parse
from puzzlemark.syntax.variables import POLICIES, Policy

NAMES = tuple(n for n in plugins.names("syntax.rewritings") if load(n).LANGUAGE == "java")
needs_java = pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")

# `B`: a boolean, `S`: a String, `I`: an int, `L`: a list, each in a form that binds tightly
GRAMMAR = {
    "B": (
        *("B", "x", "!B", "(B == B)", "(B & B)", "(B || B)", "(B && B ^ B)", "(B ? B : B)"),
        *("L.isEmpty()", "M.isEmpty()", "(S != null)", "(L != null)", "(nothing != null)"),
        *("(null != S)", "(L.size() == 0)", "S.isEmpty()", "S.equals(S)", "(I < I)", "(boolean) B"),
        *("(B != B)", "(L.isEmpty() != B)", "(B == L.isEmpty())", "S.contains(S)"),
    ),
    "S": (
        *("s", '"é"', '"a\\"b"', "(S + S)", "(S + L.isEmpty())", "(S + B + I)", "S.trim()"),
        *('"x".concat(S)', "(B ? S : S)", "String.valueOf(B)", "S.substring(S.indexOf(S) + 1)"),
        *("text(S)", 'new String("n")', '("p" + "q")', "words[0]", "L.get(0)", "join.apply(S)"),
    ),
    "I": ("i", "1", "S.indexOf(S)", "S.indexOf('a')", "b.indexOf(S)", "S.indexOf(S, 0)", "(-I)"),
    "L": ("rows", "none", "Arrays.asList(S, S)", "(B ? rows : none)", "new ArrayList<>(L)"),
    "M": ("table", "table.keySet()", "new HashMap<String, String>()"),
}
PROGRAM = """
import java.util.*;
import java.util.List;
import java.util.Map;
import java.util.function.*;

public class Main {{
    static final String NAME = "constant";
    @SuppressWarnings("unused") static String text(Object o) {{ return "<" + o + ">"; }}

    public static void main(String[] arguments) {{
        String s = "some text", nothing = null;
        String[] words = {{"first", "second"}};
        List<String> rows = new ArrayList<>(List.of("a", "b")), none = new ArrayList<>();
        Map<String, String> table = new HashMap<>();
        StringBuilder b = new StringBuilder("builder");
        Function<String, String> join = each -> each + each.isEmpty();
        boolean x = true;
        int i = 3;
        switch (NAME) {{
            case NAME: System.out.println("same"); break;
            default: System.out.println("other");
        }}
        System.out.println(s == "some text" ? "identical" : "equal");
{prints}
    }}
}}
"""


def expression(kind: str, depth: int, rng: random.Random) -> str:
    if depth == 0:
        return {"B": "x", "S": "s", "I": "i", "L": "rows", "M": "table"}[kind]
    shape = rng.choice(GRAMMAR[kind])
    return "".join(
        expression(letter, depth - 1, rng) if letter in GRAMMAR else letter
        for letter in _split(shape)
    )


def _split(shape: str) -> list[str]:
    """Single letters stand for expressions; capitals inside of words do not."""
    parts, at = [], 0
    while at < len(shape):
        end = at
        while end < len(shape) and (shape[end].isalnum() or shape[end] == "_"):
            end += 1
        parts.append(shape[at : max(end, at + 1)])
        at = max(end, at + 1)
    return parts


def program(seed: int, lines: int) -> str:
    rng = random.Random(seed)
    template = "        try {{ System.out.println({}); }} catch (RuntimeException e) {{ fail(); }}"
    template = template.replace("fail()", "System.out.println(e.getClass())")
    prints = (template.format(expression(rng.choice("BSI"), 4, rng)) for _ in range(lines))
    return PROGRAM.format(prints="\n".join(prints))


def rewrite(code: str, policy: Policy, form: Form = "original") -> str:
    tree = parse(Snippet("test", code, "java"))
    found = [each for name in NAMES for each in load(name).find(tree, policy)]
    return apply_edits(tree.code, compose(o for o in found if o.form == form)).decode()


def run(code: str, place: Path) -> str:
    place.mkdir()
    (place / "Main.java").write_text(code, encoding="utf-8")
    quick = ("-J-XX:TieredStopAtLevel=1", "-proc:none", "-nowarn", "-encoding", "UTF-8")
    compiled = subprocess.run(["javac", *quick, "Main.java"], cwd=place, capture_output=True)
    assert compiled.returncode == 0, compiled.stderr.decode()
    command = ["java", "-XX:TieredStopAtLevel=1", "-Dstdout.encoding=UTF-8", "-cp", ".", "Main"]
    return subprocess.run(command, cwd=place, capture_output=True, check=True).stdout.decode()


@needs_java
def test_a_program_prints_the_same_before_and_after(tmp_path: Path) -> None:
    before = program(seed=1, lines=150)
    expected = run(before, tmp_path / "before")
    assert len(set(expected.splitlines())) > 30
    for policy in POLICIES:
        after = rewrite(before, policy)
        # under `safe` no collection is asked for its size
        sizes = (".size() == 0",) if policy == "paper" else ()
        for piece in ("null != ", *sizes, "new String(", ", 0)"):
            assert after.count(piece) > before.count(piece) + 3, (policy, piece)
        printed = run(after, tmp_path / policy)
        if policy == "paper":  # one literal became another object, and the program asks for it
            printed = printed.replace("equal", "identical", 1)
        assert printed == expected


@needs_java
def test_a_program_written_back_prints_the_same(tmp_path: Path) -> None:
    before = program(seed=2, lines=80)
    back = rewrite(rewrite(before, "paper"), "paper", "equivalent")
    assert "null != " not in back
    assert run(back, tmp_path / "back") == run(before, tmp_path / "before")


def test_nested_programs_parse_and_have_no_original_form_left() -> None:
    for seed in range(30):
        code = program(seed, lines=5)
        after = rewrite(code, "paper")
        assert after != code
        assert rewrite(after, "paper") == after
