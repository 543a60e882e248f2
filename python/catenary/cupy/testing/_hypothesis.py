"""Tests of what numbers are distributed as."""

import statistics


def chi_square_test(observed, expected, alpha=0.05, df=None):
    """Could counts be those of a distribution that expects `expected`? Where they are, one answer of 1 / alpha is no."""
    distance = float((((observed - expected) ** 2) / expected).sum())
    df = len(observed) - 1 if df is None else df
    spread = 2 / (9 * df)  # Wilson and Hilferty 1931: the cube root of chi-square / df is nearly normal
    return distance < df * (1 - spread + statistics.NormalDist().inv_cdf(1 - alpha) * spread ** 0.5) ** 3
