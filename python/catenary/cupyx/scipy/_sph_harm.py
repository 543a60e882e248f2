"""Associated Legendre functions and spherical harmonics, by recurrences."""

import math

from catenary import _core
from catenary.cupy._arguments import operand as _operand
from catenary.cupyx.scipy._gamma import stored
from catenary.cupyx.scipy._complex import of_parts
from catenary.cupyx.scipy._iteration import function, largest, until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _lgamma, _absolute, _sqrt, _floor = (_ufuncs[n] for n in ('exp', 'log', 'lgamma', 'absolute', 'sqrt', 'floor'))
_EPSILON = {'f': 6e-8, 'd': 1.2e-16}
_LEFT = -0.35  # below it the series about 1 converges slowly


def _upward(order, low, degree, before, at, x):
    """Applies (l - m + 1) P_(l+1) = (2l + 1) x P_l - (l + m) P_(l-1) from the degrees `low` and `low` + 1 up to the degree of each element."""
    steps = stored(_ufuncs['rint'](degree - low))
    value = stored(_core.where(steps <= 0, before, at))
    for k in range(1, largest(steps, 'lpmv')):
        l = low + k
        before, at = at, stored(((2 * l + 1) * x * at - (l + order) * before) / (l - order + 1))
        value = stored(_core.where(steps > k, at, value))
    return value


def _product(order, s):
    """Returns (-1)**m (2m - 1)!! s**m."""
    value = _core.ones_like(s)
    for k in range(1, largest(order, 'lpmv') + 1):
        value = stored(_core.where(k <= order, value * (1 - 2 * k) * s, value))
    return value


def _about_one(order, degree, z):
    """Returns the factor that makes (-1)**m (2m - 1)!! s**m the function P of a non-integer degree at most 2 above the order: a series in z = (1 - x)
    / 2."""
    eps = _EPSILON[z.dtype.char]

    def step(k, state):
        term, total, _ = state
        term = term * (k - 1 + order - degree) * (order + degree + k) / ((order + k) * k) * z
        return term, total + term, _absolute(term) > eps * _absolute(total)
    one, below = _core.ones_like(z), stored(degree + (1 - order))
    scale = stored(_exp(_lgamma(degree + order + 1) - _lgamma(below) - _lgamma(2 * order + 1)) * _ufuncs['gammasgn'](below))
    return stored(until_all_are_done(step, (one, one, z == z))[1] * scale)


def _about_minus_one(degree, z):
    """Returns P of non-integer degree and order 0 by the series with a logarithm in z = (1 + x) / 2."""
    eps = _EPSILON[z.dtype.char]
    digamma = _ufuncs['digamma']
    log = stored(_log(z))
    psi = stored(digamma(degree + 1))
    # psi(-r) by reflection: psi(1 + r) and a cotangent
    first = stored(psi + math.pi / _ufuncs['tan'](math.pi * degree))

    def step(k, state):
        term, sums, total, _ = state
        part = term * (log + sums)
        sums = sums + 1 / (k - 1 - degree) + 1 / (k + degree) - 2 / k
        term = term * (k - 1 - degree) * (k + degree) / (k * k) * z
        return term, sums, total + part, _absolute(part) > eps * _absolute(total)
    zero = _core.zeros_like(z)
    total = until_all_are_done(step, (_core.ones_like(z), stored(first + psi + 2 * 0.57721566490153286), zero, z == z))[2]
    return stored(_ufuncs['sin'](math.pi * degree) / math.pi * total)


def _to_the_left(order, degree, x, s):
    """Returns P of non-integer degree for x near -1: of orders 0 and 1, and by recurrence upwards in the order."""
    zero, z = _core.zeros_like(x), stored((1 + x) / 2)

    def at_zero(degree):
        low = stored(_ufuncs['minimum'](degree, degree - _floor(degree)))
        return _upward(zero, low, degree, _about_minus_one(low, z), _about_minus_one(stored(low + 1), z), x)
    before, above = at_zero(degree), at_zero(stored(degree + 1))
    at = stored((degree + 1) * (above - x * before) / s)
    value = stored(_core.where(order == 0, before, at))
    for k in range(1, largest(order, 'lpmv')):
        before, at = at, stored(-2 * k * x / s * at - (degree - k + 1) * (degree + k) * before)
        value = stored(_core.where(order > k, at, value))
    return value


