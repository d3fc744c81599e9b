"""Module constants that are called like the locals of some functions."""

key = "constant"
value = 7
rate = 3
items = [1, 2]
result = None


def reads():
    total = value * rate
    doubled = [item * 2 for item in items]
    label = f"{key}:{total}"
    return label, doubled


def hides(number):
    key = number
    value = key + 1
    rate = value + 1
    items = [key, value]
    for index in range(rate):
        items.append(index)
    return items


def mixed(number):
    rate = number
    inner = []

    def use():
        amount = rate * value
        inner.append(key)
        return amount

    answer = use()
    return answer, inner


def later():
    global result
    first = key.upper()
    second = value - 1
    result = (first, second)
    copy = list(result)
    return copy


class Table:
    value = value + 1
    rate = rate

    def cell(self, key):
        row = self.value
        column = value
        product = row * column
        return key, product


if __name__ == "__main__":
    assert reads() == ("constant:21", [2, 4])
    assert hides(1) == [1, 2, 0, 1, 2]
    assert mixed(2) == (14, ["constant"])
    assert later() == ["CONSTANT", 6]
    assert Table().cell("k") == ("k", 56)
    assert (key, value, rate, items) == ("constant", 7, 3, [1, 2])
    print(result, sorted(items))
