"""A scanner that assigns inside of expressions."""

import re

TOKEN = re.compile(r"\s*(?:(\d+)|(\w+)|(.))")


def scan(text):
    tokens = []
    position = 0
    while (found := TOKEN.match(text, position)) and (end := found.end()) > position:
        if (number := found.group(1)) is not None:
            tokens.append(("number", int(number)))
        elif name := found.group(2):
            tokens.append(("name", name))
        else:
            tokens.append(("sign", found.group(3)))
        position = end
    return tokens


def running(values):
    total = 0
    key = [total := total + value for value in values]
    last = total
    large = [doubled for value in key if (doubled := value * 2) > 5]
    kept = doubled
    return key, last, large, kept


def first_match(lines, word):
    numbers = []
    if any((hit := line).startswith(word) for line in lines):
        numbers.extend(range(len(hit)))
        value = hit.upper()
    else:
        value = "none"
    return value, numbers


if __name__ == "__main__":
    assert scan("a1 + 22") == [("name", "a1"), ("sign", "+"), ("number", 22)]
    assert running([1, 2, 3]) == ([1, 3, 6], 6, [6, 12], 12)
    assert first_match(["xa", "by"], "b") == ("BY", [0, 1])
    assert first_match([], "b") == ("none", [])
    print(*scan("x = 3;"))
