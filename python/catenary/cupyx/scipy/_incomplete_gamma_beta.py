"""Logarithms of the incomplete gamma and beta functions.

Series and continued fractions run until all elements have converged. For large parameters Gauss-Legendre quadrature of the tail replaces a series
that would need about sqrt(parameter) terms.
"""

import math

import numpy

from catenary import _core
from catenary.cupyx.scipy._gamma import stored
from catenary.cupyx.scipy._beta_binom import log1p_less, log_of_ratio, remainder_of_stirling
from catenary.cupyx.scipy._iteration import until_all_are_done as _until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _log1p, _expm1, _lgamma, _absolute = (_ufuncs[n] for n in ('exp', 'log', 'log1p', 'expm1', 'lgamma', 'absolute'))
EPSILON = {'f': 2.4e-7, 'd': 4.5e-16}  # a factor may oscillate around 1 for ever within this tolerance
_TINY = 1e-30
_LARGE = 1000  # from these parameters on, tails resemble a normal distribution's
_ENOUGH = 45  # exp(-45) is below rounding
_NODES, _WEIGHTS = (x.tolist() for x in numpy.polynomial.legendre.leggauss(48))
# coefficients of log(gamma(1 + a)) at 0: minus Euler's constant, and zeta(k) / k with the sign (-1)**k
_ABOUT_ONE = (-0.5772156649015329, 0.8224670334241132, -0.40068563438653143, 0.27058080842778454, -0.20738555102867398, 0.1695571769974082, -0.1440498967688461, 0.12550966952474304,
              -0.11133426586956469, 0.1000994575127818, -0.09095401714582904, 0.083353840546109)


def _not_zero(x):
    return _core.where(_absolute(x) < _TINY, _TINY, x)


def _both_logarithms(lower_known, log):
    """Returns the logarithms of both the lower and the upper function, given one of them."""
    log = stored(_ufuncs['minimum'](log, 0))
    rest = stored(_log1p(-_exp(log)))
    return stored(_core.where(lower_known, log, rest)), stored(_core.where(lower_known, rest, log))


def _tail(slope, curvature, exponent):
    """Returns the logarithm of the integral of exp(exponent(v)) from v = 0 to where it vanishes. The exponent begins as -slope v - curvature v**2 /
    2."""
    length = stored(2 * _ENOUGH / (slope + _ufuncs['sqrt'](slope * slope + 2 * _ENOUGH * curvature)))
    total = _core.zeros_like(length)
    for node, weight in zip(_NODES, _WEIGHTS):
        total = stored(total + weight / 2 * _exp(exponent(stored((1 + node) / 2 * length))))
    return stored(_log(total * length))


# ------------------------------------------------------------------ gamma
def _log_of_power_of_gamma(a, x, log):
    """Returns log(x**a exp(-x) / gamma(a))."""
    change = stored((x - a) / a)
    less = stored(_core.where(_absolute(change) <= 0.5, log1p_less(change), log - _log(a) - change))
    far = a * less + 0.5 * _log(a / (2 * math.pi)) - remainder_of_stirling(_core.where(a < 10, 10, a))
    return stored(_core.where(a < 10, a * log - x - _lgamma(a), far))


def _log_gamma_of_one_more(a):
    """Returns log(gamma(1 + a)) of positive numbers, accurate near 0."""
    total = _ABOUT_ONE[-1]
    for c in _ABOUT_ONE[-2::-1]:
        total = total * a + c
    return stored(_core.where(a < 0.05, a * total, _lgamma(1 + a)))


def _upper_of_small(a, x, log):
    """Returns the upper function for small a and x, where it is below 1/2."""
    total, power = _core.zeros_like(x), -x
    for n in range(1, 22):
        total, power = stored(total + power / (a + n)), stored(power * -x / (n + 1))
    start = stored(a * log - _log_gamma_of_one_more(a))
    return stored(-_expm1(start) - a * _exp(start) * total)


