"""Functions whose arguments NumPy takes in more forms than C++ does. The others are `catenary._core`'s own."""

import functools
import string
import warnings

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray


def _arrays(values, function):
    values = list(values)
    for value in values:
        if not isinstance(value, ndarray):
            raise TypeError(f'{function}: only cupy.ndarray can be joined, not {type(value)}')
    return values


def _delivered(result, out, function, casting='same_kind'):
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError(f'{function}: out must be a cupy.ndarray, not {type(out)}')
    if out.shape != result.shape:
        raise ValueError(f'{function}: out has shape {out.shape}, the result has {result.shape}')
    _core.copyto(out, result, casting)
    return out


def concatenate(tup, axis=0, out=None, *, dtype=None, casting='same_kind'):
    """Arrays one after the other along an axis, or all flattened with axis None."""
    arrays = _arrays(tup, 'concatenate')
    if dtype is not None:
        if out is not None:
            raise TypeError('concatenate() only takes `out` or `dtype` as an argument, but both were provided.')
        arrays = [a.astype(dtype, casting=casting) for a in arrays]
    return _delivered(_core._concatenate(arrays, axis), out, 'concatenate', casting)


def stack(tup, axis=0, out=None, *, dtype=None, casting='same_kind'):
    """Arrays of one shape along a new axis."""
    arrays = _arrays(tup, 'stack')
    if dtype is not None:
        arrays = [a.astype(dtype, casting=casting) for a in arrays]
    return _delivered(_core._stack(arrays, axis), out, 'stack', casting)


def _given(x):
    """An argument as an array; an array stays on its device."""
    return x if isinstance(x, ndarray) else asarray(x)


def _of_anything(name, count=1):
    """The function of this name, for whose first arguments lists and numbers count as arrays."""
    function = getattr(_core, name)

    @functools.wraps(function)
    def of_anything(*args, **kwargs):
        return function(*(_given(x) for x in args[:count]), *args[count:], **kwargs)
    of_anything.__module__ = __name__
    of_anything.__name__ = of_anything.__qualname__ = name
    return of_anything


globals().update({_name: _of_anything(_name, _n) for _name, _n in {
    'vander': 1, 'diag': 1, 'diagflat': 1, 'resize': 1, 'append': 2, 'delete': 1, 'trim_zeros': 1, 'tril': 1, 'triu': 1,
    'around': 1, 'isclose': 2, 'array_equal': 2, 'inner': 2, 'outer': 2, 'kron': 2, 'lexsort': 1}.items()})


def dot(a, b, out=None):
    """The product of vectors, matrices and stacks of them, as numpy.dot."""
    return _core.dot(_given(a), b, out)


def isin(element, test_elements, assume_unique=False, invert=False):
    """Which elements are among others."""
    return _core.isin(_given(element), _given(test_elements), invert=invert)


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """isin of the flattened array."""
    return isin(ar1, ar2, invert=invert).ravel()


def intersect1d(arr1, arr2, assume_unique=False, return_indices=False):
    """The sorted values that are in both, and perhaps where each is first."""
    common = _core.intersect1d(arr1, arr2)
    if not return_indices:
        return common
    return (common, *(i[_core.isin(v, common)] for v, i in (_core.unique(a, True) for a in (arr1, arr2))))


def setdiff1d(ar1, ar2, assume_unique=False):
    """The sorted values of the one that are not in the other; in their own order if they are known to differ."""
    flat = ar1.ravel()
    return flat[isin(flat, ar2, invert=True)] if assume_unique else _core.setdiff1d(ar1, ar2)


def setxor1d(ar1, ar2, assume_unique=False):
    """The sorted values that are in one of two."""
    return _core._sort(_core._concatenate([_core.setdiff1d(ar1, ar2), _core.setdiff1d(ar2, ar1)], 0), 0)


