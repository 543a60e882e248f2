"""Sorting, searching, and unique elements."""

from collections import namedtuple

import numpy

from catenary import _core
from catenary.cupy._arguments import given, listed, of_anything
from catenary.cupy._array import check_kind, ndarray

globals().update(of_anything(__name__, {'isin': 2, 'in1d': 2}))
globals().update(of_anything(__name__, {'searchsorted': 2, 'digitize': 2}, listed))


def sort(a, axis=-1, kind=None):
    """Returns a sorted copy along an axis, or of the flattened array."""
    check_kind(kind, 'sort')
    if not isinstance(a, ndarray):
        return _core._sort(a, axis)  # raises TypeError
    if a.ndim == 0 and axis is not None:
        raise numpy.exceptions.AxisError('Sorting arrays with the rank of zero is not supported')
    return _core._sort(a, axis)


def argsort(a, axis=-1, kind=None):
    """Returns the indices that sort along an axis, or the flattened array."""
    return given(a).argsort(axis, kind)


def lexsort(keys, axis=-1):
    """Returns the indices that sort by several keys, of which the last is the primary one. The rows of an array are the keys."""
    if getattr(keys, 'ndim', 1) == 0 or not hasattr(keys, '__len__') or len(keys) == 0:
        raise TypeError(f"lexsort: argument 'keys' must be a sequence of at least one key, given {type(keys).__name__} {keys!r}")
    keys = [given(key) for key in keys]
    if len({key.shape for key in keys}) > 1:
        raise ValueError(f'lexsort: the keys must have the same shape, got {", ".join(str(key.shape) for key in keys)}')
    if keys[0].ndim == 0:
        return _core.zeros((), int)  # a single index
    if keys[0].ndim == 1 and axis in (0, -1):
        return _core._lexsort(keys)
    order = keys[0].argsort(axis)
    for key in keys[1:]:
        order = _core.take_along_axis(order, _core.take_along_axis(key, order, axis).argsort(axis), axis)
    return order


def sort_complex(a):
    """Sorts along the last axis by real and then imaginary parts. Returns complex numbers, complex64 for integers below 32 bits."""
    a = given(a)
    return sort(a if a.dtype.kind == 'c' else a.astype('F' if a.dtype.char in 'bhBH' else 'D'))


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    """Returns the sorted distinct elements, and on request first indices, the inverse mapping, and counts."""
    return _core.unique(given(ar), return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)


class _Unique:
    AllResult = namedtuple('UniqueAllResult', 'values indices inverse_indices counts')
    CountsResult = namedtuple('UniqueCountsResult', 'values counts')
    InverseResult = namedtuple('UniqueInverseResult', 'values inverse_indices')


def unique_all(x, /):
    """Returns the unique elements, the index of each one's first occurrence, the inverse indices, and the counts."""
    return _Unique.AllResult(*_core.unique(given(x), True, True, True, equal_nan=False))


def unique_counts(x, /):
    """Returns the unique elements and their counts."""
    return _Unique.CountsResult(*_core.unique(given(x), return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    """Returns the unique elements and the inverse indices."""
    return _Unique.InverseResult(*_core.unique(given(x), return_inverse=True, equal_nan=False))


def unique_values(x, /):
    """Returns the unique elements."""
    return _core.unique(given(x), equal_nan=False)
