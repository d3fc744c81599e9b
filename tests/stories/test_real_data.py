"""CodeSearchNet as it is: every record embedded or kept with a reason, and everything taken back.

Needs PUZZLEMARK_DATA; see CONTRIBUTING.md.
"""

from pathlib import Path

import pytest
from isal import igzip

import puzzlemark as pm
from puzzlemark.corpora.base import open_corpus
from puzzlemark.embedding.unmarked import REPEATED
from puzzlemark.watermarks.base import named

FILES = {
    "csn_python_exact.jsonl.gz": ("P1", "P2", "U1", "W1", "S1", "B1", "B2", "M1"),
    "csn_java_exact.jsonl.gz": ("P3", "P4", "U2", "W2", "S2", "B3", "B4", "M2"),
    "csn_python_large.jsonl.gz": ("U1",),
    "csn_java_large.jsonl.gz": ("U2",),
    "csn_go.jsonl.gz": ("U1",),
    "csn_javascript.jsonl.gz": ("U1",),
    "csn_php.jsonl.gz": ("U1",),
    "csn_ruby.jsonl.gz": ("U1",),
}


def unpacked(path: Path) -> bytes:
    with igzip.open(path, "rb") as file:  # type: ignore[no-untyped-call]
        content: bytes = file.read()
    return content


@pytest.mark.parametrize(
    ("name", "mark"), [(name, mark) for name, marks in FILES.items() for mark in marks]
)
def test_a_real_dataset_is_marked_and_restored(
    real_data: Path, tmp_path: Path, name: str, mark: str
) -> None:
    source, marked, back = real_data / name, tmp_path / name, tmp_path / f"back-{name}"
    # the universal marks under the default; of the others `safe` marks fewer than is usual, or none
    policy: pm.Policy = "safe" if mark.startswith("U") else "paper"
    summary = pm.embed(source, marked, mark=mark, policy=policy)
    assert summary.marked + sum(summary.kept.values()) == summary.records
    defaults = named()[mark].watermark.defaults
    # some marks are given up again, because another column quotes the line that they change
    reached = (summary.marked + summary.kept.get(REPEATED, 0) + 1) / summary.records
    assert defaults.min_rate <= reached
    assert 0.001 < summary.rate <= defaults.max_rate
    rows = {carrier.row for carrier in pm.load_manifest(summary.manifest)}
    for entry in open_corpus(marked).entries():
        if entry.row in rows:
            assert entry.code is not None
            pm.parse(pm.Snippet(entry.id, entry.code, entry.language or ""))
    pm.revert(marked, back, summary.manifest)
    assert unpacked(back) == unpacked(source)
