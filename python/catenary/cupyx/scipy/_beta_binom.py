"""beta, betaln, binom and poch as quotients of gamma functions, without the cancellation in a difference of large logarithms."""

import math

import numpy

from catenary import _core
from catenary.cupyx.scipy._gamma import STIRLING, prepared, sign_of_gamma, sine_of_pi, stored, wide

_ufuncs = _core.ufuncs
_exp, _log, _log1p, _lgamma, _absolute, _floor = (_ufuncs[n] for n in ('exp', 'log', 'log1p', 'lgamma', 'absolute', 'floor'))
_LARGE = 10  # from here on Stirling's series is exact to rounding
_SLIGHT = 0.05  # for smaller differences the logarithms differ by a mean of the derivative
_NODES, _WEIGHTS = (x.tolist() for x in numpy.polynomial.legendre.leggauss(5))
_COUNTED = 20  # maximum number of factors to multiply directly


def log1p_less(x):
    """Returns log(1 + x) - x, accurate near 0."""
    near = stored(_absolute(x) <= 0.5)
    y = stored(_core.where(near, x, 0))
    s = stored(y / (2 + y))
    square, total = stored(s * s), 1 / 37
    for k in range(35, 1, -2):
        total = total * square + 1 / k
    return stored(_core.where(near, 2 * s * square * stored(total) - s * y, _log1p(_core.where(near, 0, x)) - x))


def remainder_of_stirling(x):
    """Returns log(gamma(x)) - ((x - 1/2) log(x) - x + log(2 pi) / 2) for x > 0."""
    far = stored(x >= _LARGE)
    z, y = stored(_core.where(far, x, _LARGE)), stored(_core.where(far, 1, x))
    square, total = stored(1 / (z * z)), STIRLING[0]
    for c in STIRLING[1:]:
        total = total * square + c
    return stored(_core.where(far, stored(total) / z, _lgamma(y) - ((y - 0.5) * _log(y) - y + 0.5 * math.log(2 * math.pi))))


def _log_of_slight(z, m):
    """Returns log(gamma(z + m) / gamma(z)) for z > 0 and small m, accurate relative to m."""
    low = stored(z < 1)
    start, mean = stored(_core.where(low, z + 1, z)), _core.zeros_like(z)
    for node, weight in zip(_NODES, _WEIGHTS):
        mean = stored(mean + weight / 2 * _ufuncs['digamma'](stored(start + (1 + node) / 2 * m)))
    return stored(m * mean - _core.where(low, _log1p(m / z), 0))


def log_of_ratio(z, total, m):
    """Returns log(gamma(total) / gamma(z)) for positive numbers with total = z + m."""
    slight = stored(_absolute(m) < _SLIGHT)
    large = stored((z >= _LARGE) & (total >= _LARGE))
    close = stored(large & (_absolute(m) <= z / 2))
    a, b, c = (stored(_core.where(large, v, one)) for v, one in ((z, 20), (total, 20), (m, 0)))
    rest = stored(remainder_of_stirling(b) - remainder_of_stirling(a))
    change = stored(_core.where(close, c / a, 0))
    near = c * _log(a) + (c - 0.5) * change + (b - 0.5) * log1p_less(change)
    far = stored((b - 0.5) * _log(b) - (a - 0.5) * _log(a) - c)
    apart = stored(_lgamma(_core.where(large, 1, total)) - _lgamma(_core.where(large, 1, z)))
    value = stored(_core.where(large, _core.where(close, near, far) + rest, apart))
    return stored(_core.where(slight, _log_of_slight(stored(_core.where(slight, z, 1)), stored(_core.where(slight, m, 0))), value))


def _log_and_sign_of_ratio(z, total, m, sines):
    """Returns the logarithm and the sign of gamma(total) / gamma(z) with total = z + m, where `sines` are sin(pi z) and sin(pi total).

    The logarithm is minus infinity where only z is a pole, infinity where only total is one, and the limit where both are.
    """
    of_z, of_total = (stored(x) for x in sines)
    left = stored((z <= 0) & (total <= 0))
    # by reflection gamma(1 - z) / gamma(1 - total)
    log = log_of_ratio(*(stored(_core.where(left, 1 - total, _core.where(z > 0, z, 1 - z))), stored(_core.where(left, 1 - z, _core.where(total > 0, total, 1 - total))), m))
    crossed = stored((z <= 0) != (total <= 0))
    positive, negative = stored(_core.where(z > 0, z, total)), stored(_core.where(z > 0, total, z))
    product = stored(_lgamma(_core.where(crossed, positive, 1)) + _lgamma(_core.where(crossed, 1 - negative, 1)) - math.log(math.pi))
    log = stored(_core.where(crossed, _core.where(z > 0, -product, product), log))
    both = stored((of_z == 0) & (of_total == 0) & left)
    up = _core.where((z <= 0) & ~both, of_z, 1)
    down = _core.where((total <= 0) & ~both, of_total, 1)
    log = stored(log + _log(_absolute(up)) - _log(_absolute(down)))
    odd = both & (_ufuncs['remainder'](_core.where(both, m, 0), 2) == 1)
    return log, stored(_core.where(odd | ((up < 0) != (down < 0)) & (up * down != 0), -1, 1))