def _series_of_gamma(a, x, where):
    eps, s = EPSILON[x.dtype.char], _core.where(where, x, 0)

    def step(k, state):
        term, total, _ = state
        term = term * s / (a + k)
        total = total + term
        return term, total, term > total * eps
    first = stored(_core.where(where, 1 / a, 1))
    return _until_all_are_done(step, (first, first, where))[1]


def _fraction_of_gamma(a, x, where):
    eps = EPSILON[x.dtype.char]

    def step(k, state):
        c, d, value, going = state
        an, b = -k * (k - a), u + (2 * k + 1 - a)
        d = 1 / _not_zero(an * d + b)
        c = _not_zero(b + an / c)
        change = stored(_core.where(going, c * d, 1))
        return c, d, value * change, going & (_absolute(change - 1) > eps)
    u = _core.where(where, x, a + 1)
    first = 1 / _not_zero(u + 1 - a)
    return _until_all_are_done(step, (_core.full_like(x, 1 / _TINY), first, first, where))[2]


def logs_of_gamma(a, x, log):
    """Returns the logarithms of the regularized lower and upper incomplete gamma functions of a > 0 and x >= 0, and of x times the density. `log` is
    log(x), as x itself may underflow."""
    factor = _log_of_power_of_gamma(a, x, log)
    tail = stored((a >= _LARGE) & (_absolute(x - a) <= a / 2))
    small = stored((x < 1.1) & (_core.where(x <= 0.5, a * log > -0.4, 1.1 * x > a)))
    lower_known = stored(_core.where(tail, x < a, ~small & (x < a + 1)))
    known = stored(_core.where(lower_known, _log(_series_of_gamma(a, x, stored(lower_known & ~tail))), _log(_fraction_of_gamma(a, x, stored(~lower_known & ~tail & ~small)))) + factor)
    if bool(_core.any(small)):
        b, y = stored(_core.where(small, a, 1)), stored(_core.where(small, x, 0.5))
        known = stored(_core.where(small, _log(_upper_of_small(b, y, stored(_core.where(small, log, math.log(0.5))))), known))
    if bool(_core.any(tail)):
        b, gap = stored(_core.where(tail, a, _LARGE)), stored(_core.where(tail, _absolute(x - a), 0))
        sign = stored(_core.where(lower_known, -1, 1).astype(x.dtype))
        known = stored(_core.where(tail, factor + _tail(gap, b, lambda v: b * log1p_less(sign * v) - gap * v - _log1p(sign * v)), known))
    return (*_both_logarithms(lower_known, known), factor)


# ------------------------------------------------------------------ beta
def _log_of_power_of_beta(a, b, log, other_log, excess):
    """Returns log(x**a (1 - x)**b / beta(a, b)), where `excess` is b x - a (1 - x)."""
    total = stored(a + b)

    def part(p, q, log, excess):
        change = stored(excess / p)
        ratio = _core.where(p > q, _log1p(q / p), _log(total) - _log(p))
        return stored(_core.where(_absolute(change) <= 0.5, p * log1p_less(change), p * (log + ratio) - excess))
    powers = stored(part(a, b, log, excess) + part(b, a, other_log, -excess))
    less = stored(remainder_of_stirling(total) - remainder_of_stirling(a) - remainder_of_stirling(b))
    return stored(powers + 0.5 * (_log(_ufuncs['minimum'](a, b)) + _log(_ufuncs['maximum'](a, b) / total) - math.log(2 * math.pi)) + less)


