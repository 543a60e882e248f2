"""The incomplete gamma and beta functions, and the distributions that are made of them and their inverses. Series, fractions and Newton's steps go on until
all elements are known."""

import functools
import math

from catenary import _core
from catenary.cupyx.scipy._gamma import stored
from catenary.cupyx.scipy._steps import function as _function, until_all_are_done as _until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _log1p, _lgamma, _absolute, _floor = (_ufuncs[n] for n in ('exp', 'log', 'log1p', 'lgamma', 'absolute', 'floor'))
_EPSILON = {'f': 2.4e-7, 'd': 4.5e-16}  # a factor may go to and fro between 1 and its neighbours for ever
_TINY = 1e-30


def _not_zero(x):
    return _core.where(_absolute(x) < _TINY, _TINY, x)


def _parts_of_gamma(a, x, log):
    """Where the regularized lower incomplete gamma function is a factor times a series, and where the upper one is that times a fraction; both, and the logarithm of the factor. `log` is that of x, which may be too small for a number."""
    eps = _EPSILON[x.dtype.char]
    by_series = x < a + 1

    def series(k, state):
        term, total, _ = state
        term = term * s / (a + k)
        total = total + term
        return term, total, term > total * eps
    s = _core.where(by_series, x, 0)
    lower = _until_all_are_done(series, (1 / a, 1 / a, by_series))[1]

    def fraction(k, state):
        c, d, value, _ = state
        an, b = -k * (k - a), u + (2 * k + 1 - a)
        d = 1 / _not_zero(an * d + b)
        c = _not_zero(b + an / c)
        change = c * d
        return c, d, value * change, ~by_series & (_absolute(change - 1) > eps)
    u = _core.where(by_series, a + 1, x)
    first = 1 / _not_zero(u + 1 - a)
    upper = _until_all_are_done(fraction, (_core.full_like(x, 1 / _TINY), first, first, ~by_series))[2]
    return by_series, lower, upper, stored(a * log - x - _lgamma(a))


def _incomplete_gamma(a, x):
    """The regularized lower and upper incomplete gamma functions of a > 0 and x >= 0."""
    by_series, lower, upper, log = _parts_of_gamma(a, x, _log(x))
    lower, upper = lower * _exp(log), upper * _exp(log)
    lower = _core.where(by_series, lower, 1 - upper)
    upper = _core.where(by_series, 1 - lower, upper)
    ends = [(x == 0, 0, 1), (x == math.inf, 1, 0), (a == 0, 1, 0), ((x < 0) | (a < 0) | _ufuncs['isnan'](a + x), math.nan, math.nan)]
    ends.insert(2, (a == math.inf, 0, 1))
    ends.append(((a == 0) & (x == 0) | (a == math.inf) & (x == math.inf), math.nan, math.nan))
    for where, low, high in ends:
        lower, upper = _core.where(where, low, lower), _core.where(where, high, upper)
    return lower, upper


def _lower(a, x):
    return _incomplete_gamma(a, x)[0]


def _upper(a, x):
    return _incomplete_gamma(a, x)[1]


gammainc = _function('gammainc', 'The regularized lower incomplete gamma function; NaN for negative numbers.', _lower)
gammaincc = _function('gammaincc', 'The regularized upper incomplete gamma function; NaN for negative numbers.', _upper)


def _parts_of_beta(a, b, x, other, log, other_log):
    """Where the incomplete beta function is computed from the other end, the value from its end, and the logarithm of its factor x^a (1 - x)^b / B(a, b). `other` is 1 - x, and the logarithms are
    those of both."""
    eps = _EPSILON[x.dtype.char]
    turned = x > (a + 1) / (a + b + 2)
    p, q = stored(_core.where(turned, b, a)), stored(_core.where(turned, a, b))
    y = stored(_core.where(turned, other, x))
    log = stored(a * log + b * other_log + _lgamma(a + b) - _lgamma(a) - _lgamma(b))

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
    return turned, _until_all_are_done(fraction, (_core.ones_like(x), first, first, x == x))[2] / p, log


