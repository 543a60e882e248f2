"""Functions whose arguments NumPy takes in more forms than C++ does. The others are `catenary._core`'s own."""

import functools
import string

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray


def _arrays(values, function):
    values = list(values)
    for value in values:
        if not isinstance(value, ndarray):
            raise TypeError(f'{function}: only cupy.ndarray can be joined, not {type(value).__name__}')
    return values


def _delivered(result, out, function, casting='same_kind'):
    if out is None:
        return result
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


def _stacked(name):
    def function(tup, *, dtype=None, casting='same_kind'):
        arrays = _arrays([tup] if isinstance(tup, ndarray) and tup.ndim == 0 else tup, name)
        if dtype is not None:
            arrays = [a.astype(dtype, casting=casting) for a in arrays]
        return getattr(_core, name)(arrays)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'numpy.{name}.'
    return function


hstack, vstack = _stacked('hstack'), _stacked('vstack')


def _of_anything(name, count=1):
    """The function of this name, for whose first arguments lists and numbers count as arrays."""
    function = getattr(_core, name)

    @functools.wraps(function)
    def of_anything(*args, **kwargs):
        return function(*(asarray(x) for x in args[:count]), *args[count:], **kwargs)
    of_anything.__module__ = __name__
    of_anything.__name__ = of_anything.__qualname__ = name
    return of_anything


globals().update({_name: _of_anything(_name, _n) for _name, _n in {
    'vander': 1, 'diag': 1, 'diagflat': 1, 'resize': 1, 'append': 2, 'nan_to_num': 1, 'delete': 1, 'trim_zeros': 1}.items()})


def float_power(x1, x2, out=None, *, dtype=None, **kwargs):
    """x1 to the x2 in float64."""
    return _core.ufuncs['power'](x1, x2, out=out, dtype=numpy.float64 if dtype is None else dtype, **kwargs)


def roll(a, shift, axis=None):
    """Elements moved along axes, what leaves at an end coming in at the other."""
    numbers = [tuple(numpy.atleast_1d(x.get()).tolist()) if isinstance(x, ndarray) else x for x in (shift, axis)]
    return _core.roll(a, *numbers)


def meshgrid(*xi, indexing='xy', sparse=False, copy=True):
    """Coordinate arrays of the grid that 1-d arrays span."""
    return tuple(_core._meshgrid([asarray(x) for x in xi], indexing, sparse))


def broadcast_arrays(*args):
    """Views with the shape that all broadcast to."""
    arrays = [asarray(a) for a in args]
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
    views = [_core._atleast(asarray(a), ndim) for a in arrays]
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
    return tuple(_core._ix([asarray(a) for a in args]))


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
    return val


def imag(val):
    """Zeros."""
    return _core.zeros_like(val)


def get_array_module(*args):
    """This module where one of the arguments is an ndarray, else numpy."""
    from catenary import cupy
    for arg in args:
        if isinstance(arg, ndarray):
            return cupy
    return numpy
