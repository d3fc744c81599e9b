# -*- coding: utf-8 -*-
"""A byte order mark before everything, and form feeds between functions."""


def weigh(items):
    key = []
    total = 0
    for index in range(len(items)):
        value = items[index]
        total += value
        key.append(f"ä{total}")
    share = total / 2
    return key, share


if __name__ == "__main__":
    assert weigh([1, 3]) == (["ä1", "ä4"], 2.0)
    print(len(weigh([1])[0]))