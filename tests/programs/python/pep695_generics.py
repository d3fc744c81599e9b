# requires: 3.12
"""Type parameters and type statements have scopes of their own."""

type Pair[T] = tuple[T, T]


def first_of[T](items: list[T], default: T) -> T:
    key = len(items)
    value = items[0] if key else default
    result = value
    return result


class Stack[T]:
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> int:
        before = len(self.items)
        self.items.append(item)
        after = before + 1
        return after

    def swap[S](self, other: S) -> tuple[T, S]:
        key = self.items.pop()
        value = other
        pair = (key, value)
        return pair


def plain(numbers):
    key = []
    total = 0
    for index in range(len(numbers)):
        number = numbers[index]
        total += number
        key.append(total)
    type Local = list[int]
    alias = Local.__name__
    return key, alias


def nested_quotes(names):
    joiner = ", "
    longest = max(names, key=len)
    text = f"{joiner.join(f"<{name}>" for name in names)} {longest=}"
    return text


if __name__ == "__main__":
    assert first_of([], 3) == 3
    stack = Stack[int]()
    assert stack.push(4) == 1
    assert stack.swap("x") == (4, "x")
    assert plain([1, 2]) == ([1, 3], "Local")
    assert nested_quotes(["a", "bb"]) == "<a>, <bb> longest='bb'"
    print(Pair.__name__)
