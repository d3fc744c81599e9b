"""How a cell can follow from the code: where it repeats the code, or what it computes from it.

Digests are met whole or shortened, hexadecimal, base64 or raw. Such a kind is a name: `"sha256"`,
`"git blob, upper case"`, `"md5, stripped, base64"`. It says nothing of the length: a cell of twelve
characters holds the first twelve of the digest.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from puzzlemark.languages.base import skipped_by_tokenizers

Spelled: TypeAlias = str | bytes

SHORTEST = 6  # characters; of raw bytes 4
CERTAIN = 12  # so many characters agree by no accident, not even once in a large dataset

_LIBRARY = "md5 sha1 sha224 sha256 sha384 sha512 sha512_256 sha3_224 sha3_256 sha3_384 sha3_512"
LONGEST = 128
_MIXED = r"(?=.*[A-Z])(?=.*[a-z])"
_ALPHABETS = {
    re.compile(r"[0-9]+"): ("", ", upper case"),
    re.compile(r"[0-9a-f]+"): ("",),
    re.compile(r"[0-9A-F]+"): (", upper case",),
    # base64 has capitals and small letters; names and paths often have one of them only
    re.compile(_MIXED + r"[0-9A-Za-z]+={0,2}"): (", base64", ", base64url"),
    re.compile(_MIXED + r"[0-9A-Za-z+/]+={0,2}"): (", base64",),
    re.compile(_MIXED + r"[0-9A-Za-z_-]+={0,2}"): (", base64url",),
}


def _named(name: str) -> Callable[[bytes], bytes]:
    make = getattr(hashlib, name, None) or partial(hashlib.new, name)  # `new` takes twice as long
    return lambda content: make(content, usedforsecurity=False).digest()


def _blake2b(bits: int) -> Callable[[bytes], bytes]:
    return lambda content: hashlib.blake2b(content, digest_size=bits // 8).digest()


def _blake2s(bits: int) -> Callable[[bytes], bytes]:
    return lambda content: hashlib.blake2s(content, digest_size=bits // 8).digest()


def _blob(name: str) -> Callable[[bytes], bytes]:
    compute = _named(name)
    return lambda content: compute(b"blob %d\0" % len(content) + content)


ALGORITHMS: dict[str, Callable[[bytes], bytes]] = {
    **{name: _named(name) for name in _LIBRARY.split() if name in hashlib.algorithms_available},
    "blake2b": _blake2b(512),
    "blake2s": _blake2s(256),
    # of another length these are no beginnings of the longest one
    **{f"blake2b-{bits}": _blake2b(bits) for bits in (64, 128, 160, 224, 256, 384)},
    **{f"blake2s-{bits}": _blake2s(bits) for bits in (64, 128, 160, 224)},
    "git blob": _blob("sha1"),
    "git blob, sha256": _blob("sha256"),
    "crc32": lambda content: zlib.crc32(content).to_bytes(4, "big"),
    "adler32": lambda content: zlib.adler32(content).to_bytes(4, "big"),
}
SOURCES: dict[str, Callable[[str], str]] = {
    "": str,
    ", stripped": str.strip,
    ", with a line feed": lambda code: code + "\n",
    ", without white space": lambda code: "".join(code.split()),
}
SPELLINGS: dict[str, Callable[[bytes], Spelled]] = {
    "": bytes.hex,
    ", upper case": lambda digest: digest.hex().upper(),
    ", base64": lambda digest: base64.b64encode(digest).decode(),
    ", base64url": lambda digest: base64.urlsafe_b64encode(digest).decode(),
    ", raw": bytes,
}


def _hashes() -> dict[str, Callable[[str], Spelled]]:
    def compute(algorithm: str, source: str, spelling: str) -> Callable[[str], Spelled]:
        return lambda code: SPELLINGS[spelling](_digest(algorithm, _sources(code)[source]))

    return {
        algorithm + source + spelling: compute(algorithm, source, spelling)
        for source in SOURCES
        for spelling in SPELLINGS
        for algorithm in ALGORITHMS
    }


@lru_cache(maxsize=1)
def _sources(code: str) -> dict[str, bytes]:
    return {source: make(code).encode() for source, make in SOURCES.items()}


# of one code, for all spellings; by the text, as that of several sources is mostly the same
@lru_cache(maxsize=len(ALGORITHMS) * len(SOURCES))
def _digest(algorithm: str, text: bytes) -> bytes:
    return ALGORITHMS[algorithm](text)


HASHES = _hashes()


class Numeral(int):
    """A whole number of a table that has texts only (CSV): it may be a digest without letters."""

    @classmethod
    def of(cls, text: str) -> "str | Numeral":
        """The number, where the text spells one as Python does: `"17"`, not `"017"` or `"1_7"`."""
        return cls(text) if _WHOLE.fullmatch(text) and text != "-0" else text


_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def shorten(digest: Spelled, cell: Any) -> Spelled | None:
    """The digest as long as the cell; None when no cell of this type or length can hold it."""
    if type(cell) is not type(digest) or not cell:
        return None
    shortest = SHORTEST if isinstance(cell, str) else 4
    return digest[: len(cell)] if shortest <= len(cell) <= len(digest) else None


def fitting_hashes(code: str, cell: Any) -> Iterator[str]:
    """The kinds of digest of this code that the cell is."""
    for spelling in _possible_spellings(cell):
        algorithms = _long_enough(spelling, len(cell))
        beginning = _beginning(spelling, cell)
        for source, text in _sources(code).items():
            for algorithm in algorithms:
                digest = _digest(algorithm, text)
                if beginning is not None:
                    is_it = digest.startswith(beginning)
                else:
                    is_it = shorten(SPELLINGS[spelling](digest), cell) == cell
                if is_it:
                    yield algorithm + source + spelling


def _beginning(spelling: str, cell: Spelled) -> bytes | None:
    """What a digest begins with that the cell spells; None: it has to be spelled to be compared."""
    if isinstance(cell, bytes) or spelling not in ("", ", upper case") or len(cell) % 2:
        return None
    return bytes.fromhex(cell)


@cache
def _long_enough(spelling: str, length: int) -> tuple[str, ...]:
    """The algorithms whose digests fill a cell of this length: the others need no computing."""
    spell = SPELLINGS[spelling]
    return tuple(name for name, make in ALGORITHMS.items() if len(spell(make(b""))) >= length)


def _possible_spellings(cell: Any) -> tuple[str, ...]:
    if isinstance(cell, bytes):
        return (", raw",) if len(cell) <= LONGEST // 2 else ()
    if not isinstance(cell, str) or not SHORTEST <= len(cell) <= LONGEST:
        return ()
    for pattern, spellings in _ALPHABETS.items():
        if pattern.fullmatch(cell):
            return spellings
    return ()


def is_certain(cell: Spelled) -> bool:
    """Whether a digest of this length fits by no accident."""
    return len(cell) >= (CERTAIN if isinstance(cell, str) else CERTAIN // 2)


# a version-4 UUID is random, 1, 6 and 7 tell the time; the others are made from a name
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-([0-9a-fA-F])[0-9a-fA-F]{3}-[0-9a-fA-F-]{17}")
_MADE_FROM_NAMES = frozenset("358")
LONG = 16  # fewer characters of base64 may be a word
FEW = 32  # records: with fewer a place of a digest may hold one character in all of them
FEWEST_NUMBERS = 8  # in a list that may be a signature or an embedding


def looks_opaque(pairs: Sequence[tuple[bytes, Any]]) -> bool:
    """Whether cells may be digests of the code that we cannot compute: one length, no pattern.

    Two codes with one value show that the value was not made from the code.
    """
    cells = [cell for _, cell in pairs]
    if len({type(cell) for cell in cells}) != 1 or len({_length(cell) for cell in cells}) != 1:
        return False
    owners: dict[str, bytes] = {}
    if any(owners.setdefault(repr(cell), code) != code for code, cell in pairs):
        return False
    if isinstance(cells[0], list):
        numbers = (item for cell in cells for item in cell)
        return len(cells[0]) >= FEWEST_NUMBERS and all(type(n) in (int, float) for n in numbers)
    if isinstance(cells[0], bytes):
        return len(cells[0]) >= 4 and _varies(cells)
    return isinstance(cells[0], str) and _looks_random(cells)


def _length(cell: Any) -> int | None:
    return len(cell) if isinstance(cell, str | bytes | list) else None


def _looks_random(cells: Sequence[str]) -> bool:
    versions = [_UUID.fullmatch(cell) for cell in cells]
    if all(versions):
        return any(found.group(1) in _MADE_FROM_NAMES for found in versions if found)
    common = _common_start(cells) if len(cells) > 1 else 0  # `sha256:`, `sample_`
    rests = [cell[common:] for cell in cells]
    every = "".join(rests)
    if not _varies(rests) or not re.search(r"\d", every):
        return False
    if re.fullmatch(r"[0-9a-f]+|[0-9A-F]+", every):
        return len(rests[0]) >= SHORTEST and bool(re.search("[a-fA-F]", every))
    is_base64 = re.fullmatch(r"[0-9A-Za-z+/_=-]+", every) is not None
    return is_base64 and len(rests[0]) >= LONG and not every.isupper() | every.islower()


def _common_start(cells: Sequence[str]) -> int:
    low, high = min(cells), max(cells)
    differs = (at for at, pair in enumerate(zip(low, high, strict=True)) if pair[0] != pair[1])
    return next(differs, len(low))


def _varies(cells: Sequence[Spelled]) -> bool:
    """Whether no place holds the same character in all of many cells; padding may."""
    places = zip(
        *(cell.rstrip("=") if isinstance(cell, str) else cell for cell in cells), strict=False
    )
    return len(cells) < FEW or all(len(set(place)) > 1 for place in places)


Value: TypeAlias = int | float | str | bytes
Text: TypeAlias = bytes | list[bytes]  # a text cell, or a cell that lists tokens

SHORTEST_PART = 12  # a shorter piece of the code may stand in it by accident


@dataclass(frozen=True, slots=True)
class Placements:
    """Where a cell repeats the code, piece by piece in the order of the code.

    Bytes `starts[i] : starts[i] + lengths[i]` of the code stand at byte `ats[i]` of the cell's item
    `items[i]`; a text cell has the item 0 only.
    """

    starts: Sequence[int]
    lengths: Sequence[int]
    ats: Sequence[int]
    items: Sequence[int]

    @classmethod
    def one(cls, start: int, length: int, at: int) -> "Placements":
        """A single piece in a text cell."""
        return cls((start,), (length,), (at,), (0,))


Placer: TypeAlias = Callable[[bytes, Text], Placements | None]


def place_copy(code: bytes, cell: Text) -> Placements | None:
    """The cell is the code."""
    return Placements.one(0, len(code), 0) if cell == code else None


def place_stripped(code: bytes, cell: Text) -> Placements | None:
    """The cell is the code without the white space around it."""
    kept = code.strip()
    return Placements.one(code.find(kept), len(kept), 0) if cell == kept else None


def place_whole(code: bytes, cell: Text) -> Placements | None:
    """The cell has the code in it, once: a prompt, a whole file."""
    if isinstance(cell, list) or not code.strip() or cell.count(code) != 1:
        return None
    return Placements.one(0, len(code), cell.find(code))


def place_part(code: bytes, cell: Text) -> Placements | None:
    """The code has the cell in it, once: a signature, a body."""
    if isinstance(cell, list) or len(cell) < SHORTEST_PART or code.count(cell) != 1:
        return None
    return Placements.one(code.find(cell), len(cell), 0)


def place_tokens(code: bytes, cell: Text) -> Placements | None:
    """The cell lists the code's tokens, maybe without comments and strings."""
    if isinstance(cell, bytes) or (starts := _align(code, cell)) is None:
        return None
    return Placements(starts, [*map(len, cell)], [0] * len(cell), range(len(cell)))


