"""Exponential, trigonometric and hyperbolic integrals."""

import functools
import math

import numpy

from catenary import _core
from catenary.cupy._array import is_complex
from catenary.cupy._arguments import delivered, operand as _operand
from catenary.cupyx.scipy._gamma import stored, wide
from catenary.cupyx.scipy._iteration import function, until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _lgamma, _absolute = (_ufuncs[n] for n in ('exp', 'log', 'lgamma', 'absolute'))
_EULER = 0.57721566490153286
_EPSILON = {'f': 6e-8, 'd': 1.2e-16}
_LARGEST_OF_SERIES = 40  # beyond it the asymptotic series is exact to rounding
_NEAR = 4


def _chebyshev(coefficients, t):
    """Evaluates a Chebyshev series by Clenshaw's recurrence."""
    above, two_above = coefficients[-1] + t * 0, t * 0
    for c in coefficients[-2:0:-1]:
        above, two_above = _core._copy(c + 2 * t * above - two_above, 'C'), above  # the same small kernel serves all steps
    return coefficients[0] + t * above - two_above


def _fraction(n, x):
    """Returns exp(x) E_n(x) for x above 1, by a continued fraction."""
    eps = 4 * _EPSILON[x.real.dtype.char]

    def step(k, state):
        b, c, d, value, going = state
        a = -k * (n - 1 + k)
        b = b + 2
        d = 1 / (a * d + b)
        c = b + a / c
        change = _core.where(going, c * d, 1)
        return b, c, d, value * change, going & (_absolute(change - 1) > eps)
    b = stored(x + n)
    return until_all_are_done(step, (b, _core.full_like(x, 1e30), stored(1 / b), stored(1 / b), x == x))[3]


def _expn(n, x):
    order = stored(_ufuncs['trunc'](_core.where(_ufuncs['isfinite'](n), n, 0)))
    m = stored(_ufuncs['maximum'](order, 1))
    far = stored(x > 1)
    u, v = stored(_core.where(far, x, 2)), stored(_core.where(far, 0.5, x))
    by_fraction = stored(_exp(-u) * _fraction(m, u))
    # 1 / (n - 1) - x / (n - 2) + ..., except for the power n - 1, which has the logarithm
    total, power = _core.zeros_like(x), _core.ones_like(x)
    psi = stored(_ufuncs['digamma'](m))
    for k in range(20):
        gap = k + 1 - m
        total = stored(total - _core.where(gap == 0, 0, power / _core.where(gap == 0, 1, gap)))
        power = stored(power * -v / (k + 1))
    log = stored(_log(v))
    last = stored(_exp((m - 1) * log - _lgamma(m)) * (psi - log))
    last = _core.where(m == 1, psi - log, last)
    value = _core.where(far, by_fraction, total + _core.where(_ufuncs['remainder'](m, 2) == 0, -last, last))
    value = _core.where(order == 0, _exp(-x) / x, value)
    value = _core.where(x == 0, _core.where(order <= 1, math.inf, 1 / _core.where(m == 1, 1, m - 1)), value)
    value = _core.where(x == math.inf, 0, value)
    value = _core.where((order < 0) | (x < 0), math.nan, value)
    return _core.where(_ufuncs['isnan'](n + x) | _ufuncs['isinf'](n), math.nan, value)


def _exp1(x):
    return _expn(_core.ones_like(x), x)


def _sum(x, first, ratio):
    """Sums terms of one sign until they no longer change the sum. The first is `first`, and each next follows by the factor ratio(k)."""
    eps = _EPSILON[x.dtype.char]

    def step(k, state):
        power, total, _ = state
        power, part = ratio(k, power)
        total = total + part
        return power, total, _absolute(part) > eps * _absolute(total)
    return until_all_are_done(step, (first[0], first[1], x == x))[1]


def _expi_of_positive(x):
    v = stored(_ufuncs['minimum'](x, _LARGEST_OF_SERIES))
    near = _EULER + _log(v) + _sum(v, (v, v), lambda k, p: (p * v / (k + 1), p * v / (k + 1) / (k + 1)))
    return stored(_core.where(x <= _LARGEST_OF_SERIES, near, _asymptotic(x)))


def _asymptotic(x):
    """Returns exp(x) / x (1 + 1 / x + 2 / x**2 + ...) for large x."""
    u = stored(_ufuncs['maximum'](x, _LARGEST_OF_SERIES))
    total = _core.ones_like(u)
    for k in range(36, 0, -1):
        total = stored(1 + k / u * total)
    half = stored(_exp(u / 2))  # exp(u) would overflow too early
    return _core.where(x == math.inf, x, half * (total / u) * half)


