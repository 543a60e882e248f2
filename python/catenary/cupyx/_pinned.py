"""NumPy's arrays for copies to a device: all host memory is copied alike, and none is pinned."""

import numpy


def empty_pinned(shape, dtype=float, order='C'):
    """numpy.empty."""
    return numpy.empty(shape, dtype, order)


def zeros_pinned(shape, dtype=float, order='C'):
    """numpy.zeros."""
    return numpy.zeros(shape, dtype, order)


def _like(make, a, dtype, order, subok, shape):
    if subok is not None:
        raise TypeError('subok is not supported yet')
    dtype, shape = a.dtype if dtype is None else dtype, a.shape if shape is None else shape
    flags = a.flags
    fortran = order == 'F' or order in ('K', 'A', None) and flags.f_contiguous and not flags.c_contiguous
    return make(shape, dtype, 'F' if fortran else 'C')


def empty_like_pinned(a, dtype=None, order='K', subok=None, shape=None):
    """numpy.empty like an array of either kind."""
    return _like(numpy.empty, a, dtype, order, subok, shape)


def zeros_like_pinned(a, dtype=None, order='K', subok=None, shape=None):
    """numpy.zeros like an array of either kind."""
    return _like(numpy.zeros, a, dtype, order, subok, shape)
