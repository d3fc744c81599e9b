"""Augmented assignment to names, items and attributes; mutable and immutable."""


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __iadd__(self, other):
        key = self.cents
        value = other if isinstance(other, int) else other.cents
        total = key + value
        self.cents = total
        return self


def accumulate(values):
    total = 0
    product = 1
    text = ""
    seen = []
    alias = seen
    for index in range(len(values)):
        value = values[index]
        total += value
        product *= value
        text += str(value)
        seen += [value]
    bits = total
    bits <<= 2
    bits |= 1
    bits ^= 0b11
    product //= 2
    product **= 2
    text *= 2
    return total, product, text, alias, bits


def wallet():
    key = Money(5)
    same = key
    key += 10
    key += Money(1)
    counts = {"a": 1}
    counts["a"] += key.cents
    key.cents -= 6
    return same is key, counts, same.cents


def unbound(flag):
    if flag:
        number = 1
    caught = ""
    try:
        number += 1
        answer = number
    except UnboundLocalError as problem:
        caught = type(problem).__name__
        answer = None
    return answer, caught


if __name__ == "__main__":
    assert accumulate([2, 3]) == (5, 9, "2323", [2, 3], 22)
    assert wallet() == (True, {"a": 17}, 10)
    assert unbound(True) == (2, "")
    assert unbound(False) == (None, "UnboundLocalError")
    print(accumulate([4, 5, 6]))
