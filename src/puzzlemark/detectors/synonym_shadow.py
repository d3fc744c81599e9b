"""For one who has read how `synonyms` works: names that nature would not have chosen there.

He knows the scheme and its public tables, not the key. So he lists the variables that could carry,
embeds keys of his own into clean code, and learns what a drawn name looks like beside a chosen one.
docs/detectors/synonym-shadow.md says what he looks at, and what helped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import orjson
from numpy.typing import NDArray

from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.detectors._shadow_cells import Cell, find_cells
from puzzlemark.detectors._shadow_guessing import (
    Integers,
    Seen,
    Spot,
    guess_by_counts,
    guess_by_words,
    normal,
    priors,
)
from puzzlemark.detectors._shadow_learning import (
    FEWEST,
    Knowledge,
    entropies,
    guess_score,
    score,
)
from puzzlemark.detectors.base import Suspicion, keep_parts, snippet_of
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.languages.base import every_language
from puzzlemark.progress import Progress
from puzzlemark.syntax.tree import parse

PROJECTS = tuple("repo repository repo_name repository_name project project_name nwo".split())
FILES = tuple("path file file_path filepath filename func_path_in_repository".split())


@dataclass(frozen=True, slots=True)
class SynonymShadow:
    """`SynonymShadow()` knows the scheme as it is published; its page lists the settings."""

    # what is public of the scheme
    rate: float = 0.02  # of the records that carry
    share: float = 0.2  # of the eligible ones, at most
    entropy: float = 0.5
    inside_line: bool = True
    pull: int = 2
    drawn: Literal["natural", "uniform"] = "natural"  # by nature's frequencies, or all alike
    # how he learns
    words: bool = True  # a language model's surprise
    threshold: float = 0.5  # flag what more likely carries than not
    project: str | None = None  # the column that says whose code it is; None: one of the usual
    file: str | None = None
    seed: int = 0
    name: ClassVar[str] = "synonym_shadow"
    needs_clean: ClassVar[bool] = True
    takes_clean: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (0 < self.rate < 1 and 0 < self.share < 1):
            raise UsageError("synonym_shadow: rate and share are above 0 and below 1")
        if self.entropy < 0 or self.pull < 1 or not 0 <= self.threshold <= 1:
            raise UsageError(
                "synonym_shadow: entropy is 0 or more, pull 1 or more, threshold from 0 to 1"
            )

    def suspect(
        self,
        corpus: Corpus,
        *,
        clean: Corpus | None,
        engine: Engine,
        progress: Progress,
        cache: Path,
    ) -> Suspicion:
        """Score every record by the likeliest carrier in it; one without any has 0."""
        require_sklearn()  # before anything is read
        if clean is None:
            raise UsageError("synonym_shadow embeds marks of its own into clean code; pass --clean")
        work = partial(cells_of_batch, project=self.project, file=self.file)
        keep = partial(keep_parts, work, engine=engine, progress=progress, whole=True)
        known = list(_read(keep(clean, place=cache / "clean", stage="clean cells")))
        found = list(_read(keep(corpus, place=cache / "suspect", stage="cells")))
        spots = list(chain(_spots(known, 0), _spots(found, len(known), is_suspect=True)))
        tables = {language.name: language.synonyms for language in every_language()}
        progress("learning", 0, None)
        return self._decide(Seen.of(spots, tables), found, len(known))

    def _decide(self, seen: Seen, found: Sequence["Read"], first: int) -> Suspicion:
        could = self._could_carry(seen)
        guesses = guess_by_counts(seen) | (guess_by_words(seen) if self.words else {})
        known = Knowledge.of(seen, priors(seen, could, self.pull), guesses)
        prior = known.prior(np.arange(len(seen.spots)), seen.members)
        choice = entropies(prior)
        eligible = np.flatnonzero(could & (choice >= self.entropy))
        judged = _first_choices(seen, eligible[seen.is_suspect[eligible]], choice)
        hiding = len(np.unique(seen.records[judged]))
        rate = min(self.share, self.rate * len(found) / max(hiding, 1))
        draws = normal(seen.in_set.astype(np.float64)) if self.drawn == "uniform" else prior
        clean = eligible[~seen.is_suspect[eligible]]
        if len(clean) < FEWEST:
            scores = guess_score(known, judged, draws, rate)
        else:
            scores = score(
                known, learnt=clean, judged=judged, draws=draws, rate=rate, seed=self.seed
            )
        details = {
            "eligible": hiding,  # records that could carry
            "learnt_from": len(clean) if len(clean) >= FEWEST else 0,
            "rate": rate,  # of carriers among them, by the scheme
            "guesses": list(guesses),
        }
        return self._say(seen, found, first, judged, scores, known, details)

    def _could_carry(self, seen: Seen) -> NDArray[np.bool_]:
        """By the public rule, but for the entropy of the prior."""
        return np.array(
            [
                cell.is_free and not cell.is_parameter and (cell.is_inside or not self.inside_line)
                for cell in seen.cells
            ],
            np.bool_,
        )

    def _say(
        self,
        seen: Seen,
        found: Sequence["Read"],
        first: int,
        judged: Integers,
        scores: NDArray[np.float64],
        known: Knowledge,
        details: Mapping[str, Any],
    ) -> Suspicion:
        """The likeliest carrier of each record, in words."""
        best = [float("nan") if each.reason is not None else 0.0 for each in found]
        reasons = [each.reason for each in found]
        names: list[tuple[str, ...]] = [()] * len(found)
        expected = known.guesses["words" if self.words else "project"].chances.argmax(axis=1)
        for at, chance in zip(judged.tolist(), scores.tolist(), strict=True):
            row = seen.spots[at].record - first
            if chance > best[row]:
                members = seen.sets[seen.numbers[at]]
                own, usual = members[seen.members[at]], members[expected[at]]
                best[row], names[row] = chance, (own,)
                instead = "" if own == usual else f", where {usual} is likelier"
                reasons[row] = f"{own} may have been drawn: chance {chance:.2f}{instead}"
        total = np.array(best, np.float64)
        with np.errstate(invalid="ignore"):
            flagged = (total > 0) & (total >= self.threshold)
        return Suspicion([each.id for each in found], flagged, total, reasons, details, names)


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of a record; one with a reason has nothing to judge."""

    id: str
    reason: str | None
    language: str
    project: str
    file: str
    cells: tuple[Cell, ...]


