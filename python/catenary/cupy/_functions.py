"""Functions whose arguments NumPy takes in more forms than C++ does. The others are `catenary._core`'s own."""

import functools
import warnings
from collections import namedtuple

import numpy

from catenary import _core
from catenary.cupy._array import asarray, check_kind, is_complex, ndarray, of_real_numbers, refuse_complex


def _delivered(result, out, function, casting='same_kind'):
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError(f'{function}: out must be a cupy.ndarray, not {type(out)}')
    if out.shape != result.shape:
        raise ValueError(f'{function}: out has shape {out.shape}, the result has {result.shape}')
    _core.copyto(out, result, casting)
    return out


def _joined(name, tup, axis, out, dtype, casting):
    numpy.can_cast('b', 'b', casting)  # raises ValueError for what is no rule
    arrays = list(tup)
    for value in arrays:
        if not isinstance(value, ndarray):
            raise TypeError(f'{name}: only cupy.ndarray can be joined, not {type(value)}')
    if dtype is not None:
        if out is not None:
            raise TypeError(f'{name}() only takes `out` or `dtype` as an argument, but both were provided.')
        arrays = [a.astype(dtype, casting=casting) for a in arrays]
    return _delivered(getattr(_core, '_' + name)(arrays, *axis), out, name, casting)


def concatenate(tup, axis=0, out=None, *, dtype=None, casting='same_kind'):
    """Arrays one after the other along an axis, or all flattened with axis None."""
    return _joined('concatenate', tup, (axis,), out, dtype, casting)


def stack(tup, axis=0, out=None, *, dtype=None, casting='same_kind'):
    """Arrays of one shape along a new axis."""
    return _joined('stack', tup, (axis,), out, dtype, casting)


def _each_an_array(tup):
    """Arrays, with lists and numbers among them made into such, as CuPy does where axes may be missing."""
    return atleast_1d(tup) if isinstance(tup, ndarray) else [atleast_1d(a) if isinstance(a, (list, tuple, int, float, complex)) else a for a in tup]


def hstack(tup, *, dtype=None, casting='same_kind'):
    """Arrays along the second axis, 1-d ones along the first."""
    return _joined('hstack', _each_an_array(tup), (), None, dtype, casting)


def vstack(tup, *, dtype=None, casting='same_kind'):
    """Arrays along the first axis, 1-d ones as rows."""
    return _joined('vstack', _each_an_array(tup), (), None, dtype, casting)


def row_stack(tup, *, dtype=None, casting='same_kind'):
    """vstack, by its old name."""
    warnings.warn('`row_stack` alias is deprecated. Use `vstack` directly.', DeprecationWarning, stacklevel=2)
    return vstack(tup, dtype=dtype, casting=casting)


def _given(x):
    """An argument as an array; an array stays on its device."""
    return x if isinstance(x, ndarray) else asarray(x)


def _listed(x):
    """A list as an array; all else as it is."""
    return asarray(x) if isinstance(x, (list, tuple)) else x


def _of_anything(name, count=1, given=_given):
    """The function of this name, for whose first arguments lists and numbers count as arrays; or what else `given` makes of them."""
    function = getattr(_core, name)

    @functools.wraps(function)
    def of_anything(*args, **kwargs):
        return function(*(given(x) for x in args[:count]), *args[count:], **kwargs)
    del of_anything.__wrapped__  # of which `inspect` says that it has no signature
    of_anything.__module__ = __name__
    of_anything.__name__ = of_anything.__qualname__ = name
    return of_anything


globals().update({_name: _of_anything(_name, _n) for _name, _n in {
    'vander': 1, 'diag': 1, 'diagflat': 1, 'resize': 1, 'append': 2, 'unwrap': 1, 'trim_zeros': 1,
    'around': 1, 'nan_to_num': 1, 'isclose': 2, 'array_equal': 2, 'array_equiv': 2, 'dot': 1, 'inner': 2, 'outer': 2,
    'kron': 2, 'compress': 2, 'isin': 2, 'in1d': 2}.items()})
