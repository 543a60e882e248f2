"""The incomplete gamma and beta functions, and the distributions that are made of them. Their series and fractions go on until all
elements are known."""

import functools
import math

from catenary import _core
from catenary.cupy._functions.shapes import broadcast_arrays
from catenary.cupyx.scipy._gamma import prepared, wide

_ufuncs = _core.ufuncs
_exp, _log, _lgamma, _absolute, _floor = (_ufuncs[n] for n in ('exp', 'log', 'lgamma', 'absolute', 'floor'))
_TOGETHER, _MOST = 8, 20000  # steps before it is asked whether all are done, and at most
_EPSILON = {'f': 2.4e-7, 'd': 4.5e-16}  # a factor may go to and fro between 1 and its neighbours for ever
_TINY = 1e-30


def _prepared(name, *args):
    """As prepared, with the arguments in float64 where the device has it: in float32 three digits would be left of some."""
    *values, dtype = prepared(name, *args)
    return *wide(*values), dtype


def _until_all_are_done(step, state, k=1):
    """step(k, state) for k and on, until step's last entry, a mask of what is not done, has nothing."""
    while k < _MOST and state[0].size:
        for _ in range(_TOGETHER):
            state = tuple(_core._copy(x, 'C') for x in step(k, state))  # one small text is compiled, and not one for all steps
            k += 1
        if not bool(_core.any(state[-1])):
            break
    return state


def _not_zero(x):
    return _core.where(_absolute(x) < _TINY, _TINY, x)


def _incomplete_gamma(a, x):
    """The regularized lower and upper incomplete gamma functions of a > 0 and x >= 0."""
    a, x = broadcast_arrays(a, x)
    eps = _EPSILON[x.dtype.char]
    by_series = x < a + 1
    factor = _exp(a * _log(x) - x - _lgamma(a))

    def series(k, state):
        term, total, _ = state
        term = term * s / (a + k)
        total = total + term
        return term, total, term > total * eps
    s = _core.where(by_series, x, 0)
    lower = _until_all_are_done(series, (1 / a, 1 / a, by_series))[1] * factor

    def fraction(k, state):
        c, d, value, _ = state
        an, b = -k * (k - a), u + (2 * k + 1 - a)
        d = 1 / _not_zero(an * d + b)
        c = _not_zero(b + an / c)
        change = c * d
        return c, d, value * change, ~by_series & (_absolute(change - 1) > eps)
    u = _core.where(by_series, a + 1, x)
    first = 1 / _not_zero(u + 1 - a)
    upper = _until_all_are_done(fraction, (_core.full_like(x, 1 / _TINY), first, first, ~by_series))[2] * factor
    lower = _core.where(by_series, lower, 1 - upper)
    upper = _core.where(by_series, 1 - lower, upper)
    ends = [(x == 0, 0, 1), (x == math.inf, 1, 0), (a == 0, 1, 0), ((x < 0) | (a < 0) | _ufuncs['isnan'](a + x), math.nan, math.nan)]
    ends.insert(2, (a == math.inf, 0, 1))
    ends.append(((a == 0) & (x == 0) | (a == math.inf) & (x == math.inf), math.nan, math.nan))
    for where, low, high in ends:
        lower, upper = _core.where(where, low, lower), _core.where(where, high, upper)
    return lower, upper


def gammainc(a, x):
    """The regularized lower incomplete gamma function; NaN for negative numbers."""
    a, x, dtype = _prepared('gammainc', a, x)
    return _incomplete_gamma(a, x)[0].astype(dtype)


def gammaincc(a, x):
    """The regularized upper incomplete gamma function; NaN for negative numbers."""
    a, x, dtype = _prepared('gammaincc', a, x)
    return _incomplete_gamma(a, x)[1].astype(dtype)


