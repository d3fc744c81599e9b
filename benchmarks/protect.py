"""`protect` on real projects: their own tests, every byte back, and marks along ten releases.

    python benchmarks/protect.py projects --work DIR --python VENV/bin/python
    python benchmarks/protect.py java --work DIR
    python benchmarks/protect.py releases --work DIR
    python benchmarks/protect.py table

Source distributions come from the package index (`pip download`), the Java sources from Debian
(`apt-get source`), into DIR/sources. What is done is in docs/results/protect.jsonl, and is not done
again. The virtual environment has pytest and what the projects' tests import.
"""

import argparse
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.errors import PuzzleMarkError
from puzzlemark.protecting.run import protect, revert_repository
from puzzlemark.protecting.sources import SourceFile, read_source
from puzzlemark.snippet import apply_edits

RECORDS = Path(__file__).parents[1] / "docs" / "results" / "protect.jsonl"
SECRET = "a secret that everybody may know: only the order of the marks follows from it"  # noqa: S105


@dataclass(frozen=True)
class Project:
    """A source distribution, where its package is, and its tests."""

    name: str
    version: str
    path: str = "."
    tests: str = "tests"


PROJECTS = (
    Project("toolz", "1.2.0", tests="toolz"),
    Project("boltons", "26.2.0"),
    Project("sqlparse", "0.6.1"),
    Project("jinja2", "3.1.6", "src"),
    Project("pyrsistent", "0.20.0"),
    Project("more-itertools", "11.2.1"),
    Project("pygments", "2.21.0"),
    Project("markdown", "3.11.3"),
    Project("mistune", "3.4.0", "src"),
    Project("natsort", "8.4.0"),
    Project("packaging", "26.3", "src"),
    Project("parso", "0.8.7", tests="test"),
    Project("tabulate", "0.10.0", tests="test"),
    Project("tomlkit", "0.15.2"),
    Project("pyparsing", "3.3.3"),
    Project("pluggy", "1.7.0", "src", "testing"),
    Project("networkx", "3.6.1", tests="networkx/algorithms/tests networkx/classes"),
)
JARS = ":".join(
    f"/usr/share/java/{name}.jar"
    for name in ("junit4", "hamcrest", "commons-lang3", "easymock", "objenesis")
)
JAVA_TEST = f"""set -e
out=$(mktemp -d); trap 'rm -rf "$out"' EXIT
find src/main/java src/test/java -name '*.java' ! -name package-info.java > "$out/files"
javac -nowarn -proc:none -encoding ENCODING -cp {JARS} -d "$out/classes" @"$out/files"
for each in src/main/resources src/test/resources; do
  if [ -d $each ]; then cp -r $each/. "$out/classes"; fi
done
tests=$(cd "$out/classes" && find . -name '*Test.class' ! -name '*Abstract*' \\
  ! -name BulkTest.class ! -name '*$*' |
  sed 's#^\\./##; s#/#.#g; s#\\.class$##' | sort)
java -Xmx1g -cp "$out/classes:{JARS}" org.junit.runner.JUnitCore $tests
"""
JAVA = {
    "commons-codec": ("libcommons-codec-java_1.15.orig.tar.xz", "UTF-8"),
    "commons-collections4": (
        "libcommons-collections4-java_4.2.orig.tar.xz",
        "iso-8859-1 --release 8",  # its tests are ambiguous with the class library of Java 11
    ),
}
RELEASES = {
    "toolz": "0.9.0 0.10.0 0.11.0 0.11.1 0.11.2 0.12.0 0.12.1 1.0.0 1.1.0 1.2.0".split(),
    "boltons": ("20.2.1 21.0.0 23.0.0 23.1.0 23.1.1 24.0.0 24.1.0 25.0.0 26.0.0 26.1.0").split(),
    "more-itertools": (
        "10.4.0 10.5.0 10.6.0 10.7.0 10.8.0 11.0.0 11.0.1 11.0.2 11.1.0 11.2.0"
    ).split(),
    "sqlparse": "0.4.1 0.4.2 0.4.3 0.4.4 0.5.0 0.5.1 0.5.2 0.5.3 0.5.4 0.5.5".split(),
}


