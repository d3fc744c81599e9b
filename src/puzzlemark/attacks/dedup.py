"""Drop copies: exact ones and near-duplicates (MinHash), also of records in other datasets."""

import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from puzzlemark.attacks._editing import text_of
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan
from puzzlemark.corpora.base import Batch, Corpus
from puzzlemark.errors import UnparsableSnippet, UsageError
from puzzlemark.resuming import Kept, Work

WORD = re.compile(r"\w+")
SEED, SCHEME = 1, "affine32"  # of the permutations: the same for all records
Shingles: TypeAlias = NDArray[np.uint64]  # sorted hashes of runs of words, each once
Signature: TypeAlias = NDArray[np.uint32]
NONE: Shingles = np.zeros(0, np.uint64)
UNSIGNED: Signature = np.zeros(0, np.uint32)
DIGEST = 16  # bytes
MARGIN = 0.2  # below the threshold, from which on pairs are compared exactly
OTHERS: frozenset[Input] = frozenset({"others"})


@dataclass(frozen=True, slots=True)
class Dedup:
    """`Dedup()`: of records that are alike the first stays; none that is like one of --other.

    Two records are alike when the Jaccard similarity of their runs of `words` words is `threshold`
    or more. MinHash finds the pairs, and each is then compared exactly: nothing is dropped by
    chance, but a pair near the threshold may be missed.
    """

    kind: Literal["near", "exact"] = "near"
    threshold: float = 0.7
    words: int = 5
    permutations: int = 256
    name: ClassVar[str] = "dedup"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = OTHERS

    def __post_init__(self) -> None:
        if not 0.1 <= self.threshold <= 1:
            raise UsageError(f"dedup: threshold={self.threshold}: 0.1 to 1")
        if self.words < 1:
            raise UsageError(f"dedup: words={self.words}: 1 or more")
        if not 16 <= self.permutations <= 1024:
            raise UsageError(f"dedup: permutations={self.permutations}: 16 to 1024")

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Walk through the other datasets, then through this one; drop what was seen."""
        counts: Counter[str] = Counter()
        spared: Counter[str] = Counter()
        kept: list[int] = []
        with _Seen.opened(self, given.cache / "shingles") as seen:
            for number, other in enumerate(given.others):
                for some in self._sketches(other, given, "reference", f"reference-{number}"):
                    for sketch in some:
                        if sketch.reason is None:
                            seen.add(sketch, is_reference=True)
            found = Kept(Work(given.cache), "found", orjson.dumps, orjson.loads)
            row = 0
            for some in self._sketches(corpus, given, "comparing", "own"):
                for sketch, like in zip(some, _compare(some, row, seen, found), strict=True):
                    if like is not None:
                        counts[like] += 1
                    else:
                        kept.append(row)
                    if sketch.reason is not None:
                        spared[sketch.reason] += 1
                    row += 1
        return Plan(rows=np.array(kept, np.int64), counts=counts, spared=spared)

    def _sketches(
        self, corpus: Corpus, given: Given, stage: str, name: str
    ) -> Iterator[list["Sketch"]]:
        done = 0
        kept = Kept(Work(given.cache), f"parts/{name}", _pack, _unpack)
        for some in corpus.map(partial(_sketch_batch, self), given.engine, kept=kept):
            yield some
            done += len(some)
            given.progress(stage, done, None)


def _compare(
    sketches: list["Sketch"], row: int, seen: "_Seen", kept: Kept[str | None]
) -> list[str | None]:
    """What each record is a copy of; None: of nothing, so it is remembered.

    What an interrupted run found is not looked for again. The index is in memory, so those that
    stay are put into it again.
    """
    if not sketches:
        return []
    name = f"{row}-{row + len(sketches) - 1}"
    known = kept.find(name)
    assert known is None or len(known) == len(sketches), "the same rows, so as many"
    found: list[str | None] = []
    for at, sketch in enumerate(sketches):
        if known is not None:
            like = known[at]
        else:
            like = None if sketch.reason is not None else seen.find(sketch)
        found.append(like)
        if like is None and sketch.reason is None:
            seen.add(sketch, is_reference=False)
    if known is None:
        kept.keep(name, found)
    return found


@dataclass(frozen=True, slots=True)
class Sketch:
    """What is compared of a record; one without code has a reason in its stead."""

    digest: bytes  # of the code
    shingles: Shingles
    signature: Signature  # of MinHash
    reason: str | None = None


def _sketch_batch(settings: Dedup, batch: Batch) -> list[Sketch]:
    sketches: list[Sketch] = []
    for entry in batch.entries():
        try:
            code = text_of(entry).code
        except UnparsableSnippet as exc:
            sketches.append(Sketch(b"", NONE, UNSIGNED, str(exc)))
            continue
        digest = blake2b(code.encode(), digest_size=DIGEST).digest()
        if settings.kind == "exact":
            sketches.append(Sketch(digest, NONE, UNSIGNED))
        else:
            shingles = shingles_of(code, settings.words)
            sketches.append(Sketch(digest, shingles, _signature(shingles, settings.permutations)))
    return sketches


def _pack(parts: list[list[Sketch]]) -> bytes:
    """Arrays of all sketches one after the other; how many of each batch, and how long."""
    sketches = [each for some in parts for each in some]
    file = io.BytesIO()
    np.savez(
        file,
        batches=np.array([len(some) for some in parts], np.int64),
        reasons=np.frombuffer(orjson.dumps([each.reason for each in sketches]), np.uint8),
        digests=np.frombuffer(b"".join(each.digest for each in sketches), np.uint8),
        sizes=np.array([len(each.shingles) for each in sketches], np.int64),
        shingles=np.concatenate([NONE, *(each.shingles for each in sketches)]),
        lengths=np.array([len(each.signature) for each in sketches], np.int64),
        signatures=np.concatenate([UNSIGNED, *(each.signature for each in sketches)]),
    )
    return file.getvalue()


def _unpack(content: bytes) -> list[list[Sketch]]:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        reasons = orjson.loads(stored["reasons"].tobytes())
        digests = stored["digests"].tobytes()
        shingles = np.split(stored["shingles"], np.cumsum(stored["sizes"])[:-1])
        signed = np.split(stored["signatures"], np.cumsum(stored["lengths"])[:-1])
        batches = stored["batches"].tolist()
    known = (digests[at : at + DIGEST] for at in range(0, len(digests), DIGEST))
    sketches = (
        Sketch(b"" if reason is not None else next(known), own, signature, reason)
        for reason, own, signature in zip(reasons, shingles, signed, strict=True)
    )
    return [list(islice(sketches, count)) for count in batches]


def shingles_of(code: str, words: int) -> Shingles:
    """Hashes of all runs of so many words; of fewer words than that, of all of them."""
    found = WORD.findall(code)
    runs = (found[at : at + words] for at in range(max(1, len(found) - words + 1)))
    hashes = {blake2b(" ".join(run).encode(), digest_size=8).digest() for run in runs}
    return np.sort(np.frombuffer(b"".join(hashes), np.uint64))


def _signature(shingles: Shingles, permutations: int) -> Signature:
    minhash = _empty(permutations).copy()
    minhash.update_batch(shingles.tolist())
    signature: Signature = minhash.hashvalues
    return signature


@cache
def _empty(permutations: int) -> Any:
    """A MinHash of nothing; its permutations are made once."""
    return _datasketch().MinHash(
        num_perm=permutations, seed=SEED, hashfunc=_low_bits, scheme=SCHEME
    )


def _low_bits(shingle: int) -> int:
    return shingle & 0xFFFFFFFF  # a hash already; MinHash takes 32 bits of it


def _datasketch() -> Any:
    try:
        import datasketch
    except ImportError as exc:
        raise UsageError(
            "dedup: near-duplicates are found with datasketch; pip install 'puzzlemark[attack]', "
            "or pass kind=exact"
        ) from exc
    return datasketch


@dataclass(slots=True)
class _Seen:
    """The records that stay, or that were there before: found by digest, and by MinHash."""

    settings: Dedup
    file: IO[bytes]  # their shingles: compared only when MinHash says so
    digests: dict[bytes, bool] = field(default_factory=dict)  # whether of another dataset
    places: list[tuple[int, int, bool]] = field(default_factory=list)  # start, count, the same
    index: Any = None

    @classmethod
    def opened(cls, settings: Dedup, path: Path) -> "_Seen":
        seen = cls(settings, path.open("w+b"))
        if settings.kind == "near":
            seen.index = _datasketch().MinHashLSH(
                # rather look at a pair in vain than miss one
                threshold=max(0.1, settings.threshold - MARGIN),
                num_perm=settings.permutations,
                weights=(0.1, 0.9),
            )
        return seen

    def __enter__(self) -> "_Seen":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def add(self, sketch: Sketch, *, is_reference: bool) -> None:
        """Remember a record."""
        self.digests.setdefault(sketch.digest, is_reference)
        if self.index is None:
            return
        start = self.file.seek(0, 2)
        self.file.write(sketch.shingles.tobytes())
        self.index.insert(len(self.places), self._minhash(sketch), check_duplication=False)
        self.places.append((start, len(sketch.shingles), is_reference))

    def find(self, sketch: Sketch) -> str | None:
        """What a record is a copy of, in words."""
        if sketch.digest in self.digests:
            return _told("exact copies", self.digests[sketch.digest])
        if self.index is None:
            return None
        for number in sorted(self.index.query(self._minhash(sketch))):
            start, count, is_reference = self.places[number]
            self.file.seek(start)
            other = np.frombuffer(self.file.read(count * 8), np.uint64)
            if jaccard(sketch.shingles, other) >= self.settings.threshold:
                return _told("near-duplicates", is_reference)
        return None

    def _minhash(self, sketch: Sketch) -> Any:
        return _datasketch().LeanMinHash(seed=SEED, hashvalues=sketch.signature, scheme=SCHEME)


def jaccard(one: Shingles, other: Shingles) -> float:
    """What two records share of what either has."""
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)


def _told(what: str, is_reference: bool) -> str:
    return f"{what} of another dataset's records" if is_reference else f"{what} of earlier records"


PLUGIN = Dedup
