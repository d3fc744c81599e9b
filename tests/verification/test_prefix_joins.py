"""What `benchmarks/prefix_joins.py` counts, on examples counted by hand."""

import pytest

from benchmarks.prefix_joins import Names, count, is_joined, ratio


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        ("key x key_x", {"next", "any"}),
        ("key x y key_y", {"any"}),
        ("x key y key_x", {"any"}),
        ("key_x key x y", set()),  # not after them
        ("key x y x_key", set()),  # the other way round
    ],
)
def test_a_later_variable_joins_the_name_with_another(names: str, kinds: set[str]) -> None:
    words = names.split()
    at = words.index("key")
    assert {kind for kind in ("next", "any") if is_joined(words, at, "snake", kind)} == kinds


def test_ordinary_names_are_counted_in_the_sample_only() -> None:
    rows = [("key row key_row", True), ("key row z", False), ("row max_row z", True)]
    found = [Names("python", "snake", tuple(names.split()), sampled) for names, sampled in rows]
    having, joined = count(found, "next")
    assert having == {("prefix", "key"): 2, ("ordinary", "key"): 1, ("ordinary", "row"): 1}
    assert joined["prefix", "key"] == 1


def test_the_ratio_has_its_exact_interval() -> None:
    assert ratio((6, 829), (24, 10301)) == "3.1 (1.0-7.8)"
    assert ratio((0, 193), (5, 18852)) == "0.0 (0.0-106.6)"
    assert ratio((0, 5), (0, 7)) == "none was joined"
