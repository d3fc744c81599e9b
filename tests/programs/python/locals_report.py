"""Functions that look at their own names."""


def report(first, second):
    key = first + second
    value = first * second
    names = sorted(locals())
    return names, key, value


def snapshot():
    steps = []
    for number in range(2):
        square = number * number
        current = locals()
        steps.append({name: current[name] for name in ("number", "square")})
    return steps


def aliased():
    look = locals
    alpha = 1
    beta = 2
    seen = sorted(name for name in look() if name != "look")
    return seen, alpha + beta


def ordinary(items):
    total = 0
    longest = ""
    for item in items:
        total += len(item)
        longest = max(longest, item, key=len)
    return total, longest


def inside_class():
    width = 3

    class Body:
        height = width
        names = sorted(name for name in locals() if not name.startswith("__"))

    shown = Body.names
    count = len(shown)
    return shown, count


if __name__ == "__main__":
    assert report(2, 3) == (["first", "key", "second", "value"], 5, 6)
    assert snapshot() == [{"number": 0, "square": 0}, {"number": 1, "square": 1}]
    assert aliased() == (["alpha", "beta"], 3)
    assert ordinary(["a", "bcd", "ef"]) == (6, "bcd")
    assert inside_class()[1] >= 0
    print(report(1, 1)[0])
