"""Totals that live in the module, and locals that are called the same."""

total = 0
key = "module"
history = []


def add(values):
    global total
    subtotal = 0
    count = 0
    for value in values:
        subtotal += value
        count += 1
    total += subtotal
    history.append((count, subtotal))
    return subtotal


def shadow(total):
    key = "local"
    value = total * 2
    parts = []
    for number in range(3):
        parts.append(f"{key}{number + value}")
    return parts


def declare():
    global created, key
    prefix = "created"
    suffix = "here"
    created = prefix + "-" + suffix
    key = created.upper()
    return len(created)


def through_inner():
    value = 3
    extra = 4

    def change():
        global total
        amount = value * extra
        total -= amount
        return amount

    changed = change()
    return changed, total


if __name__ == "__main__":
    assert add([1, 2, 3]) == 6
    assert add([]) == 0
    assert total == 6
    assert shadow(4) == ["local8", "local9", "local10"]
    assert key == "module"
    assert declare() == 12
    assert (created, key) == ("created-here", "CREATED-HERE")
    assert through_inner() == (12, -6)
    print(total, key, history)
