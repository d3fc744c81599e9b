"""Recursive functions with results that grow on the way back."""


def permutations(items):
    if len(items) <= 1:
        return [items]
    key = []
    for index in range(len(items)):
        head = items[index : index + 1]
        rest = items[:index] + items[index + 1 :]
        for tail in permutations(rest):
            value = head + tail
            key.append(value)
    return key


def hanoi(height, source="a", target="c", spare="b"):
    moves = []
    if height:
        before = hanoi(height - 1, source, spare, target)
        after = hanoi(height - 1, spare, target, source)
        middle = (source, target)
        moves = before + [middle] + after
    return moves


def flatten(value, depth=0):
    result = []
    for item in value:
        if isinstance(item, list):
            inner = flatten(item, depth + 1)
            result += inner
        else:
            pair = (depth, item)
            result.append(pair)
    return result


def is_even(number):
    smaller = number - 1
    answer = True if number == 0 else is_odd(smaller)
    return answer


def is_odd(number):
    smaller = number - 1
    answer = False if number == 0 else is_even(smaller)
    return answer


if __name__ == "__main__":
    assert permutations("abc") == ["abc", "acb", "bac", "bca", "cab", "cba"]
    assert len(hanoi(4)) == 15
    assert hanoi(2) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert flatten([1, [2, [3]], []]) == [(0, 1), (1, 2), (2, 3)]
    assert is_even(10) and is_odd(7)
    print(permutations([1, 2, 3])[-1])
