"""Binary and grey-scale morphology."""

import operator

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import asarray, ndarray
from catenary.cupyx.scipy._sliding_windows import combined, delivered, each_axis, on_axes, on_host, origins, stored, views
from catenary.cupyx.scipy.ndimage._filter_functions import extremum

_minimum, _maximum = _core.ufuncs['minimum'], _core.ufuncs['maximum']
_and, _or = _core.ufuncs['logical_and'], _core.ufuncs['logical_or']


def _ball(rank, connectivity):
    """Returns a NumPy bool array of 3 elements per axis that is true up to this many steps from the centre."""
    return numpy.abs(numpy.indices([3] * rank) - 1).sum(0) <= max(int(connectivity), 1)


def _cross(rank):
    return _ball(rank, 1)


def generate_binary_structure(rank, connectivity):
    """Returns a structuring element of 3 elements per axis that is true up to `connectivity` steps from the centre."""
    return asarray(_ball(rank, connectivity))


def iterate_structure(structure, iterations, origin=None):
    """Returns the structuring element that has the effect of several iterations in one. With `origin` it also returns the new origin."""
    window = on_host(structure) != 0
    if iterations < 2:
        return asarray(window)
    grown = asarray(numpy.pad(window, [(n // 2 * (iterations - 1), (n - 1 - n // 2) * (iterations - 1)) for n in window.shape]))
    grown = binary_dilation(grown, window, iterations - 1)
    return grown if origin is None else (grown, [iterations * o for o in each_axis(origin, window.ndim, 'origin')])


def _window(x, structure, function):
    if isinstance(structure, (int, numpy.integer)):
        structure = (structure,) * x.ndim
    if isinstance(structure, tuple) and all(isinstance(n, (int, numpy.integer)) for n in structure):  # its size, as CuPy's
        window = numpy.ones(structure, bool)
    else:
        window = _ball(x.ndim, 1) if structure is None else on_host(structure) != 0
    if window.ndim != x.ndim:
        raise RuntimeError(f'{function}: structure and input must have same dimensionality, given {window.ndim} and {x.ndim}')
    if not window.size:
        raise ValueError(f'{function}: structure must not be empty')
    return window


def _steps(name, combine, input, structure, iterations, mask, output, border_value, origin, brute_force):
    left = operator.index(iterations)
    x = operand(input, name) != 0
    window = _window(x, structure, name)
    if combine is _or:
        window = window[(slice(None, None, -1),) * window.ndim]
        origin = [-o - (n % 2 == 0) for o, n in zip(each_axis(origin, x.ndim, 'origin'), window.shape)]
    at = origins(origin, window.shape, name)
    places = [tuple(place) for place in numpy.argwhere(window)]
    while x.size:
        made = combined(views(x, window.shape, at, 'constant', bool(border_value), places), combine)
        if made is None:  # an empty window fits everywhere and covers nothing
            made = _core.full(x.shape, combine is _and, bool)
        if mask is not None:
            made = _core.where(operand(mask, name) != 0, made, x)
        made, before = _core._copy(made, 'C'), x
        x = made
        left -= 1
        if left == 0 or left < 0 and bool(_core.array_equal(made, before)):
            break
    return stored(_core._copy(x, 'K'), output)  # bools for every dtype of `output`, as SciPy


@on_axes(_cross)
def binary_erosion(input, structure=None, iterations=1, mask=None, output=None, border_value=0, origin=0, brute_force=False):
    """Erodes a binary array: true where the whole structuring element lies on non-zero elements.

    It is repeated `iterations` times, or until nothing changes if that is less than 1, and only elements where `mask` is true change.
    """
    return _steps('binary_erosion', _and, input, structure, iterations, mask, output, border_value, origin, brute_force)


@on_axes(_cross)
def binary_dilation(input, structure=None, iterations=1, mask=None, output=None, border_value=0, origin=0, brute_force=False):
    """Dilates a binary array: true wherever the structuring element, placed on some non-zero element, covers. The remaining arguments are those of
    binary_erosion."""
    return _steps('binary_dilation', _or, input, structure, iterations, mask, output, border_value, origin, brute_force)


@on_axes(_cross)
def binary_opening(input, structure=None, iterations=1, output=None, origin=0, mask=None, border_value=0, brute_force=False):
    """Dilates the erosion of a binary array."""
    made = binary_erosion(input, structure, iterations, mask, None, border_value, origin, brute_force)
    return binary_dilation(made, structure, iterations, mask, output, border_value, origin, brute_force)


@on_axes(_cross)
def binary_closing(input, structure=None, iterations=1, output=None, origin=0, mask=None, border_value=0, brute_force=False):
    """Erodes the dilation of a binary array."""
    made = binary_dilation(input, structure, iterations, mask, None, border_value, origin, brute_force)
    return binary_erosion(made, structure, iterations, mask, output, border_value, origin, brute_force)


@on_axes(_cross)
def binary_propagation(input, structure=None, mask=None, output=None, border_value=0, origin=0):
    """Dilates a binary array within `mask` until nothing changes."""
    return binary_dilation(input, structure, -1, mask, output, border_value, origin)


@on_axes(_cross)
def binary_fill_holes(input, structure=None, output=None, origin=0):
    """Fills the holes: zeros that cannot be reached from the border."""
    x = operand(input, 'binary_fill_holes') != 0
    outside = binary_dilation(_core.zeros_like(x), structure, -1, ~x, None, 1, origin)
    return stored(~outside, output)


@on_axes(_cross)
def binary_hit_or_miss(input, structure1=None, structure2=None, output=None, origin1=0, origin2=None):
    """Returns true where the first structure lies on non-zero elements and the second structure (by default the complement of the first) on zeros."""
    x = operand(input, 'binary_hit_or_miss') != 0
    first = _window(x, structure1, 'binary_hit_or_miss')
    second = ~first if structure2 is None else on_host(structure2) != 0
    hit = binary_erosion(x, first, 1, None, None, 0, origin1)
    miss = binary_dilation(x, second[(slice(None, None, -1),) * second.ndim], 1, None, None, 0, _mirrored(origin1 if origin2 is None else origin2, second.shape))
    return stored(hit & ~miss, output)


def _mirrored(origin, shape):
    return [-o - (n % 2 == 0) for o, n in zip(each_axis(origin, len(shape), 'origin'), shape)]


def _grey(x, size, footprint, structure, function):
    """Returns footprint and structure of a grey operation as NumPy arrays. Raises ValueError if neither defines the window."""
    values = None if structure is None else on_host(structure)
    if footprint is not None:
        window = on_host(footprint) != 0
    elif values is not None:
        window = numpy.ones(values.shape, bool)
    elif size is not None:
        window = numpy.ones([int(n) for n in each_axis(size, x.ndim, 'size')], bool)
    else:
        raise ValueError(f'{function}: size, footprint, or structure must be specified')
    if window.ndim != x.ndim:
        raise RuntimeError(f'{function}: the window has {window.ndim} axes, the array has {x.ndim}')
    return window, values


@on_axes()
def grey_erosion(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0):
    """Returns the minimum of (element - structure) under the window."""
    x = operand(input, 'grey_erosion')
    window, values = _grey(x, size, footprint, structure, 'grey_erosion')
    return extremum(x, window, values, output, mode, cval, origin, _minimum, -1)


@on_axes()
def grey_dilation(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0):
    """Returns the maximum of (element + structure) under the reflected window."""
    x = operand(input, 'grey_dilation')
    window, values = _grey(x, size, footprint, structure, 'grey_dilation')
    turn = (slice(None, None, -1),) * x.ndim
    return extremum(x, window[turn], None if values is None else values[turn], output, mode, cval, _mirrored(origin, window.shape), _maximum, 1)


@on_axes()
def grey_opening(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0):
    """Dilates the grey erosion."""
    made = grey_erosion(input, size, footprint, structure, None, mode, cval, origin)
    return grey_dilation(made, size, footprint, structure, output, mode, cval, origin)


@on_axes()
def grey_closing(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0):
    """Erodes the grey dilation."""
    made = grey_dilation(input, size, footprint, structure, None, mode, cval, origin)
    return grey_erosion(made, size, footprint, structure, output, mode, cval, origin)


def _of_two(name, description, compute, of_dtype):
    """Computes a difference of two results. If of_dtype is true, the result also has the dtype that was passed for output, as SciPy's."""
    def function(input, size=None, footprint=None, structure=None, output=None, mode='reflect', cval=0.0, origin=0):
        x = operand(input, name)
        kind = None if output is None or not of_dtype else getattr(output, 'dtype', output)
        output = output if of_dtype or isinstance(output, ndarray) else None
        return delivered(compute(x, size, footprint, structure, kind, mode, cval, origin), x, output)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = description
    return on_axes()(function)


morphological_gradient = _of_two('morphological_gradient', 'Subtracts the erosion from the dilation. The result has the dtype of the array, whatever dtype is passed.',
                                 lambda *a: grey_dilation(*a) - grey_erosion(*a), False)
morphological_laplace = _of_two('morphological_laplace', 'Adds dilation and erosion, and subtracts the array twice. The result has the dtype of the array, whatever dtype is passed.',
                                lambda x, *a: grey_dilation(x, *a) + grey_erosion(x, *a) - x - x, False)
white_tophat = _of_two('white_tophat', 'Subtracts the opening from the array.', lambda x, *a: _less(x, grey_opening(x, *a)), True)
black_tophat = _of_two('black_tophat', 'Subtracts the array from its closing.', lambda x, *a: _less(grey_closing(x, *a), x), True)


def _less(a, b):
    return _core.ufuncs['logical_xor'](a, b) if a.dtype == bool else a - b
