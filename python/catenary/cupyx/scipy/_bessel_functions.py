"""Bessel functions of orders 0 and 1 of the first and second kind, modified ones of the second kind, and higher orders by recurrence.

Near 0 they are power series or Chebyshev expansions of their smooth parts, far out expansions of Hankel's integrals. The host computes all
coefficients.
"""

import decimal
import functools
import math

import numpy

from catenary import _core
from catenary.cupy._bessel import chebyshev as _chebyshev, power_series
from catenary.cupyx.scipy._gamma import prepared, stored, wide
from catenary.cupyx.scipy._iteration import function, largest

_ufuncs = _core.ufuncs
_exp, _log, _absolute, _sqrt, _sin, _cos = (_ufuncs[n] for n in ('exp', 'log', 'absolute', 'sqrt', 'sin', 'cos'))
_EULER_OF_HALF = 0.57721566490153286 - math.log(2)  # as x / 2 may underflow
_NEAR, _NEAR_OF_K = 8, 2
_ASKED = 64  # steps of a recurrence between tests for completion


def _term(n, k):
    """Returns 1 / (k! (k + n)!) exactly."""
    return decimal.Decimal(1) / (math.factorial(k) * math.factorial(k + n))


def _harmonic(k):
    return sum(decimal.Decimal(1) / j for j in range(1, k + 1))


def _series(n, k, second):
    """Returns the k-th coefficient of the smooth part, in (x / 2)**2: of I_n(x) (x / 2)**-n, or of K_n without its logarithm."""
    return _term(n, k) * (_harmonic(k) + _harmonic(k + n)) / 2 if second else _term(n, k)


@functools.lru_cache(None)
def _near(n, second):
    """Returns Chebyshev coefficients, in x**2 / 32 - 1, of J_n(x) (x / 2)**-n, or of Y_n's part without logarithm and pole."""
    def of(t):
        with decimal.localcontext(prec=60):
            z = -(decimal.Decimal(float(t)) + 1) * _NEAR ** 2 / 8
            return float(sum(_series(n, k, second) * z ** k for k in range(60)))
    return numpy.polynomial.chebyshev.chebinterpolate(lambda t: numpy.asarray([of(x) for x in t]), 30).tolist()


@functools.lru_cache(None)
def _series_of_k(n, second):
    with decimal.localcontext(prec=60):
        return [float(_series(n, k, second)) for k in range(18)]


_NODES = numpy.linspace(0, 8, 401)  # for exp(-s**2): the trapezoidal rule is exact to rounding


def _hankel(n, w):
    """Returns the integral of exp(-s**2) s**(2n) (1 + w s**2)**(n - 1/2) over s >= 0, normalised to 1 at w = 0. H_n and K_n of 1 / w follow from it."""
    s2 = _NODES ** 2
    weights = numpy.exp(-s2) * s2 ** n * (_NODES[1] - _NODES[0])
    weights[0] /= 2
    return (weights * (1 + numpy.multiply.outer(w, s2)) ** (n - 0.5)).sum(axis=-1) / (math.gamma(n + 0.5) / 2)


@functools.lru_cache(None)
def _far(n):
    """Returns Chebyshev coefficients, in (8 / x)**2, of the real part of Hankel's integral, and of x times its imaginary part."""
    fit = numpy.polynomial.chebyshev.chebinterpolate

    def at(t):
        x = _NEAR / numpy.sqrt(numpy.maximum((t + 1) / 2, 1e-30))
        return x, _hankel(n, 0.5j / x)
    return fit(lambda t: at(t)[1].real, 26).tolist(), fit(lambda t: at(t)[0] * at(t)[1].imag, 26).tolist()


@functools.lru_cache(None)
def _far_of_k(n):
    return numpy.polynomial.chebyshev.chebinterpolate(lambda t: _hankel(n, (t + 1) / 2 / (2 * _NEAR_OF_K)), 26).tolist()


def _horner(coefficients, z):
    total = coefficients[-1] + 0 * z
    for c in coefficients[-2::-1]:
        total = stored(total * z + c)
    return total


def _oscillating(n, second):
    """Returns J_n or Y_n of positive numbers."""
    def compute(x):
        size = stored(_absolute(x))
        small, large = stored(_ufuncs['minimum'](size, _NEAR)), stored(_ufuncs['maximum'](size, _NEAR))
        t = stored(small * small / (_NEAR ** 2 / 2) - 1)
        half = (small / 2) ** n
        least = stored(_ufuncs['minimum'](small, 1))
        near = half * stored(_core.where(small < 1, power_series(-least * least / 4, n), _chebyshev(_near(n, False), t)))
        if second:
            # Y_n: the logarithm times J_n, the pole for n = 1, and the smooth part
            near = 2 / math.pi * ((_log(small) + _EULER_OF_HALF) * near - half * _chebyshev(_near(n, True), t) - (1 / small if n else 0))
        real, imaginary = _far(n)
        w = stored(2 * (_NEAR / large) ** 2 - 1)
        p, q = stored(_chebyshev(real, w)), stored(_chebyshev(imaginary, w) / large)
        s, c = stored(_sin(large)), stored(_cos(large))
        cosine, sine = (c + s, s - c) if n == 0 else (s - c, -(s + c))  # cosine and sine of x - pi / 4 or x - 3 pi / 4, times sqrt(2)
        far = (p * sine + q * cosine if second else p * cosine - q * sine) / (math.sqrt(math.pi) * _sqrt(large))
        value = stored(_core.where(size <= _NEAR, near, _core.where(size == math.inf, 0, far)))
        if second:
            return _core.where(x == 0, -math.inf, _core.where(x < 0, math.nan, value))
        return _core.where(x < 0, -value, value) if n else value
    return compute


