"""Generator-based context managers and variables that are set for a while."""

import contextlib
import contextvars

level = contextvars.ContextVar("level", default=0)


@contextlib.contextmanager
def deeper(by=1):
    key = level.get()
    value = key + by
    token = level.set(value)
    try:
        yield value
    finally:
        level.reset(token)


def indent(lines):
    shown = []
    for line in lines:
        depth = level.get()
        text = "  " * depth + line
        shown.append(text)
    return shown


def document():
    parts = []
    parts += indent(["top"])
    with deeper() as first:
        parts += indent(["middle"])
        with deeper(2) as second:
            parts += indent(["inner"])
    total = first + second
    return parts, total


@contextlib.contextmanager
def suppressed(*kinds):
    caught = []
    before = level.get()
    try:
        yield caught
    except kinds as problem:
        name = type(problem).__name__
        caught.append((name, before))


if __name__ == "__main__":
    assert document() == (["top", "  middle", "      inner"], 4)
    with suppressed(KeyError, ValueError) as caught:
        int("x")
    assert caught == [("ValueError", 0)]
    print(*document()[0], sep="\n")