globals().update({_name: _of_anything(_name, _n, _listed) for _name, _n in {
    'searchsorted': 2, 'digitize': 2, 'convolve': 2, 'cross': 2, 'ediff1d': 1}.items()})
globals().update({_name: of_real_numbers(getattr(_core, _name), _name, __name__) for _name in (
    'isneginf', 'isposinf', 'nanpercentile', 'nanquantile', 'packbits', 'percentile', 'quantile', 'unpackbits')})


def tril(m, k=0):
    """What lies on and below the k-th diagonal of matrices, and 0 above."""
    return _core.tril(_given(m), k)


def triu(m, k=0):
    """What lies on and above the k-th diagonal of matrices, and 0 below."""
    return _core.triu(_given(m), k)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The differences of neighbours along an axis, n times, with what is put before and after."""
    return _core.diff(a, n, axis, _listed(prepend), _listed(append))


def correlate(a, v, mode='valid'):
    """The sums of a's elements times the conjugates of v's, which is moved along it."""
    a, v = _listed(a), _listed(v)
    return _core.correlate(a, _core.ufuncs['conjugate'](v) if isinstance(v, ndarray) and v.dtype.kind == 'c' else v, mode)


def matmul(x1, x2, out=None, *, casting='same_kind', dtype=None, axes=None):
    """The product of matrices, or of stacks of them. `axes` names the matrices' axes of both and of the result."""
    if dtype is not None:
        x1, x2 = x1.astype(dtype, casting=casting), x2.astype(dtype, casting=casting)
    if axes is not None:
        x1, x2 = (_core.moveaxis(x, tuple(at), (-2, -1)) for x, at in zip((x1, x2), axes))
        result = _core.moveaxis(_core.matmul(x1, x2), (-2, -1), tuple(axes[2]))
        return _delivered(result, out, 'matmul', casting)
    return _core.matmul(x1, x2) if out is None else _delivered(_core.matmul(x1, x2), out, 'matmul', casting)


def check_stored(value, dtype):
    """Raises what NumPy does where a float or a complex number of Python's is stored as what cannot hold it: NaN as an integer, say."""
    if type(value) in (float, complex):
        numpy.empty((), dtype)[()] = value


def copyto(dst, src, casting='same_kind', where=True):
    """Writes the values of `src`, which broadcasts to `dst`, where `where` is true."""
    numpy.can_cast('b', 'b', casting)  # raises ValueError for what is no rule
    if isinstance(src, numpy.ndarray):
        src = _given(src)
    elif type(src) is int and dst.dtype.kind in 'iu':
        dst.dtype.type(src)  # raises OverflowError
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
    """A copy without the elements, or the slices along an axis, at these indices."""
    arr = _given(arr)
    indices = list(indices) if isinstance(indices, tuple) else indices
    kind = getattr(getattr(indices, 'dtype', None), 'kind', None)
    extent = arr.size if axis is None else arr.shape[axis]
    if kind == 'b' and indices.shape != (extent,):
        raise ValueError(f'delete: a mask of shape {indices.shape} does not fit the {extent} places to delete from')
    return _core.delete(arr, indices, axis)


def _is_array(x):
    return isinstance(x, (ndarray, list))


