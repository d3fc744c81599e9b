"""Runs many small programs at the cost of a few: what each prints, and how it ends."""

import base64
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.oracles.compiled import PHP, RUBY
from tests.oracles.scopes import GO, NODE, NODE_MODULES

HERE = Path(__file__).parent
# order of sets, encodings and time are the same in every run
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
JAVA = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.timezone=UTC")
# a program that runs once needs no second compiler and no collector with threads
BRIEF = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
JAVAC = "-encoding UTF-8 -parameters -nowarn -Xlint:none -proc:none -Xmaxerrs 9999 -d out".split()
TIMEOUT = 900  # seconds for a whole batch


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended: `Ending(0, b"3\\n")`; `error` is for readers, and not compared."""

    code: int
    output: bytes
    error: str

    def same_as(self, other: "Ending") -> bool:
        """Whether nobody who runs both programs can tell them apart."""
        return (self.code, self.output) == (other.code, other.output)


def run_python(sources: Sequence[str]) -> list[Ending]:
    """Run each source as `__main__`, in a process of its own that starts as a fork."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        paths = [place / f"{number:06}.py" for number in range(len(sources))]
        for path, source in zip(paths, sources, strict=True):
            path.write_bytes(source.encode())
        subprocess.run(
            [sys.executable, "-s", "-P", HERE / "_each.py", place],
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=TIMEOUT,
            cwd=place,
            env=ENVIRONMENT,
        )
        return [
            Ending(
                int(path.with_suffix(".code").read_text()),
                path.with_suffix(".out").read_bytes(),
                path.with_suffix(".err").read_text(errors="replace"),
            )
            for path in paths
        ]


def run_java(programs: Sequence[tuple[str, str]]) -> list[Ending]:
    """Compile and run (class, source) pairs, each in a package of its own: one start of each tool.

    What does not compile ends with the compiler's messages.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        packages = [f"p{number}" for number in range(len(programs))]
        for package, (class_name, source) in zip(packages, programs, strict=True):
            (place / package).mkdir()
            # no line of its own: the lines of messages are those of the program
            (place / package / f"{class_name}.java").write_bytes(
                f"package {package}; {source}".encode()
            )
        refused = _compile(place, packages)
        mains = [
            f"{package}.{class_name}"
            for package, (class_name, _) in zip(packages, programs, strict=True)
            if package not in refused
        ]
        ended = _run_classes(place, mains)
    return [
        Ending(1, b"", refused[package]) if package in refused else ended[package]
        for package in packages
    ]


def _compile(place: Path, packages: Sequence[str]) -> dict[str, str]:
    """Compile all packages that can be; the messages about each other one."""
    refused: dict[str, str] = {}
    while True:
        kept = [package for package in packages if package not in refused]
        files = [str(path.relative_to(place)) for p in kept for path in (place / p).iterdir()]
        command = ["javac", *(f"-J{option}" for option in BRIEF), *JAVAC, str(HERE / "Each.java")]
        compiled = subprocess.run(
            [*command, *files],
            cwd=place,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        if compiled.returncode == 0:
            return refused
        messages = _messages(compiled.stderr)
        assert messages, compiled.stderr
        refused |= messages


def _messages(told: str) -> Mapping[str, str]:
    """The compiler's messages by package: each starts with `p12/Name.java:3: error`."""
    starts = list(re.finditer(r"^(p\d+)/\w+\.java:\d+: error", told, re.MULTILINE))
    ends = [*(each.start() for each in starts[1:]), len(told)]
    messages: dict[str, str] = {}
    for found, end in zip(starts, ends, strict=True):
        messages[found[1]] = messages.get(found[1], "") + told[found.start() : end]
    return messages


