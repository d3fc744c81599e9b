"""The name of a caught exception disappears after its clause."""


def read(rows):
    key = "row"
    errors = []
    values = []
    for number, row in enumerate(rows):
        error = f"{key} {number}"
        try:
            value = int(row)
            inverse = 12 // value
        except ValueError as problem:
            errors.append((error, type(problem).__name__, str(problem)[:15]))
        except (ZeroDivisionError, TypeError) as problem:
            errors.append((error, type(problem).__name__, len(problem.args)))
        else:
            values.append(inverse)
        finally:
            count = len(errors) + len(values)
            assert count == number + 1
    return values, errors


def is_gone():
    value = []
    problem = "before"
    try:
        raise KeyError(problem)
    except KeyError as problem:
        value.append(problem.args[0])
    try:
        value.append(problem)
    except UnboundLocalError as error:
        value.append(isinstance(error, NameError))
    return value


def chained(text):
    cause = None
    depth = 0
    names = []
    try:
        try:
            int(text)
        except ValueError as first:
            raise RuntimeError("no number") from first
    except RuntimeError as second:
        cause = second.__cause__
        names = [type(each).__name__ for each in (second, cause)]
        depth = len(names)
    return names, depth


if __name__ == "__main__":
    values, errors = read(["3", "x", "0", None, "5"])
    assert values == [4, 2]
    assert [name for _, name, _ in errors] == ["ValueError", "ZeroDivisionError", "TypeError"]
    assert is_gone() == ["before", True]
    assert chained("?") == (["RuntimeError", "ValueError"], 2)
    print(values, errors[0])