def _expi(x):
    size = stored(_absolute(x))
    value = _core.where(x > 0, _expi_of_positive(stored(_core.where(x > 0, size, 1))), -_exp1(stored(_core.where(x < 0, size, 1))))
    return _core.where(x == 0, -math.inf, _core.where(_ufuncs['isnan'](x), x, value))


expn = function('expn', 'Returns the exponential integral of integer order n, the integral of exp(-x t) / t**n over t >= 1. Negative x gives NaN.', _expn)
exp1 = function('exp1', 'Returns the exponential integral of order 1. Negative x gives NaN.', _exp1)
expi = function('expi', 'Returns the exponential integral Ei, the integral of exp(t) / t up to x.', _expi)


def _shichi(x):
    size = stored(_absolute(x))
    v = stored(_ufuncs['minimum'](size, _LARGEST_OF_SERIES))
    z = stored(v * v)
    sine = _sum(v, (v, v), lambda k, p: (p * z / (2 * k * (2 * k + 1)), p * z / (2 * k * (2 * k + 1)) / (2 * k + 1)))
    cosine = _EULER + _log(v) + _sum(v, (z / 2, z / 4), lambda k, p: (p * z / ((2 * k + 1) * (2 * k + 2)), p * z / ((2 * k + 1) * (2 * k + 2)) / (2 * k + 2)))
    far = stored(_asymptotic(size) / 2)
    sine, cosine = (stored(_core.where(size <= _LARGEST_OF_SERIES, near, far)) for near in (sine, cosine))
    undefined = _ufuncs['isnan'](x)
    return _core.where(undefined, x, _core.where(x < 0, -sine, sine)), _core.where(undefined, x, cosine)


_STEPS = numpy.linspace(-4.5, 4.5, 301)


@functools.lru_cache(None)
def _far_of_sine():
    """Returns Chebyshev coefficients, in w = (4 / x)**2 / 16, of the integrals of exp(-u) / (1 + w u**2) and exp(-u) u / (1 + w u**2) over u >= 0."""
    u = numpy.exp(_STEPS - numpy.exp(-_STEPS))
    weights = numpy.exp(-u) * u * (1 + numpy.exp(-_STEPS)) * (_STEPS[1] - _STEPS[0])

    def of(power):
        return numpy.polynomial.chebyshev.chebinterpolate(lambda t: (weights * u ** power / (1 + numpy.multiply.outer((t + 1) / 2 / _NEAR ** 2, u * u))).sum(axis=-1), 40).tolist()
    return of(0), of(1)


def _sici(x):
    size = stored(_absolute(x))
    small, large = stored(_ufuncs['minimum'](size, _NEAR)), stored(_ufuncs['maximum'](size, _NEAR))
    sine, cosine, power = small, _EULER + _log(small), small
    for k in range(2, 28):
        power = stored(power * small / k)
        sign = -1 if k % 4 in (2, 3) else 1
        sine, cosine = (sine, stored(cosine + sign * power / k)) if k % 2 == 0 else (stored(sine + sign * power / k), cosine)
    w = stored(2 * (_NEAR / large) ** 2 - 1)
    f, g = (stored(_chebyshev(c, w)) for c in _far_of_sine())
    f, g = stored(f / large), stored(g / (large * large))
    s, c = stored(_ufuncs['sin'](large)), stored(_ufuncs['cos'](large))
    near = stored(size <= _NEAR)
    end = stored(size == math.inf)
    sine = stored(_core.where(near, sine, _core.where(end, math.pi / 2, math.pi / 2 - f * c - g * s)))
    cosine = stored(_core.where(near, cosine, _core.where(end, 0, f * s - g * c)))
    cosine = _core.where(x == -math.inf, math.nan, cosine)
    undefined = _ufuncs['isnan'](x)
    return _core.where(undefined, x, _core.where(x < 0, -sine, sine)), _core.where(undefined, x, cosine)



# ------------------------------------------------------------------ of complex numbers
_NEAR_OF_COMPLEX = 5


def _series_of_complex(z):
    """Returns the series of both integrals, without log(z) and the constant of Euler."""
    eps = _EPSILON[z.real.dtype.char]
    square = stored(z * z)

    def step(k, state):
        power, sine, cosine, _ = state
        even = power * z / (2 * k)
        power = -even * z / (2 * k + 1)
        part = power / (2 * k + 1)
        return power, sine + part, cosine - even / (2 * k), _absolute(part) > eps * _absolute(sine)
    return until_all_are_done(step, (z, z, 0 * square, z == z))[1:3]