def _lpmv(m, v, x):
    inside = stored((_absolute(x) <= 1) | (m == 0) & (v == _floor(v)))  # or a polynomial, which is defined everywhere
    fine = stored(_ufuncs['isfinite'](m) & _ufuncs['isfinite'](v) & _ufuncs['isfinite'](x) & inside & (m == _floor(m)))
    order = stored(_core.where(fine, _absolute(m), 0))
    degree = stored(_core.where(fine, _core.where(v < 0, -1 - v, v), 0))
    y = stored(_core.where(fine, x, 0))
    fraction = stored(degree - _floor(degree))
    s, whole = stored(_sqrt((1 - y) * (1 + y))), stored(fraction == 0)
    left = stored(~whole & (y < _LEFT) & (y > -1))
    start, z = _product(order, s), stored(_core.where(left | (y == -1), 0, (1 - y) / 2))
    low = stored(_ufuncs['minimum'](degree, order + fraction))
    other = stored(_core.where(whole, order + 0.5, low))
    before = stored(start * _core.where(whole, 1, _about_one(order, other, z)))
    at = stored(start * _core.where(whole, (2 * order + 1) * y, _about_one(order, stored(other + 1), z)))
    value = _upward(order, low, degree, before, at, y)
    if bool(_core.any(left)):
        value = stored(_core.where(left, _to_the_left(order, stored(_core.where(left, degree, 0.5)), stored(_core.where(left, y, -0.5)), stored(_core.where(left, s, 1))), value))
    value = stored(_core.where(whole & (degree < order), 0, value))
    # negative orders: a quotient of factorials
    below = stored(degree + (1 - order))
    quotient = stored(_exp(_lgamma(below) - _lgamma(degree + order + 1)) * _ufuncs['gammasgn'](_core.where(whole, 1, below)))
    value = _core.where(m < 0, _core.where(_ufuncs['remainder'](order, 2) == 1, -quotient, quotient) * value, value)
    value = _core.where((y == -1) & ~whole, _core.where(order == 0, -math.inf, math.inf), value)
    return _core.where(fine, value, math.nan)


lpmv = function('lpmv', 'Returns the associated Legendre function of integer order m and real degree v. NaN outside -1 to 1, except for polynomials.', _lpmv)


def _normalized(n, m, theta):
    """Returns the real part of a spherical harmonic at phi = 0, normalised during the recurrence to avoid overflow."""
    order = stored(_absolute(m))
    known = stored(order <= n)
    order, degree = stored(_core.where(known, order, 0)), stored(_core.where(known, n, 0))
    x, s = stored(_ufuncs['cos'](theta)), stored(_absolute(_ufuncs['sin'](theta)))
    start = _core.full_like(x, math.sqrt(0.25 / math.pi))
    for k in range(1, largest(order, 'sph_harm_y') + 1):
        start = stored(_core.where(k <= order, -start * s * math.sqrt((2 * k + 1) / (2 * k)), start))
    before, at = start, stored(_sqrt(2 * order + 3) * x * start)
    steps = stored(degree - order)
    value = stored(_core.where(steps <= 0, before, at))
    for k in range(2, largest(steps, 'sph_harm_y') + 1):
        l = order + k
        last = ((l - 1) * (l - 1) - order * order) / (4 * (l - 1) * (l - 1) - 1)
        before, at = at, stored(_sqrt((4 * l * l - 1) / (l * l - order * order)) * (x * at - _sqrt(last) * before))
        value = stored(_core.where(steps >= k, at, value))
    value = _core.where((m < 0) & (_ufuncs['remainder'](order, 2) == 1), -value, value)
    return _core.where(known, value, 0)


def _parts_of_harmonic(n, m, theta, phi):
    size = stored(_normalized(n, m, theta))
    return stored(size * _ufuncs['cos'](m * phi)), stored(size * _ufuncs['sin'](m * phi))


_parts = function('sph_harm_y', '', _parts_of_harmonic)


def sph_harm_y(n, m, theta, phi):
    """Returns the complex spherical harmonic of integer degree n and order m at polar angle theta and azimuth phi."""
    n, m = (_operand(x, 'sph_harm_y') for x in (n, m))
    for name, x in (('n', n), ('m', m)):
        if x.dtype.kind not in 'biu':
            raise TypeError(f'sph_harm_y: {name} must be of integers, got {x.dtype}')
    dtypes = [x.dtype.char if hasattr(x, 'dtype') else 'd' for x in (theta, phi)]
    n, m = (x.astype('f' if dtypes == ['f', 'f'] else 'd') for x in (n, m))
    return of_parts(*_parts(n, m, theta, phi))


def sph_harm(m, n, theta, phi):
    """Returns sph_harm_y with theta as the azimuth and phi as the polar angle."""
    return sph_harm_y(n, m, phi, theta)
