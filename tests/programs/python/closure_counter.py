"""Counters that remember what they saw: inner functions read and follow the names around them."""


def make_counter(start, step):
    seen = []
    total = start
    label = "count"

    def count(times=1):
        values = [total + step * number for number in range(times)]
        seen.extend(values)
        return values

    def report():
        return label + ":" + ",".join(str(value) for value in seen)

    return count, report


def adders():
    key = 10
    functions = []
    for number in range(3):
        offset = key * number
        functions.append(lambda amount, offset=offset: amount + offset + key)
    key = 1
    return functions


def late_binding():
    value = []
    for index in range(3):
        value.append(lambda: index)
    last = [function() for function in value]
    return last


if __name__ == "__main__":
    count, report = make_counter(3, 4)
    assert count(2) == [3, 7]
    assert count() == [3]
    assert report() == "count:3,7,3"
    assert [add(1) for add in adders()] == [2, 12, 22]
    assert late_binding() == [2, 2, 2]
    print(report())
    print(sorted(add(5) for add in adders()))
