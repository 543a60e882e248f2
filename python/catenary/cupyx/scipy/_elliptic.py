"""Elliptic integrals by arithmetic-geometric means and Carlson's symmetric forms, and Jacobi's elliptic functions."""

import math

from catenary import _core
from catenary.cupyx.scipy._gamma import stored
from catenary.cupyx.scipy._iteration import function, until_all_are_done

_ufuncs = _core.ufuncs
_absolute, _sqrt, _sin, _cos = (_ufuncs[n] for n in ('absolute', 'sqrt', 'sin', 'cos'))
_ENOUGH = {'f': 6e-2, 'd': 1.2e-3}  # closeness of three numbers at which the series is exact to rounding
_PI_BELOW = 1.2246467991473532e-16  # pi minus its float64 value
_MEANS = 10  # enough for all but tiny numbers


def _of_means(p):
    """Returns pi / 2 divided by the arithmetic-geometric mean of 1 and sqrt(p)."""
    a, b = _core.ones_like(p), _sqrt(p)
    for _ in range(_MEANS):
        a, b = (a + b) / 2, _sqrt(a * b)
    return _core.where(p == 0, math.inf, math.pi / (a + b))


ellipk = function('ellipk', 'Returns the complete elliptic integral of the first kind.', lambda m: _of_means(1 - m))
ellipkm1 = function('ellipkm1', 'Returns ellipk(1 - p), accurate near p = 0.', _of_means)


def _of_carlson(x, y):
    """Returns Carlson's R_F(x, y, 1) and R_D(x, y, 1). x may be 0."""
    enough = _ENOUGH[x.dtype.char]

    def step(k, state):
        x, y, z, total, part, _ = state
        a, b, c = _sqrt(x), _sqrt(y), _sqrt(z)
        both = a * b + b * c + c * a
        total, part = total + part / (c * (z + both)), part / 4
        x, y, z = (x + both) / 4, (y + both) / 4, (z + both) / 4
        largest, smallest = _ufuncs['maximum'](_ufuncs['maximum'](x, y), z), _ufuncs['minimum'](_ufuncs['minimum'](x, y), z)
        return x, y, z, total, part, largest - smallest > enough * largest
    x, y, z, total, part, _ = until_all_are_done(step, (x, y, _core.ones_like(x), _core.zeros_like(x), _core.ones_like(x), x == x))
    mean = stored((x + y + z) / 3)
    u, v, w = stored(1 - x / mean), stored(1 - y / mean), stored(1 - z / mean)
    e2, e3 = stored(u * v - w * w), stored(u * v * w)
    first = stored((1 + e2 * (e2 / 24 - 0.1 - 3 * e3 / 44) + e3 / 14) / _sqrt(mean))
    mean = stored((x + y + 3 * z) / 5)
    u, v, w = stored(1 - x / mean), stored(1 - y / mean), stored(1 - z / mean)
    e2, e3 = stored(u * v - 6 * w * w), stored((3 * u * v - 8 * w * w) * w)
    e4, e5 = stored(3 * (u * v - w * w) * w * w), stored(u * v * w * w * w)
    series = stored(1 - 3 * e2 / 14 + e3 / 6 + 9 * e2 * e2 / 88 - 3 * e4 / 22 - 9 * e2 * e3 / 52 + 3 * e5 / 26)
    return first, stored(3 * total + part * series / (mean * _sqrt(mean)))


def _incomplete(phi, m, second):
    finite = stored(_ufuncs['isfinite'](phi) & _ufuncs['isfinite'](m))
    angle, k = stored(_core.where(finite, phi, 0)), stored(_core.where(finite, m, 0))
    halves = stored(_ufuncs['rint'](angle / math.pi))
    rest = stored(angle - halves * math.pi - halves * _PI_BELOW)
    s, c = stored(_sin(rest)), stored(_cos(rest))
    y = stored(c * c + (1 - k) * s * s)
    inside = stored((k < 1) | (k == 1) & (_absolute(angle) < math.pi / 2))
    first, third = _of_carlson(stored(_core.where(inside, c * c, 1)), stored(_core.where(inside, y, 1)))
    nothing = _core.zeros_like(k)
    if second:
        whole_first, whole_third = _of_carlson(nothing, stored(_core.where(k < 1, 1 - k, 1)))
        whole = _core.where(k == 1, 1, whole_first - k / 3 * whole_third)
        value = _core.where(k == 1, s, s * first - k / 3 * s * s * s * third)
    else:
        whole = _of_means(stored(_core.where(k <= 1, 1 - k, 1)))
        value = _core.where(inside, s * first, math.inf)  # for m = 1, also at negative angles, as SciPy and CuPy
    value = value + _core.where((halves == 0) | (whole == math.inf), 0, 2 * halves * whole)
    value = _core.where(k > 1, math.nan, value)
    value = _core.where(_ufuncs['isinf'](phi) & (m <= 1), phi, value)
    finite = _ufuncs['isfinite'](phi)
    at_end = _core.where(finite, math.inf, phi) if second else _core.where(finite, 0, math.nan)
    value = _core.where(m == -math.inf, at_end, value)
    return _core.where(_ufuncs['isnan'](phi) | _ufuncs['isnan'](m) | (m > 1), math.nan, value)


ellipkinc = function('ellipkinc', 'Returns the incomplete elliptic integral of the first kind up to phi. NaN for m above 1.', lambda phi, m: _incomplete(phi, m, False))
ellipeinc = function('ellipeinc', 'Returns the incomplete elliptic integral of the second kind up to phi. NaN for m above 1.', lambda phi, m: _incomplete(phi, m, True))


def _ellipj(u, m):
    known = stored((m >= 0) & (m < 1))
    k = stored(_core.where(known, m, 0.5))
    a, b, steps = _core.ones_like(k), stored(_sqrt(1 - k)), []
    for _ in range(_MEANS):
        a, b, half = stored((a + b) / 2), stored(_sqrt(a * b)), stored((a - b) / 2)
        steps.append(stored(half / a))
    phi = stored(2.0 ** _MEANS * a * u)
    for ratio in reversed(steps):
        phi = stored((phi + _ufuncs['arcsin'](ratio * _sin(phi))) / 2)
    s, c = stored(_sin(phi)), stored(_cos(phi))
    # for m = 1 they are hyperbolic functions
    tanh, cosh = stored(_ufuncs['tanh'](u)), stored(_ufuncs['cosh'](u))
    values = ((s, tanh), (c, 1 / cosh), (_sqrt(c * c + (1 - k) * s * s), 1 / cosh), (phi, 2 * _ufuncs['arctan'](_ufuncs['tanh'](u / 2))))
    undefined = stored((m < 0) | (m > 1) | _ufuncs['isnan'](u + m))
    return tuple(stored(_core.where(undefined, math.nan, _core.where(known, value, end))) for value, end in values)


ellipj = function('ellipj', "Returns Jacobi's elliptic functions sn, cn and dn of u, and the amplitude. NaN for m outside 0 to 1.", _ellipj)
