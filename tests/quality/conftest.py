"""Small held-out datasets, and one tiny model."""

from pathlib import Path

import pytest

from puzzlemark.corpora.base import Corpus
from tests.corpora.making import open_python, write_jsonl

FUNCTION = """def merge_{n}(left, right):
    \"\"\"Merge two lists.

    Both are sorted.
    \"\"\"
    result = []
    # smallest first
    while left and right:
        source = left if left[0] <= right[0] else right
        result.append(source.pop(0))
    rest_{n} = left or right
    return result + rest_{n}
"""


@pytest.fixture
def held_out(tmp_path: Path) -> Corpus:
    """Thirty functions of the same shape."""
    rows = [{"id": f"f{n}", "code": FUNCTION.format(n=n)} for n in range(30)]
    return open_python(write_jsonl(tmp_path / "test.jsonl", rows))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = "needs the extra hf: torch and transformers"
    pytest.importorskip("torch", reason=reason)
    pytest.importorskip("transformers", reason=reason)
    from tests.servers.tiny import make_model

    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    make_model(folder, positions=512)
    return folder