def _decaying(n, scaled):
    """Returns K_n, or exp(x) K_n."""
    def compute(x):
        small, large = stored(_ufuncs['minimum'](x, _NEAR_OF_K)), stored(_ufuncs['maximum'](x, _NEAR_OF_K))
        z, sign = stored(small * small / 4), -1 if n else 1
        first = _horner(_series_of_k(n, False), z)
        # K_n: (-1)**(n + 1) times the logarithm times I_n, the pole for n = 1, and the smooth part
        near = sign * (small / 2) ** n * (_horner(_series_of_k(n, True), z) - (_log(small) + _EULER_OF_HALF) * first) + (1 / small if n else 0)
        far = _chebyshev(_far_of_k(n), 2 * _NEAR_OF_K / large - 1) * math.sqrt(math.pi / 2) / _sqrt(large)
        value = stored(_core.where(x <= _NEAR_OF_K, near * _exp(small) if scaled else near, far if scaled else far * _exp(-large)))
        value = _core.where(x == 0, math.inf, _core.where(x < 0, math.nan, value))
        return _core.where(_ufuncs['isnan'](x), x, value)
    return compute


j0, j1 = (function(f'j{n}', f'The Bessel function of the first kind, order {n}.', _oscillating(n, False)) for n in (0, 1))
y0, y1 = (function(f'y{n}', f'The Bessel function of the second kind, order {n}; NaN for negative numbers.', _oscillating(n, True)) for n in (0, 1))
k0, k1 = (function(f'k{n}', f'The modified Bessel function of the second kind, order {n}; NaN for negative numbers.', _decaying(n, False)) for n in (0, 1))
k0e, k1e = (function(f'k{n}e', f'exp(x) k{n}(x).', _decaying(n, True)) for n in (0, 1))


def _upward(n, before, at, x, slope):
    """Applies f_(k+1) = (2k + slope) / x f_k - f_(k-1) from the orders 0 and 1 up to the integer order n of each element."""
    value = stored(_core.where(n == 0, before, at))
    for k in range(1, largest(n)):
        if k % _ASKED == 0 and not bool(_core.any((n > k) & _ufuncs['isfinite'](at))):
            break
        before, at = at, stored(_core.where(_absolute(at) == math.inf, at, (2 * k + slope) / x * at - before))
        value = stored(_core.where(n > k, at, value))
    return value


def _of_order(n):
    """Returns the order of each element, truncated to an integer. NaN and infinities give 0."""
    return stored(_core.where(_ufuncs['isfinite'](n), _ufuncs['trunc'](n), 0))


def _yn(n, x):
    order = _of_order(n)
    size = stored(_absolute(order))
    value = _upward(size, stored(_oscillating(0, True)(x)), stored(_oscillating(1, True)(x)), x, 0)
    odd = (order < 0) & (_ufuncs['remainder'](size, 2) == 1)
    return _core.where(_ufuncs['isfinite'](n), _core.where(odd, -value, value), math.nan)


yn = function('yn', 'Returns the Bessel function of the second kind of integer order n. Negative x gives NaN.', _yn)


def _spherical(n, x):
    s, c = stored(_sin(x)), stored(_cos(x))
    value = _upward(n, stored(-c / x), stored(-(c / x + s) / x), x, 1)
    return _core.where(x == math.inf, 0, _core.where(x == 0, -math.inf, value))


def spherical_yn(n, z, derivative=False):
    """Returns the spherical Bessel function of the second kind of integer order n, or its derivative. Orders below 0 give NaN."""
    def compute(n, z):
        x, order = stored(_absolute(z)), _of_order(n)
        size = stored(_ufuncs['maximum'](order, 0))
        if derivative:
            below = stored(_spherical(stored(_ufuncs['maximum'](size - 1, 0)), x))
            value = _core.where(size == 0, -_spherical(_core.ones_like(x), x), below - (size + 1) / x * _spherical(size, x))
            value = _core.where(x == 0, math.inf, _core.where(x == math.inf, 0, value))
        else:
            value = _spherical(size, x)
        even = _ufuncs['remainder'](size, 2) == (1 if derivative else 0)
        value = _core.where((z < 0) & even, -value, value)
        return _core.where((order < 0) | _ufuncs['isnan'](z), math.nan, value)
    return function('spherical_yn', '', compute)(n, z)
