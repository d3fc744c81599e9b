"""Do classes and frequencies follow from the dataset? Both are found again, without the key.

Whoever could choose the class of a carrier, or how likely each name is, after he knows the key,
could accuse anybody. Both follow from the original dataset alone, so anybody who has it can find
them again and compare.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from puzzlemark.corpora.base import Corpus, Entry
from puzzlemark.embedding.counting import count_places
from puzzlemark.embedding.manifest import Carrier, Header, Manifest
from puzzlemark.embedding.survey import Wanted, parse_entry, reopen, survey
from puzzlemark.engines.base import open_engine
from puzzlemark.errors import UnparsableSnippet
from puzzlemark.progress import Progress, no_progress
from puzzlemark.syntax.variables import Policy, functions
from puzzlemark.watermarks.base import Counting, Draw, Keyed, Refusal, Watermark, from_settings

ANY_KEY = bytes(32)  # what is drawn among does not depend on the key


@dataclass(frozen=True, slots=True)
class Redrawn:
    """Draws that were found again."""

    draws: int  # of the manifest
    differing: tuple[int, ...]  # rows whose class or frequencies are others
    same_priors: bool  # whether the whole table of counts is the manifest's

    @property
    def same(self) -> bool:
        """Whether all of it follows from the dataset."""
        return self.same_priors and not self.differing

    def to_json(self) -> dict[str, Any]:
        """Plain values; which rows carry is nobody's business."""
        number = len(self.differing)
        return {"draws": self.draws, "differing": number, "same_priors": self.same_priors}


def draws_anything(header: Header) -> bool:
    """Whether the marks were drawn by frequencies of the dataset."""
    return header.priors is not None


def redraw(
    manifest: Manifest,
    original: Path | str,
    *,
    workers: int | None = 1,
    progress: Progress = no_progress,
) -> Redrawn:
    """Find classes and frequencies again, in the dataset as it was before it was marked."""
    header = manifest.header
    watermark = from_settings(header.watermark.scheme, header.watermark.settings)
    assert isinstance(watermark, Counting), "its draws follow counts"
    corpus = reopen(original, header).with_projects(watermark.project)
    with open_engine(None, workers) as engine:
        seen = survey(corpus, Wanted(watermark, features=header.features), engine, progress)
        chosen = seen.fit(header.features, header.projection, header.tau)
        counted = count_places(
            corpus,
            np.flatnonzero(seen.candidates(chosen) & seen.may_occur),
            watermark,
            engine,
            records=len(seen),
            policy=header.policy,
            progress=progress,
        )
    differing = tuple(_differing(manifest, corpus, counted.watermark))
    draws = sum(len(carrier.marks) for carrier in manifest)
    return Redrawn(draws, differing, counted.digest == header.priors)


def misplaced(header: Header, records: Iterable[tuple[Carrier, Entry]]) -> list[int]:
    """Rows whose set or class does not follow from their own code, as it was before it was marked.

    No other record is needed for that, so it can be said of some carriers without the others.
    """
    watermark = from_settings(header.watermark.scheme, header.watermark.settings)
    assert isinstance(watermark, Counting), "its draws follow counts"
    beacon = header.watermark.settings.get("beacon")
    return [
        carrier.row
        for carrier, entry in records
        if not _is_placed(carrier, entry, watermark, header.policy, beacon)
    ]


def _is_placed(
    carrier: Carrier, entry: Entry, watermark: Counting, policy: Policy, beacon: str | None
) -> bool:
    try:
        tree = parse_entry(entry, None)
    except UnparsableSnippet:
        return False
    places = {
        (each.index, sighting.group, sighting.unit, sighting.value)
        for each in functions(tree)
        for sighting in watermark.sightings(tree, each, policy)
        if sighting.can_carry
    }
    for mark in carrier.marks:
        target = mark.of("target")
        draw, name = mark.draw, target.text if target.was is None else target.was
        if draw is None or draw.beacon != beacon:
            return False
        if (mark.function, draw.group, draw.unit, name) not in places:
            return False
    return True


def _differing(manifest: Manifest, corpus: Corpus, watermark: Watermark) -> Iterator[int]:
    assert isinstance(watermark, Keyed), "a key draws"
    bound = watermark.with_key(ANY_KEY)
    rows = np.array(list(manifest.lines), np.int64)
    for entry in corpus.entries(rows):
        carrier = Carrier.from_line(manifest.lines[entry.row])
        found = _draws(entry, bound, manifest.header)
        if any(found.get(mark.function) != mark.draw for mark in carrier.marks):
            yield entry.row


def _draws(entry: Entry, watermark: Watermark, header: Header) -> dict[int | None, Draw | None]:
    """What would be drawn among in each function of a record."""
    try:
        tree = parse_entry(entry, None)
    except UnparsableSnippet:
        return {}
    planned = (
        (each.index, watermark.plan(tree, each, header.policy, random.Random(0)))
        for each in functions(tree)
    )
    return {index: mark.draw for index, mark in planned if not isinstance(mark, Refusal)}
