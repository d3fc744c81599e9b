"""Digests of a corpus: the same for any batching, sharding, format and compression."""

import hashlib
from collections.abc import Iterable

RECORD_BYTES = 16


def record_digest(id: str, code: str | None) -> bytes:  # noqa: A002
    """Sixteen bytes for one record; a null code and an empty code differ."""
    # JSON can spell a lone surrogate, which strict UTF-8 refuses
    name = id.encode("utf-8", "surrogatepass")
    state = hashlib.blake2b(digest_size=RECORD_BYTES)
    # the length keeps ("ab", "c") apart from ("a", "bc")
    state.update(len(name).to_bytes(8, "little") + name)
    if code is not None:
        state.update(b"\x01" + code.encode("utf-8", "surrogatepass"))
    return state.digest()


def corpus_digest(records: bytes | memoryview | Iterable[bytes]) -> str:
    """Hexadecimal SHA-256 of the records' digests in dataset order, concatenated or one by one."""
    state = hashlib.sha256()
    for piece in (records,) if isinstance(records, bytes | memoryview) else records:
        state.update(piece)
    return state.hexdigest()
