"""Opening a commitment: its marks, and the probes that follow from its plan."""

from pathlib import Path

from puzzlemark.embedding.manifest import Manifest, load_manifest
from puzzlemark.embedding.secret import Secret
from puzzlemark.evidence.commitment import (
    Commitment,
    CommitmentError,
    hidden,
    owner_of,
    salt_of,
)
from puzzlemark.evidence.plan import planned_probes
from puzzlemark.verification.probes import ProbeSet, Source


def committed_probes(
    dataset: Path | str,
    manifest: Path | str,
    made: Commitment,
    *,
    pairs: int | None = None,
    seed: int | None = None,
    secret_file: Path | None = None,
) -> ProbeSet:
    """The probes of a commitment's plan, which name it; refuses another manifest or dataset.

    Other `pairs`, or another `seed`, can be asked for: the verdict is exploratory then.
    """
    marks = load_manifest(manifest)
    secret = owner_of(marks, manifest, secret_file)
    if reason := why_other_marks(made, marks, manifest, secret):
        raise CommitmentError(f"{manifest}: {reason}")
    probes = planned_probes(dataset, manifest, made.plan, secret, pairs=pairs, seed=seed)
    assert probes.header.source is not None, "made now"
    source = Source(
        dataset=probes.header.source.dataset,
        manifest=probes.header.source.manifest,
        commitment=made.hash,
        salt=salt_of(marks, secret, "manifest").hex(),
    )
    header = probes.header.model_copy(update={"source": source})
    return ProbeSet(header, probes.probes, probes.ordinary)


def why_other_marks(
    made: Commitment, marks: Manifest, path: Path | str, secret: Secret
) -> str | None:
    """Why a manifest is not the one that was committed to, or None."""
    if marks.header.marked.digest != made.content.dataset.digest:
        return f"its dataset is not the one that {made.folder} commits to"
    found = hidden(marks, path, secret)
    if found["marks"] != made.content.marks or found["header"] != made.content.header:
        return f"not the marks that {made.folder} commits to, or another secret"
    if made.content.manifest not in (None, found["manifest"]):
        return f"its text is not the one that {made.folder} commits to"
    return None
