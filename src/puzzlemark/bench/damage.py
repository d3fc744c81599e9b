"""What an attack did to the marks, and to the records that carry none: what the judge counts."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from puzzlemark.attacks._run import Attacked
from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.records import Rows, corpus_digest, record_digest
from puzzlemark.embedding.manifest import Manifest, load_manifest
from puzzlemark.embedding.survey import reopen
from puzzlemark.embedding.survival import survey_marks
from puzzlemark.errors import CorpusError
from puzzlemark.stores import Location


@dataclass(frozen=True, slots=True)
class Damage:
    """Marks by their fate, and what it cost in other records; both add up."""

    marks: int
    survived: int
    broken: int  # the record is there, but not all of the mark
    dropped: int
    clean: int  # records of the input without a mark
    clean_kept: int  # as they were
    clean_changed: int
    clean_dropped: int

    def to_json(self) -> dict[str, int]:
        """Plain data."""
        return asdict(self)


def count_damage(attacked: Attacked, manifest: Path | str) -> Damage:
    """Count what is left: `count_damage(attack("marked.jsonl", ...), "marks.jsonl.gz").survived`.

    When the attacked dataset is the one that the manifest was written with, its rows are known.
    After an earlier attack records are found by their ids. Where these do not tell which records
    carry marks, or no record does, nothing is counted: that is an error.
    """
    read = load_manifest(manifest)
    is_as_marked = attacked.input_digest == read.header.output.digest
    before, after = (_open(path, read) for path in (attacked.input, attacked.output))
    survival = survey_marks(read, after, rows=attacked.kept_rows if is_as_marked else None)
    marked = _marked_rows(read, before, is_as_marked=is_as_marked)
    clean = attacked.records - len(marked)
    left = len(np.setdiff1d(attacked.kept_rows, marked))
    changed = len(np.setdiff1d(attacked.changed_rows, marked))
    return Damage(
        marks=len(survival.fates),
        survived=survival.survived,
        broken=survival.broken,
        dropped=survival.dropped,
        clean=clean,
        clean_kept=left - changed,
        clean_changed=changed,
        clean_dropped=clean - left,
    )


def refuse_truth(dataset: Location | str, manifest: Path | str) -> None:
    """Raise where `count_damage` could count nothing in a dataset: one pass, before any work."""
    read = load_manifest(manifest)
    before = _open(str(dataset), read)
    digests = bytearray()
    for entry in before.entries():
        digests += record_digest(entry.id, entry.code)
    is_as_marked = corpus_digest(bytes(digests)) == read.header.output.digest
    _marked_rows(read, before, is_as_marked=is_as_marked)


def _open(path: str, manifest: Manifest) -> Corpus:
    return reopen(path, manifest.header)


def _marked_rows(manifest: Manifest, before: Corpus, *, is_as_marked: bool) -> Rows:
    if is_as_marked:
        return np.sort(np.fromiter(manifest.lines, np.int64, len(manifest.lines)))
    ids = {carrier.id for carrier in manifest}
    found = {each.row: each.id for each in before.entries() if each.id in ids}
    if not found:
        raise CorpusError(
            f"{before.path}: no marked record of the manifest is in it, so the attack cannot have "
            "hit a mark: pass the manifest of this dataset, or none if they are all gone"
        )
    if twice := [name for name, count in Counter(found.values()).items() if count > 1]:
        raise CorpusError(
            f"{before.path}: the id {twice[0]!r} stands in several records, so nobody can tell "
            "which of them is marked: attack the marked dataset itself, or give each record an id "
            "of its own before embedding"
        )
    return np.array(sorted(found), np.int64)
