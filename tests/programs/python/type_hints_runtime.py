"""Annotations that are evaluated at once, some of them naming local types."""

import typing
from typing import Callable, Optional


def build():
    key = int
    limit = 3
    made = []

    def clamp(value: key, most: Optional[key] = None) -> key:
        top = limit if most is None else most
        result = min(value, top)
        made.append(result)
        return result

    hints = typing.get_type_hints(clamp)
    first = clamp(9)
    second = clamp(9, most=5)
    return hints["value"], first, second, made


def callbacks():
    handlers: list[Callable[[], int]] = []
    results: list[int] = []
    for number in range(3):
        handler: Callable[[], int] = lambda number=number: number * number
        handlers.append(handler)
    for handler in handlers:
        results.append(handler())
    return results


def text_annotation(value: "typing.List[int]"):
    total: "int" = 0
    largest: "int" = 0
    for item in value:
        total += item
        largest = max(largest, item)
    return total, largest


if __name__ == "__main__":
    assert build() == (int, 3, 5, [3, 5])
    assert callbacks() == [0, 1, 4]
    assert text_annotation([1, 5, 2]) == (8, 5)
    print(callbacks(), len(build()))
