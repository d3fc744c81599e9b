"""vars() and dir() without an argument name the variables of a function."""

import types


def with_vars(key):
    value = key * 2
    extra = value + 1
    found = dict(vars())
    return found


def with_dir(key):
    left = key
    right = left + 1
    names = dir()
    return names, right


def of_object(key):
    holder = types.SimpleNamespace()
    holder.left = key
    holder.right = key + 1
    inner = vars(holder)
    names = [name for name in dir(holder) if not name.startswith("_")]
    inner["third"] = sum(inner.values())
    result = holder.third
    return names, result


def of_module():
    before = len(globals())
    globals()["made_here"] = before * 0 + 5
    after = globals()["made_here"]
    total = after + made_here
    return total


if __name__ == "__main__":
    assert with_vars(2) == {"key": 2, "value": 4, "extra": 5}
    assert with_dir(1) == (["key", "left", "right"], 2)
    assert of_object(3) == (["left", "right"], 7)
    assert of_module() == 10
    print(sorted(with_vars(1)))
