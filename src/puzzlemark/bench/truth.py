"""Which records really carry a mark: what a detector is judged by, and never sees."""

from pathlib import Path

from puzzlemark.detectors._accuracy import Truth
from puzzlemark.embedding.manifest import load_manifest


def read_truth(manifest: Path | str) -> Truth:
    """The rows of a manifest's marks, and the digest of the dataset that they are in."""
    read = load_manifest(manifest)
    return Truth(read.lines.keys(), read.header.output.digest)