def main() -> None:
    """Do one of the experiments, or print what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["projects", "java", "releases", "table"])
    parser.add_argument("--work", type=Path, default=Path("protect-work"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    os.environ["PUZZLEMARK_SECRET"] = SECRET
    if options.what == "table":
        print("\n".join(table()))
        return
    done = {(each["what"], each["name"]) for each in records()}
    experiments: dict[str, dict[str, Callable[[], dict[str, Any]]]] = {
        "projects": {each.name: partial(python_project, each, options) for each in PROJECTS},
        "java": {name: partial(java_project, name, options.work) for name in JAVA},
        "releases": {name: partial(releases, name, options.work) for name in RELEASES},
    }
    for name, work in experiments[options.what].items():
        if (options.what, name) in done or (options.only and name not in options.only):
            continue
        begun = time.process_time(), os.times()
        try:
            found = work()
        except (PuzzleMarkError, OSError, subprocess.SubprocessError) as exc:
            print(f"{name}: {exc}", file=sys.stderr)
            continue
        ended = os.times()
        cpu = time.process_time() - begun[0] + ended.children_user - begun[1].children_user
        record = {"what": options.what, "name": name, **found, "cpu_seconds": round(cpu)}
        RECORDS.parent.mkdir(exist_ok=True)
        with RECORDS.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record))


def records() -> list[dict[str, Any]]:
    """What was done before."""
    return (
        [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []
    )


def source(work: Path, name: str, version: str) -> Path:
    """A source distribution, fetched once."""
    folder = work / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    spelled = (name, name.replace("-", "_"))
    for file in sorted(folder.iterdir()):
        if file.name.lower().startswith(tuple(f"{each}-{version}.tar" for each in spelled)):
            return file
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps"]
    subprocess.run([*command, "-d", str(folder), f"{name}=={version}"], check=True)
    return source(work, name, version)


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive that has one folder at its top, as `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as file:
        place = folder.with_name(f"{folder.name}.unpacked")
        shutil.rmtree(place, ignore_errors=True)
        file.extractall(place, filter="data")
    (top,) = place.iterdir()
    top.rename(folder)
    place.rmdir()
    return folder


def python_project(project: Project, options: argparse.Namespace) -> dict[str, Any]:
    """Marks at the full rate, the project's tests before and after, and every byte back."""
    archive = source(options.work, project.name, project.version)
    path = "$PWD" if project.path == "." else f"$PWD/{project.path}"
    python = Path(options.python).absolute()
    module = project.name.replace("-", "_")
    test = (
        f"export PYTHONPATH={path} PYTHONDONTWRITEBYTECODE=1; "
        # not a package that was installed, but the marked files must be what the tests import
        f"{python} -c 'import os, {module}; assert {module}.__file__.startswith(os.getcwd())' && "
        f"nice -n 5 {python} -m pytest -q -x -p no:cacheprovider -o addopts= {project.tests}"
    )
    return {
        "version": project.version,
        **_there_and_back(options.work, project.name, archive, test),
    }


def java_project(name: str, work: Path) -> dict[str, Any]:
    """The same for a Java project, whose class files are compared, too."""
    archive, encoding = JAVA[name]
    test = JAVA_TEST.replace("ENCODING", encoding)
    found = _there_and_back(work, name, work / "sources" / archive, test, classpath=JARS)
    return {"version": archive, **found}


def _there_and_back(
    work: Path, name: str, archive: Path, test: str, classpath: str = ""
) -> dict[str, Any]:
    folder, original = unpack(archive, work / name), unpack(archive, work / f"{name}.original")
    manifest = work / f"{name}.manifest.jsonl.gz"
    manifest.unlink(missing_ok=True)
    done = protect(
        folder, manifest, in_place=True, test=test, test_timeout=1500, classpath=classpath
    )
    if same(original, folder) != (not done.changed):
        raise SystemExit(f"{name}: files were changed that were not named, or the other way round")
    back = revert_repository(folder, manifest, in_place=True)
    return {
        "files": done.files,
        "functions": done.functions,
        "marks": done.marks,
        "changed": len(done.changed),
        "refused": list(done.refused),
        "test_runs": done.test_runs,
        "compared": done.compared,
        "not_found": back.counts["not found"],
        "same_bytes": same(original, folder),
    }