def _dtype_of_ends(*ends):
    """The dtype of values between numbers, which are inexact. Python's numbers have none of their own."""
    return numpy.result_type(*ends, 1.0)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """Values evenly spaced from start to stop; of arrays such values along an axis for each element."""
    start, stop = _listed(start), _listed(stop)
    if not isinstance(start, ndarray) and not isinstance(stop, ndarray):
        found = _dtype_of_ends(start, stop)
        if found.kind != 'c':
            return _core.linspace(start, stop, num, endpoint, retstep, found if dtype is None else dtype, axis)
        values = linspace(asarray(start, found), asarray(stop, found), num, endpoint, False, dtype, axis)
        steps = num - bool(endpoint)
        return (values, (stop - start) / (steps if steps > 0 else numpy.nan)) if retstep else values
    found = _dtype_of_ends(*(x.dtype if isinstance(x, ndarray) else x for x in (start, stop)))
    start, stop = (asarray(x, found) if isinstance(x, (int, float, complex, numpy.generic)) else x for x in (start, stop))
    if dtype is not None and numpy.dtype(dtype).kind == 'f' and (is_complex(start) or is_complex(stop)):
        made = _core.linspace(start, stop, num, endpoint, retstep, None, axis)  # whose cast warns
        return (made[0].astype(dtype), made[1]) if retstep else made.astype(dtype)
    return _core.linspace(start, stop, num, endpoint, retstep, dtype, axis)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Derivatives along axes, by distances of neighbours or 1-d arrays of positions: one array, or a tuple of them."""
    # a number is not sent to the device for this, and read back
    spacing = [_given(x) if isinstance(x, (list, tuple, ndarray)) else _host_number(x) for x in varargs]
    along = _core._gradient(_given(f), spacing, axis, edge_order)
    return along[0] if len(along) == 1 else tuple(along)


def _host_number(x):
    with _core.Device('cpu'):
        return asarray(_operand(x, 'gradient'))


def take_along_axis(arr, indices, axis=-1):
    """Picks along an axis, everywhere another element; of the flattened array with axis None."""
    return _core.take_along_axis(arr, indices, axis) if axis is not None else _core.take_along_axis(arr.ravel(), indices, 0)


def putmask(a, mask, values):
    """a.flat[i] = values.flat[i % values.size] where mask.flat[i] is true."""
    if isinstance(values, ndarray) and not numpy.can_cast(values.dtype, a.dtype):
        raise TypeError(f"putmask: cannot cast from {values.dtype} to {a.dtype} with casting rule 'safe'")
    _core.putmask(a, mask, values)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Values at x of the broken line through the points (xp, fp), which goes on as it began where there is a period."""
    x, xp, fp = map(_listed, (x, xp, fp))
    if any(isinstance(end, complex) for end in (left, right)):
        parts = [interp(x, xp, part(fp), *(None if end is None else part(end) for end in (left, right)), period)
                 for part in (lambda v: v.real, lambda v: v.imag)]
        result = _core.zeros_like(parts[0], numpy.result_type(parts[0].dtype, numpy.complex64))
        result.real, result.imag = parts
        return result
    if period is None:
        return _core.interp(x, xp, fp, left, right)
    if period == 0:
        raise ValueError('interp: period must not be 0')
    x, xp, period = x.astype(float) % abs(period), xp.astype(float) % abs(period), abs(period)
    order = xp.argsort()
    xp, fp = xp[order], fp[order]
    return _core.interp(x, _core._concatenate([xp[-1:] - period, xp, xp[:1] + period], 0),
                        _core._concatenate([fp[-1:], fp, fp[:1]], 0), None, None)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of the base, evenly spaced on a logarithmic scale; of arrays such values along an axis for each element."""
    if not any(map(_is_array, (start, stop, base))):
        found = numpy.result_type(_dtype_of_ends(start, stop), base)
        if found.kind != 'c':
            return _core.logspace(start, stop, num, endpoint, base, found if dtype is None else dtype)
    powers = _core.ufuncs['power'](_listed(base), linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else powers.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Values from start to stop, each the same multiple of the one before; of arrays such values along an axis for each element."""
    if not _is_array(start) and not _is_array(stop) and _dtype_of_ends(start, stop).kind != 'c':
        return _core.geomspace(start, stop, num, endpoint, dtype)
    start, stop = _operand(start, 'geomspace'), _operand(stop, 'geomspace')
    if not bool(_core.all(start)) or not bool(_core.all(stop)):
        raise ValueError('geomspace: a geometric sequence cannot include zero')
    found = numpy.result_type(start.dtype, stop.dtype, 1.0, *(() if dtype is None else (numpy.zeros((), dtype),)))
    start, stop = broadcast_arrays(start.astype(found), stop.astype(found))
    size, log = _core.ufuncs['absolute'](start), _core.ufuncs['log']
    sign = start / size
    values = _core.ufuncs['exp'](_core.linspace(log(size), log(stop / sign), num, endpoint)) * sign
    if num > 0:  # the ends are exact
        values[0] = start
    if num > 1 and endpoint:
        values[-1] = stop
    values = values if dtype is None else values.astype(dtype)
    return _core.moveaxis(values, (0,), (axis,)) if axis else values


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along an axis by lines between the points, which are at x, or dx apart."""
    y, x = _listed(y), _listed(x)
    if x is not None:
        made = _core.trapezoid(y, x, axis=axis)
        return made.astype(numpy.result_type(made.dtype, x.dtype)) if is_complex(x) else made  # of no points there is no product that would have it
    if is_complex(dx):
        return _core.trapezoid(y, axis=axis) * dx
    return _core.trapezoid(y, None, dx, axis)


def ravel_multi_index(multi_index, dims, mode='raise', order='C'):
    """Positions in the flattened array of extents `dims`."""
    if order not in ('C', 'F', 'c', 'f', None):
        raise ValueError(f"ravel_multi_index: order must be 'C' or 'F', not {order!r}")
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
    return tuple(_core._unravel_index(_given(indices), dims[::step])[::step])


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


def _at_least(ndim):
    view = getattr(_core, f'_atleast_{ndim}d')

    def function(*arys):
        views = [view(_given(a)) for a in arys]
        return views[0] if len(views) == 1 else views
    function.__name__ = function.__qualname__ = f'atleast_{ndim}d'
    function.__doc__ = f'Views with at least {ndim} axes.'
    return function


atleast_1d, atleast_2d, atleast_3d = map(_at_least, (1, 2, 3))


def ix_(*args):
    """Index arrays that pick the outer product of 1-d ones."""
    return tuple(_core._ix([_given(a) for a in args]))


def argsort(a, axis=-1, kind=None):
    """Indices that would sort along an axis, or the flattened array."""
    return _given(a).argsort(axis, kind)


def lexsort(keys, axis=-1):
    """Indices that sort along an axis by the last key, ties by the one before it, and so on. Of an array its rows are the keys."""
    if isinstance(keys, ndarray) and keys.ndim == 0 or len(keys) == 0:
        raise TypeError('lexsort: expected a sequence of at least one key')
    keys = [_given(key) for key in keys]
    if len({key.shape for key in keys}) > 1:
        raise ValueError(f'lexsort: the keys must be of one shape, not {", ".join(str(key.shape) for key in keys)}')
    if keys[0].ndim == 0:
        return _core.zeros((), int)  # of one place each
    if keys[0].ndim == 1 and axis in (0, -1):
        return _core._lexsort(keys)
    order = keys[0].argsort(axis)
    for key in keys[1:]:
        order = _core.take_along_axis(order, _core.take_along_axis(key, order, axis).argsort(axis), axis)
    return order


def select(condlist, choicelist, default=0):
    """Elements of the first choice whose condition is true, else the default. Python's numbers have no dtype of their own, and wrap."""
    if len(condlist) != len(choicelist):
        raise ValueError('select: expected as many conditions as choices, not '
                         f'{len(condlist)} and {len(choicelist)}')
    weak = (int, float, complex)
    choices = [x if type(x) in weak else _given(x) for x in (*choicelist, default)]
    dtype = numpy.result_type(*(x if type(x) in weak else x.dtype for x in choices))
    *choices, default = (_given(x).astype(dtype) for x in choices)
    return _core.select(condlist, choices, default)


