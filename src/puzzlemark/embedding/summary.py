"""What a run says of itself, on the way and afterwards."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from puzzlemark.corpora.base import Corpus, Rewritten
from puzzlemark.embedding.manifest import Header
from puzzlemark.progress import Progress

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


def counting(progress: Progress) -> Callable[[int], None]:
    """Progress of writing, told by how many more records are written."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress("writing", done, None)

    return advance


def summarise(
    action: Action,
    corpus: Corpus,
    output: Path,
    manifest_path: Path,
    header: Header,
    written: Rewritten,
    warnings: Sequence[str] = (),
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
        (*warnings, *_warnings(written)),
        before,
        after,
    )


def _warnings(written: Rewritten) -> Iterator[str]:
    for stale in written.stale:
        yield f"column {stale.column!r}: {stale.reason} ({stale.records:,} marked records)"
    if written.ignored:
        yield f"{written.ignored:,} other files in the input folder were not copied"
