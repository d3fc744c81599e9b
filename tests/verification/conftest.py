"""Probes of a small marked dataset of real functions, one set for each strategy."""

from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.verification.probes import ProbeSet


@pytest.fixture(scope="session")
def probe_sets(
    tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes
) -> dict[str, ProbeSet]:
    folder: Path = tmp_path_factory.mktemp("probes")
    (folder / "in.jsonl").write_bytes(corpus_bytes)
    sets = {}
    for name, watermark in (("fixed", "fixed_prefix:prefix=name"), ("universal", "universal")):
        marked, manifest = folder / f"{name}.jsonl", folder / f"{name}.gz"
        pm.embed(
            folder / "in.jsonl", marked, manifest,
            watermark=watermark, policy="paper", order="dataset", tau=0, min_rate=0.2, max_rate=0.5,
        )  # fmt: skip
        sets[name] = pm.probe(marked, manifest, pairs=100)
    return sets
