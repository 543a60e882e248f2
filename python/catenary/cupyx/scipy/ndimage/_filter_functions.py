"""Linear, extremum and rank filters. The linear filters also take complex arrays."""

import math
import numbers

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupyx.scipy._sliding_windows import (axes_of, axis_of, combined, correlated, delivered, doubled, each_axis, on_axes, on_host, origins,
                                           result_dtype, views, working)

_LONG = 8  # elements of a window from which on doubling pays
_minimum, _maximum = _core.ufuncs['minimum'], _core.ufuncs['maximum']


def _one_mode(mode, function):
    """Raises RuntimeError for a sequence of modes, as a filter without separate axes takes one."""
    if not isinstance(mode, str):
        raise RuntimeError(f'{function}: a sequence of modes is supported only by separable filters, got {mode}')


@on_axes()
def correlate(input, weights, output=None, mode='reflect', cval=0.0, origin=0):
    """Correlates with a window of weights, of which complex ones are conjugated. Sums are computed in float64 if the device has it."""
    x, w = operand(input, 'correlate'), on_host(weights).conj()
    _one_mode(mode, 'correlate')
    if w.ndim != x.ndim:
        raise RuntimeError(f'filter weights array has incorrect shape: it has {w.ndim} axes, the array has {x.ndim}')
    return delivered(correlated(x, w, origins(origin, w.shape, 'correlate'), mode, cval), x, output)


def _turned(origin, shape):
    """Returns the origin of the reflected window."""
    return [-o - (n % 2 == 0) for o, n in zip(each_axis(origin, len(shape), 'origin'), shape)]


@on_axes()
def convolve(input, weights, output=None, mode='reflect', cval=0.0, origin=0):
    """Convolves with a window of weights, as correlate with reflected weights."""
    w = on_host(weights)
    return correlate(input, w[(slice(None, None, -1),) * w.ndim].conj(), output, mode, cval, _turned(origin, w.shape))


def correlate1d(input, weights, axis=-1, output=None, mode='reflect', cval=0.0, origin=0):
    """Correlates along one axis."""
    x, w = operand(input, 'correlate1d'), on_host(weights).conj()
    if w.ndim != 1 or w.size < 1:
        raise RuntimeError('no filter weights given: expected one axis of them, given shape %s' % (w.shape,))
    axis = axis_of(axis, x.ndim)
    shape, at = [1] * x.ndim, [0] * x.ndim
    shape[axis], at[axis] = w.size, origins(origin, w.shape, 'correlate1d')[0]
    return delivered(correlated(x, w.reshape(shape), at, mode, cval), x, output)


def convolve1d(input, weights, axis=-1, output=None, mode='reflect', cval=0.0, origin=0):
    """Convolves along one axis."""
    w = on_host(weights)
    return correlate1d(input, w[::-1].conj(), axis, output, mode, cval, _turned(origin, w.shape)[0])


def _one_by_one(x, output, axes, filters, modes):
    """Applies filters along several axes in sequence. Intermediate results have the dtype of the result, as SciPy's."""
    dtype, ndim = result_dtype(x, output), x.ndim
    axes = axes_of(axes, ndim)
    modes = each_axis(modes, len(axes), 'mode')
    result = x
    for k, axis in enumerate(axes):
        made = filters(k, result, axis, modes[k])
        result = result if made is None else made.astype(dtype, copy=False)
    return delivered(_core._copy(x, 'K') if result is x else result, x, output)


def _gaussian(sigma, order, radius):
    """Returns the weights of a Gaussian's derivative of this order."""
    x = numpy.arange(-radius, radius + 1)
    bell = numpy.exp(-0.5 / (sigma * sigma) * x ** 2)
    bell /= bell.sum()
    factor = numpy.polynomial.Polynomial([1.0])  # derivative = factor * Gaussian
    for _ in range(order):
        factor = factor.deriv() - factor * numpy.polynomial.Polynomial([0, 1 / (sigma * sigma)])
    return factor(x) * bell


def gaussian_filter1d(input, sigma, axis=-1, order=0, output=None, mode='reflect', cval=0.0, truncate=4.0, *, radius=None):
    """Applies a Gaussian, or its derivative of this order, along an axis. Raises ValueError for a negative or non-integer order."""
    if not isinstance(order, numbers.Integral) or order < 0:
        raise ValueError('order must be a non-negative integer, not %r' % (order,))
    radius = int(truncate * float(sigma) + 0.5) if radius is None else radius
    if not isinstance(radius, numbers.Integral) or radius < 0:
        raise ValueError('Radius must be a nonnegative integer, not %r' % (radius,))
    return correlate1d(input, _gaussian(float(sigma), int(order), int(radius))[::-1], axis, output, mode, cval, 0)


