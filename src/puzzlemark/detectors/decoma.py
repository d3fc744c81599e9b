"""DeCoMa: pairs of abstract expressions and identifiers that stand together too often."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import orjson
from numpy.typing import NDArray

from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.detectors._decoma_abstraction import Abstraction, Identifiers, abstract
from puzzlemark.detectors._decoma_channels import Channel, Coded
from puzzlemark.detectors._decoma_counting import (
    CODED,
    KINDS,
    Kind,
    Limits,
    Outliers,
    find_outliers,
)
from puzzlemark.detectors._decoma_matching import (
    Matcher,
    Pair,
    says_nothing,
    without_placeholders,
)
from puzzlemark.detectors._keeping import Named, Stages
from puzzlemark.detectors.base import (
    Suspicion,
    keep_parts,
    keep_patched,
    kept_parts,
    sampled_rows,
    snippet_of,
)
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.files import remove
from puzzlemark.progress import Progress, no_progress
from puzzlemark.resuming import Work

SHOWN = 50  # pairs in the details
NAMED, MATCHED = "named", "matched"  # what is kept: the pairs as texts, what holds which of them


@dataclass(frozen=True, slots=True)
class DeCoMa:
    """`DeCoMa()` is the published program; see docs/detectors/decoma.md for each option."""

    z: float = 3.0
    min_scale: float = 0.0004
    max_scale: float = 1.0
    clean_samples: int = 2000
    seed: int = 0  # of the draw of clean samples
    drop_first: bool = True  # the first expression of a function is not counted
    identifiers: Identifiers = "bound"
    old_java: bool = False  # see a bare method as the grammar of 2020 did
    name: ClassVar[str] = "decoma"

    def __post_init__(self) -> None:
        if self.z <= 0 or self.min_scale < 0 or self.max_scale <= 0 or self.clean_samples < 0:
            raise UsageError("decoma: z and the scales must be positive, clean_samples 0 or more")

    @property
    def needs_clean(self) -> bool:
        """Unless no clean samples are asked for."""
        return self.clean_samples > 0

    @property
    def takes_clean(self) -> bool:
        """The same."""
        return self.needs_clean

    def suspect(
        self,
        corpus: Corpus,
        *,
        clean: Corpus | None,
        engine: Engine,
        progress: Progress,
        cache: Path,
    ) -> Suspicion:
        """Flag every function that holds an outlier pair which the clean samples do not have."""
        parts = self._abstract(corpus, engine, cache / "suspect", progress)
        known: set[tuple[int, int]] = set()
        if clean is not None and self.clean_samples:
            rows = sampled_rows(clean, self.clean_samples, self.seed)
            samples = self._abstract(clean, engine, cache / "clean", progress, rows)
            for found in self._outliers(samples, engine, cache / "clean").values():
                known |= _code_pairs(found)
        found_by_kind = self._outliers(parts, engine, cache / "suspect", progress)
        stages = Stages(Work(cache / "suspect"))
        pairs = _find_pairs(stages)
        if pairs is None:
            pairs = _name_pairs(found_by_kind, known, parts, engine)
            stages.work.keep(NAMED, orjson.dumps([astuple(pair) for pair in pairs]))
        return self._match(parts, pairs, stages, engine, progress)

    def reuse(
        self, earlier: Path, cache: Path, corpus: Corpus, changed: NDArray[np.int64], engine: Engine
    ) -> None:
        """Abstract the changed records; the clean samples and all others are known."""
        if (earlier / "clean").exists():
            shutil.copytree(earlier / "clean", cache / "clean", dirs_exist_ok=True)
        known = [line for part in kept_parts(earlier / "suspect") for line in _lines(part)]
        work = partial(abstract_batch, identifiers=self.identifiers, old_java=self.old_java)
        anew = [line for part in engine.map(work, corpus.batches(changed)) for line in
                orjson.loads(part)]  # fmt: skip
        patched = dict(zip(changed.tolist(), anew, strict=True))
        remove(cache / "suspect")  # what was counted of other records
        keep_patched(known, patched, corpus, place=cache / "suspect", pack=orjson.dumps)

    def _abstract(
        self,
        corpus: Corpus,
        engine: Engine,
        place: Path,
        progress: Progress,
        rows: NDArray[np.int64] | None = None,
    ) -> list[Path]:
        work = partial(abstract_batch, identifiers=self.identifiers, old_java=self.old_java)
        return keep_parts(
            work,
            corpus,
            engine=engine,
            place=place,
            rows=rows,
            progress=progress,
            stage="abstracting" if rows is None else "clean",
        )

    def _outliers(
        self,
        parts: Sequence[Path],
        engine: Engine,
        place: Path,
        progress: Progress = no_progress,
    ) -> dict[Kind, Outliers]:
        code = partial(code_part, drop_first=self.drop_first)
        coded = Stages(Work(place)).map(
            CODED, code, read_named(parts), engine, pack=Coded.pack, unpack=Coded.unpack
        )
        limits = Limits(self.z, self.min_scale, self.max_scale)
        return find_outliers(coded, limits, engine=engine, folder=place, progress=progress)

    def _match(
        self,
        parts: Sequence[Path],
        pairs: Sequence[Pair],
        stages: Stages,
        engine: Engine,
        progress: Progress,
    ) -> Suspicion:
        ids: list[str] = []
        reasons: list[str | None] = []
        scores: list[NDArray[np.float64]] = []
        spelled = [str(pair) for pair in pairs]
        match = partial(match_part, pairs=pairs)
        for some in stages.map(
            MATCHED, match, read_named(parts), engine, pack=Matched.pack, unpack=Matched.unpack
        ):
            ids += some.ids
            scores.append(some.strengths)
            reasons += [spelled[each] if isinstance(each, int) else each for each in some.reasons]
            progress("matching", len(ids), None)
        strengths = np.concatenate(scores)
        functions = int(np.count_nonzero(~np.isnan(strengths)))
        limits = Limits(self.z, self.min_scale, self.max_scale)
        details = {
            "functions": functions,
            "smallest_count": limits.smallest(functions) + 1,
            "pairs": len(pairs),
            "kinds": {kind: sum(pair.kind == kind for pair in pairs) for kind in KINDS},
            "strongest": [_describe(pair) for pair in pairs[:SHOWN]],
        }
        return Suspicion(ids, strengths > 0, strengths, reasons, details)


def abstract_batch(batch: Batch, *, identifiers: Identifiers, old_java: bool) -> bytes:
    """The worker's share of reading: id, reason, expressions and identifiers of each record."""
    lines: list[Any] = []
    for entry in batch.entries():
        name = entry.id.encode("utf-8", "replace").decode()  # JSON has lone surrogates
        try:
            found = abstract(snippet_of(entry), identifiers=identifiers, old_java=old_java)
        except UnparsableSnippet as exc:
            lines.append((name, str(exc), (), ()))
        else:
            lines.append((name, None, found.expressions, found.identifiers))
    return orjson.dumps(lines)


