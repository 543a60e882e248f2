"""Small functions on shapes and axes that CuPy's own modules take from its core."""

import math

import numpy

prod = math.prod


def _normalize_axis_index(axis, ndim):
    """An axis from 0 on. Throws AxisError."""
    if not -ndim <= axis < ndim:
        raise numpy.exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def _normalize_axis_indices(axes, ndim, sort_axes=True):
    """Several of them, as a tuple: all where `axes` is None. Throws AxisError, and ValueError for one that is there twice."""
    if axes is None:
        return tuple(range(ndim))
    found = [_normalize_axis_index(axis, ndim) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))]
    if len(set(found)) < len(found):
        raise ValueError('duplicate value in axes: %s' % (axes,))
    return tuple(sorted(found) if sort_axes else found)
