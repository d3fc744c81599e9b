"""Student's t by the regularised incomplete beta function, of which its tails are values.

The logarithm is computed, so that a tail far below the smallest float keeps its digits.
"""

import math

STEPS = 100_000  # the fraction needs about sqrt(max(a, b)) of them
TINY = 1e-300
HALVINGS = 200


def log_beta_tail(a: float, b: float, x: float) -> float:
    """ln I_x(a, b): `log_beta_tail(1, 1, 0.25) -> ln 0.25`."""
    assert min(a, b) > 0, (a, b)
    assert 0 <= x <= 1, x
    if x == 0:
        return -math.inf
    if x == 1:
        return 0.0
    if x > (a + 1) / (a + b + 2):  # there the fraction of the other tail converges
        return math.log1p(-min(1.0, math.exp(_log_lower(b, a, 1 - x))))
    return min(0.0, _log_lower(a, b, x))


def beta_quantile(a: float, b: float, share: float) -> float:
    """The x with I_x(a, b) = share, by bisection: `beta_quantile(1, 1, 0.25) -> 0.25`."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if math.exp(log_beta_tail(a, b, middle)) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def log_t_tail(t: float, df: float) -> float:
    """ln of the two-sided p of Student's t: P[|T| >= |t|]."""
    if math.isinf(t):
        return -math.inf
    if abs(t) < 1:  # df / (df + t^2) would round to 1
        return math.log1p(-math.exp(log_beta_tail(0.5, df / 2, t * t / (df + t * t))))
    return log_beta_tail(df / 2, 0.5, df / (df + t * t))


def t_quantile(confidence: float, df: float) -> float:
    """The t with P[|T| < t] = confidence: `t_quantile(0.95, 10) -> 2.228`."""
    within = beta_quantile(0.5, df / 2, confidence)  # t^2 / (df + t^2)
    return math.sqrt(df * within / (1 - within))


def _log_lower(a: float, b: float, x: float) -> float:
    """ln I_x(a, b) where x is below the mean: a power of x and 1 - x over a continued fraction."""
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return a * math.log(x) + b * math.log1p(-x) - log_beta - math.log(a * _fraction(a, b, x))


def _fraction(a: float, b: float, x: float) -> float:
    """1 + d1 / (1 + d2 / (1 + ...)), from the front (Lentz): the terms needed are not known."""
    value = c = 1.0
    d = 0.0
    for step in range(1, STEPS):
        m, odd = divmod(step, 2)
        if odd:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _nonzero(1 + term * d)
        c = _nonzero(1 + term / c)
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            return value
    raise ArithmeticError(f"I_x({a}, {b}) at x = {x} does not converge")


def _nonzero(value: float) -> float:
    return value if abs(value) > TINY else TINY
