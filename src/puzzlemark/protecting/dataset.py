"""A repository seen as a dataset: so `probe`, `verify` and `show` ask about its marks, too.

The functions are the records. Marks are looked for where they are now, so that the manifest serves
for any later commit; what cannot be found is left out.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path

import orjson

from puzzlemark.corpora.records import corpus_digest, record_digest
from puzzlemark.embedding.manifest import Carrier, Dataset, Manifest, load_manifest, write_manifest
from puzzlemark.errors import ManifestError, PuzzleMarkError
from puzzlemark.protecting.choosing import Wanted
from puzzlemark.protecting.repository import Reading, Repository, read_repository
from puzzlemark.protecting.sources import Placed
from puzzlemark.snippet import apply_edits


def is_repository(path: Path | str, manifest: Path | str | None) -> bool:
    """Whether a manifest is that of a repository, and the path a folder."""
    if manifest is None or not Path(path).is_dir() or not Path(manifest).is_file():
        return False
    return load_manifest(manifest).header.repository is not None


@contextmanager
def as_dataset(path: Path | str, manifest: Path | str) -> Iterator[tuple[str, Path]]:
    """A dataset of a repository's functions with its manifest, as long as the block runs.

    Anything else than a repository is passed on as it is.
    """
    if not is_repository(path, manifest):
        yield str(path), Path(manifest)
        return
    loaded = load_manifest(manifest)
    reading = _read(path, loaded)
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as place:
        dataset, listed = Path(place, "functions.jsonl"), Path(place, "marks.jsonl")
        found = _manifest(reading, loaded)
        if not found.lines:
            raise ManifestError(
                f"{path}: none of the marks of {manifest} is in it; marks that went to a branch or "
                "a copy (protect --branch, --output) are there: check it out, or name it"
            )
        with dataset.open("wb") as file:
            for each in reading.found.values():
                for placed in each.functions:
                    record = {
                        "id": placed.id,
                        "code": placed.code.decode(),
                        "language": placed.language,
                    }
                    file.write(orjson.dumps(record) + b"\n")
        write_manifest(found, listed)
        try:
            yield str(dataset), listed
        except PuzzleMarkError as exc:  # of files that the user does not know
            told = str(exc).replace(str(listed), str(manifest)).replace(str(dataset), str(path))
            raise type(exc)(told) from exc


def _read(path: Path | str, manifest: Manifest) -> Reading:
    asked = manifest.header.repository
    assert asked is not None, "only of a repository"
    wanted = Wanted(asked.languages, asked.include, asked.exclude)
    return read_repository(Repository.open(path), wanted, list(manifest))


def _manifest(reading: Reading, manifest: Manifest) -> Manifest:
    """The marks that stand, with the rows of their functions now."""
    sights = {
        sight.function.id: sight
        for sight in reading.sights
        if sight.is_there and sight.function is not None
    }
    functions = [placed for file in reading.found.values() for placed in file.functions]
    lines = {
        row: Carrier(row, placed.id, (sights[placed.id].mark,)).to_line()
        for row, placed in enumerate(functions)
        if placed.id in sights
    }
    marks = [sight.mark for sight in sights.values()]
    kinds = Counter("natural" if mark.is_natural else "introduced" for mark in marks)
    header = manifest.header
    update = {
        "counts": {"marked": len(lines), **kinds},
        "input": _records(reading.functions),
        "output": _records(functions),
    }
    return Manifest(header.model_copy(update=update), lines)


def _records(functions: Sequence[Placed]) -> Dataset:
    digests = (record_digest(placed.id, placed.code.decode()) for placed in functions)
    return Dataset(records=len(functions), digest=corpus_digest(digests), shards=())


def show_files(path: Path | str, manifest: Path | str) -> dict[str, str]:
    """What the marks changed in each file, as a unified diff from the original to the marked one.

    Shown of the repository with its marks, and of one without them, as far as they would go in.
    """
    loaded = load_manifest(manifest)
    reading = _read(path, loaded)
    away = {
        sight.function.id: sight.mark
        for sight in reading.sights
        if sight.state == "away" and sight.function is not None
    }
    diffs: dict[str, str] = {}
    for name, file in reading.files.items():
        edits = [
            edit
            for placed in reading.found[name].functions
            if placed.id in away
            for edit in placed.at_file(away[placed.id].edits)
        ]
        before, after = file.text, apply_edits(reading.found[name].text, edits)
        if before != after:
            old, new = (text.decode().splitlines(keepends=True) for text in (before, after))
            diffs[name] = "".join(unified_diff(old, new, f"a/{name}", f"b/{name}", n=1))
    return diffs