def _variables(m, y, rowvar):
    rows = m if m.ndim < 2 else m if rowvar else m.T
    rows = rows.reshape(-1, rows.shape[-1])
    return rows if y is None else _core._concatenate([rows, _variables(y, None, rowvar)], 0)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Covariances of variables, of which each is a row of `m` (or of `y`)."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError(f'cov: ddof must be an integer, not {ddof}')
    if m.ndim > 2 or (y is not None and y.ndim > 2):
        raise ValueError('cov: expected at most two axes')
    ddof = (0 if bias else 1) if ddof is None else ddof
    dtype = numpy.result_type(m.dtype, 'd' if y is None else y.dtype, 'd') if dtype is None else dtype
    rows = _variables(m, y, rowvar).astype(dtype)
    given = [w.astype(dtype) for w in (fweights, aweights) if w is not None]
    weights = None if not given else given[0] if len(given) == 1 else given[0] * given[1]
    total = rows.shape[1] if weights is None else _core.sum(weights)
    mean = average(rows, 1, weights)
    if ddof and aweights is not None:
        total = total - ddof * _core.sum(weights * given[-1]) / total
    else:
        total = total - ddof
    rows = rows - mean[:, None]
    product = _core.matmul(rows if weights is None else rows * weights, rows.T) / total
    return _core.squeeze(product).astype(dtype)


