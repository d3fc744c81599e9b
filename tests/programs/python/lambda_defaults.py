"""Lambdas: defaults, captured names, and parameters that hide a local of the same name."""


def operations(base):
    key = base + 1
    value = 2
    table = {
        "add": lambda number, key=key: number + key,
        "hide": lambda key: key * value,
        "late": lambda: key,
        "both": lambda number, *, value=value: (number, value, key),
        "rest": lambda *key, **value: (key, value),
    }
    key = 100
    results = {name: len(name) for name in table}
    return table, results


def sorting(words):
    width = max(len(word) for word in words)
    ranked = sorted(words, key=lambda word: (-len(word), word))
    padded = list(map(lambda word, width=width: word.rjust(width), ranked))
    total = (lambda words: sum(len(word) for word in words))(ranked)
    return ranked, padded, total


def composed():
    steps = []
    for number in range(3):
        steps.append(lambda value, number=number: value * 10 + number)
    result = 0
    for step in steps:
        result = step(result)
    nested = (lambda x: (lambda y: (x, y)))(1)(2)
    return result, nested


if __name__ == "__main__":
    table, results = operations(4)
    assert table["add"](1) == 6
    assert table["hide"](3) == 6
    assert table["late"]() == 100
    assert table["both"](0) == (0, 2, 100)
    assert table["rest"](1, key=2) == ((1,), {"key": 2})
    assert sorting(["aa", "b", "cc"]) == (["aa", "cc", "b"], ["aa", "cc", " b"], 5)
    assert composed() == (12, (1, 2))
    print(sorted(results))
