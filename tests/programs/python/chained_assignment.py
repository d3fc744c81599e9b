"""Several targets at once, swaps, and targets that depend on each other."""


def chain(size):
    key = value = other = []
    left, right = right_copy, left_copy = size, size + 1
    key.append(left)
    for index in range(size):
        value.append(index)
    other = other + [right]
    same = key is value
    return key, other, same, right_copy, left_copy


def swap(items):
    position = 0
    last = len(items) - 1
    while position < last:
        items[position], items[last] = items[last], items[position]
        position, last = position + 1, last - 1
    middle = position
    return items, middle


def dependent():
    grid = [0, 0, 0]
    cursor = 0
    cursor, grid[cursor] = 2, 5
    cursor = grid[cursor] = 1
    counts = {}
    counts["a"] = counts["b"] = number = 7
    return cursor, grid, counts, number


def gcd(first, second):
    steps = 0
    while second:
        first, second, steps = second, first % second, steps + 1
    result = first
    return result, steps


if __name__ == "__main__":
    assert chain(2) == ([2, 0, 1], [2, 0, 1, 3], True, 2, 3)
    assert swap([1, 2, 3, 4]) == ([4, 3, 2, 1], 2)
    assert dependent() == (1, [0, 1, 5], {"a": 7, "b": 7}, 7)
    assert gcd(48, 18) == (6, 3)
    print(chain(1), abs(-1))
