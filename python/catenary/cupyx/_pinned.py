"""Pinned-memory arrays with NumPy's functions. Nothing is pinned, as all host memory is copied alike."""

import numpy


def empty_pinned(shape, dtype=float, order='C'):
    """Calls numpy.empty."""
    return numpy.empty(shape, dtype, order)


def zeros_pinned(shape, dtype=float, order='C'):
    """Calls numpy.zeros."""
    return numpy.zeros(shape, dtype, order)


def _like(make, a, dtype, order, subok, shape):
    if subok is not None:
        raise TypeError('subok is not supported yet')
    dtype, shape = a.dtype if dtype is None else dtype, a.shape if shape is None else shape
    flags = a.flags
    fortran = order == 'F' or order in ('K', 'A', None) and flags.f_contiguous and not flags.c_contiguous
    return make(shape, dtype, 'F' if fortran else 'C')


def empty_like_pinned(a, dtype=None, order='K', subok=None, shape=None):
    """Calls numpy.empty with the shape and dtype of an array of NumPy or cupy."""
    return _like(numpy.empty, a, dtype, order, subok, shape)


def zeros_like_pinned(a, dtype=None, order='K', subok=None, shape=None):
    """Calls numpy.zeros with the shape and dtype of an array of NumPy or cupy."""
    return _like(numpy.zeros, a, dtype, order, subok, shape)
