"""Named tuples, whose field names are words of a string."""

from collections import Counter, namedtuple

Entry = namedtuple("Entry", "key value weight", defaults=[1])


def entries(text):
    made = []
    order = []
    for part in text.split(","):
        key, _, value = part.partition(":")
        entry = Entry(key=key, value=int(value))
        made.append(entry)
        order.append(entry._replace(weight=len(order)))
    return made, order


def heaviest(items):
    best = None
    score = -1
    for index in range(len(items)):
        item = items[index]
        product = item.value * item.weight
        if product > score:
            best, score = item, product
    return best, score


def letters(text):
    counts = Counter(text)
    common = counts.most_common(2)
    Pair = namedtuple("Pair", ["letter", "count"])
    pairs = [Pair(letter, count) for letter, count in common]
    shown = [f"{pair.letter}{pair.count}" for pair in pairs]
    return shown


if __name__ == "__main__":
    made, order = entries("a:3,b:2,c:9")
    assert made[0] == ("a", 3, 1)
    assert heaviest(order) == (Entry("c", 9, 2), 18)
    assert letters("banana") == ["a3", "n2"]
    assert Entry._fields == ("key", "value", "weight")
    print(made[1], order[2]._asdict())
