"""A maintainer's story: PuzzleMark's own source, marked under the policy `safe`, still works."""

import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "puzzlemark"
CHECKS = (
    "tests/corpora/test_records.py",
    "tests/embedding/test_manifest.py",
    "tests/embedding/test_plan.py",
    "tests/syntax/test_naming.py",
    "tests/syntax/test_rename.py",
    "tests/statistics/test_exact.py",
    "tests/watermarks/test_fixed_prefix.py",
    "tests/watermarks/test_universal.py",
    "tests/watermarks/test_names.py",
    "tests/watermarks/test_hits.py",
)


@pytest.mark.parametrize("watermark", ["universal", "fixed_prefix:prefix=key"])
def test_the_marked_program_passes_its_tests(tmp_path: Path, watermark: str) -> None:
    paths = sorted(SOURCE.rglob("*.py"))
    dataset, marked = tmp_path / "files.jsonl", tmp_path / "marked.jsonl"
    dataset.write_bytes(
        b"".join(
            orjson.dumps({"id": str(p.relative_to(SOURCE)), "content": p.read_text()}) + b"\n"
            for p in paths
        )
    )
    summary = pm.embed(
        dataset, marked, tmp_path / "m.gz", watermark=watermark, policy="safe",
        language="python", order="dataset", tau=0, min_rate=1, max_rate=1,
    )  # fmt: skip
    assert summary.marked > 0.4 * len(paths)
    package = tmp_path / "src" / "puzzlemark"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    changed = 0
    for entry in open_corpus(marked, language="python").entries():
        assert entry.code is not None
        changed += (package / entry.id).read_text() != entry.code
        (package / entry.id).write_text(entry.code)
    assert changed > 0.4 * len(paths)
    for folder in ("tests", "docs"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # not the installed package but the marked one must be what the tests import
    probe = "import puzzlemark, sys; sys.exit(puzzlemark.__file__ != sys.argv[1])"
    run = [sys.executable, "-c", probe, str(package / "__init__.py")]
    environment = {
        "PYTHONPATH": str(tmp_path / "src"),
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
    }
    subprocess.run(run, env=environment, cwd=tmp_path, check=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *CHECKS],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
