"""Reading and writing files of lines in blocks, plain or gzip."""

import gzip
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from isal import igzip_threaded, isal_zlib

from puzzlemark.errors import CorpusError

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 64 << 20  # a longer line is no record, and would be held in memory several times
# the stubs of isal declare its exception class as an exception
_DAMAGE: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, isal_zlib.error)  # type: ignore[assignment]
GZIP_LEVEL = 2  # level 3 takes four times as long and saves five percent


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take these bytes."""
        ...


def read_blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces of about a megabyte, each of whole lines."""
    try:
        with _open(path) as stream:
            yield from _whole_lines(stream, path)
    except _DAMAGE as exc:
        raise CorpusError(f"{path}: damaged or truncated gzip ({exc}); fetch it again") from exc
    except OSError as exc:
        raise CorpusError(f"{path}: {exc.strerror or exc}; check the file") from exc


@contextmanager
def write_blocks(path: Path) -> Iterator[Sink]:
    """Write the file; its bytes depend on what is written only, not on the time or its name."""
    with path.open("wb") as stream:
        if not _is_gzip(path):
            yield stream
            return
        with ThreadPoolExecutor(1) as thread:
            packer = _Gzip(stream, thread)
            yield packer
            packer.finish()


def _whole_lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    pending: list[bytes] = []
    line, length = 1, 0  # of the line that is pending
    while chunk := stream.read(BLOCK_BYTES):
        end = chunk.find(b"\n")
        if length + (len(chunk) if end < 0 else end) > LONGEST_LINE:
            raise CorpusError(
                f"{path}:{line}: a line of more than {LONGEST_LINE >> 20} MiB; "
                "split the record, or leave it out"
            )
        if end < 0:  # a line longer than a block
            pending.append(chunk)
            length += len(chunk)
            continue
        cut = chunk.rfind(b"\n") + 1
        block = b"".join((*pending, chunk[:cut]))
        line += block.count(b"\n")
        pending, length = [chunk[cut:]], len(chunk) - cut
        yield block
    if rest := b"".join(pending):
        yield rest


def _open(path: Path) -> IO[bytes]:
    if _is_gzip(path):
        # unpacked in a thread of its own, a few blocks ahead
        opened: IO[bytes] = igzip_threaded.open(path, "rb", threads=1)  # type: ignore[no-untyped-call]
        return opened
    return path.open("rb")


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


class _Gzip:
    """A gzip member without a time and a file name in its header, packed beside the caller."""

    def __init__(self, stream: IO[bytes], thread: ThreadPoolExecutor) -> None:
        self._stream, self._thread = stream, thread
        self._packer = isal_zlib.compressobj(GZIP_LEVEL, isal_zlib.DEFLATED, 31)
        self._packing: Future[bytes] | None = None  # one block at a time, in order
        self._pending = bytearray()

    def write(self, data: bytes, /) -> None:
        # The packed bytes depend on the pieces that the packer is given. Pieces of one size are
        # the same whoever writes; the blocks of a dataset would show how much its marks added.
        self._pending += data
        at = 0
        while len(self._pending) - at >= BLOCK_BYTES:
            self._pack(bytes(self._pending[at : at + BLOCK_BYTES]))
            at += BLOCK_BYTES
        del self._pending[:at]

    def finish(self) -> None:
        self._pack(bytes(self._pending))
        self._wait()
        self._stream.write(self._packer.flush())

    def _pack(self, piece: bytes) -> None:
        self._wait()
        self._packing = self._thread.submit(self._packer.compress, piece)

    def _wait(self) -> None:
        if self._packing is not None:
            self._stream.write(self._packing.result())
