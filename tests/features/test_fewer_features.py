"""Asking for fewer features gives the same numbers for those that were asked for."""

import pytest

from puzzlemark.features.measure import DEFAULT, FEATURES, measure
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import parse


@pytest.mark.parametrize("wanted", [DEFAULT, ("ufcc",), ("mlcn", "cc"), ("tc",)])
def test_what_is_asked_for_does_not_depend_on_the_rest(
    stdlib_functions: list[tuple[str, str]], wanted: tuple[str, ...]
) -> None:
    for id_, code in stdlib_functions[::7]:
        tree = parse(Snippet(id_, code, "python"))
        all_ten = dict(zip(FEATURES, measure(tree), strict=True))
        some = dict(zip(FEATURES, measure(tree, wanted), strict=True))
        assert {name: some[name] for name in wanted} == {name: all_ten[name] for name in wanted}


def test_a_feature_that_costs_time_and_is_not_asked_for_is_0() -> None:
    tree = parse(Snippet("x", "def f(a):\n    for b in g(a):\n        h(b)\n", "python"))
    measured = dict(zip(FEATURES, measure(tree, DEFAULT), strict=True))
    assert (measured["ufcc"], measured["mlcn"]) == (0, 0)
    whole = dict(zip(FEATURES, measure(tree), strict=True))
    assert (whole["ufcc"], whole["mlcn"]) == (2, 1)
