"""cupy.polynomial.polynomial: values, matrices and roots of polynomials, the lowest power first."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given as _given
from catenary.cupy._array import asarray
from catenary.cupy.polynomial.polyutils import as_series


def _floating(x):
    return x if x.dtype.kind in 'fc' else x.astype('d')


def polyvander(x, deg):
    """Returns the powers 0 to deg of x along a new last axis, which as in NumPy is the first in memory. Raises TypeError if deg is not an integer
    and ValueError if it is negative."""
    if not hasattr(deg, '__index__'):
        raise TypeError(f'deg must be an integer, received {deg}')
    if deg < 0:
        raise ValueError('deg must be non-negative')
    x = _floating(_given(x))
    x = x.reshape(1) if x.ndim == 0 else x
    powers = [_core.ones_like(x)]
    for _ in range(deg):
        powers.append(powers[-1] * x)
    return _core.moveaxis(_core._stack(powers, 0), (0,), (-1,))


def polycompanion(c):
    """Returns the matrix whose eigenvalues are the roots. Raises ValueError for less than two coefficients."""
    c, = as_series([c])
    n = c.size - 1
    if n < 1:
        raise ValueError('Series must have maximum degree of at least 1.')
    made = _core.eye(n, k=-1, dtype=c.dtype)
    made[:, -1] -= c[:-1] / c[-1]
    return made


def _spread(c, x, tensor):
    """Returns (coefficients with at least one axis, x), with one more axis per axis of x if `tensor`."""
    c, x = _floating(_given(c)), _given(x)
    c = c.reshape(1) if c.ndim == 0 else c
    return (c.reshape(c.shape + (1,) * x.ndim) if tensor else c), x


def polyval(x, c, tensor=True):
    """Returns polynomials' values at x. Coefficients lie along the first axis. With tensor each polynomial is evaluated at all x, else they
    broadcast."""
    c, x = _spread(c, x, tensor)
    value = c[-1] + x * 0
    for k in range(2, c.shape[0] + 1):
        value = c[-k] + value * x
    return value


def polyvalfromroots(x, r, tensor=True):
    """Returns the values at x of polynomials by their zeros, which have the first axis, as polyval."""
    r, x = _spread(r, x, tensor)
    if not tensor and x.ndim >= r.ndim:
        raise ValueError('x.ndim must be < r.ndim when tensor == False')
    return _core.prod(x - r, axis=0)


def polyroots(c):
    """Returns the roots, computed on the host."""
    c, = as_series([c])
    return asarray(numpy.polynomial.polynomial.polyroots(c.get()))