def place(arr, mask, vals):
    """Puts values, again and again, where the mask is true."""
    if isinstance(vals, ndarray) and not numpy.can_cast(vals.dtype, arr.dtype):
        raise TypeError(f"place: cannot cast from {vals.dtype} to {arr.dtype} with casting rule 'safe'")
    _core.place(arr, mask, vals)


def sort(a, axis=-1, kind=None):
    """A sorted copy along an axis, or of the flattened array."""
    check_kind(kind, 'sort')
    if a.ndim == 0 and axis is not None:
        raise numpy.exceptions.AxisError('Sorting arrays with the rank of zero is not supported')
    return _core._sort(a, axis)


def sort_complex(a):
    """A copy sorted along the last axis, by real parts and then by imaginary ones, as complex numbers: complex64 of integers below 32 bits."""
    a = _given(a)
    return sort(a if a.dtype.kind == 'c' else a.astype('F' if a.dtype.char in 'bhBH' else 'D'))


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


def einsum(*operands, dtype=None, casting='safe', optimize=False):
    """Einstein's sums: einsum('ij,jk', a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if len(operands) < 2:
        raise ValueError('einsum: expected subscripts and at least one operand')
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], operands[1:]
    else:
        def letters(axes):
            names = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
            return ''.join('...' if x is Ellipsis else names[x] for x in axes)
        arrays = operands[:len(operands) // 2 * 2:2]
        subscripts = ','.join(letters(x) for x in operands[1::2])
        if len(operands) % 2:
            subscripts += '->' + letters(operands[-1])
    return _core._einsum(subscripts, [_given(a) for a in arrays], dtype, casting)


def pad(array, pad_width, mode='constant', **kwargs):
    """A copy with borders, as numpy.pad: a width, a pair, a pair for each axis, or a dict of axes."""
    array = _given(array)
    if isinstance(pad_width, dict):
        widths = {axis % array.ndim: width for axis, width in pad_width.items()}
        pad_width = [numpy.broadcast_to(widths.get(axis, 0), 2) for axis in range(array.ndim)]
    width = numpy.asarray(pad_width)
    if width.dtype.kind != 'i':
        raise TypeError('`pad_width` must be of integral type.')
    if mode == 'linear_ramp' and is_complex(array):  # lines are computed in real numbers
        ends = numpy.asarray(kwargs.pop('end_values', 0))
        padded = [_core.pad(part(array), width, mode, end_values=part(ends), **kwargs) for part in (lambda v: v.real, lambda v: v.imag)]
        result = _core.empty(padded[0].shape, array.dtype)
        result.real, result.imag = padded
        return result
    if not callable(mode):
        for value in numpy.ravel(kwargs.get('constant_values', ())).tolist():
            check_stored(value, array.dtype)
        return _core.pad(array, width, mode, **kwargs)
    width = numpy.broadcast_to(width, (array.ndim, 2)).tolist()
    padded = _core.pad(array, width, 'constant')
    for axis in range(array.ndim):
        rows = _core.moveaxis(padded, (axis,), (array.ndim - 1,))
        for row in numpy.ndindex(rows.shape[:-1]):
            mode(rows[row], tuple(width[axis]), axis, kwargs)
    return padded


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The weighted mean; with `returned` also the sum of the weights that each of its elements has."""
    a, weights = _given(a), weights if weights is None else _given(weights)
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
    for name, a, axes in (('x', x, (1,)), ('y', y, (1, 2)), ('w', w, (1,))):
        if a is not None and (a.ndim not in axes or a.size == 0 or len(a) != x.size):
            raise TypeError(f'polyfit: {name} has shape {a.shape} where x has {x.shape}; expected a value for each of its points')
    if w is not None and w.dtype.kind == 'c' and not x.dtype.kind == y.dtype.kind == 'c':
        raise TypeError(f'polyfit: complex weights go with complex points, and not with {x.dtype} and {y.dtype}, in NumPy neither')
    *fit, covariance = _core._polyfit(x, y, int(deg), rcond, w, 0 if full else 2 if cov == 'unscaled' else int(cov))
    if fit[2] != int(deg) + 1 and not full:
        warnings.warn('Polyfit may be poorly conditioned', numpy.exceptions.RankWarning, stacklevel=2)
    return tuple(fit) if full else (fit[0], covariance) if cov else fit[0]