def _fraction_of_beta(p, q, y, z, less, where):
    """Returns the factor that makes y**p z**q / beta(p, q) the function: the continued fraction of DiDonato and Morris (1992), with z = 1 - y and
    `less` = p z - q y."""
    eps = EPSILON[y.dtype.char]

    def lower(n):
        return n + n * (q - n) * y / (p + (2 * n - 1)) + (p + n) / (p + (2 * n + 1)) * (less + 1 + n * (1 + z))

    def step(n, state):
        c, d, value, going = state
        upper = (p + (n - 1)) / (p + (2 * n - 1)) * n * ((p + q + (n - 1)) / (p + (2 * n - 1)) * y) * ((q - n) * y)
        below = lower(n)
        d = 1 / _not_zero(upper * d + below)
        c = _not_zero(below + upper / c)
        change = stored(_core.where(going, c * d, 1))
        return c, d, value * change, going & (_absolute(change - 1) > eps)
    first = stored(p / (p + 1) * (less + 1))
    first = stored(_core.where(where, first, 1))
    return 1 / _until_all_are_done(step, (first, _core.zeros_like(first), first, where))[2]


def _start_of_small(p, q, log):
    """Returns log(y**p / (p beta(p, q))) accurately for small p. `log` is log(y)."""
    return stored(p * log - _log_gamma_of_one_more(p) + log_of_ratio(q, stored(q + p), p))


def _rest_of_small(p, q, y, start):
    """Returns 1 minus the function for small p, where that is below 1/2 and `start` is _start_of_small's result."""
    eps = EPSILON[y.dtype.char]

    def step(n, state):
        power, total, going = state
        power = stored(power * (n - q) / n * y)
        part = _core.where(going, power / (p + n), 0)
        return power, total + part, going & (_absolute(part) > eps * _absolute(total))
    total = _until_all_are_done(step, (_core.ones_like(y), _core.zeros_like(y), y == y))[1]
    return stored(-_expm1(start) - p * _exp(start) * total)


def _log_of_tail_of_beta(p, q, y, z, excess):
    """Returns the term that logs_of_beta adds to the logarithm of the density for large parameters."""
    ratio, slope = stored(y / z), stored(excess / z)
    return stored(_tail(slope, stored(p + q * ratio * ratio),
                        lambda v: p * log1p_less(-v) + q * log1p_less(ratio * v) - slope * v - _log1p(-v) - _log1p(ratio * v)) - _log(z))


def logs_of_beta(a, b, x, other, log, other_log):
    """Returns the logarithms of the regularized incomplete beta function, of its complement, and of x (1 - x) times the density. `other` is 1 - x,
    and the logarithms of x and 1 - x are also passed."""
    excess = stored(x * b - other * a)
    factor = _log_of_power_of_beta(a, b, log, other_log, excess)
    least = stored(_ufuncs['minimum'](a, b))
    tail = stored((least >= _LARGE) & (_absolute(excess) <= least / 2))
    turned = stored(_core.where(tail, 0, x - other) / 2 + excess > 0)  # at this distance from the mean the first term of the fraction is positive
    p, q, y, z, log_y = (stored(_core.where(turned, u, v)) for u, v in ((b, a), (a, b), (other, x), (x, other), (other_log, log)))
    small = stored((p < 0.5) & (p * log_y > -0.5))
    if bool(_core.any(small)):
        some = tuple(stored(_core.where(small, v, one)) for v, one in ((p, 0.5), (q, 0.5), (log_y, math.log(0.5))))
        start = _start_of_small(*some)
        small = stored(small & (start > -0.5))
    direct = stored(~tail & ~small)
    known = stored(factor + _log(_fraction_of_beta(*(stored(_core.where(direct, v, one)) for v, one in ((p, 1), (q, 1), (y, 0.5), (z, 0.5), (_core.where(turned, excess, -excess), 0))), direct)))
    if bool(_core.any(small)):
        known = stored(_core.where(small, _log(_rest_of_small(some[0], some[1], stored(_core.where(small, y, 0.5)), start)), known))
    if bool(_core.any(tail)):
        of_tail = _log_of_tail_of_beta(*(stored(_core.where(tail, v, one)) for v, one in ((p, _LARGE), (q, _LARGE), (y, 0.5), (z, 0.5), (_absolute(excess), 0))))
        known = stored(_core.where(tail, factor + of_tail, known))
    return (*_both_logarithms(stored(turned == small), known), factor)
