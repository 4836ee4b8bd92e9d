"""Means of matches and how far to trust them.

A match is a sample of independent units: duplicate pairs for bots without memory, whole blocks (an
instance from its first hand to its last) for bots that learn, deals for a ring. The mean of n units has
the 95% interval mean +- t(.975, n - 1) * s / sqrt(n) (Student, Biometrika 6, 1908); with thousands of
pairs t is the normal 1.96. Blocks of different sizes are weighted by size and their spread by the squared
weights (Cochran, Sampling Techniques, 1977, chapter 6, ratio estimates). Pairing is variance
reduction by antithetic seats: the cards' luck cancels within a pair (a pair's mean has a
standard deviation of 1.6 sb where single hands have 5).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
_PRIOR_UNITS = 8.0  # planned units times the prior variance of the effect: about -2 ln(.05) + ln(-2 ln(.05)) + 1
_NORMAL_FROM = 100_000  # degrees of freedom above which t and the normal agree to five digits


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, its interval's half-width (nan when there is only one unit) and the units' standard deviation."""

    mean: float
    half_width: float
    sd: float
    n_units: int

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end."""
        return self.mean - self.half_width, self.mean + self.half_width


class Running:
    """Mean and variance of a stream in one pass (Welford, Technometrics 4, 1962)."""

    __slots__ = ("_squares", "mean", "n")

    def __init__(self) -> None:
        self.n = 0
        self.mean = 0.0
        self._squares = 0.0

    def add(self, value: float) -> None:
        """Take in one value."""
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)

    def extend(self, values: Iterable[float]) -> None:
        """Take in many values."""
        for value in values:
            self.add(value)

    @property
    def sd(self) -> float:
        """Sample standard deviation, nan below two values."""
        return math.sqrt(self._squares / (self.n - 1)) if self.n > 1 else math.nan

    def estimate(self, level: float = LEVEL) -> Estimate:
        """Mean with its interval."""
        half = t_quantile(0.5 + level / 2, self.n - 1) * self.sd / math.sqrt(self.n) if self.n > 1 else math.nan
        return Estimate(self.mean, half, self.sd, self.n)


def estimate_mean(values: ArrayLike, level: float = LEVEL) -> Estimate:
    """Mean of independent, equally weighted units."""
    data: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    n = len(data)
    mean = float(data.mean()) if n else math.nan
    if n < 2:
        return Estimate(mean, math.nan, math.nan, n)
    sd = float(data.std(ddof=1))
    return Estimate(mean, t_quantile(0.5 + level / 2, n - 1) * sd / math.sqrt(n), sd, n)


def estimate_blocks(means: ArrayLike, sizes: ArrayLike, level: float = LEVEL) -> Estimate:
    """Mean over blocks weighted by their sizes; the blocks are the independent units."""
    values: NDArray[np.float64] = np.asarray(means, dtype=np.float64)
    counts: NDArray[np.float64] = np.asarray(sizes, dtype=np.float64)
    n = len(values)
    weights = counts / counts.sum()
    mean = float(weights @ values)
    if n < 2:
        return Estimate(mean, math.nan, math.nan, n)
    variance = float((weights**2) @ (values - mean) ** 2) * n / (n - 1)
    half = t_quantile(0.5 + level / 2, n - 1) * math.sqrt(variance)
    return Estimate(mean, half, float(values.std(ddof=1)), n)


def pairs_needed(sd: float, half_width: float, level: float = LEVEL) -> int:
    """Units needed for an interval of this half-width, from the normal law."""
    return math.ceil((NormalDist().inv_cdf(0.5 + level / 2) * sd / half_width) ** 2)


def anytime_half_width(sd: float, n: int, planned: int, level: float = LEVEL) -> float:
    """Half-width of a confidence sequence: right at all n together, so one may look and stop at any time.

    The scale-invariant mixture t-test (Robbins 1970; Wang and Ramdas, "Anytime-valid t-tests", 2023): the mean over a
    N(0, g) prior of the effect mean/sd of the likelihood ratio against 0 is
        (1 + n g)^(-1/2) ((1 + t^2/(n-1)) / (1 + t^2/((n-1)(1 + n g))))^(n/2),
    which exceeds 1/alpha at any time with probability at most alpha for normal units of any spread. g is set so
    that the sequence is tight around `planned` units. inf while n is too small to say anything.
    """
    if n < 2 or math.isnan(sd):
        return math.inf
    alpha = 1.0 - level
    spread = 1.0 + n * _PRIOR_UNITS / max(planned, 2)
    log_k = 2.0 / n * (0.5 * math.log(spread) - math.log(alpha))
    if log_k >= math.log(spread):
        return math.inf
    k = math.exp(log_k)
    return sd * math.sqrt((n - 1) / n * (k - 1.0) / (1.0 - k / spread))


@lru_cache(maxsize=4096)
def t_quantile(p: float, degrees: int) -> float:
    """Quantile of Student's t distribution, by bisection on its exact distribution function."""
    if degrees >= _NORMAL_FROM:
        return NormalDist().inv_cdf(p)
    if p < 0.5:
        return -t_quantile(1.0 - p, degrees)
    low, high = 0.0, 1.0
    while _t_cdf(high, degrees) < p:
        low, high = high, 2.0 * high
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _t_cdf(middle, degrees) < p else (low, middle)
    return 0.5 * (low + high)


def _t_cdf(t: float, degrees: int) -> float:
    tail = 0.5 * _incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t))
    return 1.0 - tail if t >= 0 else tail


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function (Abramowitz and Stegun 26.5.8, evaluated by Lentz's method)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(b, a, 1.0 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    fraction = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d = 1.0 / (1.0 + even * d)
        c = 1.0 + even / c
        fraction *= c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d = 1.0 / (1.0 + odd * d)
        c = 1.0 + odd / c
        fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return math.exp(log_front) * fraction / a
