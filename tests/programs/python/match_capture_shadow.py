"""A match statement that captures into names of built-ins."""


def split(command):
    key = []
    value = 0
    match command:
        case [str() as print, *list]:
            key = [print] + [*list] + []
            value = list.__len__()
        case {"range": range, **len}:
            key = [range(2), sorted(len)]
            value = 2
        case other:
            key = [other]
    result = (key, value)
    return result


def total(numbers):
    collected = []
    for number in numbers:
        collected.append(number + 1)
    answer = sum(collected)
    return answer


if __name__ == "__main__":
    assert split(["go", 1, 2]) == (["go", 1, 2], 2)
    assert split({"range": lambda n: [n] * n, "b": 1, "a": 2}) == ([[2, 2], ["a", "b"]], 2)
    assert split(7) == ([7], 0)
    assert total([1, 2]) == 5
