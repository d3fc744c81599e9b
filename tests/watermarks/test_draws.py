"""What a key draws: by its definition, and as often as the weights say."""

import hashlib
import hmac
import json
import math
from collections import Counter
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from puzzlemark.watermarks._counting import Counts, Sighting
from puzzlemark.watermarks._draws import Draw

DRAW = Draw("python/1/tmp", "00ff", (("tmp", 3), ("temp", 1)))


def by_definition(draw: Draw, key: bytes) -> str:
    """As docs/watermarks/synonyms.md says it, without our code."""
    text = f"puzzlemark draw 1\n{draw.group}\n{draw.unit}\n{draw.beacon or ''}"
    digest = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    at = Fraction(int(digest, 16), 1 << 256) * sum(weight for _, weight in draw.weights)
    total = 0
    for name, weight in draw.weights:
        total += weight
        if at < total:
            return name
    raise AssertionError


def test_the_symbol_follows_from_key_group_unit_and_beacon_alone() -> None:
    for number in range(200):
        draw = Draw("java/1/val", f"{number:04x}", (("val", 5), ("value", 9), ("v", 1)), "b" * 64)
        assert draw.symbol(b"key") == by_definition(draw, b"key")


def test_each_symbol_is_drawn_as_often_as_its_weight_says() -> None:
    weights = (("a", 50), ("b", 30), ("c", 20), ("never", 0))
    found = Counter(Draw("g", str(n), weights).symbol(b"k") for n in range(20_000))
    assert found["never"] == 0
    for name, weight in weights[:3]:
        spread = math.sqrt(20_000 * weight / 100 * (1 - weight / 100))
        assert abs(found[name] - 200 * weight) < 4 * spread


def test_places_of_the_summed_weights() -> None:
    assert [DRAW.at(place) for place in range(4)] == ["tmp", "tmp", "tmp", "temp"]
    with pytest.raises(ValueError, match="beyond"):
        DRAW.at(4)


def test_another_key_unit_group_or_beacon_is_another_draw() -> None:
    def drawn(draw: Draw, key: bytes = b"one") -> list[str]:
        units = (Draw(draw.group, str(n), draw.weights, draw.beacon) for n in range(64))
        return [each.symbol(key) for each in units]

    plain = drawn(DRAW)
    assert drawn(DRAW) == plain
    assert drawn(DRAW, b"two") != plain
    assert drawn(Draw("python/2/tmp", "", DRAW.weights)) != plain
    assert drawn(Draw(DRAW.group, "", DRAW.weights, "a" * 64)) != plain


def test_prior_and_entropy() -> None:
    assert DRAW.prior == {"tmp": Fraction(3, 4), "temp": Fraction(1, 4)}
    assert Draw("g", "u", (("a", 1), ("b", 1))).entropy == pytest.approx(math.log(2))
    assert Draw("g", "u", (("a", 1), ("b", 0))).entropy == 0


@pytest.mark.parametrize(
    "weights",
    [
        (("a", 1),),
        (("a", 1), ("a", 2)),
        (("a", 0), ("b", 0)),
        (("a", -1), ("b", 2)),
        (("a", 1 << 70), ("b", 1)),
    ],
)
def test_what_is_no_draw_is_refused(weights: tuple[tuple[str, int], ...]) -> None:
    with pytest.raises(ValueError, match=r"draw|weights"):
        Draw("g", "u", weights)


def test_a_draw_of_a_file_is_read_strictly() -> None:
    reads = TypeAdapter(Draw)
    plain = asdict(DRAW)
    assert reads.validate_json(json.dumps(plain)) == DRAW
    wrongs: tuple[dict[str, Any], ...] = (
        {"extra": 1},
        {"unit": 7},
        {"weights": [["a", "1"], ["b", 2]]},
        {"weights": []},
    )
    for wrong in wrongs:
        with pytest.raises(ValidationError):
            reads.validate_json(json.dumps({**plain, **wrong}))


def test_weights_are_the_projects_counts_and_a_pull_to_the_share_of_all() -> None:
    counts = Counts(
        everywhere={"g": {"a": 6, "b": 3, "c": 1}},
        within={"mine": {"g": {"a": 1, "c": 1}}, "first": {"g": {"b": 2}}},
        homes={"shared": "first"},
    )
    # 1 + 2 x 0.6, 0 + 2 x 0.3, 1 + 2 x 0.1
    assert counts.weights(Sighting("g", "a", "own"), "mine", 2) == {"a": 11, "b": 3, "c": 6}
    # a project without any: the share of all
    assert counts.weights(Sighting("g", "a", "own"), "other", 2) == {"a": 6, "b": 3, "c": 1}
    # a copy has the chances of the first project that has it
    shared = Sighting("g", "a", "shared")
    assert counts.weights(shared, "mine", 2) == counts.weights(shared, "first", 2)
    assert counts.weights(shared, "mine", 2) == {"a": 6, "b": 13, "c": 1}


def test_the_digest_of_counts_does_not_depend_on_their_order() -> None:
    one = Counts({"g": {"a": 1, "b": 2}, "h": {"c": 1}}, {"p": {"g": {"a": 1}}})
    other = Counts({"h": {"c": 1}, "g": {"b": 2, "a": 1}}, {"p": {"g": {"a": 1}}})
    assert one.digest == other.digest
    assert one.digest != Counts({"g": {"a": 1, "b": 2}}).digest
