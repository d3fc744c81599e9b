"""Expressions as text, evaluated where they can see local names."""

import builtins


def with_locals(width, height):
    area = width * height
    margin = 2
    result = eval("area + margin * width")
    return result


def with_namespace(text, **values):
    key = dict(values)
    scope = {"__builtins__": {}}
    outcome = eval(text, scope, key)
    shown = f"{text} -> {outcome}"
    return shown


def by_attribute(size):
    double = size * 2
    offset = 1
    answer = builtins.eval("double + offset")
    return answer


def by_compile(size):
    key = size + 1
    value = key * 2
    code = compile("key + value", "<text>", "eval")
    answer = eval(code)
    return answer


def indirect(size):
    tool = {"run": eval}
    left = size
    right = size + 2
    run = tool["run"]
    product = run("left * right")
    return product


def untouched(rows):
    total = 0
    texts = []
    for index in range(len(rows)):
        row = rows[index]
        total += row
        texts.append(str(row))
    joined = "+".join(texts)
    return eval(joined) == total


if __name__ == "__main__":
    assert with_locals(3, 4) == 18
    assert with_namespace("a * b", a=6, b=7) == "a * b -> 42"
    assert by_attribute(4) == 9
    assert by_compile(2) == 9
    assert indirect(3) == 15
    assert untouched([1, 2, 3])
    print(with_namespace("x - 1", x=1))
