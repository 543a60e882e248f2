"""Helpers for the elements, shapes, axes and index dtypes of sparse matrices."""

import math

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray

ABSENT = ('cupyx.scipy.sparse: %s is not supported; toarray() returns a dense array, get() a matrix of SciPy')


def spread(starts, counts):
    """Concatenates the ranges starts[k], …, starts[k] + counts[k] - 1. Returns (these indices, the k of each)."""
    owner = _core.repeat(_core.arange(counts.size), counts) if counts.size else _core.zeros((0,), 'l')
    if owner.size == 0:
        return owner, owner
    before = _core.cumsum(counts) - counts
    return _core.arange(owner.size) - before[owner] + starts[owner], owner


def merged(rows, columns, data, shape):
    """Returns elements sorted by row and column, with duplicates added up. Indices are int64 if rows or columns are."""
    index = index_dtype(shape, rows, columns)
    if data.size == 0:
        return rows.astype(index, copy=False), columns.astype(index, copy=False), _core._copy(data, 'C')
    made = _core._csr_merged(*(_core._contiguous(x, False) for x in (rows.astype(index, copy=False), columns.astype(index, copy=False), data)), shape[0])
    if made is not None:
        return made
    key = rows.astype('l') * max(shape[1], 1) + columns
    order = _core._argsort(key, 0)
    key, data = key[order], data[order]
    first = _core._concatenate([_core.ones((1,), bool), key[1:] != key[:-1]], 0)
    place = _core.cumsum(first) - 1
    count = int(place[-1]) + 1
    if count < data.size:
        total = _core.zeros((count,), 'i' if data.dtype == bool else data.dtype)
        _core.scatter_add(total, place, data.astype(total.dtype, copy=False))
        key, data = key[first], total.astype(data.dtype, copy=False)
    width = max(shape[1], 1)
    return (key // width).astype(index, copy=False), (key % width).astype(index, copy=False), data


MOST = 2 ** 31 - 1  # largest int32 index
MOST_PLACES = 2 ** 63 - 1  # largest index in the flattened matrix


def index_dtype(shape, *indices, count=0):
    """Returns SciPy's dtype of indices: int64 if an index array has it, or if a size or the number of elements needs it."""
    wide = max((*shape, count)) > MOST or any(x.dtype.itemsize == 8 for x in indices)
    return numpy.dtype('l' if wide else 'i')


def given_dtype(is_array, shape, *indices, count=0):
    """Returns index_dtype for indices that a program passes. Those of matrices are narrowed to int32 if possible."""
    return index_dtype(shape, *(indices if is_array else ()), count=count)


def checked_shape(shape, axes=(2,)):
    """Returns the shape as ints. Raises ValueError for another number of axes, and if the size exceeds int64."""
    if len(shape) not in axes:
        raise ValueError(f'shape must have length in {axes}, given {tuple(shape)}: ' + (
            'arrays are 1-D and 2-D here' if 1 in axes else 'coo_array and csr_array alone may have one axis, and none more than two'))
    if min(shape) < 0:
        raise ValueError(f"'shape' elements cannot be negative, given {shape}")
    if math.prod(int(n) for n in shape) > MOST_PLACES:
        raise ValueError(f'a matrix has at most {MOST_PLACES} elements, as indices are int64, given shape {tuple(shape)}')
    return tuple(int(n) for n in shape)


def agreed(shape, own, places=None):
    """Returns the shape of a given array, or the explicit shape if both are 1-d and the indices are within it. Raises ValueError if the shapes
    differ."""
    if shape is None or tuple(shape) == tuple(own):
        return own
    if len(shape) == len(own) == 1 and places is not None and (places.size == 0 or int(places.max()) < shape[0]):
        return shape
    raise ValueError(f'inconsistent shapes: {tuple(own)} and {tuple(shape)}')


def checked_axis(axis, ndim=2):
    """Returns 0 or 1, or None for all axes. Raises TypeError or ValueError for an invalid axis."""
    if axis is None:
        return None
    axes = axis if isinstance(axis, tuple) else (axis,)
    for k in axes:
        if isinstance(k, bool) or not isinstance(k, (int, numpy.integer)):
            raise TypeError(f'axis must be an integer or a tuple of them, given {axis!r}')
        if not -ndim <= k < ndim:
            raise ValueError(f'axis out of range: {axis!r} of {ndim} axes')
    if len({k % ndim for k in axes}) != len(axes) or not axes:
        raise ValueError(f'axis: {axis!r} is empty or names an axis twice')
    return None if len(axes) == ndim else int(axes[0]) % 2


def is_scalar(x):
    """Is it one number?"""
    return numpy.isscalar(x) or isinstance(x, ndarray) and x.ndim == 0


def device_array(x, dtype=None):
    """Returns an array of the device. NumPy arrays are copied there."""
    return asarray(x, dtype)


class SparseWarning(Warning):
    """The base class of SparseEfficiencyWarning."""


class SparseEfficiencyWarning(SparseWarning):
    """Issued if an operation on sparse matrices gives a dense result."""


class Sparse:
    """The base of sparse matrices and arrays."""


def check_axes(axes):
    """Raises ValueError unless the axes are those of a transposition, (1, 0) or None."""
    if axes is not None and (not isinstance(axes, tuple) or tuple(k % 2 for k in axes) != (1, 0)):
        raise ValueError(f'transpose: axes of a sparse matrix must be (1, 0), got {axes}')
