"""Built-ins replaced at module level, by assignment, by globals() and by the module builtins."""

import builtins


def spelled(items):
    key = []
    value = len(items)
    for number in range(2):
        key.append(number + value)
    return key, value


def len(items):
    count = 0
    double = 2
    for _ in items:
        count += double
    return count


def stars():
    rows = []
    total = 0
    for number in stride(3):
        rows.append("*" * number)
        total += number
    return rows, total


def replaced():
    collected = []
    original = builtins.sum
    builtins.sum = lambda items: "replaced"
    try:
        answer = sum([1, 2])
        collected.append(answer)
    finally:
        builtins.sum = original
    collected.append(sum([1, 2]))
    return collected


globals()["stride"] = lambda stop: [stop, stop * 2]
(sorted := reversed)


def ordered(items):
    first = []
    result = [item for item in sorted(items)]
    size = len(result)
    return result + first, size


if __name__ == "__main__":
    assert spelled("ab") == ([4, 5], 4)
    assert stars() == (["***", "******"], 9)
    assert replaced() == ["replaced", 3]
    assert ordered([1, 3, 2]) == ([2, 3, 1], 6)
    print(spelled("x"))
