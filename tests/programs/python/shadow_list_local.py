"""Local variables and parameters called list, len and sorted."""


def pick(list, wanted):
    key = []
    for position in range(wanted):
        value = list[position]
        key.append(value)
    rest = list[wanted:]
    return key, rest


def measure(words):
    len = 0
    key = []
    for word in words:
        len += 1
        key.append(word)
    value = len * 2
    return value, key


def order(items):
    sorted = [item for item in items if item]
    empty = []
    sorted.sort()
    result = sorted + empty
    return result


def loop():
    found = []
    for list in ([1], [2, 3]):
        for number in range(2):
            found.append(list[0] + number)
    last = list
    return found, last


if __name__ == "__main__":
    assert pick([1, 2, 3], 2) == ([1, 2], [3])
    assert measure("abc") == (6, ["a", "b", "c"])
    assert order([3, 0, 1]) == [1, 3]
    assert loop() == ([1, 2, 2, 3], [2, 3])
    print(pick("abc", 1))
