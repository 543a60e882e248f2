"""Spline interpolation and geometric transforms. Each result is a weighted sum of neighbours, which are gathered by index arrays."""

import itertools
import math
import operator
import warnings

import numpy

from catenary import _core
from catenary.cupy import fft as _fft
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupy._functions.shapes import pad
from catenary.cupyx.scipy._sliding_windows import combined, each_axis, stored, working
from catenary.cupyx.scipy.ndimage._filter_functions import axis_of

_floor = _core.ufuncs['floor']
_MODES = ('constant', 'grid-constant', 'nearest', 'mirror', 'reflect', 'grid-mirror', 'wrap', 'grid-wrap')
_BORDER = 12  # elements of a constant border that make it equivalent to an infinite one


def _checked(mode, order):
    if mode not in _MODES:
        raise ValueError(f'boundary mode ({mode}) is not supported: expected one of {", ".join(_MODES)}')
    if order not in range(6):
        raise RuntimeError(f'spline order not supported: expected 0 to 5, given {order!r}')
    return 'reflect' if mode == 'grid-mirror' else mode


def _at_integers(order):
    """Returns the B-spline of this order at 0, 1, …."""
    return [sum((-1) ** k * math.comb(order + 1, k) * max(t + (order + 1) / 2 - k, 0) ** order for k in range(order + 2)) / math.factorial(order)
            for t in range(order // 2 + 1)]


def _coefficients(x, order, axis, mode):
    """Returns spline coefficients along an axis: the spectrum of the array, continued by its mode, divided by the B-spline's spectrum."""
    n = x.shape[axis]
    if order < 2 or n < 2:
        return x
    extension = 'symmetric' if mode in ('reflect', 'nearest') else 'wrap' if mode == 'grid-wrap' else 'reflect'
    made = _core._spline_coefficients(_core._contiguous(x, False), axis, order, extension)
    if made is not None:
        return made
    x = _core.moveaxis(x, (axis,), (x.ndim - 1,))
    wide = x
    if mode in ('reflect', 'nearest'):
        wide = _core._concatenate([x, x[..., ::-1]], -1)
    elif mode != 'grid-wrap':
        wide = _core._concatenate([x, x[..., -2:0:-1]], -1)
    length = wide.shape[-1]
    values = _at_integers(order)
    turns = 2 * math.pi * numpy.arange(length if x.dtype.kind == 'c' else length // 2 + 1) / length
    spectrum = values[0] + 2 * sum(v * numpy.cos((k + 1) * turns) for k, v in enumerate(values[1:]))
    inverse = _core.from_numpy(1 / spectrum, None).astype(x.real.dtype)
    made = _fft.ifft(_fft.fft(wide) * inverse) if x.dtype.kind == 'c' else _fft.irfft(_fft.rfft(wide) * inverse, length)
    return _core._copy(_core.moveaxis(made[..., :n], (x.ndim - 1,), (axis,)), 'C')


def _cast(values, dtype):
    """Casts values to the dtype of a result. Integers are rounded half away from 0 and saturate."""
    if dtype.kind not in 'iu':
        return values.astype(dtype, copy=False)
    values = _core.where(values >= 0, _floor(values + 0.5), -_floor(0.5 - values))
    ends = numpy.iinfo(dtype)
    lowest, highest = (_core.from_numpy(numpy.array(end, dtype), None) for end in (ends.min, ends.max))
    # 2**63 - 1 is not representable as a float: clip by the largest float below it
    below, above = values <= float(ends.min), values >= float(ends.max)
    fits = _core.where(below | above | (values != values), 0, values).astype(dtype)
    return _core.where(below, lowest, _core.where(above, highest, fits))


def _output(values, x, output, function, cast=_cast):
    dtype = x.dtype if output is None else output.dtype if isinstance(output, ndarray) else numpy.dtype(output)
    if values.dtype.kind == 'c' and dtype.kind != 'c':
        raise RuntimeError(f'{function}: output must have complex dtype, not {dtype}')
    return stored(cast(values, dtype), output)


def _cut(values, dtype):
    """Casts coefficients to the dtype of a result. As in SciPy, integers are truncated and wrap."""
    if dtype == 'u8':
        return _core.where(values >= 2.0 ** 63, values.astype(dtype), values.astype('l').astype(dtype))
    return (values.astype('l') if dtype.kind in 'iu' else values).astype(dtype, copy=False)


def _working(x):
    return x.astype(working(x, x.dtype.kind == 'c'), copy=False)


def spline_filter1d(input, order=3, axis=-1, output=numpy.float64, mode='mirror'):
    """Returns the spline coefficients of this order along an axis."""
    x = operand(input, 'spline_filter1d')
    mode = _checked(mode, order)
    output = numpy.complex128 if output is numpy.float64 and x.dtype.kind == 'c' else output
    return _output(_coefficients(_working(x), order, axis_of(axis, x.ndim), mode), x, output, 'spline_filter1d', _cut)


def spline_filter(input, order=3, output=numpy.float64, mode='mirror'):
    """Returns the spline coefficients of order 2 to 5 along all axes."""
    x = operand(input, 'spline_filter')
    if order < 2:
        raise RuntimeError('spline order not supported')
    mode = _checked(mode, order)
    output = numpy.complex128 if output is numpy.float64 and x.dtype.kind == 'c' else output
    made = x
    for axis in range(x.ndim):  # as in SciPy, `output` also holds the coefficients between two axes
        made = _output(_coefficients(_working(made), order, axis, mode), x, output, 'spline_filter', _cut)
    return made if x.ndim else _output(_working(x), x, output, 'spline_filter', _cut)


def _inside(c, n, mode):
    """Maps coordinates into the array by its mode. Returns (coordinates, mask of those outside, or None). For 'nearest' and 'grid-constant' the
    neighbours are mapped instead."""
    if mode == 'constant':
        outside = (c < 0) | (c > n - 1)
        return _core.where(outside, 0.0, c), outside
    if mode == 'mirror':
        if n == 1:
            return c * 0, None
        c = _core.ufuncs['remainder'](c, 2 * n - 2)
        return _core.where(c > n - 1, 2 * n - 2 - c, c), None
    if mode == 'reflect':
        c = _core.ufuncs['remainder'](c + 0.5, 2 * n)
        return _core.where(c > n, 2 * n - c, c) - 0.5, None
    if mode == 'grid-wrap':
        return _core.ufuncs['remainder'](c, n), None
    if mode == 'wrap':
        if n == 1:
            return c * 0, None
        return _core.where((c >= 0) & (c <= n - 1), c, _core.ufuncs['remainder'](c, n - 1)), None
    return c, None


def _element(i, n, mode):
    """Maps indices into the array. Returns (indices, mask of those outside, or None)."""
    if mode == 'grid-constant':
        return _core.clip(i, 0, n - 1), (i < 0) | (i >= n)
    if mode == 'nearest':
        return _core.clip(i, 0, n - 1), None
    if mode == 'grid-wrap':
        return _core.ufuncs['remainder'](i, n), None
    if mode == 'reflect':
        i = _core.ufuncs['remainder'](i, 2 * n)
        return _core.where(i >= n, 2 * n - 1 - i, i), None
    if n == 1:
        return i * 0, None
    i = _core.ufuncs['remainder'](i, 2 * n - 2)
    return _core.where(i >= n, 2 * n - 2 - i, i), None


def _weights(g, order):
    """Returns the B-spline weights of the neighbours: polynomials of the distance from the previous element."""
    for tap in range(order + 1):
        poly = sum((-1) ** k * math.comb(order + 1, k) * numpy.polynomial.Polynomial([order - tap - k, 1]) ** order for k in range(order - tap + 1))
        coefficients = (poly.coef / math.factorial(order)).tolist()
        value = coefficients[-1] + g * 0
        for c in coefficients[-2::-1]:
            value = value * g + c
        yield value


def _interpolated(x, coordinates, shape, order, mode, cval, prefilter):
    """Returns the interpolated values at coordinates, which are one array per axis and broadcast to the shape."""
    x = _working(x)
    if 0 in shape:
        return _core.zeros(shape, x.dtype)
    if x.size == 0:
        return _core.full(shape, cval, x.dtype)
    border = 0
    if prefilter and order > 1:
        if mode in ('nearest', 'grid-constant'):
            border = _BORDER
            x = pad(x, border, 'edge') if mode == 'nearest' else pad(x, border, 'constant', constant_values=cval)
        for axis in range(x.ndim):
            x = _coefficients(x, order, axis, mode)
    if x.dtype == 'd' and not isinstance(cval, complex):
        at = [_core.broadcast_to(c.astype('d', copy=False), shape) for c in coordinates]
        made = _core._spline_values(_core._contiguous(x, False), at, order, mode, float(cval), border)
        if made is not None:
            return made
    outside, taps = None, []
    for n, c in zip(x.shape, coordinates):
        c, out = _inside(c.astype(working(x), copy=False), n, mode)
        outside = out if outside is None else outside if out is None else outside | out
        c = c + border
        c = c + 0.5 if order % 2 == 0 else c
        first = _floor(c)
        start = _core._copy(first.astype('l') - order // 2, 'C')
        fraction = _core._copy(c - first, 'C')
        own = [_element(start + k, n, mode) for k in range(order + 1)]
        weights = [None] if order == 0 else list(_weights(fraction, order))
        taps.append([(_core._copy(i, 'C'), None if o is None else _core._copy(o, 'C'), w if w is None else _core._copy(w, 'C'))
                     for (i, o), w in zip(own, weights)])
    flat = x.ravel()
    strides = [math.prod(x.shape[k + 1:]) for k in range(x.ndim)]

    def terms():
        for chosen in itertools.product(*taps):
            place, gone, weight = 0, None, None
            for (i, o, w), stride in zip(chosen, strides):
                place = place + i * stride
                gone = o if gone is None else gone if o is None else gone | o
                weight = w if weight is None else weight if w is None else weight * w
            value = flat[_core.broadcast_to(place, shape)] if not isinstance(place, int) else _core.broadcast_to(flat[0], shape)
            if gone is not None:
                value = _core.where(gone, cval, value)
            yield value if weight is None else value * weight
    made = combined(terms(), lambda a, b: a + b)
    return made if outside is None else _core.where(outside, cval, made)


def _operands(function, input, order, mode):
    x = operand(input, function)
    if x.ndim < 1:
        raise RuntimeError(f'{function}: input and output rank must be > 0')
    return x, _checked(mode, order)


def map_coordinates(input, coordinates, output=None, order=3, mode='constant', cval=0.0, prefilter=True):
    """Returns spline values at coordinates [axis, ...], with SciPy's modes beyond the borders."""
    x, mode = _operands('map_coordinates', input, order, mode)
    at = operand(coordinates, 'map_coordinates')
    if at.dtype.kind == 'c':
        raise TypeError('map_coordinates: Complex type not supported for coordinates')
    if at.ndim < 1 or at.shape[0] != x.ndim:
        raise RuntimeError(f'map_coordinates: invalid shape for coordinate array: {at.shape} for an array of {x.ndim} axes')
    return _output(_interpolated(x, [at[k] for k in range(x.ndim)], at.shape[1:], order, mode, cval, prefilter), x, output, 'map_coordinates')


def _axes(shape, x):
    """Returns the output indices along each axis, shaped to broadcast."""
    kind = working(x)
    return [_core.arange(n).astype(kind).reshape([-1 if m == k else 1 for m in range(len(shape))]) for k, n in enumerate(shape)]


def affine_transform(input, matrix, offset=0.0, output_shape=None, output=None, order=3, mode='constant', cval=0.0, prefilter=True, *,
                     texture_memory=False):
    """Returns the values at matrix @ index + offset for each output index.

    A 1-d matrix is a diagonal, and one with an extra column holds homogeneous coordinates. Raises NotImplementedError for texture_memory=True.
    """
    if texture_memory:
        raise NotImplementedError('affine_transform: texture_memory=True is not supported; leave it out')
    x, mode = _operands('affine_transform', input, order, mode)
    matrix = numpy.asarray(matrix.get() if isinstance(matrix, ndarray) else matrix, float)
    offset = offset.get() if isinstance(offset, ndarray) else offset
    shape = tuple(output_shape) if output_shape is not None else output.shape if isinstance(output, ndarray) else x.shape
    if matrix.ndim not in (1, 2) or matrix.shape[0] < 1:
        raise RuntimeError('no proper affine matrix provided')
    if matrix.ndim == 2 and matrix.shape[1] == x.ndim + 1 and matrix.shape[0] in (x.ndim, x.ndim + 1):
        if matrix.shape[0] == x.ndim + 1 and not numpy.array_equal(matrix[-1], [0] * x.ndim + [1]):
            raise ValueError(f'Expected homogeneous transformation matrix with shape {matrix.shape} for image shape {x.shape}, but bottom row was not '
                             f'equal to {[0] * x.ndim + [1]}')
        offset, matrix = matrix[:x.ndim, -1], matrix[:x.ndim, :-1]
    if matrix.shape[0] != x.ndim or matrix.ndim == 2 and matrix.shape[1] != len(shape):
        raise RuntimeError(f'affine matrix has wrong number of rows or columns: {matrix.shape} for {x.ndim} axes of the input and {len(shape)} of the result')
    offset = [float(o) for o in numpy.broadcast_to(numpy.asarray(offset, float), (x.ndim,))]
    matrix = numpy.diag(matrix) if matrix.ndim == 1 else matrix
    axes = _axes(shape, x)
    at = []
    for row, o in zip(matrix.tolist(), offset):
        terms = [axis * m for axis, m in zip(axes, row) if m]
        at.append((sum(terms[1:], terms[0]) if terms else axes[0] * 0) + o)
    return _output(_interpolated(x, at, shape, order, mode, cval, prefilter), x, output, 'affine_transform')


def shift(input, shift, output=None, order=3, mode='constant', cval=0.0, prefilter=True):
    """Shifts the array by a number of elements, also fractional, along each axis."""
    x, mode = _operands('shift', input, order, mode)
    moved = [float(s) for s in each_axis(shift.get() if isinstance(shift, ndarray) else shift, x.ndim, 'shift')]
    at = [axis - s for axis, s in zip(_axes(x.shape, x), moved)]
    return _output(_interpolated(x, at, x.shape, order, mode, cval, prefilter), x, output, 'shift')


def zoom(input, zoom, output=None, order=3, mode='constant', cval=0.0, prefilter=True, *, grid_mode=False):
    """Resizes the array by `zoom` along each axis. The first and last elements keep their positions, or with grid_mode the outer edges of these
    elements do."""
    x, mode = _operands('zoom', input, order, mode)
    if grid_mode and mode in ('constant', 'wrap'):
        warnings.warn(f'It is recommended to use mode = grid-{mode} instead of {mode} when grid_mode is True.', stacklevel=2)
    factors = [float(z) for z in each_axis(zoom.get() if isinstance(zoom, ndarray) else zoom, x.ndim, 'zoom')]
    shape = tuple(int(round(n * z)) for n, z in zip(x.shape, factors))
    at = []
    for axis, n, m in zip(_axes(shape, x), x.shape, shape):
        if grid_mode:
            at.append((axis + 0.5) * (n / m) - 0.5 if m else axis)
        else:
            at.append(axis * ((n - 1) / (m - 1)) if m > 1 else axis)
    if not grid_mode and mode in ('constant', 'wrap'):  # the last index maps to the last element, despite rounding of the quotient
        at = [_core.ufuncs['minimum'](c, n - 1) if n else c for c, n in zip(at, x.shape)]
    return _output(_interpolated(x, at, shape, order, mode, cval, prefilter), x, output, 'zoom')


def rotate(input, angle, axes=(1, 0), reshape=True, output=None, order=3, mode='constant', cval=0.0, prefilter=True):
    """Rotates the array by an angle in degrees in the plane of two axes. With reshape the result contains the whole rotated array."""
    x, mode = _operands('rotate', input, order, mode)
    if x.ndim < 2:
        raise ValueError('input array should be at least 2D')
    axes = list(axes)
    if len(axes) != 2:
        raise ValueError('axes should contain exactly two values')
    axes = sorted(operator.index(a) + x.ndim if a < 0 else operator.index(a) for a in axes)
    if axes[0] < 0 or axes[1] >= x.ndim:
        raise ValueError('invalid rotation plane specified')
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    if angle % 90 == 0:
        c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[int(angle // 90) % 4]
    turn = numpy.array([[c, s], [-s, c]], float)
    plane = numpy.array([x.shape[axes[0]], x.shape[axes[1]]])
    if reshape:
        corners = turn @ [[0, 0, plane[0], plane[0]], [0, plane[1], 0, plane[1]]]
        new = (numpy.ptp(corners, axis=1) + 0.5).astype(int)
    else:
        new = plane
    shape = list(x.shape)
    shape[axes[0]], shape[axes[1]] = (int(n) for n in new)
    matrix, offset = numpy.eye(x.ndim), numpy.zeros(x.ndim)
    matrix[numpy.ix_(axes, axes)] = turn
    offset[axes] = (plane - 1) / 2 - turn @ ((new - 1) / 2)
    return affine_transform(x, matrix, offset, tuple(shape), output, order, mode, cval, prefilter)
