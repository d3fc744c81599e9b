"""Writing a dataset with edits, and what a run says of itself afterwards."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from puzzlemark.corpora.base import Corpus, Derivations, Rewritten
from puzzlemark.embedding.manifest import Header
from puzzlemark.embedding.survey import Progress
from puzzlemark.snippet import Edit

Action = Literal["embed", "apply", "revert"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run did; the same content as `--json` prints."""

    action: Action
    input: str
    output: str
    manifest: str
    records: int
    marked: int
    counts: dict[str, int]  # natural, introduced, unedited marks
    kept: dict[str, int]  # records left as they were, by reason
    recomputed: dict[str, int]  # cells of columns derived from the code
    warnings: tuple[str, ...]
    input_digest: str
    output_digest: str

    @property
    def rate(self) -> float:
        """Marked records among all."""
        return self.marked / self.records if self.records else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return {**asdict(self), "rate": self.rate}


def rewrite(
    corpus: Corpus,
    output: Path,
    edits: Mapping[int, tuple[Edit, ...]],
    derived: Derivations,
    check: Callable[[Rewritten], None],
    overwrite: bool,
    progress: Progress,
    digests: bool = False,
) -> Rewritten:
    """Write the dataset to its new place; `check` sees the result before it gets its name."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress("writing", done, None)

    return corpus.rewrite(
        output,
        edits,
        derived,
        overwrite=overwrite,
        progress=advance,
        check=check,
        digests=digests,
    )


def summarise(
    action: Action,
    corpus: Corpus,
    output: Path,
    manifest_path: Path,
    header: Header,
    written: Rewritten,
) -> Summary:
    """A summary, from the manifest's header and what was written."""
    before, after = header.input.digest, header.output.digest
    if action == "revert":
        before, after = after, before
    return Summary(
        action,
        str(corpus.path),
        str(output),
        str(manifest_path),
        written.records,
        header.counts["marked"],
        header.counts,
        header.kept,
        dict(written.recomputed),
        tuple(_warnings(written)),
        before,
        after,
    )


def _warnings(written: Rewritten) -> Iterator[str]:
    for stale in written.stale:
        yield f"column {stale.column!r}: {stale.reason} ({stale.records:,} marked records)"
    if written.ignored:
        yield f"{written.ignored:,} other files in the input folder were not copied"
