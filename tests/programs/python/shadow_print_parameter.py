"""print and range handed in as parameters, lambdas and loop variables."""


def tell(lines, print):
    key = len(lines)
    value = []
    for line in lines:
        value.append(print(line))
    total = key + len(value)
    return value, total


def steps(range, size):
    found = []
    for number in range(size):
        doubled = number * 2
        found.append(doubled)
    return found


def run(handlers):
    results = []
    for print in handlers:
        shown = print("x")
        results.append(shown)
    count = len(results)
    return results, count


join = lambda list, print=str: print(len(list) * [None] == [])


if __name__ == "__main__":
    assert tell(["a", "b"], lambda text: text * 2) == (["aa", "bb"], 4)
    assert steps(lambda size: [size, size + 1], 4) == [8, 10]
    assert run([str.upper, str.title]) == (["X", "X"], 2)
    assert join([]) == "True"
