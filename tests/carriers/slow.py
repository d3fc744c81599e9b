"""Section 4.2.2 of the paper, slow and obvious: lists, loops and power iteration."""

import math


def slow_scores(rows: list[list[float]]) -> list[float]:
    z = _standardised(rows)
    weights = _leading_direction(z)
    projected = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in z]
    gamma = 2 * _deviation(projected)
    if gamma == 0:
        return [0.5 for _ in projected]
    return [1 - 1 / (1 + math.exp(-value / gamma)) for value in projected]


def slow_quantile(values: list[float], tau: float) -> float:
    ordered = sorted(values)
    place = tau * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _deviation(values: list[float]) -> float:
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _standardised(rows: list[list[float]]) -> list[list[float]]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    means = [_mean(column) for column in columns]
    deviations = [_deviation(column) for column in columns]
    return [
        [(x - m) / d if d else 0.0 for x, m, d in zip(row, means, deviations, strict=True)]
        for row in rows
    ]


def _leading_direction(z: list[list[float]]) -> list[float]:
    size = len(z[0])
    covariance = [
        [math.fsum(row[i] * row[j] for row in z) / (len(z) - 1) for j in range(size)]
        for i in range(size)
    ]
    direction = [1.0 + i / 100 for i in range(size)]
    for _ in range(5000):
        turned = [sum(c * d for c, d in zip(row, direction, strict=True)) for row in covariance]
        length = math.sqrt(sum(t * t for t in turned))
        if length == 0:
            return direction
        direction = [t / length for t in turned]
    return direction if sum(direction) > 0 else [-d for d in direction]
