"""Modified Bessel functions of the first kind by Chebyshev expansions.

The host computes the coefficients from the integral e^-x I_n(x) = 1/pi integral of exp(x (cos t - 1)) cos(n t) over 0 to pi.
"""

import functools
import math

import numpy

from catenary import _core
from catenary.cupy._array import refuse_complex
from catenary.cupy._arguments import operand
from catenary.cupy._ufuncs import made


_TERMS = 10


def _scaled(x, n):
    """Returns exp(-x) I_n(x) for host numbers by the trapezoidal rule, which converges faster than any power here."""
    angles = numpy.pi * (numpy.arange(4096) + 0.5) / 4096
    return (numpy.exp(numpy.multiply.outer(x, numpy.cos(angles) - 1)) * numpy.cos(n * angles)).mean(axis=-1)


@functools.lru_cache(None)
def _coefficients(n):
    """Returns the coefficients of exp(-x) I_n(x) on [0, 8] in t with x = 4 t + 4, and of sqrt(x) exp(-x) I_n(x) beyond 8 in t with x = 16 / (t + 1)."""
    fit = numpy.polynomial.chebyshev.chebinterpolate
    return (fit(lambda t: _scaled(4 * t + 4, n), 34).tolist(),
            fit(lambda t: numpy.sqrt(16 / (t + 1)) * _scaled(16 / (t + 1), n), 26).tolist())


def chebyshev(coefficients, t):
    """Evaluates a Chebyshev series by Clenshaw's recurrence."""
    above, two_above = coefficients[-1] + t * 0, t * 0
    for c in coefficients[-2:0:-1]:
        above, two_above = _core._copy(c + 2 * t * above - two_above, 'C'), above  # the same small kernel serves all steps
    return coefficients[0] + t * above - two_above


def power_series(z, n):
    """Sums the power series of I_n(x) (x / 2)**-n in z = x**2 / 4, accurate to rounding for |z| up to 1/4. With -z it gives the series of J_n."""
    total = 1 / (math.factorial(_TERMS) * math.factorial(_TERMS + n)) + 0 * z
    for k in range(_TERMS - 1, -1, -1):
        total = _core._copy(total * z + 1 / (math.factorial(k) * math.factorial(k + n)), 'C')
    return total


def modified(name, x, n, scaled):
    """Returns I_n(x) for n = 0 or 1, or exp(-|x|) I_n(x)."""
    x = operand(x, name)
    refuse_complex(name, x)
    dtype = _core.ufuncs['exp'](x).dtype
    x = x.astype('f' if dtype == 'e' else dtype)
    size = _core.ufuncs['absolute'](x)
    near, far = _coefficients(n)
    small = _core.ufuncs['minimum'](size, 8)
    large = _core.ufuncs['maximum'](size, 8)
    value = _core.where(size <= 8, chebyshev(near, small / 4 - 1), chebyshev(far, 16 / large - 1) / _core.ufuncs['sqrt'](large))
    # the expansions are accurate relative to their largest value only
    least = _core.ufuncs['minimum'](size, 1)
    value = _core.where(size < 1, (least / 2) ** n * power_series(least * least / 4, n) * _core.ufuncs['exp'](-least), value)
    if n:
        value = _core.where(x < 0, -value, _core.where(x == 0, x, value))
    root = 1 if scaled else _core.ufuncs['exp'](size / 2)  # exp(size) would overflow too early
    return (value * root * root).astype(dtype)


@made(1)
def i0(x):
    """Returns the modified Bessel function of the first kind of order 0."""
    return modified('i0', x, 0, False)