def corrcoef(a, y=None, rowvar=True, *, dtype=None):
    """Coefficients of correlation of variables, of which each is a row."""
    c = cov(a, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = _core.ufuncs['sqrt'](_core.diagonal(c))
    return _core.clip(c / deviation[:, None] / deviation, -1, 1)


def float_power(x1, x2, out=None, *, dtype=None, **kwargs):
    """x1 to the x2 in float64."""
    return _core.ufuncs['power'](x1, x2, out=out, dtype=numpy.float64 if dtype is None else dtype, **kwargs)


def matmul(x1, x2, out=None, *, casting='same_kind', dtype=None):
    """The product of matrices, or of stacks of them."""
    if dtype is not None:
        x1, x2 = x1.astype(dtype, casting=casting), x2.astype(dtype, casting=casting)
    return _core.matmul(x1, x2) if out is None else _delivered(_core.matmul(x1, x2), out, 'matmul', casting)


def copyto(dst, src, casting='same_kind', where=True):
    """Writes the values of `src`, which broadcasts to `dst`, where `where` is true."""
    if isinstance(src, numpy.ndarray):
        src = _given(src)
    elif type(src) is int and dst.dtype.kind in 'iu':
        dst.dtype.type(src)  # raises OverflowError
    if isinstance(src, ndarray) and src.ndim > dst.ndim:
        extra = src.ndim - dst.ndim
        src = src.reshape(src.shape[extra:]) if set(src.shape[:extra]) == {1} else src
    if not isinstance(where, ndarray):
        if not where:
            return
        where = True
    elif where.dtype != bool:
        raise TypeError(f'copyto: where must be an array of bool, not of {where.dtype}')
    _core.copyto(dst, src, casting, where)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """The values with numbers in the place of NaN and the infinities: the largest there are, if none are given."""
    x = _given(x)
    if x.dtype.kind != 'f':
        return _core._copy(x, 'K') if copy else x
    result = _core._copy(x, 'K') if copy else x
    is_nan, is_inf, negative = (_core.ufuncs[f](x) for f in ('isnan', 'isinf', 'signbit'))
    limits = numpy.finfo(x.dtype)
    for mask, value in ((is_nan, nan), (is_inf & ~negative, limits.max if posinf is None else posinf),
                        (is_inf & negative, limits.min if neginf is None else neginf)):
        _core.copyto(result, _given(value).astype(x.dtype), 'unsafe', mask)
    return result


def _named(name, doc, function):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _joining(name):
    def function(tup, *, dtype=None, casting='same_kind'):
        arrays = _arrays([tup] if isinstance(tup, ndarray) and tup.ndim == 0 else tup, name)
        return getattr(_core, name)(arrays if dtype is None else [a.astype(dtype, casting=casting) for a in arrays])
    return _named(name, f'numpy.{name}.', function)


hstack, vstack = _joining('hstack'), _joining('vstack')


def divmod(x1, x2, *out, **kwargs):
    """floor_divide and remainder."""
    quotient, rest = (tuple(kwargs.pop('out', out)) + (None, None))[:2]
    return (_core.ufuncs['floor_divide'](x1, x2, out=quotient, **kwargs),
            _core.ufuncs['remainder'](x1, x2, out=rest, **kwargs))


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times; a number beside the array counts as a row of it."""
    row = a.shape[:axis % a.ndim] + (1,) + a.shape[axis % a.ndim + 1:]
    parts = [_given(x) for x in (prepend, a, append) if x is not None]
    whole = a if len(parts) == 1 else _core._concatenate(
        [x if x.ndim else _core.broadcast_to(x, row) for x in parts], axis)
    return _core.diff(whole, n, axis)


def _cumulative(name, scan, start):
    def function(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        if axis is None and x.ndim != 1:
            raise ValueError(f'{name}: expected an axis for an array of {x.ndim} dimensions')
        result, axis = scan(x, axis or 0, dtype), (axis or 0) % x.ndim
        if include_initial:
            first = _core.full(x.shape[:axis] + (1,) + x.shape[axis + 1:], start, result.dtype)
            result = _core._concatenate([first, result], axis)
        return _delivered(result, out, name, 'unsafe')
    return _named(name, f'{scan.__name__}, after {start} if include_initial.', function)


cumulative_sum, cumulative_prod = _cumulative('cumulative_sum', _core.cumsum, 0), _cumulative('cumulative_prod', _core.cumprod, 1)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Values evenly spaced from start to stop; of arrays such values along an axis for each element."""
    if not isinstance(start, (ndarray, list)) and not isinstance(stop, (ndarray, list)):
        return _core.linspace(start, stop, num, endpoint, retstep, dtype)
    start, stop = broadcast_arrays(start, stop)
    floats = numpy.result_type(start.dtype, stop.dtype, float(num))
    start, stop = start.astype(floats), stop.astype(floats)
    step = (stop - start) / ((num - 1 if endpoint else num) or numpy.nan)
    values = start + _core.arange(num, dtype=floats).reshape((num,) + (1,) * start.ndim) * step
    if endpoint and num > 0:
        values[-1], values[0] = stop, start
    if dtype is not None and numpy.dtype(dtype).kind in 'iu':
        values = _core.ufuncs['floor'](values)
    values = _core.moveaxis(values, (0,), (axis,)).astype(floats if dtype is None else dtype)
    return (values, step) if retstep else values


def ravel_multi_index(multi_index, dims, mode='raise', order='C'):
    """Positions in the flattened array of extents `dims`."""
    step = -1 if order in ('F', 'f') else 1
    try:
        return _core.ravel_multi_index([_given(i) for i in multi_index][::step], tuple(dims)[::step], mode)
    except IndexError as error:
        raise ValueError(str(error)) from None


def unravel_index(indices, dims, order='C'):
    """Indices along each axis of positions in the flattened array of extents `dims`."""
    if order not in ('C', 'F', 'c', 'f', None):
        raise ValueError(f"unravel_index: order must be 'C' or 'F', not {order!r}")
    dims, step = (dims,) if isinstance(dims, int) else tuple(dims), -1 if order in ('F', 'f') else 1
    return tuple(_core.unravel_index(_given(indices), dims[::step])[::step])


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    """The different values in their order, of the flattened array or along an axis."""
    ar = _given(ar)
    if axis is None and (equal_nan or ar.dtype.kind != 'f'):
        found = _core.unique(ar, return_index, return_inverse, return_counts)
        return tuple(f.reshape(ar.shape) if return_inverse and i == 1 + return_index else f
                     for i, f in enumerate(found)) if isinstance(found, tuple) else found
    rows = ar.ravel() if axis is None else _core.moveaxis(ar, (axis,), (0,))
    flat = rows.reshape(len(rows), int(numpy.prod(rows.shape[1:])))
    order = _core.lexsort(flat.T[::-1]) if flat.size else _core.arange(len(rows))
    new = _core.ones(len(order), bool)
    new[1:] = _core.any(flat[order[1:]] != flat[order[:-1]], 1)
    firsts = _core.flatnonzero(new)
    results = [_core.moveaxis(rows[order[firsts]], (0,), (axis or 0,))]
    if return_index:
        results.append(order[firsts])
    if return_inverse:
        inverse = _core.empty(len(order), 'q')
        inverse[order] = _core.cumsum(new) - 1
        results.append(inverse.reshape(ar.shape) if axis is None else inverse)
    if return_counts:
        results.append(diff(firsts, append=len(order)))
    return tuple(results) if len(results) > 1 else results[0]


def roll(a, shift, axis=None):
    """Elements moved along axes, what leaves at an end coming in at the other."""
    numbers = [tuple(numpy.atleast_1d(x.get()).tolist()) if isinstance(x, ndarray) else x for x in (shift, axis)]
    return _core.roll(a, *numbers)


def meshgrid(*xi, indexing='xy', sparse=False, copy=True):
    """Coordinate arrays of the grid that 1-d arrays span."""
    return tuple(_core._meshgrid([_given(x) for x in xi], indexing, sparse))


def broadcast_arrays(*args):
    """Views with the shape that all broadcast to."""
    arrays = [_given(a) for a in args]
    shape = _core._broadcast_shapes([a.shape for a in arrays])
    return tuple(a if a.shape == shape else _core.broadcast_to(a, shape) for a in arrays)


def broadcast_shapes(*shapes):
    """The shape that all broadcast to."""
    return _core._broadcast_shapes([(s,) if isinstance(s, int) else tuple(s) for s in shapes])


class broadcast:
    """What arrays and numbers broadcast to: `values`, `shape`, `nd` and `size`."""

    def __init__(self, *arrays):
        shapes = [a.shape for a in arrays if isinstance(a, ndarray)]
        self.shape = _core._broadcast_shapes(shapes) if shapes else ()
        self.nd = self.ndim = len(self.shape)
        self.size = int(numpy.prod(self.shape, dtype=numpy.int64))
        self.values = tuple(_core.broadcast_to(a, self.shape) if isinstance(a, ndarray) and a.shape != self.shape
                            else a for a in arrays)


def _at_least(ndim, arrays):
    views = [_core._atleast(_given(a), ndim) for a in arrays]
    return views[0] if len(views) == 1 else views


def atleast_1d(*arys):
    """Views with at least one axis."""
    return _at_least(1, arys)


def atleast_2d(*arys):
    """Views with at least two axes."""
    return _at_least(2, arys)


def atleast_3d(*arys):
    """Views with at least three axes."""
    return _at_least(3, arys)


def ix_(*args):
    """Index arrays that pick the outer product of 1-d ones."""
    return tuple(_core._ix([_given(a) for a in args]))


def sort(a, axis=-1, kind=None):
    """A sorted copy along an axis, or of the flattened array."""
    if a.ndim == 0:
        raise numpy.exceptions.AxisError('Sorting arrays with the rank of zero is not supported')
    return _core._sort(a, axis)


def tensordot(a, b, axes=2):
    """Sum of products over axes of both: the last of a and the first of b, or those that are named."""
    if a.ndim == 0 or b.ndim == 0:
        if axes != 0 and axes != ((), ()):
            raise ValueError('An input is zero-dim while axes has dimensions')
        return _core.ufuncs['multiply'](a, b)
    if isinstance(axes, (int, numpy.integer)):
        a_axes, b_axes = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    else:
        a_axes, b_axes = ((x,) if isinstance(x, (int, numpy.integer)) else tuple(x) for x in axes)
    if len(a_axes) != len(b_axes):
        raise ValueError('Axes length mismatch')
    return _core._tensordot(a, b, a_axes, b_axes)


def einsum(*operands, dtype=None, optimize=False, **kwargs):
    """Einstein's sums: einsum('ij,jk', a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if kwargs:
        raise TypeError(f'einsum: unexpected keyword argument {next(iter(kwargs))!r}')
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], list(operands[1:])
    else:
        def letters(axes):
            return ''.join('...' if x is Ellipsis else string.ascii_letters[x] for x in axes)
        arrays = list(operands[:len(operands) // 2 * 2:2])
        subscripts = ','.join(letters(x) for x in operands[1::2])
        if len(operands) % 2:
            subscripts += '->' + letters(operands[-1])
    if dtype is not None:
        arrays = [a.astype(dtype) for a in arrays]
    return _core._einsum(subscripts, arrays)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The weighted mean; with `returned` also the sum of the weights that each of its elements has."""
    result = _core._average(a, axis, weights, keepdims)
    if not returned:
        return result
    if weights is None:
        return result, _core.full(result.shape, a.size // max(result.size, 1), result.dtype)
    scale = weights.sum(axis, keepdims=keepdims) if weights.shape == a.shape else weights.sum()
    return result, _core.broadcast_to(scale, result.shape).astype(result.dtype)


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial of least squares; with `full` or `cov` what numpy.polyfit gives then."""
    if cov not in (False, True, 'unscaled'):
        raise ValueError(f"polyfit: cov must be False, True or 'unscaled', not {cov!r}")
    *fit, covariance = _core._polyfit(x, y, deg, rcond, w, 0 if full else 2 if cov == 'unscaled' else int(cov))
    return tuple(fit) if full else (fit[0], covariance) if cov else fit[0]


def histogram2d(x, y, bins=10, range=None, density=False, weights=None):
    """Counts of points in rectangles, and the edges along both axes."""
    x_bins, y_bins = bins if isinstance(bins, (tuple, list)) else (bins, bins)
    x_range, y_range = (None, None) if range is None else (None if r is None else tuple(r) for r in range)
    return _core._histogram2d(x, y, x_bins, y_bins, x_range, y_range, weights, bool(density))


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Are all elements close?, as a 0-d array."""
    return _core.all(_core.isclose(a, b, rtol, atol, equal_nan))


def result_type(*arrays_and_dtypes):
    """The dtype that NumPy's rules give for arrays, numbers and dtypes together."""
    return numpy.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in arrays_and_dtypes))


