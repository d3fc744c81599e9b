"""Built-in names taken over by imports and by exceptions."""

from itertools import count as range
from operator import length_hint as len
from collections import deque as list


def numbers(limit):
    key = []
    for number in range(3):
        if number > limit:
            break
        value = number * 10
        key.append(value)
    size = len(key)
    return key, size


def queue(items):
    waiting = list()
    taken = []
    for item in items:
        waiting.appendleft(item)
    while waiting:
        first = waiting.pop()
        taken.append(first)
    kind = type(waiting).__name__
    return taken, kind


def guarded(text):
    key = []
    try:
        value = int(text)
    except ValueError as print:
        value = -1
        key.append(type(print).__name__)
    result = (value, key)
    return result


if __name__ == "__main__":
    assert numbers(5) == ([30, 40, 50], 3)
    assert queue("ab") == (["a", "b"], "deque")
    assert guarded("x") == (-1, ["ValueError"])
    assert guarded("4") == (4, [])
