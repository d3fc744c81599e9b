"""Default values are read where a function is made, not where it runs."""


def build(names):
    made = []
    separator = "/"
    for position, name in enumerate(names):
        prefix = name[:2]

        def join(tail, prefix=prefix, position=position, *, separator=separator):
            pieces = [prefix, str(position), tail]
            return separator.join(pieces)

        made.append(join)
    separator = "!"
    prefix = "??"
    return made, separator, prefix


def shared_default():
    key = []

    def remember(value, store=key):
        store.append(value)
        return len(store)

    counts = [remember(number) for number in range(3)]
    key.append("last")
    amount = remember("x")
    return counts, key, amount


def default_of_default(size=3):
    value = size + 1

    def outer(value=value):
        size = value * 2

        def inner(size=size, value=value):
            result = size - value
            return result

        return inner

    first = outer()()
    second = outer(value=10)(value=1)
    return first, second, value


if __name__ == "__main__":
    made, separator, prefix = build(["alpha", "beta"])
    assert [join("x") for join in made] == ["al/0/x", "be/1/x"]
    assert made[0]("y", prefix="zz", separator="-") == "zz-0-y"
    assert (separator, prefix) == ("!", "??")
    assert shared_default() == ([1, 2, 3], [0, 1, 2, "last", "x"], 5)
    assert default_of_default() == (4, 19, 4)
    print(made[1]("done"), sorted(["b", "a"]))
