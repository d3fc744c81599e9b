"""Marked programs still pass their own tests: HumanEval in Python and Java, marked at a 100 % rate.

Needs PUZZLEMARK_DATA, a folder with the two files below; each record is a program in three parts,
`pre` + `code` + `post`, of which `code` is marked.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pytest
from isal import igzip

import puzzlemark as pm
from puzzlemark.watermarks.base import Watermark
from puzzlemark.watermarks.coprotector_sentence import CoProtectorSentence

PYTHON = "exec_python_humaneval.jsonl.gz"
JAVA = "exec_java_humaneval_x.jsonl.gz"
STRATEGIES = ("fixed_prefix:prefix=key", "universal")
WORDS = "coprotector_word"
# CoProtector's statements fail when they are run; harmless ones show that they stand where any may
HARMLESS = {
    "python": CoProtectorSentence(trigger="an_extra = 1", target="an_extra += 1"),
    "java": CoProtectorSentence(trigger="int anExtra = 1;", target="anExtra++;"),
}

RUNNER = """
public class Runner {
    public static void main(String[] names) {
        for (String name : names) {
            String verdict = "pass";
            try {
                Class.forName(name + ".Main").getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]);
            } catch (Throwable problem) {
                verdict = "fail";
            }
            System.out.println(name + " " + verdict);
        }
    }
}
"""


def mark_everything(
    source: Path, place: Path, language: str, watermark: str | Watermark, policy: str
) -> Path:
    output = place / "marked.jsonl.gz"
    summary = pm.embed(
        source,
        output,
        watermark=watermark,
        policy=policy,  # type: ignore[arg-type]
        language=language,
        order="dataset",
        tau=0,
        min_rate=1,
        max_rate=1,
    )
    assert summary.marked > 0
    return output


def programs(path: Path) -> list[str]:
    with igzip.open(path, "rb") as file:  # type: ignore[no-untyped-call]
        records = [orjson.loads(line) for line in file]
    return [record["pre"] + record["code"] + record["post"] for record in records]


def failures_in_python(sources: Sequence[str]) -> list[int]:
    def fails(source: str) -> bool:
        done = subprocess.run(
            [sys.executable, "-I", "-"], input=source, capture_output=True, text=True, timeout=120
        )
        return done.returncode != 0

    with ThreadPoolExecutor(2) as pool:
        return [number for number, failed in enumerate(pool.map(fails, sources)) if failed]


def failures_in_java(sources: Sequence[str], place: Path) -> list[int]:
    """Compile and run all programs, each in a package of its own, with one start of each tool."""
    names = [f"p{number}" for number in range(len(sources))]
    for name, source in zip(names, sources, strict=True):
        (place / name).mkdir(parents=True)
        (place / name / "Main.java").write_text(f"package {name};\n{source}")
    (place / "Runner.java").write_text(RUNNER)
    files = [str(path) for path in sorted(place.rglob("*.java"))]
    compiled = subprocess.run(
        ["javac", "-nowarn", "-Xlint:none", "-Xmaxerrs", "9999", "-d", str(place / "out"), *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr
    ran = subprocess.run(
        ["java", "-cp", str(place / "out"), "Runner", *names], capture_output=True, text=True
    )
    verdicts = re.findall(r"^p(\d+) (pass|fail)$", ran.stdout, re.MULTILINE)
    assert len(verdicts) == len(sources)
    return [int(number) for number, verdict in verdicts if verdict == "fail"]


def keyword_calls_broken(source: str) -> bool:
    done = subprocess.run(
        [sys.executable, "-I", "-"], input=source, capture_output=True, text=True, timeout=120
    )
    return "unexpected keyword argument" in done.stderr


@pytest.mark.parametrize("policy", ["safe", "paper"])
@pytest.mark.parametrize("watermark", [*STRATEGIES, WORDS, HARMLESS["python"]], ids=str)
def test_python_programs_pass_their_tests(
    real_data: Path, tmp_path: Path, watermark: str | Watermark, policy: str
) -> None:
    before = programs(real_data / PYTHON)
    marked = mark_everything(real_data / PYTHON, tmp_path, "python", watermark, policy)
    after = programs(marked)
    changed = [source for source, original in zip(after, before, strict=True) if source != original]
    failed = failures_in_python(changed)
    if policy == "paper":  # a renamed parameter may be passed by keyword in `post`; nothing else
        failed = [number for number in failed if not keyword_calls_broken(changed[number])]
    assert len(changed) > 30
    assert failed == []


@pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
@pytest.mark.parametrize("policy", ["safe", "paper"])
@pytest.mark.parametrize("watermark", [*STRATEGIES, WORDS, HARMLESS["java"]], ids=str)
def test_java_programs_pass_their_tests(
    real_data: Path, tmp_path: Path, watermark: str | Watermark, policy: str
) -> None:
    before = programs(real_data / JAVA)
    marked = mark_everything(real_data / JAVA, tmp_path, "java", watermark, policy)
    after = programs(marked)
    changed = [source for source, original in zip(after, before, strict=True) if source != original]
    assert len(changed) > 30
    assert failures_in_java(changed, tmp_path / "programs") == []


def test_a_broken_program_would_be_noticed(real_data: Path, tmp_path: Path) -> None:
    source = programs(real_data / PYTHON)[0].replace("distance =", "nearness =")
    assert failures_in_python([source]) == [0]
