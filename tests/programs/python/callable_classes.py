"""Classes whose instances can be called, and functions with attributes."""

from functools import partial


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, value, offset=0):
        key = value * self.factor
        result = key + offset
        return result


class Special(Scaler):
    pass


def build(factors):
    tools = []
    total = 0
    for index in range(len(factors)):
        tool = Special(factors[index])
        tools.append(tool)
        total += tool(1, offset=index)
    names = [type(tool).__name__ for tool in tools]
    return names, total


def apply_all(value):
    double = Scaler(2)
    shifted = partial(double, offset=1)
    steps = [double, shifted, str, len]
    current = value
    for step in steps:
        current = step(current)
    print(current, [step for step in steps if isinstance(step, type)])
    return current


def counted(value):
    counted.calls = getattr(counted, "calls", 0) + 1
    key = counted.calls
    label = f"{value}#{key}"
    return label


def builtins_used(words):
    number = int("7") + len(words)
    pairs = dict(zip(words, range(number)))
    kind = isinstance(pairs, dict) and callable(len)
    ordered = sorted(pairs, reverse=True)
    problem = ValueError("x")
    print(type(problem).__name__, kind, ordered, max(pairs.values()), "a-b".split("-"), [].count(1))
    return number


if __name__ == "__main__":
    assert build([1, 2]) == (["Special", "Special"], 4)
    assert apply_all(4) == 2
    assert [counted("a"), counted("b")] == ["a#1", "b#2"]
    assert builtins_used(["x", "y"]) == 9
