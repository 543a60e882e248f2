"""Reshaping, rolling, padding and broadcasting."""

import numpy

from catenary import _core
from catenary.cupy._arguments import check_stored, given, of_anything
from catenary.cupy._array import is_complex, ndarray

globals().update(of_anything(__name__, {'resize': 1, 'trim_zeros': 1}))


def ravel(a, order='C'):
    """Returns the elements as a contiguous 1-d array."""
    return given(a).ravel(order)


def reshape(a, /, shape, order='C', *, copy=None):
    """Returns the elements in another shape."""
    return given(a).reshape(shape, order=order, copy=copy)


def roll(a, shift, axis=None):
    """Shifts elements along axes, cyclically."""
    shift, axis = (tuple(numpy.atleast_1d(x.get()).tolist()) if isinstance(x, ndarray) else x for x in (shift, axis))
    return _core.roll(a, _within(shift, max(getattr(a, 'size', 1), 1)), axis)


def _within(shift, size):
    """Returns shifts below the size, a multiple of each axis, so that int64 holds their sum."""
    if isinstance(shift, (tuple, list, numpy.ndarray)):
        return [_within(x, size) for x in shift]
    return int(shift) % size if isinstance(shift, (int, numpy.integer)) else shift


def pad(array, pad_width, mode='constant', **kwargs):
    """Pads an array as numpy.pad, by a width, a pair, a pair per axis, or a dict by axis."""
    array = given(array)
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
        values = numpy.ravel(numpy.asarray(kwargs.get('constant_values', ()), object)).tolist()  # integers beyond int64 beside others would become floats
        for value in values:
            check_stored(value, array.dtype)
        if array.dtype == 'u8' and any(isinstance(value, int) and 2 ** 63 <= value < 2 ** 64 for value in values):
            signed = numpy.asarray(kwargs.pop('constant_values'), 'u8').view('i8')  # int64 has the same bits
            return _core.pad(array.view('i8'), width, mode, constant_values=signed.tolist(), **kwargs).view('u8')
        return _core.pad(array, width, mode, **kwargs)
    width = numpy.broadcast_to(width, (array.ndim, 2)).tolist()
    padded = _core.pad(array, width, 'constant')
    for axis in range(array.ndim):
        rows = _core.moveaxis(padded, (axis,), (array.ndim - 1,))
        for row in numpy.ndindex(rows.shape[:-1]):
            mode(rows[row], tuple(width[axis]), axis, kwargs)
    return padded


def meshgrid(*xi, indexing='xy', sparse=False, copy=True):
    """Returns the coordinate arrays of the grid spanned by 1-d arrays."""
    return tuple(_core._meshgrid([given(x) for x in xi], indexing, sparse))


def broadcast_arrays(*args):
    """Returns views that are broadcast to a common shape."""
    arrays = [given(a) for a in args]
    shape = _core._broadcast_shapes([a.shape for a in arrays])
    return tuple(a if a.shape == shape else _core.broadcast_to(a, shape) for a in arrays)


def broadcast_shapes(*shapes):
    """Returns the common shape by broadcasting."""
    return _core._broadcast_shapes([(s,) if isinstance(s, int) else tuple(s) for s in shapes])


class broadcast:
    """The result of broadcasting arrays and numbers: `values`, `shape`, `nd` and `size`."""

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
        views = [view(given(a)) for a in arys]
        return views[0] if len(views) == 1 else views
    function.__name__ = function.__qualname__ = f'atleast_{ndim}d'
    function.__doc__ = f'Returns views with at least {ndim} axes.'
    return function


atleast_1d, atleast_2d, atleast_3d = map(_at_least, (1, 2, 3))


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Returns views of all windows of this shape, along new last axes."""
    if writeable:
        raise NotImplementedError('sliding_window_view: writeable=True is not supported, as in CuPy, because windows share their elements; copy the result first')
    x = given(x)
    if axis is None and (count := len(window_shape) if numpy.iterable(window_shape) else 1) != x.ndim:
        raise ValueError(f'Since axis is `None`, must provide window_shape for all dimensions of `x`; got {count} window_shape elements and `x.ndim` is {x.ndim}.')
    return _core.sliding_window_view(x, window_shape, axis)