def gaussian_filter(input, sigma, order=0, output=None, mode='reflect', cval=0.0, truncate=4.0, *, radius=None, axes=None):
    """Applies gaussian_filter1d along all axes or the given ones."""
    x = operand(input, 'gaussian_filter')
    count = x.ndim if axes is None else numpy.size(axes)
    sigmas, orders, radii = (each_axis(v, count, name) for v, name in ((sigma, 'sigma'), (order, 'order'), (radius, 'radius')))
    return _one_by_one(x, output, axes, lambda k, y, axis, own: gaussian_filter1d(
        y, sigmas[k], axis, orders[k], result_dtype(x, output), own, cval, truncate, radius=radii[k]) if sigmas[k] > 1e-15 else None, mode)


def uniform_filter1d(input, size, axis=-1, output=None, mode='reflect', cval=0.0, origin=0):
    """Returns means over `size` elements along an axis."""
    x = operand(input, 'uniform_filter1d')
    if size < 1:
        raise RuntimeError('incorrect filter size: %r' % (size,))
    axis = axis_of(axis, x.ndim)
    shape, at = [1] * x.ndim, [0] * x.ndim
    shape[axis], at[axis] = int(size), origins(origin, (size,), 'uniform_filter1d')[0]
    if size >= _LONG and x.size and x.dtype.kind != 'c':
        sums = doubled(x.astype(working(x)), axis, int(size), lambda a, b: a + b, False, mode, cval, at[axis])
    else:
        sums = correlated(x, numpy.ones(shape), at, mode, cval)
    return delivered(sums / int(size), x, output)


def uniform_filter(input, size=3, output=None, mode='reflect', cval=0.0, origin=0, *, axes=None):
    """Applies uniform_filter1d along all axes or the given ones."""
    x = operand(input, 'uniform_filter')
    count = x.ndim if axes is None else numpy.size(axes)
    sizes, at = each_axis(size, count, 'size'), each_axis(origin, count, 'origin')
    return _one_by_one(x, output, axes, lambda k, y, axis, own: uniform_filter1d(
        y, sizes[k], axis, result_dtype(x, output), own, cval, at[k]) if sizes[k] > 1 else None, mode)


def _along_two(name, axis_weights, input, axis, output, mode, cval):
    x = operand(input, name)
    axis = axis_of(axis, x.ndim)
    modes = each_axis(mode, x.ndim, 'mode')
    result = correlate1d(x, [-1, 0, 1], axis, result_dtype(x, output), modes[axis], cval)
    for k in range(x.ndim):
        if k != axis:
            result = correlate1d(result, axis_weights, k, None, modes[k], cval)
    return delivered(result, x, output)


def sobel(input, axis=-1, output=None, mode='reflect', cval=0.0):
    """Returns Sobel's derivative along an axis."""
    return _along_two('sobel', [1, 2, 1], input, axis, output, mode, cval)


def prewitt(input, axis=-1, output=None, mode='reflect', cval=0.0):
    """Returns Prewitt's derivative along an axis."""
    return _along_two('prewitt', [1, 1, 1], input, axis, output, mode, cval)


def _keywords(extra_keywords):
    return {} if extra_keywords is None else extra_keywords


def _derivatives(function, input, derivative, output, mode, cval, extra_arguments, extra_keywords, axes, unite):
    """Combines the derivatives along all axes with `unite`. Without axes it returns the array."""
    x = operand(input, function)
    axes = axes_of(axes, x.ndim)
    modes = each_axis(mode, len(axes), 'mode')
    if not axes:
        return delivered(_core._copy(x, 'K'), x, output)
    parts = (derivative(x, axis, result_dtype(x, output), own, cval, *extra_arguments, **_keywords(extra_keywords)) for axis, own in zip(axes, modes))
    return delivered(unite(parts), x, output)


