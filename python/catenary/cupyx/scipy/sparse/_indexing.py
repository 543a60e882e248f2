"""Indexing and assignment of csr and csc matrices."""

import warnings

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupy._array import asarray, ndarray
from catenary.cupyx.scipy.sparse._one_dimensional import one_axis
from catenary.cupyx.scipy.sparse._sparse_utils import SparseEfficiencyWarning
from catenary.cupyx.scipy.sparse._spbase import _spbase


def is_number(key):
    return numpy.isscalar(key) or isinstance(key, (numpy.ndarray, ndarray)) and key.ndim == 0


def index(key, extent):
    """Returns a slice, or an array of non-negative indices. Raises IndexError for an index out of range."""
    if isinstance(key, slice):
        return key
    if key is Ellipsis:
        return slice(None)
    if isinstance(key, _spbase):
        if key.shape != (extent,):
            raise IndexError(f'boolean index of shape {key.shape} does not match {extent} elements')
        return key._pattern_of_true()[1]
    if isinstance(key, bool):  # as in SciPy, bools are 0 or 1
        key = int(key)
    if isinstance(key, (str, bytes)):
        raise IndexError(f'sparse matrices are indexed by integers, slices and bools, not by {key!r}')
    a = given(numpy.asarray(key) if isinstance(key, (list, tuple)) and key and not any(isinstance(k, ndarray) for k in key) else key)
    if a.dtype == bool:
        if a.ndim != 1 or a.size != extent:
            raise IndexError(f'boolean index of shape {a.shape} does not match {extent} rows or columns')
        return _core.nonzero(a)[0]
    if a.size == 0:
        a = a.astype('l')
    if a.dtype.kind not in 'iu':
        raise IndexError(f'sparse matrices are indexed by integers, slices and bools, not by {a.dtype}')
    if a.size and not -extent <= int(a.min()) <= int(a.max()) < extent:
        raise IndexError(f'index ({int(a.max())}) out of range for an axis of size {extent}')
    return _core.where(a < 0, a + extent, a)


def along(own, extent):
    """Converts the result of index() to an array of indices."""
    return _core.arange(*own.indices(extent)) if isinstance(own, slice) else own.astype('l', copy=False)


def _mask(key):
    """Returns the key as a 2-d mask, or None if it is not one."""
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, _spbase):
        return key if key.ndim == 2 else None
    if isinstance(key, list) and key and isinstance(key[0], list):
        key = asarray(key)
    return key if isinstance(key, (ndarray, numpy.ndarray)) and key.dtype == bool and key.ndim == 2 else None


def of_mask(matrix, key):
    """Returns (rows, columns) of the true elements of a 2-d mask, or None if the key is not a mask."""
    mask = _mask(key)
    if mask is None:
        return None
    if mask.shape != matrix.shape:
        raise IndexError(f'bool index of shape {mask.shape} does not match a matrix of shape {matrix.shape}')
    return mask._pattern_of_true() if isinstance(mask, _spbase) else _core.nonzero(asarray(mask))


def indices(matrix, key):
    """Returns both indices of a key, in the form of index()."""
    if isinstance(key, tuple) and len(key) > 2:
        raise IndexError('too many indices: a matrix has 2')
    return tuple(index(k, n) for k, n in zip((*key, slice(None), slice(None)) if isinstance(key, tuple) else (key, slice(None)), matrix.shape))


def _axis_by_axis(array, key):
    """Returns the key for each axis, with None for new axes. Raises IndexError for too many keys."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [at for at, k in enumerate(keys) if k is Ellipsis]
    count = sum(k is not None for k in keys) - len(dots)
    if count > array.ndim or len(dots) > 1:
        raise IndexError(f'too many indices: an array of shape {array.shape}, given {key!r}')
    at = dots[0] if dots else len(keys)
    keys[at:at + 1] = [slice(None)] * (array.ndim - count)
    return keys


def of_rows(array, key):
    """Returns the key for the one-row matrix that stores a 1-d array."""
    if array.ndim == 2 and _mask(key) is not None:
        return key
    return (0,) * (2 - array.ndim) + tuple(k for k in _axis_by_axis(array, key) if k is not None)


def of_array(array, key):
    """Indexes an array by NumPy's rules: a number removes its axis, None inserts one. Raises IndexError for a result with more than two axes."""
    if array.ndim == 2 and _mask(key) is not None:
        return array._picked(key)
    keys, two = _axis_by_axis(array, key), array.two_axes()
    chosen = [index(k, n) for k, n in zip((k for k in keys if k is not None), array.shape)]
    shape = _shape_of(keys, chosen, array.shape)
    found = two._picked((0,) * (2 - array.ndim) + tuple(chosen))
    if isinstance(found, ndarray):
        found = found.reshape(shape)
        return type(array)(found) if shape and array.ndim == 1 else found
    if len(shape) == 1:
        made = one_axis(found) if found.shape[0] == 1 else found.reshape(shape)
        return made.asformat(array.format if array.ndim == 1 else 'coo')
    made = found if found.shape == shape else found.reshape(shape)
    return made.asformat('coo' if array.ndim == 1 and any(k is None for k in keys) else array.format)


