"""The incomplete gamma and beta functions, their inverses, and distribution functions based on them."""

import functools
import math

from catenary import _core
from catenary.cupyx.scipy._gamma import stored
from catenary.cupyx.scipy._incomplete_gamma_beta import EPSILON, logs_of_beta, logs_of_gamma
from catenary.cupyx.scipy._iteration import function as _function, until_all_are_done as _until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _log1p, _lgamma, _absolute, _floor = (_ufuncs[n] for n in ('exp', 'log', 'log1p', 'lgamma', 'absolute', 'floor'))


def _incomplete_gamma(a, x):
    """Returns the regularized lower and upper incomplete gamma functions of a > 0 and x >= 0."""
    known = stored((a > 0) & (x > 0) & (a < math.inf) & (x < math.inf))
    b, y = stored(_core.where(known, a, 1)), stored(_core.where(known, x, 1))
    lower, upper = (_exp(log) for log in logs_of_gamma(b, y, stored(_log(y)))[:2])
    ends = [(x == 0, 0, 1), (x == math.inf, 1, 0), (a == math.inf, 0, 1), (a == 0, 1, 0), ((x < 0) | (a < 0) | _ufuncs['isnan'](a + x), math.nan, math.nan)]
    ends.append(((a == 0) & (x == 0) | (a == math.inf) & (x == math.inf), math.nan, math.nan))
    for where, low, high in ends:
        lower, upper = _core.where(where, low, lower), _core.where(where, high, upper)
    return lower, upper


def _lower(a, x):
    return _incomplete_gamma(a, x)[0]


def _upper(a, x):
    return _incomplete_gamma(a, x)[1]


gammainc = _function('gammainc', 'Returns the regularized lower incomplete gamma function. Negative arguments give NaN.', _lower)
gammaincc = _function('gammaincc', 'Returns the regularized upper incomplete gamma function. Negative arguments give NaN.', _upper)


def _incomplete_beta(a, b, x, other=None):
    """Returns the regularized incomplete beta function for a, b > 0 and 0 <= x <= 1, with `other` = 1 - x."""
    other = stored(1 - x if other is None else other)
    known = stored((a > 0) & (b > 0) & (x > 0) & (other > 0) & (a < math.inf) & (b < math.inf))
    p, q, y, z = (stored(_core.where(known, v, one)) for v, one in ((a, 1), (b, 1), (x, 0.5), (other, 0.5)))
    near = stored(y < z)
    value = _exp(logs_of_beta(p, q, y, z, stored(_core.where(near, _log(y), _log1p(-z))), stored(_core.where(near, _log1p(-y), _log(z))))[0])
    value = _core.where(x == 0, 0, _core.where(other == 0, 1, value))
    # the distribution is concentrated at 0 or at 1
    value = _core.where((a == 0) | (b == math.inf), x > 0, _core.where((b == 0) | (a == math.inf), other == 0, value))
    undefined = (a == 0) & (b == 0) | (a == math.inf) & (b == math.inf) | (a < 0) | (b < 0) | (x < 0) | (x > 1) | _ufuncs['isnan'](a + b + x)
    return _core.where(undefined, math.nan, value)


betainc = btdtr = _function('betainc', 'Returns the regularized incomplete beta function. NaN if a or b is negative, both are 0 or both infinite, or x is outside 0 to 1.', _incomplete_beta)


def _nan_outside(value, *conditions):
    return _core.where(functools.reduce(_ufuncs['logical_and'], conditions), value, math.nan)


pdtr = _function('pdtr', 'Returns the Poisson distribution function at k with mean m.', lambda k, m: _nan_outside(
    _upper(_floor(k) + 1, m), k >= 0, m >= 0))
pdtrc = _function('pdtrc', 'Returns the Poisson survival function at k with mean m.', lambda k, m: _nan_outside(
    _lower(_floor(k) + 1, m), k >= 0, m >= 0))
