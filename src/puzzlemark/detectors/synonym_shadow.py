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
from puzzlemark.detectors._shadow_learning import (
    FEWEST,
    Knowledge,
    entropies,
    guess_score,
    priors_by_project,
    score,
)
from puzzlemark.detectors.base import Suspicion, keep_parts, snippet_of
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.habits.choosing import choose
from puzzlemark.habits.guessing import guess_by_bags, guess_by_counts, guess_by_reading, normal
from puzzlemark.habits.seen import Gathering, Integers, Seen, Spot
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
    prior: Literal["context", "project"] = "context"
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
        progress("learning", 0, None)
        return self._decide(_Cells.of(known, found, inside=self.inside_line), found)

    def _decide(self, cells: "_Cells", found: Sequence["Read"]) -> Suspicion:
        known = self._know(cells)
        choice = entropies(known.prior)
        eligible = choice >= self.entropy
        judged = cells.first_choices(np.flatnonzero(eligible & cells.is_suspect), choice)
        hiding = len(np.unique(cells.records[judged]))
        rate = min(self.share, self.rate * len(found) / max(hiding, 1))
        draws = known.prior
        if self.drawn == "uniform":
            draws = normal(cells.seen.in_set[cells.rows].astype(np.float64))
        clean = cells.first_choices(np.flatnonzero(eligible & ~cells.is_suspect), choice)
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
            "guesses": list(known.guesses),
        }
        return self._say(cells, found, judged, scores, known, details)

    def _know(self, cells: "_Cells") -> Knowledge:
        """All guesses, and the prior of the scheme: rebuilt from clean and suspect code alike."""
        seen, rows = cells.seen, cells.rows
        guesses = guess_by_counts(seen, rows) | guess_by_bags(seen, rows)
        if self.words or self.prior == "context":
            guesses |= guess_by_reading(seen, rows)
        if self.prior == "context":
            prior = choose(seen, rows, guesses)
        else:
            prior = priors_by_project(seen, rows, cells.is_suspect, self.pull)
        if not self.words:
            guesses = {name: guess for name, guess in guesses.items() if "reading" not in name}
        return Knowledge(seen, rows, prior, guesses)

    def _say(
        self,
        cells: "_Cells",
        found: Sequence["Read"],
        judged: Integers,
        scores: NDArray[np.float64],
        known: Knowledge,
        details: Mapping[str, Any],
    ) -> Suspicion:
        """The likeliest carrier of each record, in words."""
        best = [float("nan") if each.reason is not None else 0.0 for each in found]
        reasons = [each.reason for each in found]
        names: list[tuple[str, ...]] = [()] * len(found)
        expected = known.guesses["reading" if self.words else "project"].chances.argmax(axis=1)
        for at, chance in zip(judged.tolist(), scores.tolist(), strict=True):
            row = int(cells.records[at]) - cells.first
            if chance > best[row]:
                seen_at = cells.rows[at]
                _, members = known.seen.sets[known.seen.numbers[seen_at]]
                own, usual = members[known.seen.members[seen_at]], members[expected[at]]
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


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The variables that could carry by the public rule, but for the entropy of the prior."""

    seen: Seen  # all variables that were seen, also those that could not
    rows: Integers  # which of them could; all else here is in their order
    records: Integers  # numbers of the records, clean ones first
    functions: Integers
    first: int  # the number of the first suspect record

    @classmethod
    def of(cls, clean: Sequence[Read], suspect: Sequence[Read], *, inside: bool) -> "_Cells":
        """`inside`: only those whose first occurrence is inside a line."""
        tables = {language.name: language.synonyms for language in every_language()}
        gathering = Gathering()
        found: list[tuple[int, int, int]] = []
        for record, each in enumerate(chain(clean, suspect)):
            for cell in each.cells:
                names = tables[each.language][cell.table]
                spot = Spot(each.language, names, cell.member, cell.is_parameter, cell.around)
                row = gathering.add(spot, record, each.project, each.file)
                if cell.is_free and not cell.is_parameter and (cell.is_inside or not inside):
                    found.append((row, record, cell.function))
        columns = np.array(found, np.int64).reshape(-1, 3)
        return cls(gathering.seen(), columns[:, 0], columns[:, 1], columns[:, 2], len(clean))

    @property
    def is_suspect(self) -> NDArray[np.bool_]:
        """Which are in the suspect dataset."""
        is_suspect: NDArray[np.bool_] = self.records >= self.first
        return is_suspect

    def first_choices(self, cells: Integers, choice: NDArray[np.float64]) -> Integers:
        """Of each function the variable that the scheme would take: that with most of a choice."""
        best: dict[tuple[int, int], int] = {}
        for at in cells.tolist():
            place = int(self.records[at]), int(self.functions[at])
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
