"""Output caught by the standard library, and order kept between two streams."""

import contextlib
import io
import sys


def caught(values):
    buffer = io.StringIO()
    total = 0
    with contextlib.redirect_stdout(buffer):
        for value in values:
            total += value
            print(value, end=";")
        print("total", total)
    key = buffer.getvalue()
    lines = key.splitlines()
    return lines, total


def two_streams():
    out, err = io.StringIO(), io.StringIO()
    steps = []
    for number in range(3):
        print(number, file=out)
        print(-number, file=err, sep="")
        steps.append(len(out.getvalue()))
    joined = out.getvalue() + err.getvalue()
    return joined, steps


def options():
    settings = {"sep": "-", "end": "."}
    words = ["a", "b", "c"]
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        print(*words, **settings)
        print()
        print(*(word.upper() for word in words))
        print(sum(len(word) for word in words), flush=False)
    text = buffer.getvalue()
    return text


if __name__ == "__main__":
    assert caught([1, 2]) == (["1;2;total 3"], 3)
    assert two_streams() == ("0\n1\n2\n0\n-1\n-2\n", [2, 4, 6])
    assert options() == "a-b-c.\nA B C\n3\n"
    print("to standard output", file=sys.stdout)