chdtr = _function('chdtr', 'Returns the chi-square distribution function with v degrees of freedom at x.', lambda v, x: _lower(v / 2, x / 2))
chdtrc = _function('chdtrc', 'Returns the chi-square survival function with v degrees of freedom at x.', lambda v, x: _upper(v / 2, x / 2))
gdtr = _function('gdtr', 'Returns the gamma distribution function with rate a and shape b at x. Negative x gives NaN.', lambda a, b, x: _nan_outside(_lower(b, a * x), x >= 0))
gdtrc = _function('gdtrc', 'Returns the gamma survival function with rate a and shape b at x. Negative x gives NaN.', lambda a, b, x: _nan_outside(_upper(b, a * x), x >= 0))
def _of_f(upper):
    def compute(dfn, dfd, x):
        ratio = stored(dfn / dfd * x)
        ratio = stored(_core.where(x == 0, 0, ratio))
        part, other = stored(_core.where(ratio < 1, ratio / (1 + ratio), 1 / (1 + 1 / ratio))), stored(1 / (1 + ratio))
        value = _incomplete_beta(dfd / 2, dfn / 2, other, part) if upper else _incomplete_beta(dfn / 2, dfd / 2, part, other)
        value = _nan_outside(value, _ufuncs['isfinite'](dfn), _ufuncs['isfinite'](dfd))
        return _nan_outside(_core.where((x == math.inf) & ~_ufuncs['isnan'](dfn + dfd), 0 if upper else 1, value), dfn > 0, dfd > 0, x >= 0)
    return compute


fdtr = _function('fdtr', 'Returns the F distribution function at x. NaN for negative x and for degrees of freedom that are not positive or infinite.', _of_f(False))
fdtrc = _function('fdtrc', 'Returns the F survival function at x. NaN for negative x and for degrees of freedom that are not positive or infinite.', _of_f(True))


def _of_whole(compute):
    """Truncates k and n to integers, as SciPy does. Infinities, and a last argument that is not a probability, give NaN."""
    def of_whole(k, n, p):
        return _nan_outside(compute(k, stored(_ufuncs['trunc'](n)), p), k < math.inf, _ufuncs['isfinite'](n), p >= 0, p <= 1)
    return of_whole


def _binomial(k, n, p):
    k = stored(_floor(k))
    return _nan_outside(_core.where(k == n, 1, _incomplete_beta(n - k, k + 1, 1 - p, p)), k >= 0, k <= n)


def _binomial_beyond(k, n, p):
    k = stored(_floor(k))
    return _nan_outside(_core.where(k < 0, 1, _core.where(k == n, 0, _incomplete_beta(k + 1, n - k, p))), k <= n)


def _negative_binomial(k, n, p):
    k = stored(_ufuncs['trunc'](k))
    return _nan_outside(_incomplete_beta(n, k + 1, p), k >= 0, n > 0)


def _negative_binomial_beyond(k, n, p):
    k = stored(_ufuncs['trunc'](k))
    return _nan_outside(_incomplete_beta(k + 1, n, 1 - p, p), k >= 0, n > 0)


bdtr = _function('bdtr', 'Returns the binomial distribution function at k for n trials with probability p. NaN for k outside 0 to n.', _of_whole(_binomial))
bdtrc = _function('bdtrc', 'Returns the binomial survival function at k for n trials with probability p: 1 for k below 0, NaN for k above n.', _of_whole(_binomial_beyond))
nbdtr = _function('nbdtr', 'Returns the negative binomial distribution function at k for n and probability p. NaN for k < 0 or n <= 0.', _of_whole(_negative_binomial))
nbdtrc = _function('nbdtrc', 'Returns the negative binomial survival function at k for n and probability p. NaN for k < 0 or n <= 0.', _of_whole(_negative_binomial_beyond))


# ------------------------------------------------------------------ inverses
# The logarithms of these distributions are concave functions of log(x), or of log(x / (1 - x)): Newton's steps from where the value is too small come near without passing by.
_CUBED = 1e6  # from this a on, the cube of a normal quantile is accurate enough
_POLISHED = 2
_NEWTON = 64  # maximum number of steps, usually ten suffice


def _smaller(p, q):
    """Returns (min(p, 1 - p), whether it is 1 - p)."""
    upper = stored(p > q)
    return stored(_core.where(upper, q, p)), upper