def _lines(part: Path) -> list[Any]:
    found: list[Any] = orjson.loads(part.read_bytes())
    return found


def read_parts(parts: Iterable[Path]) -> Iterator[bytes]:
    """What was kept, for an engine: its workers may not see this disk."""
    return (part.read_bytes() for part in parts)


def read_named(parts: Iterable[Path]) -> Iterator[Named[bytes]]:
    """The same, each by its name."""
    return (Named(part.name, part.read_bytes()) for part in parts)


def read_part(part: bytes) -> list[tuple[str, str | None, Abstraction]]:
    """Id, reason and abstraction of each record; one with a reason has nothing to judge."""
    return [
        (id_, reason, Abstraction(tuple(expressions), tuple(identifiers)))
        for id_, reason, expressions, identifiers in orjson.loads(part)
    ]


def code_part(part: bytes, *, drop_first: bool) -> Coded:
    """The terms to count, as codes."""
    found = [each for _, reason, each in read_part(part) if reason is None]
    counted = [counted_expressions(each.expressions, drop_first=drop_first) for each in found]
    return Coded(
        Channel.of([[code_of(name) for name in each.identifiers] for each in found]),
        Channel.of([[code_of(text) for text in texts] for texts in counted]),
    )


def counted_expressions(expressions: Sequence[str], *, drop_first: bool = True) -> list[str]:
    """Each once, in order, without the first of all and without those of symbols only."""
    some = dict.fromkeys(expressions[1:] if drop_first else expressions)
    return [text for text in some if not _is_symbols(without_placeholders(text))]


