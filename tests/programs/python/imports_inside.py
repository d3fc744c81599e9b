"""Imports inside of functions bind local names, too."""


def compute(values):
    import math
    from functools import reduce as fold
    import os.path

    key = math.prod(values)
    value = fold(lambda left, right: left * 10 + right, values)
    name = os.path.join("a", "b")
    return key, value, name.replace(os.sep, "/")


def optional(name):
    try:
        import missing_module_of_no_one as tool
    except ImportError:
        tool = None
    label = name if tool is None else tool.__name__
    parts = []
    for number in range(2):
        parts.append(label + str(number))
    return parts


def by_name(names):
    import importlib

    loaded = []
    total = 0
    for name in names:
        module = importlib.import_module(name)
        loaded.append(module.__name__)
        total += len(name)
    return loaded, total


if __name__ == "__main__":
    assert compute([1, 2, 3]) == (6, 123, "a/b")
    assert optional("x") == ["x0", "x1"]
    assert by_name(["json", "string"]) == (["json", "string"], 10)
    print(compute([4, 5]))
