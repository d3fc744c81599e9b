"""Decorators with and without arguments, stacked, on functions, methods and classes."""

import functools

calls = []


def traced(label):
    def decorate(function):
        key = f"{label}:{function.__name__}"

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            value = len(calls)
            calls.append(key)
            result = function(*args, **kwargs)
            calls[value] = f"{key}={result}"
            return result

        return wrapper

    return decorate


def memo(function):
    store = {}
    hits = []

    def lookup(*key):
        if key in store:
            hits.append(key)
            return store[key]
        value = store[key] = function(*key)
        return value

    lookup.hits = hits
    return lookup


@memo
def fibonacci(number):
    previous = number - 1
    before = number - 2
    result = number if number < 2 else fibonacci(previous) + fibonacci(before)
    return result


@traced("outer")
@traced("inner")
def area(width, height=2):
    product = width * height
    factor = 1
    answer = product * factor
    return answer


def registered(cls):
    names = [name for name in vars(cls) if not name.startswith("_")]
    cls.members = sorted(names)
    return cls


@registered
class Shape:
    sides = 4

    @staticmethod
    def unit():
        return 1

    @classmethod
    @traced("class")
    def scaled(cls, factor):
        side = cls.unit()
        total = side * factor
        value = total * cls.sides
        return value


if __name__ == "__main__":
    assert fibonacci(12) == 144
    assert len(fibonacci.hits) == 10
    assert area(3) == 6
    assert area(width=3, height=3) == 9
    assert calls == ["outer:area=6", "inner:area=6", "outer:area=9", "inner:area=9"]
    assert Shape.scaled(2) == 8
    assert Shape.members == ["scaled", "sides", "unit"]
    print(calls[-1], len(calls))