def _run_classes(place: Path, names: Sequence[str]) -> dict[str, Ending]:
    ran = subprocess.run(
        ["java", *BRIEF, *JAVA, "-cp", "out", "Each", *names],
        cwd=place,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    lines = [line.split(" ") for line in ran.stdout.splitlines()]
    assert [line[0] for line in lines] == list(names), ran.stdout + ran.stderr
    return {
        name.partition(".")[0]: Ending(
            int(code), base64.b64decode(output[1:]), base64.b64decode(error[1:]).decode()
        )
        for name, code, output, error in lines
    }


def run_node(programs: Sequence[tuple[str, str]]) -> list[Ending]:
    """Run (code, language) pairs of JavaScript and TypeScript, all in one start of node."""
    assert NODE is not None, "node is not installed"
    ran = subprocess.run(
        [NODE, str(HERE / "_each.cjs")],
        input=json.dumps(list(programs)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
        env={**os.environ, "NODE_PATH": str(NODE_MODULES)},
    )
    return [Ending(code, out.encode(), error) for code, out, error in json.loads(ran.stdout)]


_GO_MAIN = """\
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
%s
)

func run(main func()) (code int, output string, problem string) {
	out := os.Stdout
	read, write, _ := os.Pipe()
	os.Stdout = write
	done := make(chan string)
	go func() { text, _ := io.ReadAll(read); done <- string(text) }()
	func() {
		defer func() {
			if problem_ := recover(); problem_ != nil {
				code, problem = 1, fmt.Sprint(problem_)
			}
		}()
		main()
	}()
	write.Close()
	os.Stdout = out
	return code, <-done, problem
}

func main() {
	for _, each := range []func(){%s} {
		code, output, problem := run(each)
		json.NewEncoder(os.Stdout).Encode([]any{code, output, problem})
	}
}
"""


def run_go(programs: Sequence[str]) -> list[Ending]:
    """Run programs of one file each, every one as a package of its own in one build.

    What does not compile ends with the compiler's messages.
    """
    return _run_packages([{"p": source} for source in programs])


def run_go_together(programs: Sequence[tuple[str, str]]) -> list[Ending]:
    """Run (name, source) pairs, those of different names as files of one package.

    A package costs the compiler more than a file: so many variants of few programs are built
    quickly, as long as no two programs declare the same name outside of functions.
    """
    packages: list[dict[str, str]] = []
    places: list[tuple[int, str]] = []
    for name, source in programs:
        number = next((n for n, each in enumerate(packages) if name not in each), len(packages))
        if number == len(packages):
            packages.append({})
        packages[number][name] = source
        places.append((number, name))
    in_order = [(number, name) for number, each in enumerate(packages) for name in each]
    ended = dict(zip(in_order, _run_packages(packages), strict=True))
    return [ended[place] for place in places]


def _run_packages(packages: Sequence[Mapping[str, str]]) -> list[Ending]:
    """Build and run all programs of all packages, one after another, in one process."""
    assert GO is not None, "go is not installed"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "go.mod").write_text("module programs\n\ngo 1.21\n")
        programs = [(n, name) for n, package in enumerate(packages) for name in package]
        for number, package in enumerate(packages):
            (place / f"p{number}").mkdir()
            for name, source in package.items():
                inside = source.replace("package main", f"package p{number}", 1)
                inside = inside.replace("func main()", f"func Main_{name}()")
                (place / f"p{number}" / f"{name}.go").write_text(inside)
        refused: dict[tuple[int, str], str] = {}
        while messages := _build_go(place, [each for each in programs if each not in refused]):
            for program in messages:
                (place / f"p{program[0]}" / f"{program[1]}.go").unlink()
            refused |= messages
        ran = subprocess.run(
            [place / "run"], capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
        ended = iter(json.loads(line) for line in ran.stdout.splitlines())
        return [
            Ending(1, b"", refused[program])
            if program in refused
            else Ending((line := next(ended))[0], line[1].encode(), line[2])
            for program in programs
        ]


def _build_go(place: Path, programs: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
    """Compile the programs; the compiler's messages about those that it refuses."""
    numbers = sorted({number for number, _ in programs})
    imports = "".join(f'\tp{number} "programs/p{number}"\n' for number in numbers)
    mains = ", ".join(f"p{number}.Main_{name}" for number, name in programs)
    (place / "main.go").write_text(_GO_MAIN % (imports, mains))
    built = subprocess.run(
        [GO or "go", "build", "-gcflags=-e", "-o", "run", "."],  # -e: more than ten messages
        cwd=place,
        env={**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "on", "GOWORK": "off"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if built.returncode == 0:
        return {}
    found = re.findall(r"^(?:\./)?p(\d+)/(\w+)\.go:.*$", built.stderr, re.MULTILINE)
    assert found, built.stderr
    return {(int(number), name): built.stderr for number, name in found}


def run_php(sources: Sequence[str]) -> list[Ending]:
    """Run each source, which begins with `<?php`."""
    assert PHP is not None, "php is not installed"
    return _run_each([PHP, "-d", "display_errors=1", "-d", "zend.assertions=1"], ".php", sources)


def run_ruby(sources: Sequence[str]) -> list[Ending]:
    """Run each source."""
    assert RUBY is not None, "ruby is not installed"
    return _run_each([RUBY, "--disable-gems", "-W0"], ".rb", sources)


def _run_each(command: Sequence[str], ending: str, sources: Sequence[str]) -> list[Ending]:
    """A process for each, two at a time: these start in no time."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        paths = [Path(name) / f"{number}{ending}" for number in range(len(sources))]
        for path, source in zip(paths, sources, strict=True):
            path.write_bytes(source.encode())
        return list(pool.map(lambda path: _run_one(command, path), paths))


def _run_one(command: Sequence[str], path: Path) -> Ending:
    ran = subprocess.run(
        [*command, path.name], cwd=path.parent, capture_output=True, timeout=TIMEOUT, check=False
    )
    # the file's name is another one each time
    output, error = (
        text.replace(path.stem.encode() + b".", b".") for text in (ran.stdout, ran.stderr)
    )
    return Ending(ran.returncode, output, error.decode(errors="replace"))
