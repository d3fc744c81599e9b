"""Texts that name local variables: format, percent, Template, format_map."""

from string import Template


def by_format(name, amount):
    key = name.title()
    value = amount * 2
    unit = "kg"
    text = "{key}: {value} {unit}".format(**locals())
    return text


def by_percent(name, amount):
    key = name.upper()
    total = amount + 1
    text = "%(key)s=%(total)d" % vars()
    return text


def by_template(name):
    greeting = "Hello"
    mark = "!"
    text = Template("$greeting $name$mark").substitute(locals())
    return text


def by_map(size):
    width = size
    height = size * 2
    text = "{width}x{height}".format_map(locals())
    return text


def explicit(name, amount):
    key = name.lower()
    value = amount * 3
    rows = []
    for index in range(2):
        rows.append("{key}/{value}/{index}".format(key=key, value=value, index=index))
    mapping = {"key": key, "value": value}
    last = "{key}-{value}".format(**mapping)
    return rows, last


if __name__ == "__main__":
    assert by_format("pear", 2) == "Pear: 4 kg"
    assert by_percent("pear", 2) == "PEAR=3"
    assert by_template("Ada") == "Hello Ada!"
    assert by_map(2) == "2x4"
    assert explicit("Nut", 1) == (["nut/3/0", "nut/3/1"], "nut-3")
    print(by_format("fig", 1), sorted(["b", "a"]))
