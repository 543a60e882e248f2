"""Sliding windows: padded borders, and views of the array that are shifted by each element of the window."""

import functools
import inspect
import warnings

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupy._functions.shapes import pad

MODES = {'reflect': 'symmetric', 'grid-mirror': 'symmetric', 'mirror': 'reflect', 'nearest': 'edge', 'wrap': 'wrap', 'grid-wrap': 'wrap',
         'constant': 'constant', 'grid-constant': 'constant'}
_TOGETHER = 24  # operations per kernel: with hundreds of operations a device's compiler takes minutes


def each_axis(value, ndim, what):
    """Returns one value per axis from a number, a word or a sequence. Raises RuntimeError for a sequence of another length."""
    if isinstance(value, str) or numpy.ndim(value) == 0:
        return [value] * ndim
    values = list(value)
    if len(values) != ndim:
        raise RuntimeError(f'{what}: expected a value for each of {ndim} axes, given {values}')
    return values


def bordered(x, before, after, mode, cval):
    """Pads the array before and after each axis by SciPy's modes. Raises RuntimeError for an unknown mode."""
    modes = each_axis(mode, x.ndim, 'mode')
    for name in modes:
        if name not in MODES:
            raise RuntimeError(f'boundary mode not supported: mode must be one of {", ".join(MODES)}, not {name!r}')
    if x.size == 0 or not any((*before, *after)):
        return x
    if len(set(modes)) == 1:
        widths = list(zip(before, after))
        return pad(x, widths, 'constant', constant_values=cval) if MODES[modes[0]] == 'constant' else pad(x, widths, MODES[modes[0]])
    for axis, name in enumerate(modes):
        widths = [(0, 0)] * x.ndim
        widths[axis] = before[axis], after[axis]
        x = pad(x, widths, 'constant', constant_values=cval) if MODES[name] == 'constant' else pad(x, widths, MODES[name])
    return x


def origins(origin, shape, function):
    """Returns the origin for each axis of a window. Raises ValueError if the centre would lie outside."""
    found = [int(o) for o in each_axis(origin, len(shape), f'{function}: origin')]
    for o, n in zip(found, shape):
        if not 0 <= n // 2 + o < max(n, 1):
            raise ValueError(f'{function}: invalid origin {o} for a window of {n} elements')
    return found


