"""Context managers: several at once, tuples as targets, and what they swallow."""

from contextlib import ExitStack, contextmanager

log = []


@contextmanager
def opened(name, value):
    key = f"open {name}"
    log.append(key)
    handle = [value]
    closing = f"close {name}"
    try:
        yield name, handle
    except LookupError as problem:
        closing += f" after {type(problem).__name__}"
    finally:
        log.append(closing)


def copy():
    total = 0
    key = []
    with opened("a", 1) as (first, one), opened("b", 2) as (second, two):
        total = one[0] + two[0]
        key = [first, second]
    with (opened("c", 3) as pair,):
        name, handle = pair
        handle.append(total)
        raise IndexError(name)
    return key, total, handle


def many(names):
    results = []
    with ExitStack() as stack:
        for index in range(len(names)):
            name, handle = stack.enter_context(opened(names[index], index))
            results.append((name, *handle))
        value = len(results)
    return results, value


if __name__ == "__main__":
    assert copy() == (["a", "b"], 3, [3, 3])
    assert many(["x", "y"]) == ([("x", 0), ("y", 1)], 2)
    assert log == ["open a", "open b", "close b", "close a", "open c", "close c after IndexError",
                   "open x", "open y", "close y", "close x"]
    print(*log, sep="\n")
