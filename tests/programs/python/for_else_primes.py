"""Loops with else, and loop variables that outlive their loop."""


def primes(limit):
    found = []
    checks = 0
    for number in range(2, limit):
        for divisor in found:
            checks += 1
            if number % divisor == 0:
                break
        else:
            found.append(number)
    last = number
    return found, checks, last


def search(rows, wanted):
    key = None
    value = -1
    for value, row in enumerate(rows):
        for key, cell in enumerate(row):
            if cell == wanted:
                break
        else:
            continue
        break
    else:
        key = value = -1
    return value, key


def countdown(number):
    steps = []
    guard = 10
    while number > 0:
        number -= 3
        steps.append(number)
        if number == guard:
            break
    else:
        steps.append("end")
    for index in range(0):
        steps.append(index)
    else:
        steps.append("empty")
    return steps


if __name__ == "__main__":
    assert primes(12)[0] == [2, 3, 5, 7, 11]
    assert primes(12)[2] == 11
    assert search([[1, 2], [3, 4]], 4) == (1, 1)
    assert search([[1, 2], [3, 4]], 9) == (-1, -1)
    assert countdown(7) == [4, 1, -2, "end", "empty"]
    assert countdown(13) == [10, "empty"]
    print(primes(30))
