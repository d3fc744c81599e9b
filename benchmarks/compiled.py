"""What compiling the features with mypyc would bring: `compiled.py CORPUS`.

`puzzlemark.features.measure` is copied, compiled and timed beside itself, turn by turn, in CPU time
of one process; both must find the same numbers. Needs a C compiler, mypy and setuptools.
"""

import argparse
import importlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.speed import cpu_seconds, sample_of
from puzzlemark.corpora.base import open_corpus
from puzzlemark.features import measure as pure
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse

NAME = "compiled_measure"
BUILD = f"""
from mypyc.build import mypycify
from setuptools import setup
flags = ["--ignore-missing-imports", "--follow-imports=skip"]
setup(name="{NAME}", packages=[], ext_modules=mypycify(["{NAME}.py", *flags], opt_level="3"))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--sample", type=int, default=4_000)
    options = parser.parse_args()
    print("| file | functions/s, parse only | parse + features | compiled | times |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        compile_into(Path(folder))
        sys.path.insert(0, folder)
        compiled = importlib.import_module(NAME)
        for path in options.corpus:
            snippets = sample_of(open_corpus(path), options.sample)
            if any(pure.measure(tree) != compiled.measure(tree) for tree in map(parse, snippets)):
                sys.exit(f"{path}: the compiled module finds other numbers")
            stages: tuple[Callable[[Snippet], object], ...] = (
                parse,
                lambda snippet: pure.measure(parse(snippet), pure.DEFAULT),
                lambda snippet: compiled.measure(parse(snippet), pure.DEFAULT),
            )
            turns = [[cpu_seconds(stage, snippets) for stage in stages] for _ in range(2)]
            only, slow, fast = map(min, zip(*turns, strict=True))
            rates = " | ".join(f"{len(snippets) / spent:,.0f}" for spent in (only, slow, fast))
            shares = f"{only / slow:.2f} and {only / fast:.2f} of parsing alone"
            print(f"| {Path(path).name} | {rates} | {slow / fast:.2f} ({shares}) |", flush=True)


def compile_into(folder: Path) -> None:
    shutil.copyfile(str(pure.__file__), folder / f"{NAME}.py")
    (folder / "build_it.py").write_text(BUILD, encoding="utf-8")
    command = [sys.executable, "build_it.py", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


if __name__ == "__main__":
    main()
