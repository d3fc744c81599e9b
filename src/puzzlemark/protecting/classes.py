"""Whether Java files compile to the same classes with marks and without: `javac -g:none`.

With debug tables left out, the names of local variables are nowhere in a class file. So the files
must be the same, byte for byte.
"""

import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from puzzlemark.protecting.sources import SourceFile

TIMEOUT = 600  # seconds
DIFFERENT = "its class files would differ"
_PACKAGE = re.compile(rb"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Java files whose classes differ; or why they were not compared."""

    different: tuple[str, ...] = ()
    classes: int = 0
    why_not: str | None = None


def compare_classes(
    folder: Path, before: Mapping[str, SourceFile], after: Mapping[str, SourceFile], classpath: str
) -> Comparison:
    """Compile Java files with marks and without, in a place of their own; nothing is run."""
    if shutil.which("javac") is None:
        return Comparison(why_not="there is no javac here")
    with tempfile.TemporaryDirectory(prefix="puzzlemark-javac-") as place:
        root = Path(place)
        compiled: list[dict[str, bytes]] = []
        for name, files in (("before", before), ("after", after)):
            sources, classes = root / name, root / f"{name}-classes"
            paths = _lay_out(sources, files)
            problem = _compile(folder, root, sources, paths, classes, classpath)
            if problem is not None:
                return Comparison(why_not=f"javac: {problem}")
            found = sorted(each for each in classes.rglob("*") if each.is_file())
            compiled.append({str(p.relative_to(classes)): p.read_bytes() for p in found})
        one, other = compiled
        names = {name for name in {**one, **other} if one.get(name) != other.get(name)}
        return Comparison(_files_of(names, before), len(one))


def _lay_out(sources: Path, files: Mapping[str, SourceFile]) -> list[Path]:
    """Write the files where their packages say, which is where javac looks for others."""
    paths: list[Path] = []
    for path, file in files.items():
        target = sources.joinpath(*_package(file).split("."), Path(path).name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.content)
        paths.append(target)
    return paths


def _package(file: SourceFile) -> str:
    found = _PACKAGE.search(file.text)
    return found[1].decode() if found else ""


def _compile(
    folder: Path, root: Path, sources: Path, paths: Sequence[Path], classes: Path, classpath: str
) -> str | None:
    """What javac complains about first; None when it compiled everything."""
    classes.mkdir()
    listed = root / "files"
    quoted = ('"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"' for path in paths)
    listed.write_text("\n".join(quoted), "utf-8")
    command = ["javac", "-g:none", "-proc:none", "-nowarn", "-Xlint:none", "-encoding", "UTF-8"]
    command += ["-sourcepath", str(sources), "-cp", classpath or str(classes), "-d", str(classes)]
    try:
        done = subprocess.run(
            [*command, f"@{listed}"],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {TIMEOUT} seconds"
    if not done.returncode:
        return None
    said = [line for line in done.stderr.splitlines() if ": error:" in line or "error:" in line]
    return (said or ["it failed"])[0].replace(f"{sources}/", "")


def _files_of(names: set[str], files: Mapping[str, SourceFile]) -> tuple[str, ...]:
    """The source files of some classes; where the name of one fits none, all of its package."""
    by_class: dict[str, str] = {}
    by_package: defaultdict[str, list[str]] = defaultdict(list)
    for path, file in files.items():
        package = _package(file).replace(".", "/")
        by_class[f"{package}/{Path(path).stem}".lstrip("/")] = path
        by_package[package].append(path)
    found: set[str] = set()
    for name in names:
        outer = name.removesuffix(".class").partition("$")[0]
        if outer in by_class:
            found.add(by_class[outer])
        else:
            found |= set(by_package[outer.rpartition("/")[0]])
    return tuple(sorted(found))
