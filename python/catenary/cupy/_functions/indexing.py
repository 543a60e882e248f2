"""Indexing routines: index conversion, selection and assignment."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given, of_anything
from catenary.cupy._array import asarray, ndarray

globals().update(of_anything(__name__, {'compress': 2}))


def copyto(dst, src, casting='same_kind', where=True):
    """Writes the values of `src`, which broadcasts to `dst`, where `where` is true."""
    numpy.can_cast('b', 'b', casting)  # raises ValueError for an unknown casting rule
    if not isinstance(dst, ndarray):
        raise TypeError(f"copyto: argument 'dst' must be a cupy.ndarray, given {type(dst).__name__}")
    if isinstance(src, numpy.ndarray):
        src = given(src)
    elif type(src) is int and dst.dtype.kind in 'iu':
        dst.dtype.type(src)  # raises OverflowError
    elif type(src) is int and dst.dtype.kind in 'fc':
        src = float(src)  # also beyond uint64
    if isinstance(src, ndarray) and src.ndim > dst.ndim:
        extra = src.ndim - dst.ndim
        src = src.reshape(src.shape[extra:]) if set(src.shape[:extra]) == {1} else src
    if isinstance(where, (list, tuple, numpy.ndarray)):
        where = asarray(where)
    if not isinstance(where, ndarray):
        if not where:
            return
        where = True
    elif where.dtype != bool:
        raise TypeError(f'copyto: where must be an array of bool, not of {where.dtype}')
    _core.copyto(dst, src, casting, where)


def delete(arr, indices, axis=None):
    """Returns a copy without the elements, or slices along an axis, at the indices."""
    arr = given(arr)
    indices = list(indices) if isinstance(indices, tuple) else indices
    kind = getattr(getattr(indices, 'dtype', None), 'kind', None)
    extent = arr.size if axis is None else arr.shape[axis]
    if kind == 'b' and indices.shape != (extent,):
        raise ValueError(f'delete: a mask of shape {indices.shape} does not fit an axis of {extent} elements')
    return _core.delete(arr, indices, axis)


def take_along_axis(arr, indices, axis=-1):
    """Picks one element per position along an axis, or of the flattened array if axis is None."""
    return _core.take_along_axis(arr, indices, axis) if axis is not None else _core.take_along_axis(arr.ravel(), indices, 0)


def putmask(a, mask, values):
    """Sets a.flat[i] = values.flat[i % values.size] where mask.flat[i] is true."""
    if isinstance(values, ndarray) and not numpy.can_cast(values.dtype, a.dtype):
        raise TypeError(f"putmask: cannot cast from {values.dtype} to {a.dtype} with casting rule 'safe'")
    _core.putmask(a, mask, values)


def place(arr, mask, vals):
    """Stores values cyclically into the elements where the mask is true."""
    if isinstance(vals, ndarray) and not numpy.can_cast(vals.dtype, arr.dtype):
        raise TypeError(f"place: cannot cast from {vals.dtype} to {arr.dtype} with casting rule 'safe'")
    _core.place(arr, mask, vals)


def select(condlist, choicelist, default=0):
    """Returns the element of the first choice whose condition is true, or the default. Python numbers adopt the dtype and wrap."""
    for name, value in (('condlist', condlist), ('choicelist', choicelist)):
        if not hasattr(value, '__len__'):
            raise TypeError(f'select: argument {name!r} must be a sequence of cupy.ndarray, given {type(value).__name__} {value!r}')
    if len(condlist) != len(choicelist):
        raise ValueError('select: expected as many conditions as choices, not '
                         f'{len(condlist)} and {len(choicelist)}')
    weak = (int, float, complex)
    choices = [x if type(x) in weak else given(x) for x in (*choicelist, default)]
    dtype = numpy.result_type(*(x if type(x) in weak else x.dtype for x in choices))
    *choices, default = (given(x).astype(dtype) for x in choices)
    return _core.select(condlist, choices, default)


def ravel_multi_index(multi_index, dims, mode='raise', order='C'):
    """Converts indices to flat indices of an array of shape `dims`."""
    if order not in ('C', 'F', 'c', 'f', None):
        raise ValueError(f"ravel_multi_index: order must be 'C' or 'F', not {order!r}")
    if not isinstance(multi_index, (tuple, list, ndarray, numpy.ndarray)):
        raise TypeError(f"ravel_multi_index: argument 'multi_index' must be a sequence of index arrays, given {type(multi_index).__name__} {multi_index!r}")
    step = -1 if order in ('F', 'f') else 1
    try:
        return _core.ravel_multi_index([given(i) for i in multi_index][::step], tuple(dims)[::step], mode)
    except IndexError as error:
        raise ValueError(str(error)) from None


def unravel_index(indices, dims, order='C'):
    """Converts flat indices of an array of shape `dims` to indices along each axis."""
    if order not in ('C', 'F', 'c', 'f', None):
        raise ValueError(f"unravel_index: order must be 'C' or 'F', not {order!r}")
    dims, step = (dims,) if isinstance(dims, int) else tuple(dims), -1 if order in ('F', 'f') else 1
    return tuple(_core._unravel_index(given(indices), dims[::step])[::step])


def ix_(*args):
    """Returns index arrays that select the outer product of 1-d indices."""
    return tuple(_core._ix([given(a) for a in args]))


def mask_indices(n, mask_func, k=0):
    """Returns the indices that a function like tril or triu keeps in an (n, n) array."""
    return _core.nonzero(mask_func(_core.ones((n, n), int), k))


def put_along_axis(arr, indices, values, axis):
    """Stores values at indices along an axis, as argsort returns them, or at flat indices if axis is None."""
    if axis is None:
        _core.put(arr, indices, values, 'raise')
    else:
        _core.put_along_axis(arr, indices, values, axis)
