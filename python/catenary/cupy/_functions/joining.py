"""Functions that join arrays."""

import collections.abc
import warnings

import numpy

from catenary import _core
from catenary.cupy._arguments import delivered, of_anything
from catenary.cupy._array import ndarray
from catenary.cupy._functions.shapes import atleast_1d

globals().update(of_anything(__name__, {'append': 2}))


def _joined(name, tup, axis, out, dtype, casting):
    numpy.can_cast('b', 'b', casting)  # raises ValueError for an unknown casting rule
    if not isinstance(tup, (ndarray, collections.abc.Iterable)):
        raise TypeError(f'{name}: argument \'tup\' must be a sequence of cupy.ndarray, given {type(tup).__name__} {tup!r}')
    arrays = list(tup)
    for value in arrays:
        if not isinstance(value, ndarray):
            raise TypeError(f'{name}: only cupy.ndarray can be joined, not {type(value)}')
    if dtype is not None:
        if out is not None:
            raise TypeError(f'{name}() only takes `out` or `dtype` as an argument, but both were provided.')
        arrays = [a.astype(dtype, casting=casting) for a in arrays]
    return delivered(getattr(_core, '_' + name)(arrays, *axis), out, name, casting)


def concatenate(tup, axis=0, out=None, *, dtype=None, casting='same_kind'):
    """Joins arrays along an axis, or flattened if axis is None."""
    return _joined('concatenate', tup, (axis,), out, dtype, casting)


def stack(tup, axis=0, out=None, *, dtype=None, casting='same_kind'):
    """Stacks arrays of one shape along a new axis."""
    return _joined('stack', tup, (axis,), out, dtype, casting)


def _each_an_array(tup):
    """Converts lists and numbers among the arguments to arrays, as CuPy does in functions that add axes."""
    if not isinstance(tup, collections.abc.Iterable):
        return tup  # refused later
    return atleast_1d(tup) if isinstance(tup, ndarray) else [atleast_1d(a) if isinstance(a, (list, tuple, int, float, complex)) else a for a in tup]


def hstack(tup, *, dtype=None, casting='same_kind'):
    """Joins arrays along the second axis, 1-d ones along the first."""
    return _joined('hstack', _each_an_array(tup), (), None, dtype, casting)


def vstack(tup, *, dtype=None, casting='same_kind'):
    """Joins arrays along the first axis, with 1-d arrays as rows."""
    return _joined('vstack', _each_an_array(tup), (), None, dtype, casting)


def row_stack(tup, *, dtype=None, casting='same_kind'):
    """Calls vstack (the old name)."""
    warnings.warn('`row_stack` alias is deprecated. Use `vstack` directly.', DeprecationWarning, stacklevel=2)
    return vstack(tup, dtype=dtype, casting=casting)