def _is_pole(x):
    """Is x 0 or a negative integer, where the gamma function is infinite?"""
    return (x <= 0) & (x == _floor(x))


def _log_and_sign_of_beta(a, b):
    """Returns (log |beta(a, b)|, its sign). A pole gives an infinity unless gamma(a + b) cancels it."""
    a, b = stored(a), stored(b)
    # at a pole, gamma(a) / gamma(a + b) follows from 1 - a - b and b, with the sign of b's parity
    of_a = _is_pole(a)
    pole, other = stored(_core.where(of_a, a, b)), stored(_core.where(of_a, b, a))
    is_pole = stored(of_a | _is_pole(b))
    is_taken = stored(is_pole & _ufuncs['isfinite'](pole + other) & (other == _floor(other)) & (1 - pole - other > 0) & (other > 0))
    x, y = (stored(_core.where(is_taken, taken, _core.where(is_pole, 1, v))) for v, taken in ((a, 1 - pole - other), (b, other)))
    swapped = _absolute(x) < _absolute(y)
    large, small = stored(_core.where(swapped, y, x)), stored(_core.where(swapped, x, y))
    log, sign = _log_and_sign_of_ratio(large, stored(large + small), small, (sine_of_pi(large), sine_of_pi(large, small)))
    log = stored(_lgamma(small) - log)
    sign = stored(sign * sign_of_gamma(small))
    sign = _core.where(is_taken, _core.where(_ufuncs['remainder'](other, 2) == 0, 1, -1), sign)
    endless = stored(is_pole & ~is_taken)
    # 0 if one argument is infinite and the other positive, as gamma(a + b) dominates
    log = _core.where((large == math.inf) & _ufuncs['isfinite'](small), _core.where(small > 0, -math.inf, math.inf), log)
    sign = _core.where((large == math.inf) & _ufuncs['isfinite'](small), sign_of_gamma(small), sign)
    endless = stored(endless | (large == -math.inf) | (small == -math.inf))
    # SciPy's sign of the infinity where both are poles
    negative = stored(_is_pole(a) & (a > -math.inf) & _is_pole(b) & (_ufuncs['remainder'](_core.where(_ufuncs['isfinite'](b), b, 0), 2) == 1))
    return stored(_core.where(endless, math.inf, log)), stored(_core.where(endless, _core.where(negative, -1, 1), sign))


def beta(a, b):
    """Returns gamma(a) gamma(b) / gamma(a + b)."""
    a, b, dtype = prepared('beta', a, b)
    log, sign = _log_and_sign_of_beta(*wide(a, b))
    return (sign * _exp(log)).astype(dtype)


def betaln(a, b):
    """Returns log |beta(a, b)|."""
    a, b, dtype = prepared('betaln', a, b)
    return _log_and_sign_of_beta(*wide(a, b))[0].astype(dtype)


def _broadcast(*args):
    shape = _core._broadcast_shapes([x.shape for x in args])
    return [stored(_core.broadcast_to(x, shape)) for x in args]


def _counted(n, k, value):
    """Replaces `value` by a product of few factors for small integers k, which is exact."""
    whole = stored(k == _floor(k))
    fewer = stored(_core.where(whole & (n == _floor(n)) & (n > 0) & (k > n / 2), n - k, k))
    counted = _core.ones_like(n)
    for j in range(1, _COUNTED):
        counted = stored(_core.where(j <= fewer, counted * ((n - fewer) + j) / j, counted))
    value = stored(_core.where(whole & (fewer >= 0) & (fewer < _COUNTED) & ((_absolute(n) > 1e-8) | (n == 0)), counted, value))
    exact = whole & (n == _floor(n)) & (_absolute(value) < 2.0 ** (40 if value.dtype == 'd' else 12))
    return _core.where(exact, _ufuncs['rint'](value), value)


