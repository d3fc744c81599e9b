"""A generator that is talked to: send, throw and close."""


def averager():
    total = 0.0
    count = 0
    average = None
    key = []
    try:
        while True:
            try:
                value = yield average
            except ValueError as problem:
                key.append(str(problem))
                continue
            total += value
            count += 1
            average = total / count
    finally:
        key.append("closed")
        history.append((count, key))


history = []


def accumulate():
    received = []
    while (item := (yield len(received))) is not None:
        received.append(item)
        doubled = yield item * 2
        if doubled:
            received.append(doubled)
    total = sum(received)
    return total


if __name__ == "__main__":
    talk = averager()
    next(talk)
    assert talk.send(10) == 10.0
    assert talk.send(20) == 15.0
    assert talk.throw(ValueError("odd")) == 15.0
    assert talk.send(0) == 10.0
    talk.close()
    assert history == [(3, ["odd", "closed"])]
    other = accumulate()
    seen = [next(other)] + [other.send(number) for number in range(1, 5)]
    assert seen == [0, 2, 2, 6, 4]
    try:
        other.send(None)
    except StopIteration as stop:
        assert stop.value == 10, stop.value
    print(seen)