def views(x, shape, origin, mode, cval, places):
    """Returns one view of the padded array per offset in a window of this shape, shifted by the offset."""
    before = [n // 2 + o for n, o in zip(shape, origin)]
    wide = bordered(x, before, [n - 1 - b for n, b in zip(shape, before)], mode, cval)
    for place in places:
        yield wide[tuple(slice(p, p + n) for p, n in zip(place, x.shape))]


def doubled(x, axis, size, combine, overlaps, mode, cval, origin):
    """Combines the windows of `size` elements along an axis in log2(size) steps: a step combines windows with their neighbours. If an element may
    count twice, as for extrema, `overlaps` saves some of them."""
    def cut(values, start, length):
        return values[(slice(None),) * axis + (slice(start, start + length),)]
    before = [0] * x.ndim
    after = list(before)
    before[axis] = size // 2 + origin
    after[axis] = size - 1 - before[axis]
    now, n = bordered(x, before, after, mode, cval), x.shape[axis]
    total, done, reach = None, 0, 1
    while True:
        if size & reach and not overlaps:
            part = cut(now, done, n)
            total, done = part if total is None else combine(total, part), done + reach
        if 2 * reach > size:
            break
        length = now.shape[axis] - reach
        now, reach = combine(cut(now, 0, length), cut(now, reach, length)), 2 * reach
    return combine(cut(now, 0, n), cut(now, size - reach, n)) if overlaps else total


def combined(values, combine):
    """Reduces all values by a function of two."""
    total = None
    for k, value in enumerate(values):
        total = value if total is None else combine(total, value)
        if k % _TOGETHER == _TOGETHER - 1:
            total = _core._copy(total, 'C')
    return total


def working(x, is_complex=False):
    """Returns the dtype for sums: float64 if the device has it, or the complex dtype with such parts."""
    return numpy.dtype(('D' if is_complex else 'd') if _core.device_of(x).info['has_f64'] else 'F' if is_complex else 'f')


def result_dtype(x, output, is_complex=False):
    """Returns the dtype of a result: the array's, or that of `output`, a dtype or an array.

    Complex values replace a real dtype by a complex one, with a warning. Raises RuntimeError if they would be stored in a real array.
    """
    if output is None:
        return numpy.result_type(x.dtype, 'F') if is_complex else x.dtype
    dtype = output.dtype if isinstance(output, ndarray) else numpy.dtype(output)
    if (is_complex or x.dtype.kind == 'c') and dtype.kind != 'c':
        if isinstance(output, ndarray):
            raise RuntimeError(f'output must have complex dtype, not {dtype}')
        warnings.warn('promoting specified output dtype to complex', stacklevel=4)
        return numpy.promote_types(dtype, 'F')
    return dtype


def delivered(result, x, output):
    """Returns the result in its dtype, or writes it into `output`."""
    return stored(result.astype(result_dtype(x, output, result.dtype.kind == 'c'), copy=False), output)


def stored(result, output):
    """Returns the result in C order, or `output` filled with it. Raises RuntimeError if its shape differs."""
    if not isinstance(output, ndarray):
        return _core._contiguous(result, False)
    if output.shape != result.shape:
        raise RuntimeError(f'output shape not correct: it is {output.shape}, the result has {result.shape}')
    output[...] = result
    return output


def correlated(x, weights, origin, mode, cval):
    """Returns the sums under a window of NumPy weights."""
    kind = working(x, x.dtype.kind == 'c' or weights.dtype.kind == 'c')
    places = list(zip(*numpy.nonzero(weights)))
    if not places or x.size == 0:
        return _core.zeros(x.shape, kind)
    terms = views(x.astype(kind), weights.shape, origin, mode, cval, places)
    return combined((view * weights[place].item() for view, place in zip(terms, places)), lambda a, b: a + b)


def on_host(weights):
    """Returns weights as a NumPy array of floats or complex numbers."""
    weights = numpy.asarray(weights.get() if isinstance(weights, ndarray) else weights)
    return weights.astype(complex if weights.dtype.kind == 'c' else float)


def axis_of(axis, ndim):
    """Returns an axis counted from 0. Raises AxisError if it is out of range."""
    if not -ndim <= axis < ndim:
        raise numpy.exceptions.AxisError(axis, ndim)
    return axis % ndim


def axes_of(axes, ndim):
    """Returns the given axes counted from 0, or all. Raises AxisError for an axis out of range and ValueError for a repeated one."""
    found = list(range(ndim)) if axes is None else [axis_of(a, ndim) for a in ([axes] if numpy.ndim(axes) == 0 else axes)]
    if len(set(found)) < len(found):
        raise ValueError(f'axes must be unique, given {axes}')
    return found


# arguments for the axes along which a window does not extend
_ELSEWHERE = {'size': 1, 'origin': 0, 'origin1': 0, 'origin2': 0, 'mode': 'reflect'}
_WINDOWS = 'footprint', 'structure', 'structure1', 'structure2', 'weights'


def on_axes(default=None):
    """Decorates a filter with the argument `axes`. The window has size 1 along all other axes, and arguments per axis refer to `axes`.
    `default(rank)` is the window if a call passes none."""
    def decorated(function):
        signature = inspect.signature(function)
        own = next(name for name in signature.parameters if name in _WINDOWS)

        @functools.wraps(function)
        def on_some(*args, axes=None, **kwargs):
            if axes is None:
                return function(*args, **kwargs)
            given = signature.bind(*args, **kwargs).arguments
            ndim = operand(given['input'], function.__name__).ndim
            along = axes_of(axes, ndim)
            if default is not None and given.get(own) is None:
                given[own] = default(len(along))
            for name, value in given.items():
                if name in _ELSEWHERE and value is not None and (name == 'size' or not isinstance(value, str) and numpy.ndim(value) > 0):
                    placed = [_ELSEWHERE[name]] * ndim
                    for axis, part in zip(along, each_axis(value, len(along), name)):
                        placed[axis] = part
                    given[name] = placed
                elif name in ('origin', 'origin1', 'origin2') and value:
                    given[name] = [value if axis in along else 0 for axis in range(ndim)]
                elif name in _WINDOWS and value is not None:
                    window = on_host(value)
                    if window.ndim != len(along):
                        raise RuntimeError(f'{function.__name__}: {name}.ndim ({window.ndim}) must match len(axes) ({len(along)})')
                    given[name] = numpy.expand_dims(window, [axis for axis in range(ndim) if axis not in along])
            return function(**given)
        on_some.__signature__ = signature.replace(parameters=[*signature.parameters.values(), inspect.Parameter('axes', inspect.Parameter.KEYWORD_ONLY, default=None)])
        return on_some
    return decorated
