"""Trigonometric and hyperbolic integrals of complex numbers, and their functions of both kinds of numbers."""

import math

from catenary import _core
from catenary.cupy._array import is_complex
from catenary.cupy._arguments import delivered, operand as _operand
from catenary.cupyx.scipy._gamma import stored, wide
from catenary.cupyx.scipy._iteration import function, until_all_are_done

_ufuncs = _core.ufuncs
_exp, _log, _absolute = (_ufuncs[n] for n in ('exp', 'log', 'absolute'))
_EULER = 0.57721566490153286
_EPSILON = {'f': 6e-8, 'd': 1.2e-16}
_LARGEST_OF_SERIES = 40  # beyond it the asymptotic series is exact to rounding


def _fraction(n, x):
    """Returns exp(x) E_n(x) of complex numbers, by a continued fraction."""
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


def _sici(x):
    return _ufuncs['sine_integral'](x) + 0.0, _ufuncs['cosine_integral'](x)


def _shichi(x):
    return _ufuncs['hyperbolic_sine_integral'](x) + 0.0, _ufuncs['hyperbolic_cosine_integral'](x)


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
    overflow = stored((z.imag == 0) & _ufuncs['isinf'](real[0]))
    return (stored(_core.where(ends | overflow, real[0], -1j * sine).astype(z.dtype)), stored(_core.where(ends, real[1], cosine + back).astype(z.dtype)))


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
