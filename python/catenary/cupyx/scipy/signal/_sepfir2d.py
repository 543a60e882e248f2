"""sepfir2d and symiirorder1: filters of signals with mirrored borders."""

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupyx.scipy import ndimage
from catenary.cupyx.scipy.signal._lfilter import passed as filtered

_PRECISIONS = {'f': 1e-6, 'F': 1e-6, 'd': 1e-11, 'D': 1e-11}  # SciPy's defaults


def sepfir2d(input, hrow, hcol):
    """Filters a matrix with one window along the rows and one along the columns. Window sizes are odd, and the borders are mirrored. The result is
    float32 for inputs of at most 32 bits, else float64 or complex."""
    x, row, column = (operand(a, 'sepfir2d') for a in (input, hrow, hcol))
    if x.ndim != 2 or any(w.ndim != 1 or w.size % 2 == 0 for w in (row, column)):
        raise ValueError('sepfir2d: expected a matrix and two 1-d windows of odd length')
    kind = x.dtype if x.dtype.char in 'fdFD' else numpy.dtype('f' if x.dtype.itemsize <= 2 else 'd')
    x = x.astype(kind, copy=False)
    for axis, window in ((1, row), (0, column)):
        x = ndimage.convolve1d(x, window, axis, mode='reflect')
    return x


def symiirorder1(signal, c0, z1, precision=-1.0):
    """Applies the filter c0 / ((1 - z1 / z) (1 - z1 z)), |z1| < 1, along the last axis of a signal with half-sample symmetric borders.

    Raises ValueError if the signal is too short to know the initial state to `precision`.
    """
    x = operand(signal, 'symiirorder1')
    x = x.astype('f' if x.dtype == 'e' else 'd') if x.dtype.kind in 'biu' or x.dtype == 'e' else x
    if abs(z1) >= 1:
        raise ValueError('|z1| must be less than 1.0')
    if x.ndim not in (1, 2) or x.dtype.char not in 'fdFD':
        raise ValueError(f'symiirorder1: expected one or two axes of floats, given {x.ndim} of {x.dtype}')
    precision = precision if 0 < precision <= 1 else _PRECISIONS[x.dtype.char]
    count, power = 0, 1
    while count < x.shape[-1] and abs(power) > precision:
        power, count = power * z1, count + 1
    if abs(power) > precision:
        raise ValueError('Sum to find symmetric boundary conditions did not converge.')
    powers = _core.from_numpy(numpy.power(numpy.asarray(z1), numpy.arange(1, count + 1)), None).astype(x.dtype)
    first = x[..., :1] + _core.matmul(x[..., :count], powers[:, None])
    ones = numpy.asarray([1.0]), numpy.asarray([1, -z1])

    def passed(b, values, state):
        return filtered(b, ones[1], values, (state * z1).astype(x.dtype, copy=False))
    forth = _core._concatenate([first, passed(ones[0], x[..., 1:], first)], -1)
    last = forth[..., -1:] * (-c0 / (z1 - 1.0))
    back = passed(numpy.asarray([c0]), forth[..., -2::-1], last)
    made = _core._concatenate([last.astype(x.dtype, copy=False), back], -1)[..., ::-1]
    return _core._copy(made.astype(x.dtype, copy=False), 'C')
