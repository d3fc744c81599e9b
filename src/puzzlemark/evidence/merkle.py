"""A Merkle tree as RFC 6962 defines it: one hash for many leaves, and a short proof for each.

Whoever knows the root can be shown one leaf with its path, and learns nothing of the others. A
leaf must hold a salt: a text that can be guessed could be confirmed by its hash.
"""

import hashlib
from collections.abc import Iterable, Sequence

EMPTY = hashlib.sha256(b"").digest()  # the root of no leaves


def hash_leaf(content: bytes) -> bytes:
    """The hash of a leaf; its first byte tells it from an inner node."""
    return hashlib.sha256(b"\x00" + content).digest()


def _hash_pair(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class MerkleTree:
    """All hashes of a tree, level by level: `MerkleTree(map(hash_leaf, texts)).root`."""

    def __init__(self, leaves: Iterable[bytes]) -> None:
        level = list(leaves)
        self._levels = [level]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            # a last one without a neighbour goes up as it is: the split that the RFC prescribes
            level = [_hash_pair(*pair) for pair in pairs] + level[len(level) & ~1 :]
            self._levels.append(level)

    @property
    def root(self) -> bytes:
        """The hash that stands for all leaves."""
        return self._levels[-1][0] if self._levels[-1] else EMPTY

    def __len__(self) -> int:
        return len(self._levels[0])

    def path(self, index: int) -> list[bytes]:
        """The neighbours on the way from a leaf to the root, from below."""
        if not 0 <= index < len(self):
            raise IndexError(f"no leaf {index} among {len(self)}")
        found = []
        for level in self._levels[:-1]:
            if (index ^ 1) < len(level):
                found.append(level[index ^ 1])
            index >>= 1
        return found


def root_from(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a leaf and its path lead to; None where no tree of that size has such a path.

    A leaf is in the tree when this is the tree's root.
    """
    if not 0 <= index < size:
        return None
    found, rest = leaf, list(path)
    while size > 1:
        if (index ^ 1) < size:
            if not rest:
                return None
            other = rest.pop(0)
            found = _hash_pair(other, found) if index & 1 else _hash_pair(found, other)
        index, size = index >> 1, (size + 1) >> 1
    return None if rest else found
