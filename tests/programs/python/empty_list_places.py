"""Empty lists wherever one can stand: defaults, targets, displays, operators, annotations."""

from typing import Callable


def places(flag, start=[], *rest, more=[]):
    key = [[], ([]), {"a": []}]
    value = [] if flag else [[]]
    [] = ()
    ([], []) = [[], []]
    for [] in ([], []):
        key.append([] + [1])
    total = len(key) + len(value) + len(start) + len(more)
    for number in range(2):
        key += []
    equal = [] == [] and [] is not [] and not []
    return key, total, equal


def tables(size):
    rows = [[] for _ in range(size)]
    joined = sum(rows, [])
    handler: Callable[[], int] = lambda: len([])
    spread = [*[], *rows]
    count = handler() + len(spread)
    del []
    print(f"{[]} {[]!r}", *[], count)
    return rows, joined, count


def items(mapping):
    found = mapping.get("x", [])
    chosen = (found or [])[:1]
    while [] != chosen:
        chosen = []
    last = [][:] + chosen
    return found, last


if __name__ == "__main__":
    key, total, equal = places(True)
    assert key == [[], [], {"a": []}, [1], [1]]
    assert (total, equal) == (5, True)
    assert tables(2) == ([[], []], [], 2)
    assert items({"x": [5]}) == ([5], [])