def can_cast(from_, to, casting='safe'):
    """numpy.can_cast, where an array stands for its dtype."""
    return numpy.can_cast(from_.dtype if isinstance(from_, ndarray) else from_, to, casting)


def min_scalar_type(a):
    """numpy.min_scalar_type, where an array stands for its dtype."""
    return a.dtype if isinstance(a, ndarray) else numpy.min_scalar_type(a)


def may_share_memory(a, b, max_work=None):
    """Do both have elements in the same block of memory?"""
    return (a if a.base is None else a.base) is (b if b.base is None else b.base)


def isscalar(element):
    """Is it a number?"""
    return isinstance(element, numpy.generic) or numpy.isscalar(element)


def size(a, axis=None):
    """The number of elements, along an axis or all."""
    return a.size if axis is None else a.shape[axis]


def ndim(a):
    """The number of axes."""
    return a.ndim if isinstance(a, ndarray) else numpy.ndim(a)


def shape(a):
    """The extents."""
    return a.shape if isinstance(a, ndarray) else numpy.shape(a)


def iscomplexobj(x):
    """False: there are no complex dtypes."""
    return False


def isrealobj(x):
    """True: there are no complex dtypes."""
    return True


def real(val):
    """The array itself."""
    return _given(val)


def imag(val):
    """Zeros."""
    return _core.zeros_like(_given(val))