def put_along_axis(arr, indices, values, axis):
    """Stores values at the places along an axis that argsort and its like give; with None at those of all elements in C order."""
    if axis is None:
        _core.put(arr, indices, values, 'raise')
    else:
        _core.put_along_axis(arr, indices, values, axis)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Views of windows of this shape that begin at each place, along new last axes."""
    if writeable:
        raise NotImplementedError('sliding_window_view: windows share their elements; writeable=True is not supported, in CuPy neither')
    x = _given(x)
    if axis is None and (count := len(window_shape) if numpy.iterable(window_shape) else 1) != x.ndim:
        raise ValueError(f'Since axis is `None`, must provide window_shape for all dimensions of `x`; got {count} window_shape elements and `x.ndim` is {x.ndim}.')
    return _core.sliding_window_view(x, window_shape, axis)


def eye(N, M=None, k=0, dtype=float, order='C'):
    """Ones on diagonal k, zeros elsewhere."""
    columns = N if M is None else M
    return _core.eye(N, M, max(-N, min(k, columns)), dtype, order)  # beyond the corners all diagonals are one


def histogram(x, bins=10, range=None, weights=None, density=False):
    """Counts of elements in intervals, or the sums of their weights, and the edges."""
    refuse_complex('histogram', x, range)
    if not is_complex(weights):
        return _core.histogram(x, bins, range, weights, density)
    (real, edges), (imag, _) = (_core.histogram(x, bins, range, part) for part in (weights.real, weights.imag))
    sums = _core.zeros(real.shape, weights.dtype)
    sums.real, sums.imag = real, imag
    return sums / _core.diff(edges).astype(float) / sums.sum() if density else sums, edges


def histogram2d(x, y, bins=10, range=None, density=False, weights=None):
    """Counts of points in rectangles, and the edges along both axes."""
    x_bins, y_bins = bins if isinstance(bins, (tuple, list)) else (bins, bins)
    x_range, y_range = (None, None) if range is None else (None if r is None else tuple(r) for r in range)
    return _core._histogram2d(x, y, x_bins, y_bins, x_range, y_range, weights, bool(density))


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Are all elements close?, as a 0-d array."""
    return _core.all(_core.isclose(a, b, rtol, atol, equal_nan))