def _incomplete_beta(a, b, x):
    """The regularized incomplete beta function of a, b > 0 and x from 0 to 1."""
    turned, value, log = _parts_of_beta(a, b, x, 1 - x, _log(x), _log1p(-x))
    value = value * _exp(log)
    value = _core.where(turned, 1 - value, value)
    value = _core.where(x == 0, 0, _core.where(x == 1, 1, value))
    # all of it lies at 0, or at 1
    value = _core.where((a == 0) | (b == math.inf), x > 0, _core.where((b == 0) | (a == math.inf), x == 1, value))
    undefined = (a == 0) & (b == 0) | (a == math.inf) & (b == math.inf) | (a < 0) | (b < 0) | (x < 0) | (x > 1) | _ufuncs['isnan'](a + b + x)
    return _core.where(undefined, math.nan, value)


betainc = btdtr = _function('betainc', 'The regularized incomplete beta function; NaN where a or b is below 0 or both are 0 or infinite, or x outside 0 to 1.', _incomplete_beta)


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


def _of_whole_n(compute):
    """The same with n cut to a whole number, as SciPy cuts it."""
    return lambda k, n, p: compute(k, stored(_ufuncs['trunc'](n)), p)


bdtr = _function('bdtr', 'The binomial distribution: the sum to k of n with probability p.', _of_whole_n(lambda k, n, p: _core.where(
    _floor(k) == n, 1, _incomplete_beta(_ufuncs['maximum'](n - _floor(k), 0), _floor(k) + 1, 1 - p))))
bdtrc = _function('bdtrc', 'The binomial distribution: the sum beyond k of n with probability p.', _of_whole_n(lambda k, n, p: _core.where(
    _floor(k) == n, 0, _core.where(k < 0, 1, _incomplete_beta(_ufuncs['maximum'](_floor(k), -0.5) + 1, _ufuncs['maximum'](n - _floor(k), 0), p)))))
nbdtr = _function('nbdtr', 'The negative binomial distribution: the sum to k of n with probability p.', _of_whole_n(lambda k, n, p: _nan_outside(
    _incomplete_beta(n, _floor(k) + 1, p), n > 0)))
nbdtrc = _function('nbdtrc', 'The negative binomial distribution: the sum beyond k of n with probability p.', _of_whole_n(lambda k, n, p: _nan_outside(
    _incomplete_beta(_floor(k) + 1, n, 1 - p), n > 0)))


# ------------------------------------------------------------------ inverses
# The logarithms of these distributions are concave functions of log(x), or of log(x / (1 - x)): Newton's steps from where the value is too small come near without passing by.
_NEWTON = 64  # steps at most; ten do in most cases


def _smaller(p, q):
    """The smaller of a probability and what it lacks of 1, and is it the second?"""
    upper = stored(p > q)
    return stored(_core.where(upper, q, p)), upper


def _newton(start, step):
    """A number t, to which step(t) says what is to be added."""
    def next_step(k, state):
        t, last, going = state
        change = stored(_ufuncs['minimum'](_ufuncs['maximum'](step(t), -50), 50))
        change = stored(_core.where(_ufuncs['isfinite'](change) & going, change, 0))
        size = stored(_absolute(change))
        # near the root a step is the last one's square, until it is nothing but rounding
        going = (size > 2 * _EPSILON[t.dtype.char] * _ufuncs['maximum'](_absolute(t), 1)) & ((size > 1e-4) | (size < last / 2))
        return t + change, size, going
    return _until_all_are_done(next_step, (start, _core.full_like(start, 50), start == start), most=_NEWTON)[0]


def _inverse_of_gamma(a, p, q):
    """x of which the regularized lower incomplete gamma function is p, and the upper one q = 1 - p."""
    known = stored((a > 0) & (a < math.inf) & (p > 0) & (q > 0))
    b, (small, upper) = stored(_core.where(known, a, 1)), _smaller(_core.where(known, p, 0.5), _core.where(known, q, 0.5))
    log = stored(_log(small))
    # below the root, as exp(-x) <= 1; or Wilson's and Hilferty's cube
    below = stored((_core.where(upper, _log1p(-small), log) + _lgamma(b + 1)) / b)
    z = stored(_ufuncs['ndtri'](small))
    cube = stored(1 - 1 / (9 * b) + _core.where(upper, -z, z) / (3 * _ufuncs['sqrt'](b)))
    start = _core.where(cube > 0, _ufuncs['maximum'](below, _log(b) + 3 * _log(_core.where(cube > 0, cube, 1))), below)

    def step(t):
        by_series, lower, above, factor = _parts_of_gamma(b, stored(_exp(t)), t)
        own, other = stored(_core.where(by_series, lower, above)), stored(by_series == upper)
        # the value over the factor, and its logarithm: as they are, or of 1 minus the value that there is
        rest = stored(1 - own * _exp(factor))
        ratio = stored(_core.where(other, rest * _exp(-factor), own))
        value = stored(_core.where(other, _log(rest), factor + _log(own)))
        return _core.where(upper, value - log, log - value) * ratio
    value = _exp(_newton(stored(start), step))
    value = _core.where(p == 0, 0, _core.where(q == 0, math.inf, _core.where(known, value, math.nan)))
    return _core.where((a < 0) | (p < 0) | (q < 0) | _ufuncs['isnan'](a + p), math.nan, value)


