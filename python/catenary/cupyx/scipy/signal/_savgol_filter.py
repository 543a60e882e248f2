"""The Savitzky-Golay filter. SciPy computes its coefficients on the host."""

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupyx.scipy.ndimage import convolve1d
from catenary.cupyx.scipy.signal._from_scipy import scipy_function, sent


def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode='interp', cval=0.0):
    """Applies a Savitzky-Golay filter along an axis. mode='interp' evaluates the polynomial of the outermost window near the ends, other modes extend
    the signal as scipy.ndimage does."""
    if mode not in ('mirror', 'constant', 'nearest', 'interp', 'wrap'):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    x = operand(x, 'savgol_filter')
    x = x if x.dtype.char in 'fd' else x.astype('d')
    coefficients = scipy_function('savgol_coeffs')
    weights = coefficients(window_length, polyorder, deriv, delta)
    if mode != 'interp':
        return convolve1d(x, weights, axis, mode=mode, cval=cval)
    n = x.shape[axis]
    if window_length > n:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    made = _core.moveaxis(convolve1d(x, weights, axis, mode='constant'), (axis,), (x.ndim - 1,))
    rows = _core.moveaxis(x, (axis,), (x.ndim - 1,))
    half = window_length // 2
    ends = [coefficients(window_length, polyorder, deriv, delta, pos, 'dot') for pos in (*range(half), *range(window_length - half, window_length))]
    first, last = numpy.stack(ends[:half], 1) if half else None, numpy.stack(ends[half:], 1) if half else None
    if half:
        made[..., :half] = _core.matmul(rows[..., :window_length], sent(first).astype(x.dtype))
        made[..., n - half:] = _core.matmul(rows[..., n - window_length:], sent(last).astype(x.dtype))
    return _core._copy(_core.moveaxis(made, (-1,), (axis,)), 'C')