def same(one: Path, other: Path) -> bool:
    """Whether every file of a folder is the same in the other one, with its mode."""
    return all(
        filecmp.cmp(file, other / file.relative_to(one), shallow=False)
        and file.stat().st_mode == (other / file.relative_to(one)).stat().st_mode
        for file in one.rglob("*")
        if file.is_file()
    )


def releases(name: str, work: Path) -> dict[str, Any]:
    """Each release as published, marked with --update; what became of unchanged functions."""
    manifest = work / f"{name}.releases.jsonl.gz"
    manifest.unlink(missing_ok=True)
    before: dict[str, tuple[bytes, bytes]] = {}
    steps: list[dict[str, Any]] = []
    for version in RELEASES[name]:
        folder = unpack(source(work, name, version), work / f"{name}.release")
        codes = dict(functions(folder))
        done = protect(folder, manifest, in_place=True, update=bool(before))
        marked = dict(marks(manifest, codes))
        unchanged = [each for each in before if codes.get(each) == before[each][0]]
        steps.append(
            {
                "version": version,
                "functions": done.functions,
                "marks": done.marks,
                **done.counts,
                "unchanged": len(unchanged),
                "lost": [each for each in unchanged if each not in marked],
                "moved": [
                    each for each in unchanged if marked.get(each) not in (None, before[each])
                ],
            }
        )
        now = dict(functions(folder))
        if any(now[each] != code for each, (_, code) in marked.items()):
            raise SystemExit(f"{name} {version}: the files are not what the manifest says")
        before = marked
    return {"steps": steps}


def functions(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every function of a folder's Python files, by id."""
    for path in sorted(folder.rglob("*.py")):
        file = read_source(folder, path.relative_to(folder).as_posix())
        if isinstance(file, SourceFile):
            yield from ((placed.id, placed.code) for placed in file.functions)


def marks(manifest: Path, codes: dict[str, bytes]) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """Of each function that carries: its code without the mark, and with it."""
    for carrier in load_manifest(manifest):
        code = codes[carrier.id]
        yield carrier.id, (code, apply_edits(code, carrier.edits))


def table() -> Iterator[str]:
    """The tables of docs/protect.md."""
    yield "| project | files | functions | marks | refused by tests | compared | tests | reverted |"
    yield "|---|---|---|---|---|---|---|---|"
    for each in records():
        if each["what"] != "releases":
            version = each["version"].rpartition("_")[2].removesuffix(".orig.tar.xz")
            yield (
                f"| {each['name']} {version} | {each['files']:,} | {each['functions']:,} | "
                f"{each['marks']:,} | {len(each['refused'])} | "
                f"{'; '.join(f'{k}: {v}' for k, v in each['compared'].items())} | "
                f"pass ({each['test_runs']} runs) | "
                f"{'every byte' if each['same_bytes'] and not each['not_found'] else 'NO'} |"
            )
    yield ""
    yield "| project | releases | marks, first and last | unchanged with a mark | lost | moved |"
    yield "|---|---|---|---|---|---|"
    for each in records():
        if each["what"] == "releases":
            steps = each["steps"]
            yield (
                f"| {each['name']} | {len(steps)}, {steps[0]['version']} to "
                f"{steps[-1]['version']} | "
                f"{steps[0]['marks']} and {steps[-1]['marks']} | "
                f"{sum(step['unchanged'] for step in steps):,} | "
                f"{sum(len(step['lost']) for step in steps)} | "
                f"{sum(len(step['moved']) for step in steps)} |"
            )


if __name__ == "__main__":
    main()