def cells_of_batch(batch: Batch, *, project: str | None, file: str | None) -> bytes:
    """The worker's share: id, language, project, file and cells of each record."""
    lines: list[Any] = []
    for row, record in zip(batch.rows.tolist(), batch.records(), strict=True):
        entry = batch.entry(row, record)
        place = [_text(record, PROJECTS, project), _text(record, FILES, file)]
        name = entry.id.encode("utf-8", "replace").decode()  # JSON has lone surrogates
        try:
            tree = parse(snippet_of(entry))
        except UnparsableSnippet as exc:
            lines.append((name, str(exc), "", *place, ()))
        else:
            cells = [cell.to_json() for cell in find_cells(tree)]
            lines.append((name, None, tree.language.name, *place, cells))
    return orjson.dumps(lines)


def _text(record: Mapping[str, Any], usual: Sequence[str], column: str | None) -> str:
    if column is not None and column not in record:
        raise UsageError(f"synonym_shadow: no column {column!r} in the dataset")
    wanted = (column,) if column is not None else usual
    found = next((record[name] for name in wanted if isinstance(record.get(name), str)), "")
    return str(found).encode("utf-8", "replace").decode()


def _read(parts: Sequence[Path]) -> Iterator[Read]:
    for part in parts:
        for id_, reason, language, project, file, cells in orjson.loads(part.read_bytes()):
            yield Read(id_, reason, language, project, file, tuple(map(Cell.from_json, cells)))


def _spots(found: Sequence[Read], first: int, *, is_suspect: bool = False) -> Iterator[Spot]:
    for record, each in enumerate(found, start=first):
        for cell in each.cells:
            yield Spot(record, is_suspect, each.language, each.project, each.file, cell)


def _first_choices(seen: Seen, cells: Integers, choice: NDArray[np.float64]) -> Integers:
    """Of each function the variable that the scheme would take: the one with most of a choice."""
    best: dict[tuple[int, int], int] = {}
    for at in cells.tolist():
        place = (seen.spots[at].record, seen.spots[at].cell.function)
        if place not in best or choice[at] > choice[best[place]]:
            best[place] = at
    return np.array(sorted(best.values()), np.int64)


def require_sklearn() -> None:
    """Say what is missing."""
    try:
        import sklearn  # noqa: F401
    except ImportError as exc:
        raise UsageError(
            "synonym_shadow: scikit-learn is not installed; pip install 'puzzlemark[detect]'"
        ) from exc


PLUGIN = SynonymShadow
