"""Structural pattern matching: empty patterns, captures, class and mapping patterns."""

from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int


class Colour:
    RED = "red"
    BLUE = "blue"


def describe(shape):
    key = "shape"
    value = None
    steps = []
    match shape:
        case []:
            value = "nothing"
        case [only]:
            value = f"one {only}"
        case [first, *rest] if len(rest) > 2:
            steps.extend(range(len(rest)))
            value = f"{first} and {len(rest)}"
        case [first, (second, third) as pair, *_]:
            value = f"{first} {second} {third} {len(pair)}"
        case Point(x=0, y=height):
            value = f"axis {height}"
        case Point(x=x, y=y):
            value = f"point {x + y}"
        case {"kind": kind, **others}:
            value = f"{kind} {sorted(others)}"
        case Colour.RED | Colour.BLUE as colour:
            value = colour.upper()
        case int(number) | float(number):
            value = f"number {number}"
        case str() as text:
            value = f"text {text}"
        case _:
            value = "unknown"
    print(key, value, steps)
    return value


def evaluate(tree):
    left = right = 0
    match tree:
        case ("+", a, b):
            left = evaluate(a)
            right = evaluate(b)
            result = left + right
        case ("*", a, b):
            left, right = evaluate(a), evaluate(b)
            result = left * right
        case value:
            result = value
    return result


if __name__ == "__main__":
    shapes = [[], [1], [1, 2, 3, 4], [1, (2, 3)], Point(0, 5), Point(2, 5), {"kind": "k", "b": 1},
              "red", "blue", 3, 2.5, "green", None, (), [[]]]
    told = [describe(shape) for shape in shapes]
    assert told == ["nothing", "one 1", "1 and 3", "1 2 3 2", "axis 5", "point 7", "k ['b']",
                    "RED", "BLUE", "number 3", "number 2.5", "text green", "unknown", "nothing",
                    "one []"]
    assert evaluate(("+", 2, ("*", 3, 4))) == 14