def _inverse_of_beta(a, b, p, q):
    """log(x / (1 - x)) for x of which the regularized incomplete beta function is p, and 1 minus that is q."""
    known = stored((a > 0) & (b > 0) & (a < math.inf) & (b < math.inf) & (p > 0) & (q > 0))
    small, upper = _smaller(_core.where(known, p, 0.5), _core.where(known, q, 0.5))
    c, d = stored(_core.where(known, _core.where(upper, b, a), 1)), stored(_core.where(known, _core.where(upper, a, b), 1))
    log = stored(_log(small))
    near_zero = stored((log + _log(c) + _lgamma(c) + _lgamma(d) - _lgamma(c + d)) / c)
    start = _ufuncs['minimum'](near_zero, _log(c / (c + d)))
    start = start - _log1p(-_exp(_ufuncs['minimum'](start, -1e-3)))

    def step(t):
        x, rest = stored(_ufuncs['sigmoid'](t)), stored(_ufuncs['sigmoid'](-t))
        turned, own, factor = _parts_of_beta(c, d, x, rest, -_ufuncs['softplus'](-t), -_ufuncs['softplus'](t))
        remainder = stored(1 - own * _exp(factor))
        ratio = stored(_core.where(turned, remainder * _exp(-factor), own))
        value = stored(_core.where(turned, _log(remainder), factor + _log(own)))
        return (log - value) * ratio
    t = _newton(stored(start), step)
    t = _core.where(upper, -t, t)
    t = _core.where(p == 0, -math.inf, _core.where(q == 0, math.inf, _core.where(known, t, math.nan)))
    return stored(_core.where((a <= 0) | (b <= 0) | (p < 0) | (q < 0) | _ufuncs['isnan'](a + b + p), math.nan, t))


def _beta_inverse(a, b, p, q):
    return _ufuncs['sigmoid'](_inverse_of_beta(a, b, p, q))


gammaincinv = _function('gammaincinv', 'x of which gammainc(a, x) is p.', lambda a, p: _inverse_of_gamma(a, p, 1 - p))
gammainccinv = _function('gammainccinv', 'x of which gammaincc(a, x) is q.', lambda a, q: _inverse_of_gamma(a, 1 - q, q))
betaincinv = btdtri = _function('betaincinv', 'x of which betainc(a, b, x) is p.', lambda a, b, p: _beta_inverse(a, b, p, 1 - p))
pdtri = _function('pdtri', 'The mean m of which pdtr(k, m) is y.', lambda k, y: _nan_outside(_inverse_of_gamma(_floor(k) + 1, 1 - y, y), k >= 0, y < 1))
chdtri = _function('chdtri', 'x of which chdtrc(v, x) is p.', lambda v, p: 2 * _inverse_of_gamma(v / 2, 1 - p, p))
fdtri = _function('fdtri', 'x of which fdtr(dfn, dfd, x) is p.', lambda dfn, dfd, p: dfd / dfn * _exp(_inverse_of_beta(dfn / 2, dfd / 2, p, 1 - p)))
bdtri = _function('bdtri', 'The probability p of which bdtr(k, n, p) is y.', _of_whole_n(lambda k, n, y: _nan_outside(
    _beta_inverse(_floor(k) + 1, n - _floor(k), 1 - y, y), k >= 0)))
nbdtri = _function('nbdtri', 'The probability p of which nbdtr(k, n, p) is y; 0 and 1 of these for each n.', _of_whole_n(lambda k, n, y: _nan_outside(
    _core.where((y == 0) | (y == 1), y, _beta_inverse(n, _floor(k) + 1, y, 1 - y)), k >= 0, n == n)))
