"""Real and imaginary parts, angles, complex tests, and allclose."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given, of_anything, operand
from catenary.cupy._array import of_real_numbers

globals().update(of_anything(__name__, {'around': 1, 'nan_to_num': 1, 'isclose': 2, 'array_equal': 2, 'array_equiv': 2}))
globals().update({_name: of_real_numbers(getattr(_core, _name), _name, __name__) for _name in ('isneginf', 'isposinf', 'packbits', 'unpackbits')})


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Returns whether all elements are close, as a 0-d array."""
    return _core.all(_core.isclose(a, b, rtol, atol, equal_nan))


def real(val):
    """Returns a view of the real parts, or the array itself if it is real."""
    return given(val).real


def imag(val):
    """Returns a view of the imaginary parts, or zeros for a real array."""
    return given(val).imag


def iscomplex(x):
    """Returns true for elements with an imaginary part other than 0."""
    return given(x).imag != 0


def isreal(x):
    """Returns true for elements without an imaginary part, or with one of 0."""
    return given(x).imag == 0


def real_if_close(a, tol=100):
    """Returns the real parts if no imaginary part exceeds `tol` (multiplied by the dtype's eps if tol is above 1), else the array."""
    a = given(a)
    if a.dtype.kind != 'c':
        return a
    if tol > 1:
        tol *= numpy.finfo(a.dtype).eps
    return a.real if _core.all(_core.ufuncs['absolute'](a.imag) < tol) else a


def angle(z, deg=False):
    """Returns the angles of complex numbers. Real numbers give 0, or pi if negative."""
    z = operand(z, 'angle')
    z = z.astype(int) if z.dtype == bool else z
    radians = _core.ufuncs['arctan2'](z.imag, z.real)
    return _core.ufuncs['degrees'](radians) if deg else radians
