"""A marked dataset and a commitment of it, small and the same for all tests here."""

import json
import shutil
from pathlib import Path

import pytest

import puzzlemark as pm
from tests.evidence.authority import Authority, make_authority

CODE = """def f{n}(rows):
    key = {n}
    item = key + len(rows)
    total = item * 2
    other = total - key
    return total + item + other
"""


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `secret`, `bare.jsonl`, `marked.jsonl` and `marks.jsonl.gz`."""
    folder = tmp_path_factory.mktemp("marked")
    (folder / "secret").write_text("a secret for these tests only, of some length\n")
    (folder / "secret").chmod(0o600)
    records = [{"id": str(n), "code": CODE.format(n=n), "language": "python"} for n in range(60)]
    (folder / "bare.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    pm.embed(
        folder / "bare.jsonl",
        folder / "marked.jsonl",
        folder / "marks.jsonl.gz",
        mark="P1",
        tau=0.0,
        max_rate=0.2,
        secret_file=folder / "secret",
    )
    return folder


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    return make_authority(tmp_path_factory.mktemp("tsa") / "authority")
