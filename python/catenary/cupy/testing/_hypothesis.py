"""Statistical tests of distributions."""

import statistics


def chi_square_test(observed, expected, alpha=0.05, df=None):
    """Returns whether the counts may come from a distribution that expects `expected`. True ones are rejected with probability alpha."""
    distance = float((((observed - expected) ** 2) / expected).sum())
    df = len(observed) - 1 if df is None else df
    spread = 2 / (9 * df)  # Wilson and Hilferty 1931: the cube root of chi-square / df is nearly normal
    return distance < df * (1 - spread + statistics.NormalDist().inv_cdf(1 - alpha) * spread ** 0.5) ** 3
