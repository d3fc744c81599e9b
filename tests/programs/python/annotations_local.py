"""Annotated locals, parameters and attributes, evaluated and as text."""

from __future__ import annotations

import typing
from typing import Callable, ClassVar


class Node:
    count: ClassVar[int] = 0
    key: str
    children: list[Node]

    def __init__(self, key: str, children: list[Node] | None = None) -> None:
        self.key: str = key
        self.children = children or []


def depth(node: Node, level: int = 0) -> int:
    deepest: int = level
    child: Node
    value: int
    for child in node.children:
        value = depth(child, level + 1)
        deepest = max(deepest, value)
    return deepest


def collect(node: Node, accept: Callable[[], bool]) -> dict[str, int]:
    found: dict[str, int] = {}
    stack: list[Node] = [node]
    unset: int
    order: list[str] = []
    while stack:
        current = stack.pop()
        order.append(current.key)
        found[current.key] = len(order) if accept() else 0
        stack.extend(current.children)
    return found


def hints() -> list[str]:
    names = typing.get_type_hints(depth)
    ordered = sorted(names)
    texts = [f"{name}:{names[name].__name__}" for name in ordered]
    return texts


if __name__ == "__main__":
    tree = Node("a", [Node("b"), Node("c", [Node("d")])])
    assert depth(tree) == 2
    assert collect(tree, lambda: True) == {"a": 1, "c": 2, "d": 3, "b": 4}
    assert hints() == ["level:int", "node:Node", "return:int"]
    assert Node.__annotations__["children"] == "list[Node]"
    print(collect(tree, lambda: False), hints())
