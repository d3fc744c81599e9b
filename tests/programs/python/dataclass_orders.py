"""Data classes: fields with defaults and factories, replace and ordering."""

from collections import defaultdict
from dataclasses import asdict, dataclass, field, fields, replace


@dataclass(order=True)
class Line:
    key: str
    value: int = 1
    tags: list = field(default_factory=list, compare=False)


@dataclass
class Order:
    lines: list[Line] = field(default_factory=lambda: [])
    discount: int = 0

    def total(self):
        gross = 0
        for line in self.lines:
            amount = line.value
            gross += amount
        net = gross - self.discount
        return net

    def grouped(self):
        groups = defaultdict(list)
        for line in sorted(self.lines):
            key = line.key[0]
            value = (line.key, line.value)
            groups[key].append(value)
        ordered = dict(groups)
        return ordered


def raised(order, percent):
    lines = []
    for index in range(len(order.lines)):
        line = order.lines[index]
        value = line.value * (100 + percent) // 100
        changed = replace(line, value=value)
        lines.append(changed)
    result = replace(order, lines=lines)
    return result


if __name__ == "__main__":
    order = Order([Line("pen", 300), Line("book", 2000, ["new"]), Line("pad", 450)], discount=50)
    assert order.total() == 2700
    assert order.grouped() == {"b": [("book", 2000)], "p": [("pad", 450), ("pen", 300)]}
    assert raised(order, 10).total() == 2975
    assert [each.name for each in fields(Line)] == ["key", "value", "tags"]
    assert asdict(order.lines[1]) == {"key": "book", "value": 2000, "tags": ["new"]}
    print(order.lines[0], Order())