def _shape_of(keys, chosen, extents):
    """Returns NumPy's shape for a result. `keys` contain None for new axes, and `chosen` holds the other keys as index() gives them."""
    own, shape, places = iter(zip(chosen, extents)), [], []
    lists = [k.shape for k in chosen if not isinstance(k, slice)]
    try:
        listed = _core._broadcast_shapes(lists) if lists else ()
    except ValueError as error:
        raise IndexError(f'rows and columns do not broadcast: {lists[0]} and {lists[1]}') from error
    for at, key in enumerate(keys):
        k, extent = (None, 0) if key is None else next(own)
        if k is None:
            shape.append(1)
        elif isinstance(k, slice):
            shape.append(len(range(*k.indices(extent))))
        else:
            shape += listed if not places else ()
            places.append(at)
    if len(shape) > 2 or listed and places[-1] - places[0] >= len(places):
        raise IndexError('indices of a sparse array: results with more than two axes, and None between lists, are not supported')
    return tuple(shape)


def targets(matrix, key):
    """Returns (rows, columns) of the elements that a key selects, in one shape."""
    masked = of_mask(matrix, key)
    if masked is not None:
        return masked
    chosen = indices(matrix, key)
    row, column = (along(k, n) for k, n in zip(chosen, matrix.shape))
    if isinstance(chosen[1], slice):
        column = column[None, :]
        row = row[:, None] if row.ndim == 1 else row
    elif isinstance(chosen[0], slice):
        row = row[:, None]
    try:
        shape = _core._broadcast_shapes([row.shape, column.shape])
    except ValueError as error:
        raise IndexError(f'rows and columns do not broadcast: {row.shape} and {column.shape}') from error
    return _core.broadcast_to(row, shape), _core.broadcast_to(column, shape)


def set_elements(matrix, key, value, warns):
    """Assigns matrix[key] = value, where value is a number, an array or a matrix that broadcasts to the indices.

    If an index repeats, the last value counts. Existing elements are overwritten in place unless indices are duplicate or unsorted. Assigning a
    sparse matrix keeps existing elements as explicit zeros. Raises IndexError for indices out of range and ValueError if the value does not fit.
    `warns` adds a SparseEfficiencyWarning for new elements.
    """
    rows, columns = targets(matrix, key)
    kept, is_line = None, getattr(value, 'ndim', 0) == 1
    if isinstance(value, _spbase):
        kept, value = value._pattern().toarray(), value.toarray()
        kept = _fitted(kept, rows.shape).ravel()
    values = _fitted(asarray(value, matrix.dtype), rows.shape).ravel()
    if rows.size == 0:
        return
    width = max(matrix.shape[1 - matrix._major], 1)
    major, minor = (rows, columns) if matrix._major == 0 else (columns, rows)
    wanted = major.ravel() * width + minor.ravel()
    order = _core._argsort(wanted, 0)  # a stable sort keeps the order of repeated indices
    if kept is not None and not is_line:  # as in SciPy, implicit zeros are assigned first
        order = _core._argsort(kept.astype('b'), 0)
        order = order[_core._argsort(wanted[order], 0)]
    wanted = wanted[order]
    last = _core._concatenate([wanted[1:] != wanted[:-1], _core.ones((1,), bool)], 0)
    wanted, values = wanted[last], values[order][last]
    kept = None if kept is None else kept[order][last]
    if not matrix._in_order(False):
        matrix._merge()
    have = matrix._majors().astype('l') * width + matrix.indices
    if have.size:
        place = _core.ufuncs['minimum'](_core.searchsorted(have, wanted), have.size - 1)
        there = have[place] == wanted
        matrix.data[place[there]] = values[there]
        added = ~there if kept is None else ~there & kept
    else:
        added = _core.ones(wanted.shape, bool) if kept is None else kept
    wanted, values = wanted[added], values[added]
    if not wanted.size:
        return
    if warns:
        warnings.warn(f'Changing the sparsity structure of a {type(matrix).__name__} is expensive.', SparseEfficiencyWarning, 4)
    have, data = _core._concatenate([have, wanted], 0), _core._concatenate([matrix.data, values], 0)
    order = _core._argsort(have, 0)
    have, data = have[order], data[order]
    matrix._take(matrix._of_sorted(*((place.astype(matrix.indices.dtype, copy=False)) for place in (have // width, have % width)), data, matrix.shape))


def _fitted(x, shape):
    if x.shape != shape and tuple(n for n in x.shape if n != 1) == tuple(n for n in shape if n != 1):
        return x.reshape(shape)
    return _core.broadcast_to(x, shape)
