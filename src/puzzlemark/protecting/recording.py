"""The manifest of a repository: a dataset's, with functions for records and files for shards."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from puzzlemark.corpora.records import corpus_digest, record_digest
from puzzlemark.embedding.manifest import (
    FORMAT,
    VERSION,
    Carrier,
    Dataset,
    Header,
    Manifest,
    Scheme,
    Shard,
    write_manifest,
)
from puzzlemark.embedding.secret import bind_key
from puzzlemark.files import replacing
from puzzlemark.languages.base import parsing_packages
from puzzlemark.protecting.asking import Marking
from puzzlemark.protecting.deciding import Decided
from puzzlemark.protecting.planning import marked_file
from puzzlemark.protecting.repository import Reading
from puzzlemark.protecting.sources import SourceFile, digest
from puzzlemark.provenance import versions
from puzzlemark.snippet import apply_edits
from puzzlemark.watermarks.base import to_settings


def record(place: Path, manifest: Manifest) -> None:
    """Put a manifest in the place of an earlier one, whole, with mode 0600."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing(place) as partial:
        renamed = partial.with_name(f".{partial.name}{place.suffix}")
        renamed.unlink(missing_ok=True)
        write_manifest(manifest, renamed)  # the suffix decides whether it is packed
        renamed.replace(partial)


def make_manifest(reading: Reading, planned: Decided, marking: Marking) -> Manifest:
    """The manifest of the marks that were decided on."""
    marks, functions = planned.plan.marks, reading.functions
    after = {path: marked_file(file, marks) for path, file in reading.files.items()}
    codes = {p.id: apply_edits(p.code, marks[p.id].edits) for p in functions if p.id in marks}
    lines = {
        row: Carrier(row, p.id, (marks[p.id],), digest(codes[p.id])).to_line()
        for row, p in enumerate(functions)
        if p.id in marks
    }
    kinds = Counter("natural" if mark.is_natural else "introduced" for mark in marks.values())
    unedited = sum(not mark.edits for mark in marks.values())
    watermark = marking.choice.watermark
    header = Header(
        format=FORMAT,
        version=VERSION,
        versions=versions(*parsing_packages()),
        watermark=Scheme(
            scheme=watermark.name, settings=to_settings(watermark), name=marking.choice.name
        ),
        policy="safe",
        order="keyed",
        secret_fingerprint=marking.secret.fingerprint,
        key_fingerprint=bind_key(watermark, marking.secret)[1],
        tau=0,
        min_rate=0,
        max_rate=marking.rate,
        features=(),
        projection="none",
        suitability={},
        language=None,
        columns={"code": "code", "id": "id", "language": "language"},
        derived={},
        input=_dataset(reading.files, {p.id: p.code for p in functions}),
        output=_dataset(after, {p.id: codes.get(p.id, p.code) for p in functions}),
        counts={"marked": len(lines), **kinds, **({"unedited": unedited} if unedited else {})},
        kept=dict(planned.plan.reasons.most_common()),
        repository=marking.asked.model_copy(update={"refused": planned.refused}),
    )
    return Manifest(header, lines)


def _dataset(files: Mapping[str, SourceFile], codes: Mapping[str, bytes]) -> Dataset:
    shards = tuple(
        Shard(name=path, records=len(file.functions), sha256=digest(file.content))
        for path, file in files.items()
    )
    digests = (record_digest(id_, code.decode()) for id_, code in codes.items())
    return Dataset(records=len(codes), digest=corpus_digest(digests), shards=shards)