def _newton(start, step):
    """Iterates t += step(t) until it converges."""
    def next_step(k, state):
        t, last, going = state
        change = stored(_ufuncs['minimum'](_ufuncs['maximum'](step(t), -50), 50))
        change = stored(_core.where(_ufuncs['isfinite'](change) & going, change, 0))
        size = stored(_absolute(change))
        # converges quadratically near the root, down to rounding errors
        going = (size > 2 * EPSILON[t.dtype.char] * _ufuncs['maximum'](_absolute(t), 1)) & ((size > 1e-4) | (size < last / 2))
        return t + change, size, going
    return _until_all_are_done(next_step, (start, _core.full_like(start, 50), start == start), most=_NEWTON)[0]


def _start_of_gamma(b, small, upper):
    """Returns (an approximate logarithm of _inverse_of_gamma's result, whether it is as good as the exact one).

    It is a lower bound by exp(-x) <= 1, or Wilson and Hilferty's cube, or for small upper values an upper bound by b exp(-x), for b <= 1 <= x.
    """
    below = stored((_core.where(upper, _log1p(-small), _log(small)) + _lgamma(b + 1)) / b)
    z = stored(_ufuncs['ndtri'](small))
    cube = stored(1 - 1 / (9 * b) + _core.where(upper, -z, z) / (3 * _ufuncs['sqrt'](b)))
    cube = stored(_core.where(cube > 0, cube, 0))
    start = stored(_core.where(cube > 0, _ufuncs['maximum'](below, _log(b) + 3 * _log(_core.where(cube > 0, cube, 1))), below))
    above = stored(_log(b) - _log(small))
    start = stored(_core.where(upper & (b <= 1) & (above > 1), _log(_core.where(above > 1, above, 1)), start))
    return start, stored(b * cube * cube * cube), stored(b >= _CUBED)


def _inverse_of_gamma(a, p, q):
    """Returns x such that the regularized lower incomplete gamma function is p and the upper one q = 1 - p."""
    known = stored((a > 0) & (a < math.inf) & (p > 0) & (q > 0))
    b, (small, upper) = stored(_core.where(known, a, 1)), _smaller(_core.where(known, p, 0.5), _core.where(known, q, 0.5))
    log = stored(_log(small))
    start, cubed, done = _start_of_gamma(b, small, upper)

    def change(x, of_x):
        lower, above, factor = logs_of_gamma(b, x, of_x)
        value = stored(_core.where(upper, above, lower))
        return stored(_core.where(upper, value - log, log - value) * _exp(value - factor))
    value = stored(_exp(_newton(start, lambda t: stored(_core.where(done, 0, change(stored(_exp(t)), t))))))
    value = stored(_core.where(done, cubed, value))
    for _ in range(_POLISHED):  # improves digits that the logarithm does not have
        y = stored(_core.where(value > 0, value, 1))
        rest = stored(change(y, stored(_log(y))))
        value = stored(_core.where((_absolute(rest) < 1e-6) & (value > 0), value * (1 + rest), value))
    value = _core.where(p == 0, 0, _core.where(q == 0, math.inf, _core.where(known, value, math.nan)))
    return _core.where((a < 0) | (p < 0) | (q < 0) | _ufuncs['isnan'](a + p), math.nan, value)


def _start_of_beta(c, d, small):
    """Returns an initial value for _inverse_of_beta from the smaller probability: the first term of a series, or for large parameters a normal
    quantile (Abramowitz and Stegun 26.5.22)."""
    near_zero = stored((_log(small) + _log(c) + _lgamma(c) + _lgamma(d) - _lgamma(c + d)) / c)
    start = _ufuncs['minimum'](near_zero, _log(c / (c + d)))
    start = stored(start - _log1p(-_exp(_ufuncs['minimum'](start, -1e-3))))
    large = stored((c >= 100) & (d >= 100))
    u, v, y = stored(1 / (2 * _core.where(large, c, 100) - 1)), stored(1 / (2 * _core.where(large, d, 100) - 1)), stored(-_ufuncs['ndtri'](small))
    mean, bend = stored(2 / (u + v)), stored((y * y - 3) / 6)
    width = y * _ufuncs['sqrt'](mean + bend) / mean - (v - u) * (bend + 5 / 6 - 2 / (3 * mean))
    return stored(_core.where(large, _log(c / d) - 2 * width, start))


