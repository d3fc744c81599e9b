"""Unpacking with stars, in nested targets, calls and displays."""


def parse(line):
    key, *values, unit = line.split()
    numbers = [int(value) for value in values]
    (low, *middle), (last, *_) = sorted(numbers), numbers[::-1]
    *head, tail = [*numbers, *reversed(numbers)]
    span = {**{"low": low}, **{"last": last}}
    return key, unit, middle, len(head), tail, span


def rotate(*items, key=1, **options):
    first, *rest = items
    turned = [*rest, first]
    for _ in range(key - 1):
        head, *rest = turned
        turned = [*rest, head]
    shown = dict(**options, size=len(turned))
    return turned, shown


def nested():
    value = [(1, (2, 3)), (4, (5, 6))]
    sums = []
    for a, (b, c) in value:
        sums.append(a + b * c)
    [x, [y, z]] = 7, (8, 9)
    for first, *others in [(1, 2, 3), (4,)]:
        sums.append((first, others))
    return sums, x + y + z


if __name__ == "__main__":
    assert parse("speed 3 1 2 kmh") == ("speed", "kmh", [2, 3], 5, 3, {"low": 1, "last": 2})
    assert rotate(1, 2, 3, key=2, a="b") == ([3, 1, 2], {"a": "b", "size": 3})
    assert nested() == ([7, 34, (1, [2, 3]), (4, [])], 24)
    print(*parse("size 9 8 7 cm"))
