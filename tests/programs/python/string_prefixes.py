"""Raw, byte, unicode and formatted strings that contain the names of variables."""

import re


def prefixes(key):
    value = "value"
    raw = r"\n{value}"
    data = b"raw value"
    old = u"key"
    both = rb"\d+"
    shown = rf"\{value}{key!r}"
    other = fr'{"key"}' F"{value:>7}"
    joined = "raw " "data" f" {raw}"
    return raw, len(data), old, both.decode(), shown, other, joined


def texts(name):
    template = """
    name = {name}
    value = '{value}'
    """
    value = name[::-1]
    lines = [line.strip() for line in template.splitlines() if line]
    filled = [line.format(name=name, value=value) for line in lines if line]
    return filled


def patterns(text):
    key = re.compile(r"(?P<key>\w+)=(?P<value>\d+)")
    found = []
    for match in key.finditer(text):
        value = int(match["value"])
        word = match.group("key")
        found.append((word, value))
    total = sum(value for _, value in found)
    return found, total


def escapes():
    tab = "a\tb"
    quote = 'it\'s "x"'
    wide = "\u00e9\N{BULLET}\x41"
    continued = "one \
two"
    return [len(tab), quote, wide, continued]


if __name__ == "__main__":
    assert prefixes(1)[3:] == (r"\d+", "\\value1", "key  value", "raw data \\n{value}")
    assert texts("ab") == ["name = ab", "value = 'ba'"]
    assert patterns("a=1, bc=23") == ([("a", 1), ("bc", 23)], 24)
    assert escapes() == [3, 'it\'s "x"', "é•A", "one two"]
    print(patterns("key=7"))
