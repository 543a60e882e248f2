"""cupyx.scipy.signal: convolutions and filters by ranks, of the library's own operations. What needs complex numbers is not there."""

import numpy

from catenary import _core, _names
from catenary.cupyx.scipy import ndimage
from catenary.cupyx.scipy._windows import array_of, bordered, combined

_BOUNDARIES = {'fill': 'constant', 'wrap': 'wrap', 'circular': 'wrap', 'symm': 'reflect', 'symmetric': 'reflect'}  # as in ndimage


def _both(in1, in2, function):
    x, y = array_of(in1, function), array_of(in2, function)
    if x.ndim != y.ndim:
        raise ValueError(f'{function}: in1 and in2 should have the same dimensionality, given {x.ndim} and {y.ndim} axes')
    return x, y


def _whole(x, y, boundary='constant', value=0):
    """The full convolution; y is the smaller one."""
    dtype = numpy.result_type(x.dtype, y.dtype)
    if dtype == bool:
        raise TypeError('convolve: not defined for bool; astype to an integer dtype')
    wide = bordered(x.astype(dtype, copy=False), [n - 1 for n in y.shape], [n - 1 for n in y.shape], boundary, value)
    shape = tuple(a + b - 1 for a, b in zip(x.shape, y.shape))
    parts = (wide[tuple(slice(n - 1 - p, n - 1 - p + m) for p, n, m in zip(place, y.shape, shape))] * y[place] for place in numpy.ndindex(y.shape))
    return combined(parts, lambda a, b: a + b).astype(dtype, copy=False)


def _cut(full, shape, starts):
    return _core._copy(full[tuple(slice(s, s + n) for s, n in zip(starts, shape))], 'C')