def _described(name, described):
    """NumPy's function of this name, for which a description of an array is enough."""
    host = getattr(numpy, name)

    @functools.wraps(host)
    def function(*args, **kwargs):
        return host(*(described(x) if isinstance(x, ndarray) else x for x in args), **kwargs)
    function.__module__ = __name__
    return function


globals().update({_name: _described(_name, lambda a: a.dtype) for _name in ('can_cast', 'result_type')})
globals().update({_name: _described(_name, lambda a: numpy.broadcast_to(numpy.empty((), a.dtype), a.shape))
                  for _name in ('common_type', 'iscomplexobj', 'isrealobj', 'ndim', 'shape', 'size')})


def min_scalar_type(a):
    """numpy.min_scalar_type, where an array stands for its dtype."""
    return a.dtype if isinstance(a, ndarray) else numpy.min_scalar_type(a)


def may_share_memory(a, b, max_work=None):
    """Do the bytes from the first to the last element of each overlap?"""
    return _core._may_share_memory(a, b)


def shares_memory(a, b, max_work=None):
    """Has one of the two an element of which the other one has a byte?"""
    apart = _core._bytes_between(a, b)
    if apart is None:
        return False

    def stand_in(x, at):  # of its place and strides, which NumPy compares; nobody reads it
        about = {'shape': x.shape, 'strides': x.strides, 'typestr': x.dtype.str if x.dtype.kind in 'biufc' else f'|V{x.dtype.itemsize}', 'data': (at, False), 'version': 3}
        return numpy.asarray(type('Memory', (), {'__array_interface__': about})())
    base = 1 << 40
    return numpy.shares_memory(stand_in(a, base), stand_in(b, base + apart), max_work)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of another library's, on the device where it lies; with `device` (a Device or an ordinal) it
    is copied to there from elsewhere, which copy=False refuses with a ValueError."""
    result = _core.from_dlpack(x, copy=copy)
    if device is None:
        return result
    with _core.Device(device):
        moved = _core._to_current_device(result)
    if copy is False and moved is not result:
        raise ValueError(f'from_dlpack: copy=False, and the array is on {_core.device_of(result).name}, not on {device}')
    return moved


def isfortran(a):
    """Do the elements lie in Fortran order, and not in C order?"""
    return a.flags.fnc


def iscomplex(x):
    """Which elements have an imaginary part that is not 0."""
    return _given(x).imag != 0


def isreal(x):
    """Which elements have none, or one that is 0."""
    return _given(x).imag == 0


def real(val):
    """The real parts, a view; the array itself where it is not complex."""
    return _given(val).real


def imag(val):
    """The imaginary parts, a view; zeros where the array is not complex."""
    return _given(val).imag


def _operand(x, function):
    """An operand of an elementwise function as an array; numpy.ndarray is refused, as everywhere."""
    if isinstance(x, numpy.ndarray):
        raise TypeError(f'{function}: Unsupported type {type(x)}; numpy.ndarray is not converted implicitly, use cupy.asarray')
    return _given(x)


def angle(z, deg=False):
    """The angles of numbers in the plane: on the real axis 0, or pi for negative ones."""
    z = _operand(z, 'angle')
    z = z.astype(int) if z.dtype == bool else z
    radians = _core.ufuncs['arctan2'](z.imag, z.real)
    return _core.ufuncs['degrees'](radians) if deg else radians


def ravel(a, order='C'):
    """The elements in one axis without gaps."""
    return _given(a).ravel(order)


def require(a, dtype=None, requirements=None):
    """An array of this dtype that meets the requirements: C_CONTIGUOUS, F_CONTIGUOUS and OWNDATA, or their letters."""
    wanted = {{'C_CONTIGUOUS': 'C', 'CONTIGUOUS': 'C', 'F_CONTIGUOUS': 'F', 'FORTRAN': 'F', 'OWNDATA': 'O'}.get(r.upper(), r.upper())
              for r in requirements or ()}
    if wanted - set('CFO'):
        raise ValueError(f'require: C, F and O are known, not {sorted(wanted - set("CFO"))}')
    if {'C', 'F'} <= wanted:
        raise ValueError('require: cannot specify both C and F order')
    try:
        result = asarray(a, dtype, 'F' if 'F' in wanted else 'C' if 'C' in wanted else 'A')
    except TypeError as error:
        raise ValueError(f'require: {error}') from None
    return _core._copy(result, 'K') if 'O' in wanted and not result.flags.owndata else result


def mask_indices(n, mask_func, k=0):
    """Where a function like tril and triu leaves an (n, n) array of ones as it is."""
    return _core.nonzero(mask_func(_core.ones((n, n), int), k))


def real_if_close(a, tol=100):
    """The real parts where no imaginary one is above `tol` (times the dtype's eps where it is above 1); else the array."""
    a = _given(a)
    if a.dtype.kind != 'c':
        return a
    if tol > 1:
        tol *= numpy.finfo(a.dtype).eps
    return a.real if _core.all(_core.ufuncs['absolute'](a.imag) < tol) else a


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    """The distinct elements, sorted; with them, as asked for, where each is first, which of them each element is, how often each is there."""
    return _core.unique(_given(ar), return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)


class _Unique:
    AllResult = namedtuple('UniqueAllResult', 'values indices inverse_indices counts')
    CountsResult = namedtuple('UniqueCountsResult', 'values counts')
    InverseResult = namedtuple('UniqueInverseResult', 'values inverse_indices')


def unique_all(x, /):
    """The distinct elements, where each is first, which of them each element is, and how often each is there."""
    return _Unique.AllResult(*_core.unique(_given(x), True, True, True, equal_nan=False))


def unique_counts(x, /):
    """The distinct elements, and how often each is there."""
    return _Unique.CountsResult(*_core.unique(_given(x), return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    """The distinct elements, and which of them each element is."""
    return _Unique.InverseResult(*_core.unique(_given(x), return_inverse=True, equal_nan=False))


def unique_values(x, /):
    """The distinct elements."""
    return _core.unique(_given(x), equal_nan=False)


def reshape(a, /, shape, order='C', *, copy=None):
    """The same elements with other extents."""
    return _given(a).reshape(shape, order=order, copy=copy)


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
    """This module where one of the arguments is an ndarray or a sparse matrix or array of cupyx, else numpy."""
    from catenary import cupy
    for arg in args:
        if isinstance(arg, ndarray) or getattr(arg, '_is_of_device', False) is True:
            return cupy
    return numpy
