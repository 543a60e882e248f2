"""Setting elements of csr and csc matrices."""

import warnings

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray
from catenary.cupyx.scipy.sparse._matrix import _spbase, merged


def _places(key, extent):
    """(the places of one axis as an array, is it a slice or a number?) Raises IndexError for what is not there."""
    from catenary.cupyx.scipy.sparse._formats import _index
    own = _index(key, extent)
    if isinstance(own, slice):
        return _core.arange(*own.indices(extent)), 'slice'
    return own.astype('l', copy=False), 'number' if own.ndim == 0 else 'array'


def targets(matrix, key):
    """Rows and columns that a key names, two arrays of one shape."""
    if isinstance(key, _spbase):
        return key._pattern_of_true()
    if isinstance(key, tuple) and len(key) > 2:
        raise IndexError('too many indices: a matrix has 2')
    if not isinstance(key, tuple):
        mask = asarray(key) if isinstance(key, (ndarray, numpy.ndarray, list)) else None
        if mask is not None and mask.dtype == bool and mask.ndim == 2:
            if mask.shape != matrix.shape:
                raise IndexError(f'bool index of shape {mask.shape} does not match a matrix of shape {matrix.shape}')
            return _core.nonzero(mask)
        key = key, slice(None)
    (row, of_rows), (column, of_columns) = (_places(k, n) for k, n in zip((*key, slice(None))[:2], matrix.shape))
    if of_columns == 'slice':
        column = column[None, :]
        row = row[:, None] if row.ndim == 1 else row
    elif of_rows == 'slice':
        row = row[:, None]
    try:
        shape = _core._broadcast_shapes([row.shape, column.shape])
    except ValueError as error:
        raise IndexError(f'rows and columns do not broadcast: {row.shape} and {column.shape}') from error
    return _core.broadcast_to(row, shape), _core.broadcast_to(column, shape)


def set_elements(matrix, key, value):
    """matrix[key] = value, the value a number, an array or a matrix that broadcasts to the places. Where a place is named twice the last value is
    its. What is set to the zeros of a matrix keeps its place if it has one. Raises IndexError for a place that is not there, ValueError for a value that does not fit."""
    rows, columns = targets(matrix, key)
    kept = None
    if isinstance(value, _spbase):
        kept, value = value._pattern().toarray(), value.toarray()
        kept = _fitted(kept, rows.shape).ravel()
    values = _fitted(asarray(value, matrix.dtype), rows.shape).ravel()
    if rows.size == 0:
        return
    width = max(matrix.shape[1 - matrix._major], 1)
    major, minor = (rows, columns) if matrix._major == 0 else (columns, rows)
    wanted = major.ravel() * width + minor.ravel()
    order = _core._argsort(wanted, 0)  # stable: of one place the last comes last
    wanted = wanted[order]
    last = _core._concatenate([wanted[1:] != wanted[:-1], _core.ones((1,), bool)], 0)
    wanted, values = wanted[last], values[order][last]
    kept = None if kept is None else kept[order][last]
    a, b, data = merged(matrix._majors(), matrix.indices, matrix.data, (matrix.shape[matrix._major], matrix.shape[1 - matrix._major]))
    have = a.astype('l') * width + b
    if have.size:
        place = _core.ufuncs['minimum'](_core.searchsorted(have, wanted), have.size - 1)
        there = have[place] == wanted
        data = _core._copy(data, 'C')
        data[place[there]] = values[there]
        added = ~there if kept is None else ~there & kept
    else:
        added = _core.ones(wanted.shape, bool) if kept is None else kept
    wanted, values = wanted[added], values[added]
    if wanted.size:
        from catenary.cupyx.scipy import sparse
        warnings.warn(f'Changing the sparsity structure of a {type(matrix).__name__} is expensive.', sparse.SparseEfficiencyWarning, 3)
        have, data = _core._concatenate([have, wanted], 0), _core._concatenate([data, values], 0)
        order = _core._argsort(have, 0)
        have, data = have[order], data[order]
    matrix._take(matrix._of_sorted((have // width).astype('i'), (have % width).astype('i'), data, matrix.shape))


def _fitted(x, shape):
    if x.shape != shape and tuple(n for n in x.shape if n != 1) == tuple(n for n in shape if n != 1):
        return x.reshape(shape)
    return _core.broadcast_to(x, shape)
