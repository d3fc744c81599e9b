"""The tree against RFC 6962's own definition, written as the RFC writes it, and known roots."""

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.evidence.merkle import EMPTY, MerkleTree, hash_leaf, root_from

# inputs and roots that implementations of Certificate Transparency agree on
INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
INPUTS += ["606162636465666768696a6b6c6d6e6f"]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def by_definition(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, section 2.1: split at the largest power of two below the number of leaves."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    middle = 1
    while middle * 2 < len(leaves):
        middle *= 2
    left, right = by_definition(leaves[:middle]), by_definition(leaves[middle:])
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_of(leaves: Sequence[bytes]) -> MerkleTree:
    return MerkleTree(map(hash_leaf, leaves))


@pytest.mark.parametrize("size", ROOTS)
def test_the_root_is_the_one_that_others_compute(size: int) -> None:
    assert tree_of([bytes.fromhex(text) for text in INPUTS[:size]]).root.hex() == ROOTS[size]


@given(st.lists(st.binary(max_size=4), max_size=40))
def test_the_root_is_that_of_the_definition(leaves: list[bytes]) -> None:
    assert tree_of(leaves).root == by_definition(leaves)


@given(st.lists(st.binary(max_size=4), min_size=1, max_size=40), st.data())
def test_every_leaf_leads_to_the_root_by_its_path(leaves: list[bytes], data: st.DataObject) -> None:
    tree = tree_of(leaves)
    index = data.draw(st.integers(0, len(leaves) - 1))
    assert root_from(hash_leaf(leaves[index]), index, len(leaves), tree.path(index)) == tree.root


@given(st.lists(st.binary(max_size=4), min_size=2, max_size=20, unique=True), st.data())
def test_another_leaf_place_or_path_leads_elsewhere(
    leaves: list[bytes], data: st.DataObject
) -> None:
    tree = tree_of(leaves)
    index = data.draw(st.integers(0, len(leaves) - 1))
    other = data.draw(st.integers(0, len(leaves) - 1).filter(lambda each: each != index))
    path, size = tree.path(index), len(leaves)
    leaf = hash_leaf(leaves[index])
    assert root_from(hash_leaf(leaves[other]), index, size, path) != tree.root
    assert root_from(leaf, other, size, path) != tree.root
    assert root_from(leaf, index, size, path[:-1]) != tree.root
    assert root_from(leaf, index, size, [*path, leaf]) != tree.root


def test_a_place_outside_the_tree_leads_nowhere() -> None:
    assert root_from(EMPTY, 3, 3, []) is None
    with pytest.raises(IndexError, match="no leaf 3 among 3"):
        tree_of([b"a", b"b", b"c"]).path(3)