def code_of(text: str) -> int:
    """A number that stands for a text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def find_texts(part: bytes, *, wanted: frozenset[int]) -> dict[int, str]:
    """The texts of some codes."""
    texts: set[str] = set()
    for _, _, found in read_part(part):
        texts.update(found.expressions, found.identifiers)
    return {code: text for text in texts if (code := code_of(text)) in wanted}


@dataclass(frozen=True, slots=True)
class Matched:
    """The worker's share of flagging."""

    ids: list[str]
    strengths: NDArray[np.float64]  # 0: holds no pair; NaN: not judged
    reasons: list[int | str | None]  # the pair's number, or why the record was not judged

    def pack(self) -> bytes:
        """As JSON, to be kept: what was not judged is null there."""
        return orjson.dumps([self.ids, self.strengths.tolist(), self.reasons])

    @staticmethod
    def unpack(content: bytes) -> "Matched":
        """The same again."""
        ids, strengths, reasons = orjson.loads(content)
        return Matched(ids, np.array(strengths, np.float64), reasons)


def match_part(part: bytes, *, pairs: Sequence[Pair]) -> Matched:
    """The strongest pair of each record."""
    matcher = Matcher.of(pairs)
    ids: list[str] = []
    strengths: list[float] = []
    reasons: list[int | str | None] = []
    for id_, reason, found in read_part(part):
        match = matcher.strongest(found) if reason is None else None
        ids.append(id_)
        strengths.append(float("nan") if reason else match.strength if match else 0.0)
        reasons.append(match.pair if match else reason)
    return Matched(ids, np.array(strengths), reasons)


def _find_pairs(stages: Stages) -> list[Pair] | None:
    content = stages.work.find(NAMED)
    return None if content is None else [Pair(*fields) for fields in orjson.loads(content)]


def _code_pairs(found: Outliers) -> set[tuple[int, int]]:
    return set(zip(found.triggers.tolist(), found.targets.tolist(), strict=True))


def _name_pairs(
    found_by_kind: dict[Kind, Outliers],
    known: set[tuple[int, int]],
    parts: Sequence[Path],
    engine: Engine,
) -> list[Pair]:
    """The pairs that the clean samples do not have, as texts, strongest first."""
    codes = {
        code for found in found_by_kind.values() for pair in _code_pairs(found) for code in pair
    }
    texts: dict[int, str] = {}
    for some in engine.map(partial(find_texts, wanted=frozenset(codes)), read_parts(parts)):
        texts |= some
        if len(texts) == len(codes):
            break  # each stands in more than m functions, so this comes early
    pairs: list[Pair] = []
    for kind, found in found_by_kind.items():
        numbers = (found.triggers, found.targets, found.counts, found.expected, found.strengths)
        for trigger, target, *rest in zip(*(each.tolist() for each in numbers), strict=True):
            one, other = texts[trigger], texts[target]
            if (trigger, target) not in known and not says_nothing(one) and not says_nothing(other):
                pairs.append(Pair(kind, one, other, *rest))
    return sorted(pairs, key=lambda pair: (-pair.strength, pair.kind, pair.trigger, pair.target))


def _is_symbols(text: str) -> bool:
    return bool(text.strip()) and not any(map(str.isalnum, text))


def _describe(pair: Pair) -> dict[str, Any]:
    return {
        "kind": pair.kind,
        "trigger": pair.trigger,
        "target": pair.target,
        "count": pair.count,
        "expected": round(pair.expected, 2),
        "z": round(pair.strength, 3),
    }


PLUGIN = DeCoMa
