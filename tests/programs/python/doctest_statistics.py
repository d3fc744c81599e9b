"""Statistics with examples in their docstrings, which are run.

>>> mean([1, 2, 3])
2.0
"""

import doctest
import sys


def mean(values):
    """The average of some values.

    >>> values = [4, 6]
    >>> mean(values)
    5.0
    >>> mean(values=[1])
    1.0
    """
    total = 0
    count = 0
    for value in values:
        total += value
        count += 1
    average = total / count
    return average


def histogram(values, width=2):
    """Counts of values by class.

    >>> key = histogram([1, 2, 3, 5])
    >>> key
    {0: 1, 2: 2, 4: 1}
    >>> for start in range(2):
    ...     print(start, key.get(start, []))
    0 1
    1 []
    """
    counts = {}
    ordered = []
    for value in values:
        key = value // width * width
        counts[key] = counts.get(key, 0) + 1
        ordered.append(key)
    result = dict(sorted(counts.items()))
    return result


def median(values):
    """The middle one.

    >>> median([3, 1, 2])
    2
    >>> median([])
    Traceback (most recent call last):
    ValueError: no values
    """
    ordered = sorted(values)
    size = len(ordered)
    if not size:
        raise ValueError("no values")
    middle = ordered[size // 2]
    return middle


if __name__ == "__main__":
    module = sys.modules["__main__"]
    results = doctest.testmod(module)
    assert results.failed == 0
    assert results.attempted == 9, results
    print(results.attempted)