def _exp1_of_complex(z, far):
    """Returns exp(z) E_1(z) away from 0 and from the negative axis, by the asymptotic series where `far` is true."""
    u = stored(_core.where(far, z, _LARGEST_OF_SERIES).astype(z.dtype))
    total = _core.ones_like(u)
    for k in range(36, 0, -1):
        total = stored(1 - k / u * total)
    return stored(_core.where(far, total / u, _fraction(_core.ones_like(z), _core.where(far, 1, z).astype(z.dtype))).astype(z.dtype))


def _sici_of_complex(z):
    left = stored((z.real < 0) | (z.real == 0) & (z.imag < 0))
    size = stored(_absolute(z))
    known = stored(_ufuncs['isfinite'](size) & (size > 0))
    w = stored(_core.where(known, _core.where(left, -z, z), 1).astype(z.dtype))
    size = stored(_absolute(w))
    series = stored((size <= _NEAR_OF_COMPLEX) | (size <= _LARGEST_OF_SERIES) & (_absolute(w.imag) > 2 * w.real))
    near_sine, near_cosine = _series_of_complex(stored(_core.where(series, w, 1).astype(z.dtype)))
    near_cosine = stored(near_cosine + _EULER + _log(w))
    v = stored(_core.where(series, _NEAR_OF_COMPLEX, w).astype(z.dtype))
    far = stored(_absolute(v) > _LARGEST_OF_SERIES)
    turn = stored(_exp(1j * v))
    up, down = stored(_exp1_of_complex(stored(1j * v), far) / turn), stored(_exp1_of_complex(stored(-1j * v), far) * turn)
    sine = stored(_core.where(series, near_sine, math.pi / 2 + (up - down) / 2j).astype(z.dtype))
    cosine = stored(_core.where(series, near_cosine, -(up + down) / 2).astype(z.dtype))
    # the first function is odd, the second has a logarithm with a branch cut
    half = stored(_core.where(_ufuncs['signbit'](z.imag), -1j * math.pi, 1j * math.pi).astype(z.dtype))
    sine, cosine = stored(_core.where(left, -sine, sine)), stored(_core.where(left, cosine + half, cosine))
    # on the imaginary axis they are the hyperbolic functions
    axis, (of_axis, with_log) = stored(z.real == 0), _shichi(stored(z.imag))
    sine, cosine = stored(_core.where(axis, 1j * of_axis, sine).astype(z.dtype)), stored(_core.where(axis, with_log + half / 2, cosine).astype(z.dtype))
    real, undefined = stored((z.imag == 0) & ~_ufuncs['isnan'](z.real)), complex(math.nan, math.nan)
    of_real = tuple(_core.where(real, x, undefined) for x in (_sici(z.real)[0], _core.where(z.real == -math.inf, 1j * math.pi, _sici(z.real)[1])))
    of_real = of_real[0], _core.where(z == 0, complex(-math.inf, math.nan), of_real[1])
    return tuple(stored(_core.where(known, x, end).astype(z.dtype)) for x, end in zip((sine, cosine), of_real))


def _shichi_of_complex(z):
    """Returns the functions of i z, rotated back."""
    turned = stored(1j * z)
    sine, cosine = _sici_of_complex(turned)
    known = stored((z != 0) & _ufuncs['isfinite'](_absolute(z)))
    v = stored(_core.where(known, z, 1).astype(z.dtype))
    back = stored(_core.where(known, _log(v) - _log(_core.where(known, turned, 1j).astype(z.dtype)), 0).astype(z.dtype))
    real = _shichi(stored(_core.where(z.imag == 0, z.real, 0)))
    ends = stored(~known & (z.imag == 0) & (z != 0) & ~_ufuncs['isnan'](z.real))
    return (stored(_core.where(ends, real[0], -1j * sine).astype(z.dtype)), stored(_core.where(ends, real[1], cosine + back).astype(z.dtype)))


def _of_both(name, description, of_real, of_complex):
    """Returns a function of two integrals, of real numbers and of complex ones."""
    real = function(name, description, of_real)

    def both(x, *, out=None):
        if not is_complex(x):
            return real(x, out=out)
        x = _operand(x, name)
        return tuple(delivered(made.astype(x.dtype), place, name) for made, place in zip(of_complex(stored(wide(x)[0] + 0)), out or (None, None)))  # + 0 removes the sign of zeros
    both.__name__, both.__qualname__, both.__doc__ = name, name, description
    return both


sici = _of_both('sici', "Returns the integrals of sin(t) / t from 0 to x and of cos(t) / t from infinity to x. Negative real x give the second one's real part.", _sici, _sici_of_complex)
shichi = _of_both('shichi', 'Returns the integrals of sinh(t) / t and of (cosh(t) - 1) / t from 0 to x, the second plus log(x) and Euler\'s constant.', _shichi, _shichi_of_complex)
