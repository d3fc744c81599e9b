"""range in every position: arguments, slices, membership, stars, nested, keywords beside it."""


def places(size):
    key = []
    value = range(size)
    key.extend(range(size - 1))
    backwards = list(range(size, 0, -1))
    spread = [*range(2), *range(1, 3)]
    bounds = (1, 4)
    starred = list(range(*bounds))
    nested = [[column for column in range(row)] for row in range(3)]
    inside = 2 in range(3)
    same = range(3) == range(0, 3)
    last = range(size)[-1]
    print(range(2), repr(range(size)), len(range(size)))
    return key, list(value), backwards, spread, starred, nested, inside, same, last


def conditional(flag):
    empty = []
    limit = 2
    chosen = [number for number in (range(limit) if flag else range(limit + 1))]
    pairs = dict(zip("ab", range(10)))
    total = sum(range(len(chosen)), len(empty))
    return chosen, pairs, total


def floats(limit):
    seen = []
    caught = None
    try:
        for number in range(limit):
            seen.append(number)
    except TypeError as problem:
        caught = type(problem).__name__
    return seen, caught


if __name__ == "__main__":
    assert places(3) == ([0, 1], [0, 1, 2], [3, 2, 1], [0, 1, 1, 2], [1, 2, 3], [[], [0], [0, 1]],
                         True, True, 2)
    assert conditional(False) == ([0, 1, 2], {"a": 0, "b": 1}, 3)
    assert floats(2) == ([0, 1], None)
    assert floats(1.5) == ([], "TypeError")
