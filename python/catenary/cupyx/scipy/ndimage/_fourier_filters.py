"""Filters in the Fourier domain: products with the transforms of Gaussians, boxes, shifts and ellipsoids."""

import math

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupyx.scipy._sliding_windows import combined, delivered, each_axis
from catenary.cupyx.scipy.ndimage._filter_functions import axis_of

_sin, _cos = _core.ufuncs['sin'], _core.ufuncs['cos']


def _places(x, n, axis):
    """Returns each axis's frequencies in cycles per sample. The axis of a real transform of n samples has those from 0 on."""
    axis = axis_of(axis, x.ndim)
    for k, extent in enumerate(x.shape):
        turns = numpy.arange(extent) / n if n >= 0 and k == axis else numpy.fft.fftfreq(extent) if extent else numpy.zeros(0)
        yield turns.reshape([-1 if m == k else 1 for m in range(x.ndim)])


def _prepared(function, input, is_complex=False):
    x = operand(input, function)
    return x if x.dtype.char in ('FD' if is_complex else 'fFD') else x.astype('D' if is_complex else 'd')


def _times(x, factors, output):
    """Multiplies the array by a NumPy vector along each axis."""
    made = x
    for factor in factors:
        own = numpy.result_type(x.dtype, 'F') if factor.dtype.kind == 'c' else x.real.dtype
        made = made * _core.from_numpy(numpy.ascontiguousarray(factor), None).astype(own)
    return delivered(_core._copy(made, 'C'), x, output)


def fourier_gaussian(input, sigma, n=-1, axis=-1, output=None):
    """Multiplies a Fourier transform by that of a Gaussian. `n` is the length before rfft along the axis, or -1 for a complex transform."""
    x = _prepared('fourier_gaussian', input)
    return _times(x, (numpy.exp(-2 * (math.pi * s * t) ** 2) for s, t in zip(each_axis(sigma, x.ndim, 'sigma'), _places(x, n, axis))), output)


def fourier_uniform(input, size, n=-1, axis=-1, output=None):
    """Multiplies a Fourier transform by that of a box. The arguments are those of fourier_gaussian."""
    x = _prepared('fourier_uniform', input)
    return _times(x, (numpy.sinc(s * t) for s, t in zip(each_axis(size, x.ndim, 'size'), _places(x, n, axis))), output)


def fourier_shift(input, shift, n=-1, axis=-1, output=None):
    """Multiplies a Fourier transform by that of a shift. The arguments are those of fourier_gaussian, and the result is always complex."""
    x = _prepared('fourier_shift', input, True)
    return _times(x, (numpy.exp(-2j * math.pi * s * t) for s, t in zip(each_axis(shift, x.ndim, 'shift'), _places(x, n, axis))), output)


def fourier_ellipsoid(input, size, n=-1, axis=-1, output=None):
    """Multiplies a Fourier transform by that of an ellipsoid in 1, 2 or 3 dimensions. Raises NotImplementedError for more."""
    x = _prepared('fourier_ellipsoid', input)
    if x.ndim > 3:
        raise NotImplementedError('Only 1d, 2d and 3d inputs are supported')
    if x.ndim < 2:
        return fourier_uniform(x, size, n, axis, output)
    squares = sum((s * t) ** 2 for s, t in zip(each_axis(size, x.ndim, 'size'), _places(x, n, axis)))
    r = _core.from_numpy(math.pi * numpy.sqrt(squares), None)
    safe = _core.where(r == 0, 1.0, r)
    if x.ndim == 3:
        factor = 3 * (_sin(safe) - safe * _cos(safe)) / safe ** 3
    else:  # 2 J1(r) / r, where J1 is the mean of cos(t - r sin(t)): the trapezoidal rule converges faster than any power
        count = int(math.pi * math.sqrt(float(squares.max()) if squares.size else 0)) + 40
        angles = (numpy.arange(count) + 0.5) * math.pi / count
        factor = 2 * combined((_cos(a - safe * s) for a, s in zip(angles.tolist(), numpy.sin(angles).tolist())), lambda a, b: a + b) / (count * safe)
    factor = _core.where(r == 0, 1.0, factor).astype(x.real.dtype)
    return delivered(x * factor, x, output)
