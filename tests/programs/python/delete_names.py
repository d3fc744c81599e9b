"""Names that are deleted and bound again."""


def recycle(values):
    key = list(values)
    removed = []
    for position in range(2):
        value = key[position]
        removed.append(value)
        del value
    del key[0], key[-1]
    left = key
    del key
    try:
        key
    except NameError as problem:
        removed.append(type(problem).__name__)
    key = "again"
    return key, left, removed


def delete_many():
    first, (second, third) = 1, (2, 3)
    total = first + second + third
    del first, (second, third)
    first = total * 2
    holder = {"a": 1, "b": 2}
    del holder["a"]
    return first, holder


def delete_in_closure():
    state = [1]
    flag = True
    count = 0

    def read():
        return state

    seen = read()
    del state
    try:
        read()
    except NameError:
        flag = False
        count = len(seen)
    return flag, count


if __name__ == "__main__":
    assert recycle([1, 2, 3, 4]) == ("again", [2, 3], [1, 2, "UnboundLocalError"])
    assert delete_many() == (12, {"b": 2})
    assert delete_in_closure() == (False, 1)
    print(recycle("abcd"))
