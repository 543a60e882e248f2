"""Helpers for shapes and axes that CuPy's own modules import from its core."""

import math

import numpy

prod = math.prod


def _normalize_axis_index(axis, ndim):
    """Returns an axis counted from 0. Raises AxisError."""
    if not -ndim <= axis < ndim:
        raise numpy.exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def _normalize_axis_indices(axes, ndim, sort_axes=True):
    """Returns axes counted from 0 as a tuple, all for None. Raises AxisError, and ValueError for a repeated axis."""
    if axes is None:
        return tuple(range(ndim))
    found = [_normalize_axis_index(axis, ndim) for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))]
    if len(set(found)) < len(found):
        raise ValueError('duplicate value in axes: %s' % (axes,))
    return tuple(sorted(found) if sort_axes else found)