def place_joined_tokens(code: bytes, cell: Text) -> Placements | None:
    """The cell is the code's tokens with one blank between them."""
    if isinstance(cell, list) or (starts := _align(code, tokens := cell.split(b" "))) is None:
        return None
    lengths = [*map(len, tokens)]
    ats = [*accumulate((length + 1 for length in lengths), initial=0)]
    return Placements(starts, lengths, ats[:-1], [0] * len(tokens))


PLACERS: dict[str, Placer] = {
    "copy": place_copy,
    "stripped copy": place_stripped,
    "text with the code": place_whole,
    "joined tokens": place_joined_tokens,
    "part of the code": place_part,
    "tokens": place_tokens,
}


def _align(code: bytes, tokens: Sequence[bytes]) -> list[int] | None:
    """Where each token stands when they are read off the code in order; None when they are not."""
    left_out = skipped_by_tokenizers()
    starts: list[int] = []
    at = 0
    for token in tokens:
        while not code.startswith(token, at):
            if (gap := left_out.match(code, at)) is None:
                return None
            at = gap.end()
        starts.append(at)
        at += len(token)
    while at < len(code):
        if (gap := left_out.match(code, at)) is None:
            return None
        at = gap.end()
    return starts if any(tokens) else None


def _mean(lengths: Sequence[int]) -> float:
    return sum(lengths) / len(lengths) if lengths else 0.0


