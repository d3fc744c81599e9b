"""What DeCoMa counts, as numbers: the terms of functions, in memory and on disk.

Terms are coded by a 64-bit hash of their text, so that no vocabulary is ever held: two of ten
million texts share a code with a probability below one in 100,000.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from puzzlemark.detectors._decoma_tally import Codes, Numbers, spilling
from puzzlemark.detectors._keeping import pack_arrays, unpack_arrays


@dataclass(frozen=True, slots=True)
class Channel:
    """The terms of one channel of every function, one after the other, each once a function."""

    codes: Codes
    offsets: Numbers  # those of function i are codes[offsets[i] : offsets[i + 1]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Numbers:
        """How many terms each function has."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Numbers:
        """The function that each term stands in."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def without_first(self) -> "Channel":
        """Each function without its first term."""
        first = np.zeros(len(self.codes) + 1, np.bool_)
        first[self.offsets[:-1][self.sizes > 0]] = True
        wanted = ~first[:-1]
        return Channel.cut(self.codes[wanted], np.maximum(self.sizes - 1, 0))

    def numbered(self, terms: Codes) -> "Channel":
        """The places of its codes among some, ascending; without those that are none of them."""
        places = np.searchsorted(terms, self.codes)
        places[places == len(terms)] = 0
        wanted = terms[places] == self.codes if len(terms) else np.zeros(len(places), np.bool_)
        sizes = np.bincount(self.owners[wanted], minlength=len(self))
        return Channel.cut(places[wanted].astype(np.uint64), sizes)

    @staticmethod
    def of(functions: Sequence[Sequence[int]]) -> "Channel":
        """From a list of codes a function."""
        sizes = np.fromiter(map(len, functions), np.int64, len(functions))
        flat = (code for codes in functions for code in codes)
        return Channel.cut(np.fromiter(flat, np.uint64, int(sizes.sum())), sizes)

    @staticmethod
    def cut(codes: Codes, sizes: Numbers) -> "Channel":
        """So many codes for each function."""
        return Channel(codes, np.concatenate(([0], np.cumsum(sizes))))

    @staticmethod
    def joined(parts: Sequence["Channel"]) -> "Channel":
        """One after the other."""
        codes = np.concatenate([part.codes for part in parts])
        return Channel.cut(codes, np.concatenate([part.sizes for part in parts]))


@dataclass(frozen=True, slots=True)
class Coded:
    """Both channels of some functions."""

    variables: Channel
    expressions: Channel

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def pairs(self) -> int:
        """How many pairs of all kinds they have, at most."""
        v, e = self.variables.sizes, self.expressions.sizes
        return int((2 * v * e + v * (v - 1) // 2 + e * (e - 1) // 2).sum())

    def pack(self) -> bytes:
        """As bytes, to be kept."""
        both = (self.variables, self.expressions)
        return pack_arrays([array for each in both for array in (each.codes, each.offsets)])

    @staticmethod
    def unpack(content: bytes) -> "Coded":
        """The same again."""
        codes, offsets, others, their_offsets = unpack_arrays(content)
        return Coded(Channel(codes, offsets), Channel(others, their_offsets))

    @staticmethod
    def joined(parts: Sequence["Coded"]) -> "Coded":
        """One after the other."""
        return Coded(
            Channel.joined([part.variables for part in parts]),
            Channel.joined([part.expressions for part in parts]),
        )


class Shelf:
    """Coded parts of a dataset in a file without a name: added once, read again in order."""

    def __init__(self, folder: Path) -> None:
        self._file: Any = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - see __exit__
        self._folder = folder
        self._parts = 0
        self.functions = 0

    def __enter__(self) -> "Shelf":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, part: Coded) -> None:
        """Put a part behind the others."""
        with spilling(self._folder):
            for channel in (part.variables, part.expressions):
                np.save(self._file, channel.codes)
                np.save(self._file, channel.sizes.astype(np.int32))
        self._parts += 1
        self.functions += len(part)

    def groups(self, pairs: int) -> Iterator[list[Coded]]:
        """All parts in order, a few at a time: no more than so many pairs, or one part."""
        self._file.seek(0)
        group: list[Coded] = []
        room = pairs
        for _ in range(self._parts):
            part = Coded(self._read(), self._read())
            if group and part.pairs > room:
                yield group
                group, room = [], pairs
            group.append(part)
            room -= part.pairs
        if group:
            yield group

    def _read(self) -> Channel:
        codes, sizes = np.load(self._file), np.load(self._file)
        return Channel.cut(codes, sizes.astype(np.int64))