def _incomplete_beta(a, b, x):
    """The regularized incomplete beta function of a, b > 0 and x from 0 to 1."""
    a, b, x = broadcast_arrays(a, b, x)
    eps = _EPSILON[x.dtype.char]
    turned = x > (a + 1) / (a + b + 2)
    p, q, y = _core.where(turned, b, a), _core.where(turned, a, b), _core.where(turned, 1 - x, x)
    factor = _exp(p * _log(y) + q * _ufuncs['log1p'](-y) + _lgamma(p + q) - _lgamma(p) - _lgamma(q)) / p

    def fraction(k, state):
        c, d, value, _ = state
        for coefficient in (k * (q - k) * y / ((p + 2 * k - 1) * (p + 2 * k)),
                            -(p + k) * (p + q + k) * y / ((p + 2 * k) * (p + 2 * k + 1))):
            d = 1 / _not_zero(1 + coefficient * d)
            c = _not_zero(1 + coefficient / c)
            change = c * d
            value = value * change
        return c, d, value, _absolute(change - 1) > eps
    first = 1 / _not_zero(1 - (p + q) * y / (p + 1))
    value = factor * _until_all_are_done(fraction, (_core.ones_like(x), first, first, x == x))[2]
    value = _core.where(turned, 1 - value, value)
    value = _core.where(x == 0, 0, _core.where(x == 1, 1, value))
    # all of it lies at 0, or at 1
    value = _core.where((a == 0) | (b == math.inf), x > 0, _core.where((b == 0) | (a == math.inf), x == 1, value))
    undefined = (a == 0) & (b == 0) | (a == math.inf) & (b == math.inf) | (a < 0) | (b < 0) | (x < 0) | (x > 1) | _ufuncs['isnan'](a + b + x)
    return _core.where(undefined, math.nan, value)


def betainc(a, b, x):
    """The regularized incomplete beta function; NaN where a or b is below 0 or both are 0 or infinite, or x outside 0 to 1."""
    a, b, x, dtype = _prepared('betainc', a, b, x)
    return _incomplete_beta(a, b, x).astype(dtype)


btdtr = betainc


def _function(name, description, compute):
    def function(*args):
        *values, dtype = _prepared(name, *args)
        return compute(*values).astype(dtype)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = description
    return function


def _lower(a, x):
    return _incomplete_gamma(a, x)[0]


def _upper(a, x):
    return _incomplete_gamma(a, x)[1]


def _nan_outside(value, *conditions):
    return _core.where(functools.reduce(_ufuncs['logical_and'], conditions), value, math.nan)


pdtr = _function('pdtr', "Poisson's distribution: the sum to k for the mean m.", lambda k, m: _nan_outside(
    _upper(_floor(k) + 1, m), k >= 0, m >= 0))
pdtrc = _function('pdtrc', "Poisson's distribution: the sum beyond k for the mean m.", lambda k, m: _nan_outside(
    _lower(_floor(k) + 1, m), k >= 0, m >= 0))
chdtr = _function('chdtr', 'The chi-square distribution of v degrees of freedom, to x.', lambda v, x: _lower(v / 2, x / 2))
chdtrc = _function('chdtrc', 'The chi-square distribution of v degrees of freedom, beyond x.', lambda v, x: _upper(v / 2, x / 2))
gdtr = _function('gdtr', 'The gamma distribution of rate a and shape b, to x.', lambda a, b, x: _lower(b, a * x))
gdtrc = _function('gdtrc', 'The gamma distribution of rate a and shape b, beyond x.', lambda a, b, x: _upper(b, a * x))
fdtr = _function('fdtr', 'The F distribution, to x.', lambda dfn, dfd, x: _incomplete_beta(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x)))
fdtrc = _function('fdtrc', 'The F distribution, beyond x.', lambda dfn, dfd, x: _incomplete_beta(dfd / 2, dfn / 2, dfd / (dfd + dfn * x)))
bdtr = _function('bdtr', 'The binomial distribution: the sum to k of n with probability p.', lambda k, n, p: _core.where(
    _floor(k) == n, 1, _incomplete_beta(_ufuncs['maximum'](n - _floor(k), 0), _floor(k) + 1, 1 - p)))
bdtrc = _function('bdtrc', 'The binomial distribution: the sum beyond k of n with probability p.', lambda k, n, p: _core.where(
    _floor(k) == n, 0, _core.where(k < 0, 1, _incomplete_beta(_ufuncs['maximum'](_floor(k), -0.5) + 1, _ufuncs['maximum'](n - _floor(k), 0), p))))
nbdtr = _function('nbdtr', 'The negative binomial distribution: the sum to k of n with probability p.', lambda k, n, p: _incomplete_beta(
    n, _floor(k) + 1, p))
nbdtrc = _function('nbdtrc', 'The negative binomial distribution: the sum beyond k of n with probability p.', lambda k, n, p: _incomplete_beta(
    _floor(k) + 1, n, 1 - p))
