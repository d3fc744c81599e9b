"""Obvious ways to numbers that the libraries lose."""

import math

from scipy import integrate


def log_tail_by_quadrature(t: float, df: float) -> float:
    """ln P[|T| >= t]: the density from t on, over the density at t, which has a logarithm."""
    steepness = (df + 1) * t / (df + t * t)  # of the density's logarithm at t

    def ratio(x: float) -> float:
        u = t + x / steepness
        return math.exp(-(df + 1) / 2 * math.log1p((u * u - t * t) / (df + t * t))) / steepness

    area, _ = integrate.quad(ratio, 0, math.inf, epsabs=0, epsrel=1e-10)
    log_density = (
        math.lgamma((df + 1) / 2)
        - math.lgamma(df / 2)
        - math.log(df * math.pi) / 2
        - (df + 1) / 2 * math.log1p(t * t / df)
    )
    return math.log(2) + log_density + math.log(area)
