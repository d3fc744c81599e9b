"""Variables in columns: who shares a group, and what is left out of a count."""

import numpy as np

from puzzlemark.habits.seen import FOLDS, TRAITS, Gathering, Seen, Spot
from puzzlemark.syntax.surroundings import HOLE, Surroundings

NAMES = ("i", "idx", "index")


def spot(member: int, *, heads: tuple[str, ...] = ("range()",), **fields: object) -> Spot:
    around = Surroundings(
        function="work",
        kind="for_statement block",
        heads=heads,
        windows=((":", "\n", "for", HOLE, "in", "range", "("),),
        words=("rows", "idxs"),
        locals=("rows", "n"),
        occurrences=2,
        lines=3,
    )
    return Spot("python", NAMES, member, bool(fields.get("is_parameter")), around)


def gather(*found: tuple[Spot, int, str]) -> Seen:
    gathering = Gathering()
    for number, (each, record, project) in enumerate(found):
        assert gathering.add(each, record, project, "a.py") == number
    return gathering.seen()


def test_groups_are_of_one_set_and_the_same_contexts() -> None:
    java = Spot("java", NAMES, 0, False, spot(0).around)
    seen = gather(
        (spot(0), 0, "one"),
        (spot(1), 1, "one"),
        (spot(1, heads=("x",)), 2, "two"),
        (java, 3, "one"),
    )
    assert [len(set(seen.groups(*each).tolist())) for each in ((), ("project",), ("heads",))] == [
        2,
        3,
        3,
    ]
    assert seen.groups("project")[0] == seen.groups("project")[1] != seen.groups("project")[3]


def test_a_whole_fold_is_left_out_of_its_own_counts() -> None:
    # records 0 and FOLDS are of one fold
    seen = gather((spot(0), 0, "p"), (spot(1), FOLDS, "p"), (spot(2), 1, "p"), (spot(2), 2, "p"))
    rows = np.arange(4)
    counts = seen.count_others(seen.groups(), seen.is_local, rows)
    assert counts.tolist() == [[0, 0, 2], [0, 0, 2], [1, 1, 1], [1, 1, 1]]
    whole = seen.count_others(seen.groups(), seen.is_local, rows, folds=False)
    assert whole.tolist() == [[1, 1, 2]] * 4


def test_what_is_known_of_each() -> None:
    seen = gather((spot(1, is_parameter=True), 0, "p"))
    assert not seen.is_local[0]
    assert seen.akin.tolist() == [[False, True, False]]  # idxs begins with idx; i is too short
    assert seen.lengths.tolist() == [[1, 3, 5]]
    traits = dict(zip(TRAITS, seen.traits[0].tolist(), strict=True))
    assert traits == {
        "occurrences": 2,
        "lines": 3,
        "locals": 2,
        "words": 2,
        "short": 0.5,
        "length": 2.5,
    }
    assert (seen.windows < 0).sum() == 1


def test_nothing_was_seen() -> None:
    seen = Gathering().seen()
    assert len(seen) == 0
    assert seen.in_set.shape == (0, 1)
