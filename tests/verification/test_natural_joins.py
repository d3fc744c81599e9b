"""What `benchmarks/natural_joins.py` counts, on examples counted by hand."""

from pathlib import Path

import orjson
import pytest

from benchmarks.natural_joins import functions_of, joined_pairs, shares


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        ("a b c a_b", ("first",)),
        ("a b c b_c", ("second",)),
        ("a b c d e a_b b_c c_d d_e", ("first", "second", "third", "fourth")),
        ("a b a_b c", ()),  # third, where the second pair could not be joined
        ("a b c c_d d", ()),  # not after its pair
        ("a b c d", ()),
    ],
)
def test_a_pair_is_joined_by_a_later_variable(names: str, pairs: tuple[str, ...]) -> None:
    assert joined_pairs(names.split(), "snake") == pairs


def test_java_joins_in_camel_case() -> None:
    assert joined_pairs("key map x keyMap".split(), "camel") == ("first",)


def test_functions_with_four_plain_variables_count_once_each(tmp_path: Path) -> None:
    four = "def f(a, b):\n    c = a\n    for _ in b:\n        d = c\n    return d\n"
    codes = [four, four, "def g(a, b):\n    c = a\n    return c\n", "def broken("]
    lines = [{"id": str(n), "language": "python", "code": code} for n, code in enumerate(codes)]
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert list(functions_of(path, set())) == [("python", "snake", ("a", "b", "c", "d"))]


def test_the_share_has_its_exact_interval() -> None:
    assert shares(26, 10) == ("0.72 (0.55-0.86)", "2.60 (1.21-6.04)")
    assert shares(4, 0) == ("1.00 (0.40-1.00)", "inf (0.66-inf)")
    assert shares(0, 0) == ("none was joined", "")