def _line_lengths(code: str) -> list[int]:
    return [len(line) for line in code.splitlines()]


COUNTS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "bytes": lambda code: len(code.encode()),
    "lines": lambda code: len(code.splitlines()),
    "line feeds": lambda code: code.count("\n"),
    "line feeds plus one": lambda code: code.count("\n") + 1,
    "lines that are not blank": lambda code: sum(map(bool, map(str.strip, code.splitlines()))),
    "words": lambda code: len(code.split()),
    "word characters and signs": lambda code: len(re.findall(r"\w+|[^\w\s]", code)),
    "longest line": lambda code: max(_line_lengths(code), default=0),
    "characters without white space": lambda code: len("".join(code.split())),
    "crc32 as a number": lambda code: zlib.crc32(code.encode()),
    "adler32 as a number": lambda code: zlib.adler32(code.encode()),
}
FRACTIONS: dict[str, Callable[[str], float]] = {
    "mean line length": lambda code: _mean(_line_lengths(code)),
    "mean line length, split at line feeds": lambda code: _mean([*map(len, code.split("\n"))]),
    "alphanumeric fraction": lambda code: _mean([*map(str.isalnum, code)]),
    "alphabetic fraction": lambda code: _mean([*map(str.isalpha, code)]),
}
ROUNDINGS: dict[str, Callable[[float], float]] = {
    "": float,
    ", single precision": lambda value: float(np.float32(value)),
    **{f", {n} digits": lambda value, n=n: round(value, n) for n in (1, 2, 3, 4, 5, 6)},  # type: ignore[misc]
    ", rounded": lambda value: round(value),
}


def _fractions() -> dict[str, Callable[[str], float]]:
    cached = {name: lru_cache(maxsize=8)(compute) for name, compute in FRACTIONS.items()}
    return {
        name + rounding: lambda code, compute=compute, shorten=shorten: shorten(compute(code))  # type: ignore[misc]
        for name, compute in cached.items()
        for rounding, shorten in ROUNDINGS.items()
    }


NUMBERS: dict[str, Callable[[str], int | float]] = {**COUNTS, **_fractions()}
VALUES: dict[str, Callable[[str], Value]] = {**HASHES, **NUMBERS}