def _inverse_of_beta(a, b, p, q):
    """Returns (log(x / (1 - x)), x) such that the regularized incomplete beta function is p and its complement q."""
    known = stored((a > 0) & (b > 0) & (a < math.inf) & (b < math.inf) & (p > 0) & (q > 0))
    small, upper = _smaller(_core.where(known, p, 0.5), _core.where(known, q, 0.5))
    c, d = stored(_core.where(known, _core.where(upper, b, a), 1)), stored(_core.where(known, _core.where(upper, a, b), 1))
    log = stored(_log(small))
    done = stored(_ufuncs['minimum'](c, d) >= _CUBED)

    def change(x, rest, of_x, of_rest):
        value, _, factor = logs_of_beta(c, d, x, rest, of_x, of_rest)
        return stored((log - value) * _exp(value - factor))

    def step(t):
        return stored(_core.where(done, 0, change(*(stored(f) for f in (_ufuncs['sigmoid'](t), _ufuncs['sigmoid'](-t), -_ufuncs['softplus'](-t), -_ufuncs['softplus'](t))))))
    t = stored(_newton(_start_of_beta(c, d, small), step))
    x = stored(_ufuncs['sigmoid'](t))
    inside = stored((x > 1e-300) & (x < 1))
    x = stored(_core.where(inside, x, 0.5))
    for _ in range(_POLISHED):  # improves digits that the logarithm does not have
        step_of_x = stored(change(x, stored(1 - x), stored(_log(x)), stored(_log1p(-x))))
        x = stored(_core.where(_absolute(step_of_x) < 1e-6, x + x * (1 - x) * step_of_x, x))
    x = stored(_core.where(inside, x, _ufuncs['sigmoid'](t)))
    t, x = stored(_core.where(upper, -t, t)), stored(_core.where(upper, 1 - x, x))
    # 1 minus a number near 1 has only rounding errors left
    x = stored(_core.where(upper & (x < 0.1), _ufuncs['sigmoid'](t), x))
    undefined = stored((a <= 0) | (b <= 0) | (p < 0) | (q < 0) | _ufuncs['isnan'](a + b + p))
    return tuple(stored(_core.where(undefined, math.nan, _core.where(p == 0, low, _core.where(q == 0, high, _core.where(known, value, math.nan)))))
                 for value, low, high in ((t, -math.inf, math.inf), (x, 0, 1)))


def _beta_inverse(a, b, p, q):
    return _inverse_of_beta(a, b, p, q)[1]


gammaincinv = _function('gammaincinv', 'Returns x such that gammainc(a, x) = p.', lambda a, p: _inverse_of_gamma(a, p, 1 - p))
gammainccinv = _function('gammainccinv', 'Returns x such that gammaincc(a, x) = q.', lambda a, q: _inverse_of_gamma(a, 1 - q, q))
betaincinv = btdtri = _function('betaincinv', 'Returns x such that betainc(a, b, x) = p.', lambda a, b, p: _beta_inverse(a, b, p, 1 - p))
pdtri = _function('pdtri', 'Returns the mean m such that pdtr(k, m) = y.', lambda k, y: _nan_outside(_inverse_of_gamma(_ufuncs['trunc'](k) + 1, 1 - y, y), k > -1, k < math.inf, y < 1))
chdtri = _function('chdtri', 'Returns x such that chdtrc(v, x) = p.', lambda v, p: 2 * _inverse_of_gamma(v / 2, 1 - p, p))
fdtri = _function('fdtri', 'Returns x such that fdtr(dfn, dfd, x) = p.', lambda dfn, dfd, p: _nan_outside(
    dfd / dfn * _exp(_inverse_of_beta(dfn / 2, dfd / 2, p, 1 - p)[0]), dfn < math.inf, dfd < math.inf))
bdtri = _function('bdtri', 'Returns the probability p such that bdtr(k, n, p) = y.', _of_whole(lambda k, n, y: _nan_outside(
    _beta_inverse(_floor(k) + 1, n - _floor(k), 1 - y, y), k >= 0)))
nbdtri = _function('nbdtri', 'Returns the probability p such that nbdtr(k, n, p) = y. y = 0 and 1 give 0 and 1 for each n.', _of_whole(lambda k, n, y: _nan_outside(
    _core.where((y == 0) | (y == 1), y, _beta_inverse(n, _ufuncs['trunc'](k) + 1, y, 1 - y)), k > -1)))