def conj(x, out=None):
    """The values: there are no complex dtypes."""
    return _delivered(_core._copy(_given(x), 'K'), out, 'conj')


conjugate = conj


def angle(z, deg=False):
    """The angle of numbers on the real axis: 0, or pi for negative ones."""
    z = _given(z)
    radians = _core.ufuncs['arctan2'](_core.zeros_like(z), z)
    return _core.ufuncs['degrees'](radians) if deg else radians


def ravel(a, order='C'):
    """The elements in one axis without gaps."""
    return _given(a).ravel(order)


def reshape(a, /, shape, order='C', *, copy=None):
    """The same elements with other extents."""
    return _given(a).reshape(shape, order=order, copy=copy)


def row_stack(tup, *, dtype=None, casting='same_kind'):
    """vstack, by its old name."""
    warnings.warn('`row_stack` alias is deprecated. Use `vstack` directly.', DeprecationWarning, stacklevel=2)
    return vstack(tup, dtype=dtype, casting=casting)


def common_type(*arrays):
    """The type of floating numbers that holds the values of all arrays."""
    return numpy.common_type(*(numpy.empty(0, a.dtype) for a in arrays))


def _on_host(name):
    """NumPy's function of this name, whose results come to the device."""
    host = getattr(numpy, name)

    @functools.wraps(host)
    def function(*args, **kwargs):
        return asarray(host(*args, **kwargs))
    function.__module__ = __name__
    return function


globals().update({_name: _on_host(_name) for _name in (
    'bartlett', 'blackman', 'frombuffer', 'fromfile', 'fromfunction', 'fromiter', 'fromstring', 'genfromtxt', 'hamming',
    'hanning', 'kaiser', 'loadtxt')})


def get_array_module(*args):
    """This module where one of the arguments is an ndarray, else numpy."""
    from catenary import cupy
    for arg in args:
        if isinstance(arg, ndarray):
            return cupy
    return numpy