def _convolved(x, y, mode, function, boundary='constant', value=0, late=False):
    if mode not in ('full', 'same', 'valid'):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full', not %r" % (mode,))
    if x.size == 0 or y.size == 0:
        return _core.zeros((0,), numpy.result_type(x.dtype, y.dtype))
    if mode == 'valid':
        if not (all(a >= b for a, b in zip(x.shape, y.shape)) or all(a <= b for a, b in zip(x.shape, y.shape))):
            raise ValueError(f"{function}: for 'valid' mode, one must be at least as large as the other in every dimension, given shapes "
                             f'{x.shape} and {y.shape}')
    large, small = (y, x) if y.size > x.size and boundary == 'constant' and value == 0 or mode == 'valid' and any(
        a < b for a, b in zip(x.shape, y.shape)) else (x, y)
    full = _whole(large, small, boundary, value)
    if mode == 'full':
        return full
    if mode == 'same':
        return _cut(full, x.shape, [(n - (not late)) // 2 for n in y.shape])
    return _cut(full, [abs(a - b) + 1 for a, b in zip(x.shape, y.shape)], [min(a, b) - 1 for a, b in zip(x.shape, y.shape)])


def convolve(in1, in2, mode='full', method='auto'):
    """The convolution of two arrays by their sums; `method` 'fft' is refused, as it needs complex numbers."""
    x, y = _both(in1, in2, 'convolve')
    _check_method(method, 'convolve')
    return x * y if x.ndim == 0 else _convolved(x, y, mode, 'convolve')


def correlate(in1, in2, mode='full', method='auto'):
    """The correlation of two arrays by their sums; `method` 'fft' is refused, as it needs complex numbers."""
    x, y = _both(in1, in2, 'correlate')
    _check_method(method, 'correlate')
    if x.ndim == 0:
        return x * y
    y = y[(slice(None, None, -1),) * y.ndim]
    made = _convolved(x, y, mode, 'correlate')
    if mode == 'valid' and any(a < b for a, b in zip(x.shape, y.shape)):
        return _core._copy(made, 'C')
    return made


def _check_method(method, function):
    if method == 'fft':
        raise NotImplementedError(f"{function}: method='fft' needs complex numbers, and there are no complex dtypes; 'direct' and 'auto' compute sums")
    if method not in ('auto', 'direct'):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft', not %r" % (method,))


def choose_conv_method(in1, in2, mode='full', measure=False):
    """'direct': there is no other."""
    return ('direct', {'direct': 0.0}) if measure else 'direct'


def _in_two(function, in1, in2, mode, boundary, fillvalue, turn):
    x, y = _both(in1, in2, function)
    if x.ndim != 2:
        raise ValueError(f'{function} inputs must both be 2-D arrays, given {x.ndim} axes')
    if boundary not in _BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm'), not %r" % (boundary,))
    y = y[::-1, ::-1] if turn else y
    return _convolved(x, y, mode, function, _BOUNDARIES[boundary], fillvalue, turn)


def convolve2d(in1, in2, mode='full', boundary='fill', fillvalue=0):
    """The convolution of two matrices, beyond whose borders is a value ('fill'), the other end ('wrap') or the mirror's image ('symm')."""
    return _in_two('convolve2d', in1, in2, mode, boundary, fillvalue, False)


def correlate2d(in1, in2, mode='full', boundary='fill', fillvalue=0):
    """The correlation of two matrices, as convolve2d."""
    return _in_two('correlate2d', in1, in2, mode, boundary, fillvalue, True)


def correlation_lags(in1_len, in2_len, mode='full'):
    """By how much the second is moved in each element of a correlation."""
    lags = numpy.arange(1 - in2_len, in1_len)
    if mode == 'same':
        start = lags.size // 2 - in1_len // 2
        lags = lags[start:start + in1_len]
    elif mode == 'valid':
        shift = in1_len - in2_len
        lags = numpy.arange(shift + 1) if shift >= 0 else numpy.arange(shift, 1)
    elif mode != 'full':
        raise ValueError('Mode %s is invalid' % mode)
    return array_of(lags.tolist(), 'correlation_lags')


def order_filter(a, domain, rank):
    """The element of this rank among those that the domain, a window of odd extents, covers; 0 beyond the borders."""
    a = array_of(a, 'order_filter')
    window = numpy.asarray(domain.get() if isinstance(domain, _core.ndarray) else domain)
    if any(n % 2 == 0 for n in window.shape):
        raise ValueError('Each dimension of domain argument should have an odd number of elements, given shape %s' % (window.shape,))
    return ndimage.rank_filter(a, int(rank), footprint=window, mode='constant')


def medfilt(volume, kernel_size=None):
    """The median of each window of odd extents; 0 beyond the borders."""
    volume = array_of(volume, 'medfilt')
    sizes = [3] * volume.ndim if kernel_size is None else [int(n) for n in numpy.broadcast_to(numpy.asarray(
        kernel_size.get() if isinstance(kernel_size, _core.ndarray) else kernel_size), (volume.ndim,))]
    if any(n % 2 == 0 for n in sizes):
        raise ValueError('Each element of kernel_size should be odd, given %s' % (sizes,))
    return ndimage.median_filter(volume, size=sizes, mode='constant')


def medfilt2d(input, kernel_size=3):
    """medfilt of a matrix."""
    input = array_of(input, 'medfilt2d')
    if input.ndim != 2:
        raise ValueError('medfilt2d: expected a matrix, given %d axes' % input.ndim)
    return medfilt(input, kernel_size)


def __getattr__(name):
    if name in ('fftconvolve', 'oaconvolve', 'stft', 'istft', 'hilbert', 'hilbert2', 'spectrogram', 'periodogram', 'welch', 'csd', 'coherence'):
        raise AttributeError(f'cupyx.scipy.signal.{name} is not here: it needs complex numbers, and there are no complex dtypes; scipy.signal '
                             'has it for cupy.asnumpy(x)' + ('; convolve computes sums' if 'convolve' in name else ''))
    raise _names.absent('cupyx.scipy.signal', name)