def generic_laplace(input, derivative2, output=None, mode='reflect', cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    """Sums second derivatives along all axes or the given ones, computed by derivative2(input, axis, output, mode, cval, ...)."""
    return _derivatives('generic_laplace', input, derivative2, output, mode, cval, extra_arguments, extra_keywords, axes,
                        lambda parts: combined(parts, lambda a, b: a + b))


def laplace(input, output=None, mode='reflect', cval=0.0, *, axes=None):
    """Sums second differences along all axes or the given ones."""
    return generic_laplace(input, lambda x, axis, output, mode, cval: correlate1d(x, [1, -2, 1], axis, output, mode, cval), output, mode, cval, axes=axes)


def _gaussian_derivative(x, axis, output, mode, cval, sigma, order, keywords):
    orders = [0] * x.ndim
    orders[axis] = order
    return gaussian_filter(x, sigma, orders, output, mode, cval, **keywords)


def _sigmas(input, sigma, axes):
    """Returns one sigma per axis of the array, 0 for the axes that are not filtered."""
    ndim = operand(input, 'gaussian').ndim
    along = axes_of(axes, ndim)
    found = dict(zip(along, each_axis(sigma, len(along), 'sigma')))
    return [found.get(axis, 0) for axis in range(ndim)]


def gaussian_laplace(input, sigma, output=None, mode='reflect', cval=0.0, *, axes=None, **kwargs):
    """Sums second derivatives of a Gaussian along all axes or the given ones."""
    return generic_laplace(input, _gaussian_derivative, output, mode, cval, (_sigmas(input, sigma, axes), 2, kwargs), axes=axes)


def generic_gradient_magnitude(input, derivative, output=None, mode='reflect', cval=0.0, extra_arguments=(), extra_keywords=None, *, axes=None):
    """Returns the gradient magnitude over all axes or the given ones, with derivatives by derivative(input, axis, output, mode, cval, ...)."""
    return _derivatives('generic_gradient_magnitude', input, derivative, output, mode, cval, extra_arguments, extra_keywords, axes,
                        lambda parts: _core.ufuncs['sqrt'](combined((p * p for p in parts), lambda a, b: a + b)))


def gaussian_gradient_magnitude(input, sigma, output=None, mode='reflect', cval=0.0, *, axes=None, **kwargs):
    """Returns the gradient magnitude from Gaussian derivatives along all axes, or the given ones. As in SciPy, the Gaussian itself smooths all axes."""
    return generic_gradient_magnitude(input, _gaussian_derivative, output, mode, cval, (sigma, 1, kwargs), axes=axes)


def real(x, function):
    """Raises TypeError for complex numbers, which have no ranks."""
    if x.dtype.kind == 'c':
        raise TypeError(f'{function}: Complex type not supported')


def footprint_of(x, size, footprint, function):
    """Returns a window's footprint as NumPy bools. Raises RuntimeError if neither size nor footprint is given."""
    real(x, function)
    if footprint is None:
        if size is None:
            raise RuntimeError(f'{function}: no footprint or filter size provided')
        return numpy.ones([int(n) for n in each_axis(size, x.ndim, 'size')], bool)
    found = on_host(footprint) != 0
    if found.ndim != x.ndim:
        raise RuntimeError(f'{function}: footprint array has incorrect shape: it has {found.ndim} axes, the array has {x.ndim}')
    if not found.any():
        raise ValueError(f'{function}: all-zero footprint is not supported')
    return found


def _is_beyond(cval, dtype):
    """Is the border value outside the range of an integer dtype?"""
    ends = numpy.iinfo(dtype)
    return math.isnan(cval) or not ends.min <= cval <= ends.max or int(cval) != cval


def _extremum_in_floats(x, footprint, structure, output, mode, cval, origin, combine, sign):
    """Computes extremum() in floats if the border value is not representable in the array's dtype, as SciPy does, which truncates and wraps when it
    stores the result."""
    parts = [footprint]
    if structure is None and footprint.all() and x.ndim > 1:  # each axis stores its intermediate result
        parts = [numpy.ones([n if k == axis else 1 for k in range(x.ndim)], bool) for axis, n in enumerate(footprint.shape)]
    at, result = origins(origin, footprint.shape, 'filter'), x
    for axis, part in enumerate(parts):
        own = at if len(parts) == 1 else [o if k == axis else 0 for k, o in enumerate(at)]
        made = extremum(result.astype(working(x)), part, structure, None, mode, cval, own, combine, sign)
        result = made.astype('l').astype(x.dtype)
    return delivered(result, x, output)


def extremum(input, footprint, structure, output, mode, cval, origin, combine, sign):
    """Returns the minimum or maximum under a window after subtracting or adding `structure`."""
    x = input
    real(x, 'filter')
    if x.dtype.kind in 'iu' and _is_beyond(cval, x.dtype):
        return _extremum_in_floats(x, footprint, structure, output, mode, cval, origin, combine, sign)
    places = list(zip(*numpy.nonzero(footprint)))
    if x.size == 0 or not places:
        return delivered(_core._copy(x, 'K'), x, output)
    at = origins(origin, footprint.shape, 'filter')
    if structure is None and footprint.all() and x.ndim > 1:  # separable: one axis after the other
        result = x
        for axis, n in enumerate(footprint.shape):
            shape, own = [1] * x.ndim, [0] * x.ndim
            shape[axis], own[axis] = n, at[axis]
            if n >= _LONG:
                result = doubled(result, axis, n, combine, True, mode, cval, at[axis])
            else:
                result = combined(views(result, shape, own, mode, cval, numpy.ndindex(*shape)), combine)
        return delivered(result, x, output)
    along = [axis for axis, n in enumerate(footprint.shape) if n > 1]
    if structure is None and footprint.all() and len(along) == 1 and footprint.size >= _LONG:
        return delivered(doubled(x, along[0], footprint.size, combine, True, mode, cval, at[along[0]]), x, output)
    if x.ndim > 1:
        _one_mode(mode, 'filter')
    parts = views(x, footprint.shape, at, mode, cval, places)
    if structure is not None:
        parts = (part + sign * float(structure[place]) for part, place in zip(parts, places))
    return delivered(combined(parts, combine), x, output)


def _of_windows(name, combine):
    def function(input, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0):
        x = operand(input, name)
        return extremum(x, footprint_of(x, size, footprint, name), None, output, mode, cval, origin, combine, 0)

    def function1d(input, size, axis=-1, output=None, mode='reflect', cval=0.0, origin=0):
        x = operand(input, name + '1d')
        if size < 1:
            raise RuntimeError('incorrect filter size: %r' % (size,))
        shape, at = [1] * x.ndim, [0] * x.ndim
        shape[axis_of(axis, x.ndim)], at[axis_of(axis, x.ndim)] = int(size), origin
        return extremum(x, numpy.ones(shape, bool), None, output, mode, cval, at, combine, 0)
    what = 'least' if combine is _minimum else 'largest'
    for f, own, text in ((function, name, f'Returns the {what} element of each window.'), (function1d, name + '1d', f'Returns the {what} element of each window of `size` elements along an axis.')):
        f.__name__ = f.__qualname__ = own
        f.__doc__ = text
    return on_axes()(function), function1d


minimum_filter, minimum_filter1d = _of_windows('minimum_filter', _minimum)
maximum_filter, maximum_filter1d = _of_windows('maximum_filter', _maximum)


def _ranked(name, rank, input, size, footprint, output, mode, cval, origin):
    x = operand(input, name)
    _one_mode(mode, name)
    window = footprint_of(x, size, footprint, name)
    count = int(window.sum())
    k = rank(count)
    if not -count <= k < count:
        raise RuntimeError(f'{name}: rank not within filter footprint size {count}')
    if x.size == 0:
        return delivered(_core._copy(x, 'K'), x, output)
    places = list(zip(*numpy.nonzero(window)))
    parts = list(views(x, window.shape, origins(origin, window.shape, name), mode, cval, places))
    return delivered(_core._sort(_core._stack(parts, 0), 0)[k], x, output)


@on_axes()
def rank_filter(input, rank, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0):
    """Returns the element of the given rank in each window, counted from the smallest. Negative ranks count from the largest."""
    return _ranked('rank_filter', lambda count: int(rank), input, size, footprint, output, mode, cval, origin)


@on_axes()
def median_filter(input, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0):
    """Returns the median of each window. For an even number of elements it is the larger of the two middle ones."""
    return _ranked('median_filter', lambda count: count // 2, input, size, footprint, output, mode, cval, origin)


@on_axes()
def percentile_filter(input, percentile, size=None, footprint=None, output=None, mode='reflect', cval=0.0, origin=0):
    """Returns the given percentile of each window. Negative percentiles count down from 100."""
    share = float(percentile) + (100 if percentile < 0 else 0)
    if not 0 <= share <= 100:
        raise RuntimeError('invalid percentile: %r' % (percentile,))
    return _ranked('percentile_filter', lambda count: count - 1 if share == 100 else int(count * share / 100), input, size, footprint,
                   output, mode, cval, origin)
