"""The pages of a Parquet file, as any reader of its bytes sees them; pyarrow does not show them.

A column chunk is a run of pages, each with a header in Thrift's compact protocol:
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from puzzlemark.errors import CorpusError

Kind: TypeAlias = Literal["data", "dictionary", "other"]
Fields: TypeAlias = dict[int, Any]  # of a Thrift struct, by the number of the field

ENCODINGS = {
    0: "PLAIN",
    2: "PLAIN_DICTIONARY",
    3: "RLE",
    4: "BIT_PACKED",
    5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY",
    7: "DELTA_BYTE_ARRAY",
    8: "RLE_DICTIONARY",
    9: "BYTE_STREAM_SPLIT",
}
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # PageType
_CODECS = {"LZ4": "lz4_raw", "LZ4_RAW": "lz4_raw"}


@dataclass(frozen=True, slots=True)
class Page:
    """One page; `rows` are those that begin in it."""

    kind: Kind
    version: int  # of the data page's header, 1 or 2
    rows: int
    values: int
    encoding: str
    size: int  # unpacked
    has_checksum: bool
    has_statistics: bool


def read_pages(path: Path, file: Any, group: int, column: int) -> tuple[Page, ...]:
    """The pages of one column in one row group of an open `pq.ParquetFile`."""
    chunk = file.metadata.row_group(group).column(column)
    levels = file.schema.column(column).max_repetition_level
    starts = (
        chunk.data_page_offset,
        chunk.dictionary_page_offset if chunk.has_dictionary_page else None,
    )
    start = min(at for at in starts if at)
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        try:
            found = tuple(_walk(content, start, chunk, levels))
        except (IndexError, ValueError, OSError, pa.ArrowException) as exc:
            raise CorpusError(
                f"{path}: damaged page in column {chunk.path_in_schema!r} ({exc}); fetch it again"
            ) from exc
    assert sum(page.values for page in found if page.kind == "data") == chunk.num_values
    return found


def _walk(content: mmap.mmap, at: int, chunk: Any, levels: int) -> Iterator[Page]:
    end = at + chunk.total_compressed_size
    while at < end:
        header, body = _Compact(content, at).read_header()
        at = body + header[3]
        yield _page(header, content[body:at] if levels else b"", chunk.compression, levels)


def _page(header: Fields, body: bytes, codec: str, levels: int) -> Page:
    kind: Kind = "other"
    version, rows, inner = 1, 0, {1: 0, 2: 0}
    if header[1] == _DATA:
        kind, inner = "data", header[5]
        rows = _rows(body, header[2], codec, levels, inner[1]) if levels else inner[1]
    elif header[1] == _DATA_2:
        kind, version, inner = "data", 2, header[8]
        rows = inner[3]
    elif header[1] == _DICTIONARY:
        kind, inner = "dictionary", header[7]
    encoding = inner[4] if version == 2 else inner[2]
    return Page(
        kind,
        version,
        rows,
        inner[1],
        ENCODINGS.get(encoding, str(encoding)),
        header[2],
        has_checksum=4 in header,
        has_statistics=bool(inner.get(8 if version == 2 else 5)),
    )


def _rows(body: bytes, size: int, codec: str, levels: int, values: int) -> int:
    """How many rows begin in a page of lists: those values whose repetition level is 0."""
    if codec != "UNCOMPRESSED":
        body = pa.decompress(body, size, _CODECS.get(codec, codec.lower()), asbytes=True)
    length = int.from_bytes(body[:4], "little")
    return count_zeros(body[4 : 4 + length], levels.bit_length(), values)


def count_zeros(packed: bytes, width: int, values: int) -> int:
    """How many of the first `values` numbers are 0, in Parquet's runs and packed bits."""
    zeros, at = 0, 0
    while values > 0:
        header, at = _varint(packed, at)
        if header & 1:
            length = (header >> 1) * width
            bits = np.unpackbits(
                np.frombuffer(packed[at : at + length], np.uint8), bitorder="little"
            )
            numbers = bits.reshape(-1, width).max(axis=1)[:values]
            zeros += int(np.count_nonzero(numbers == 0))
            taken = (header >> 1) * 8
        else:
            length = (width + 7) // 8
            taken = header >> 1
            zeros += min(taken, values) * (not any(packed[at : at + length]))
        at += length
        values -= taken
    return zeros


def _varint(content: bytes | mmap.mmap, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        number |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            return number, at


class _Compact:
    """A reader of Thrift's compact protocol."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        self._content, self._at = content, at

    def read_header(self) -> tuple[Fields, int]:
        """A struct, and the offset just after it."""
        return self._struct(), self._at

    def _struct(self) -> Fields:
        fields: Fields = {}
        number = 0
        while byte := self._byte():
            step, kind = byte >> 4, byte & 0x0F
            number = number + step if step else self._integer()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):  # a bool in a list is a byte
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind == 7:
            return self._take(8)
        if kind == 8:
            return self._take(self._unsigned())
        if kind in (9, 10):
            byte = self._byte()
            size = byte >> 4 if byte >> 4 < 15 else self._unsigned()
            return [self._value(byte & 0x0F) for _ in range(size)]
        if kind == 12:
            return self._struct()
        raise ValueError(f"type {kind} in a page header")

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._content[self._at - size : self._at]

    def _unsigned(self) -> int:
        number, self._at = _varint(self._content, self._at)
        return number

    def _integer(self) -> int:
        number = self._unsigned()
        return number >> 1 ^ -(number & 1)  # zigzag
