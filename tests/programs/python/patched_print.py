"""Tests that replace print, or look at how it was called."""

from unittest import mock


def announce(names):
    key = len(names)
    value = ", ".join(names)
    for number in range(key):
        name = names[number]
        print(number, name)
    print("all:", value)
    return key


def shown(call):
    with mock.patch("builtins.print") as printer:
        returned = call()
    calls = [each.args for each in printer.call_args_list]
    options = [each.kwargs for each in printer.call_args_list]
    return returned, calls, options


def test_announce():
    returned, calls, options = shown(lambda: announce(["a", "b"]))
    expected = [(0, "a"), (1, "b"), ("all:", "a, b")]
    empty = []
    assert returned == 2
    assert calls == expected + empty
    assert options == [{}, {}, {}]


def test_once():
    with mock.patch("builtins.print") as printer:
        announce([])
    printer.assert_called_once_with("all:", "")


if __name__ == "__main__":
    test_announce()
    test_once()
    announce(["ok"])
