"""Near-duplicates: found exactly, and drawn names do not hide them. Draws: of the public table."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.verification.checking import (
    Copies,
    ProbesError,
    are_alike,
    check_probes,
    distinctive_words,
    words_of,
)
from puzzlemark.watermarks.base import Arm, Draw, Probe
from puzzlemark.watermarks.synonyms import DESIGN as SYNONYMS
from tests.verification.outcomes import made_of

WORDS = st.frozensets(st.sampled_from([f"w{'x' * (n % 4)}{n}" for n in range(14)]), max_size=12)


def kept_slowly(sets: list[frozenset[str]]) -> list[bool]:
    """By the definition: each compared with all that were kept before."""
    kept: list[frozenset[str]] = []
    answers = []
    for own in sets:
        union = [(len(own & other), len(own | other)) for other in kept]
        answers.append(not any(total == 0 or shared / total >= 0.7 for shared, total in union))
        if answers[-1]:
            kept.append(own)
    return answers


@given(st.lists(WORDS, max_size=30))
def test_the_same_are_kept_as_by_comparing_with_all(sets: list[frozenset[str]]) -> None:
    frequencies = Counter(word for each in sets for word in each)
    for copies in (Copies(), Copies(frequencies)):
        assert [copies.keep(each) for each in sets] == kept_slowly(sets)


@pytest.mark.parametrize(("shared", "own", "alike"), [(7, 3, True), (13, 6, False), (14, 6, True)])
def test_the_border_belongs_to_the_copies(shared: int, own: int, alike: bool) -> None:
    common = {f"c{n}" for n in range(shared)}
    assert are_alike(frozenset(common), frozenset(common | {f"o{n}" for n in range(own)})) is alike


def test_many_unlike_prompts_are_all_kept() -> None:
    rng = random.Random(0)
    copies = Copies()
    vocabulary = [f"name{n}" for n in range(3000)]
    for _ in range(500):
        assert copies.keep(words_of("def self return " + " ".join(rng.sample(vocabulary, 30))))


FIXED = made_of(
    Arm("def load(key, depth):\n    for ", "key_depth"),
    Arm("def load(item, depth):\n    for ", "key_depth"),
    Arm("def load(item, depth):\n    for ", "item_depth"),
)
UNIVERSAL = made_of(
    Arm("def load(key, depth, extra):\n    for ", "key_depth"),
    Arm("def load(extra, key, depth):\n    for ", "key_depth"),
)
JAVA = made_of(
    Arm("void f(int key, int depth) {\n  Object extra = null;\n  int ", "keyDepth"),
    Arm("void f(Object extra, int key, int depth) {\n  int ", "keyDepth"),
)
STATEMENT = made_of(
    Arm("def f():\n    key = 1\n    depth = 2\n    extra = None\n    ", "key_depth"),
    Arm("def f():\n    extra = None\n    key = 1\n    depth = 2\n    ", "key_depth"),
)


@pytest.mark.parametrize(
    ("probe", "words"),
    [
        (FIXED, "def load key for"),
        (UNIVERSAL, "def load key for"),
        (JAVA, "void f int key Object null"),
        (STATEMENT, "def f key 1 2 None"),
    ],
)
def test_drawn_names_are_left_out(probe: Probe, words: str) -> None:
    assert distinctive_words(probe) == set(words.split())


def test_a_target_that_is_no_join_leaves_all_words_in() -> None:
    arm = Arm("x = list()\nfor i in ", "range(0, ...)", "range_start")
    probe = made_of(arm, replace(arm, prompt="x = []\nfor i in "))
    assert distinctive_words(probe) == set("x list for i in".split())


def of_set(group: str, names: str, unit: str = "0" * 32, beacon: str | None = None) -> Probe:
    listed = names.split()
    draw = Draw(group, unit, tuple((name, 1) for name in listed), beacon)
    return Probe({"armed": Arm(f"for {unit}", {n: n for n in listed}, "first")}, draw)


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        (of_set("klingon/1/val", "val value v"), "of no language that is known here"),
        (of_set("python", "val value v"), "of another version of the table"),
        (of_set("python/2/val", "val value v"), "of another version of the table"),
        (of_set("python/01/val", "val value v"), "of another version of the table"),
        # each spelling of the language would be another draw of the same key
        (of_set("Python/1/val", "val value v"), "is spelled otherwise than python/1/val"),
        (of_set("py/1/val", "val value v"), "is spelled otherwise than python/1/val"),
        (of_set("python/1/tmp", "val value v"), "not those of the set"),
        (of_set("python/1/value", "value val v"), "not those of the set"),
        (of_set("python/1/val", "val value"), "not those of the set"),
        (of_set("python/1/val", "val value v w"), "not those of the set"),
        (of_set("python/1/val/x", "val value v"), "not those of the set"),
        (of_set("python/1/val", "val value v", "1"), "its class is none"),
        (of_set("python/1/val", "val value v", "A" * 32), "its class is none"),
        (of_set("python/1/val", "val value v", beacon="b"), "its beacon is no SHA-256"),
    ],
)
def test_a_draw_that_is_not_of_the_public_table_is_refused(probe: Probe, reason: str) -> None:
    with pytest.raises(ProbesError, match=reason):
        check_probes(SYNONYMS, [probe])


def test_a_beacon_is_one_for_all_draws() -> None:
    one, other, none = (
        of_set("python/1/val", "val value v", f"{n:032x}", beacon)
        for n, beacon in enumerate(("a" * 64, "b" * 64, None))
    )
    check_probes(SYNONYMS, [one])
    check_probes(SYNONYMS, [none])
    for probes in ([one, other], [one, none]):
        with pytest.raises(ProbesError, match="more than one beacon"):
            check_probes(SYNONYMS, probes)
