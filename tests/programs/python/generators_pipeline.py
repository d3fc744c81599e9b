"""Generators that feed each other, with state that lives between the steps."""


def numbers(limit):
    key = 0
    step = 1
    while key < limit:
        value = key * key
        yield value
        key += step


def windows(source, size):
    window = []
    count = 0
    for item in source:
        window.append(item)
        if len(window) > size:
            dropped = window.pop(0)
            count += dropped
        if len(window) == size:
            yield tuple(window)
    return count


def collect(limit, size):
    results = []
    value = yield from windows(numbers(limit), size)
    results.append(value)
    for index in range(2):
        yield index
    return results


def drain(generator):
    items = []
    while True:
        try:
            item = next(generator)
        except StopIteration as stop:
            final = stop.value
            break
        items.append(item)
    return items, final


def tree(node):
    left, key, right = node
    if left:
        yield from tree(left)
    yield key
    if right:
        yield from tree(right)


if __name__ == "__main__":
    assert list(numbers(4)) == [0, 1, 4, 9]
    assert drain(collect(4, 2)) == ([(0, 1), (1, 4), (4, 9), 0, 1], [1])
    assert list(tree(((None, 1, None), 2, (None, 3, None)))) == [1, 2, 3]
    print(sum(value for value in numbers(10) if value % 2))