def binom(n, k):
    """Returns the binomial coefficient n over k, also for real numbers. Negative integers n give NaN."""
    n, k, dtype = prepared('binom', n, k)
    n, k = _broadcast(*wide(n, k))
    other = stored(n - k)
    fewer = stored(_core.where(_absolute(k) <= _absolute(other), k, other))
    of_fewer = stored(_core.where(_absolute(k) <= _absolute(other), sine_of_pi(n, -k), sine_of_pi(k)))
    log, sign = _log_and_sign_of_ratio(stored(1 + n - fewer), stored(n + 1), fewer, (-of_fewer, -sine_of_pi(n)))
    near = stored(sign * sign_of_gamma(fewer + 1) * _exp(log - _lgamma(fewer + 1)))
    near = _core.where(_is_pole(fewer + 1), 0, near)
    # k far from 0 and n: n! times the remaining sine between the poles
    far = stored((_ufuncs['minimum'](k, other) < 0) & (_ufuncs['maximum'](k, other) > -1) & (_absolute(fewer) > _ufuncs['maximum'](_absolute(n), 1)))
    distance = stored(_core.where(far, -_ufuncs['minimum'](k, other), 1))
    one_more = stored(_core.where(far, n + 1, 1))
    sine = stored(_core.where(k > other, sine_of_pi(k, -n), -sine_of_pi(k)))
    log = stored(_lgamma(one_more) - log_of_ratio(distance, stored(_core.where(far, distance + one_more, 2)), one_more) + _log(_absolute(sine) / math.pi))
    value = stored(_core.where(far, sign_of_gamma(one_more) * _ufuncs['sign'](sine) * _exp(log), near))
    value = _counted(n, k, value)
    # for an infinite n, SciPy multiplies only few factors
    value = _core.where(n == math.inf, _core.where((k == _floor(k)) & (k < _COUNTED), _core.where(k == 0, 1, _core.where(k > 0, math.inf, 0)), math.nan), value)
    value = _core.where(_ufuncs['isinf'](k), _core.where((k < 0) & (n > -math.inf), 0, math.nan), value)
    return _core.where((n < 0) & (n == _floor(n)) | _ufuncs['isnan'](n) | _ufuncs['isnan'](k), math.nan, value).astype(dtype)


def _product(z, m):
    """Returns z (z + 1) ... with m factors, or 1 / ((z - 1) (z - 2) ...) with -m factors. A zero divisor gives infinity."""
    up = down = _core.ones_like(z)
    for j in range(_COUNTED):
        up = stored(_core.where(j < m, up * (z + j), up))
        down = stored(_core.where(j < -m, down * (z - (j + 1)), down))
    return stored(_core.where(m < 0, _core.where(down == 0, math.inf, 1 / down), up))


def poch(z, m):
    """Returns gamma(z + m) / gamma(z): 0 where only z is a pole, infinity where only z + m is a pole.

    Infinities and NaN give SciPy's values, also where a limit exists.
    """
    z, m, dtype = prepared('poch', z, m)
    z, m = _broadcast(*wide(z, m))
    total = stored(z + m)
    log, sign = _log_and_sign_of_ratio(z, total, m, (sine_of_pi(z), sine_of_pi(z, m)))
    value = stored(_core.where(log == math.inf, math.inf, sign * _exp(log)))
    value = stored(_core.where((m == _floor(m)) & (_absolute(m) <= _COUNTED), _product(z, m), value))
    value = _core.where(z == math.inf, _core.where(_absolute(m) <= 2, _core.where(m > 0, math.inf, 0), math.nan), value)
    value = _core.where((m == math.inf) & _ufuncs['isfinite'](z), sign_of_gamma(z) * math.inf, value)
    value = _core.where(_is_pole(z) & _is_pole(total) & (m != _floor(m)), math.nan, value)  # z + m was rounded to a pole
    value = _core.where(_ufuncs['isnan'](z + m) | (m == -math.inf) | (z == -math.inf), _core.where(_absolute(m) == 1, _core.where(m > 0, z, 0), math.nan), value)
    value = _core.where(_ufuncs['isnan'](z), z, value)
    value = _core.where(_is_pole(z) & (z > -math.inf) & ~_ufuncs['isfinite'](m), 0, value)
    return _core.where(m == 0, 1, value).astype(dtype)
