"""The informed attacker on a small world in which everybody names things by a known habit."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from puzzlemark.corpora.base import open_corpus
from puzzlemark.detectors._shadow_cells import Cell, find_cells
from puzzlemark.detectors.base import Suspicion, load_detector
from puzzlemark.engines.base import open_engine
from puzzlemark.errors import UsageError
from puzzlemark.languages.base import find
from puzzlemark.progress import no_progress
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.surroundings import HOLE
from puzzlemark.syntax.tree import parse

pytest.importorskip("sklearn")

NAMES = ("i", "idx", "index")
HABITS = {"one": (0.85, 0.1, 0.05), "two": (0.1, 0.85, 0.05), "three": (0.05, 0.1, 0.85)}


@dataclass(frozen=True, slots=True)
class World:
    """Functions with one variable each that could carry, and which of them do."""

    path: Path
    clean: Path
    carriers: set[int]


def function(name: str, rng: random.Random) -> str:
    call = rng.choice(("range", "sorted", "list", "reversed"))
    return (
        f"def work{rng.randrange(10**6)}(a):\n    for {name} in {call}(a):\n        use({name})\n"
    )


def make_world(place: Path, drawn: Callable[[str, random.Random], str], size: int = 1500) -> World:
    """A fifth of the functions carry a name that `drawn` gives; all others follow their habit."""
    rng = random.Random(7)
    records: list[dict[str, Any]] = []
    carriers: set[int] = set()
    for row in range(2 * size):
        project = rng.choice(list(HABITS))
        (name,) = rng.choices(NAMES, HABITS[project])
        if row < size and rng.random() < 0.2:
            carriers.add(row)
            name = drawn(project, rng)
        code = function(name, rng)
        records.append({"id": f"{row}", "repo": project, "language": "python", "code": code})
    paths = place / "suspect.jsonl", place / "clean.jsonl"
    for path, some in zip(paths, (records[:size], records[size:]), strict=True):
        path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in some))
    return World(*paths, carriers)


def by_habit(project: str, rng: random.Random) -> str:
    return rng.choices(NAMES, HABITS[project])[0]


def alike(_project: str, rng: random.Random) -> str:
    return rng.choice(NAMES)


def look(world: World, cache: Path, *, workers: int = 1, **settings: Any) -> Suspicion:
    detector = load_detector("synonym_shadow", {"rate": "0.2", "entropy": "0", **settings})
    with open_engine(None, workers) as engine:
        return detector.suspect(
            open_corpus(world.path),
            clean=open_corpus(world.clean),
            engine=engine,
            progress=no_progress,
            cache=cache,
        )


def precision_of_the_most_suspect(found: Suspicion, carriers: set[int], count: int) -> float:
    best = np.argsort(-found.scores, kind="stable")[:count].tolist()
    return sum(row in carriers for row in best) / count


def test_names_that_are_drawn_all_alike_are_found(tmp_path: Path) -> None:
    world = make_world(tmp_path, alike)
    found = look(world, tmp_path / "cache", drawn="uniform")
    base = len(world.carriers) / len(found)
    # by Bayes' rule a name that one in twenty has there was drawn with a chance of 63 %
    assert precision_of_the_most_suspect(found, world.carriers, 150) > base + 0.2


def test_names_that_are_drawn_by_nature_hide_among_the_others(tmp_path: Path) -> None:
    world = make_world(tmp_path, by_habit)
    found = look(world, tmp_path / "cache")
    base = len(world.carriers) / len(found)
    assert abs(precision_of_the_most_suspect(found, world.carriers, 150) - base) < 0.1


def test_a_name_that_does_not_fit_its_place_is_suspect(tmp_path: Path) -> None:
    # by nature a file object is `f`, and a loop variable `i`: no draw knows of that
    rng = random.Random(1)
    records: list[dict[str, Any]] = []
    carriers = set()
    for row in range(2000):
        is_file = rng.random() < 0.5
        name = "fh" if is_file else "f"
        if row < 1000 and rng.random() < 0.2:
            carriers.add(row)
            name = rng.choice(("f", "fh"))
        number = rng.randrange(10**6)
        body = f"with open(a{number}) as {name}:" if is_file else f"for {name} in list(a{number}):"
        code = f"def g{number}(a{number}):\n    {body}\n        use({name})\n"
        records.append({"id": f"{row}", "repo": "r", "language": "python", "code": code})
    world = World(tmp_path / "s.jsonl", tmp_path / "c.jsonl", carriers)
    for path, some in ((world.path, records[:1000]), (world.clean, records[1000:])):
        path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in some))
    found = look(world, tmp_path / "cache")
    assert precision_of_the_most_suspect(found, carriers, 60) > 0.9
    assert found.flagged.sum() >= 60
    flagged = int(np.flatnonzero(found.flagged)[0])
    assert found.names is not None
    assert found.names[flagged] in (("f",), ("fh",))
    assert "is likelier" in (found.reasons[flagged] or "")


def test_any_number_of_workers_finds_the_same(tmp_path: Path) -> None:
    world = make_world(tmp_path, alike, size=300)
    one = look(world, tmp_path / "one")
    two = look(world, tmp_path / "two", workers=2)
    np.testing.assert_array_equal(one.scores, two.scores)
    assert one.details == two.details


def test_with_little_clean_code_the_language_model_alone_decides(tmp_path: Path) -> None:
    world = make_world(tmp_path, alike, size=40)
    found = look(world, tmp_path / "cache")
    assert found.details["learnt_from"] == 0
    assert ((found.scores > 0) & (found.scores < 1)).any()


def test_wrong_settings_and_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rate and share"):
        load_detector("synonym_shadow", {"rate": "0"})
    with pytest.raises(UsageError, match="threshold"):
        load_detector("synonym_shadow", {"threshold": "2"})
    world = make_world(tmp_path, alike, size=10)
    with pytest.raises(UsageError, match="no column 'owner'"):
        look(world, tmp_path / "cache", project="owner")


def test_a_cell_says_who_could_carry() -> None:
    code = (
        "def f(items, out):\n"
        "    for idx in items:\n"
        "        res = idx\n"
        '        print(res, "msg")\n'
        "    with open(items) as fh:\n"
        "        msg = fh\n"
        "    return msg\n"
    )
    cells = {
        (cell.table, cell.member): cell for cell in find_cells(parse(Snippet("", code, "python")))
    }
    language = find("python")
    assert language is not None
    named = {language.synonyms[t][m]: cell for (t, m), cell in cells.items()}
    assert set(named) == {"items", "out", "idx", "res", "fh", "msg"}
    assert named["items"].is_parameter
    assert (named["idx"].is_free, named["idx"].is_inside) == (True, True)
    assert not named["res"].is_free  # `out`, of its set, is taken
    assert not named["msg"].is_free  # its own name stands in a string
    assert named["fh"].around.kind.startswith("as_pattern_target")
    assert named["idx"].around.windows[0] == (":", "\n", "for", HOLE, "in", "items", ":")
    for cell in named.values():
        assert Cell.from_json(orjson.loads(orjson.dumps(cell.to_json()))) == cell
