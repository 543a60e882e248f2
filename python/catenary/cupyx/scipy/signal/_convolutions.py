"""Convolutions and correlations, by direct sums or Fourier transforms."""

import math

import numpy

from catenary import _core
from catenary.cupy import fft as _fft
from catenary.cupy._arguments import operand
from catenary.cupyx.scipy._sliding_windows import bordered, combined
from catenary.cupyx.scipy.fft import next_fast_len

_BOUNDARIES = {'fill': 'constant', 'wrap': 'wrap', 'circular': 'wrap', 'symm': 'reflect', 'symmetric': 'reflect'}  # as in ndimage


def _both(in1, in2, function):
    x, y = operand(in1, function), operand(in2, function)
    if x.ndim != y.ndim:
        raise ValueError(f'{function}: in1 and in2 should have the same dimensionality, given {x.ndim} and {y.ndim} axes')
    return x, y


def _by_sums(x, y, boundary='constant', value=0):
    """Returns the full convolution as a direct sum. `y` must be the smaller array."""
    dtype = numpy.result_type(x.dtype, y.dtype)
    if dtype == bool:
        return _by_sums(x.astype('i'), y.astype('i'), boundary, value) != 0
    wide = bordered(x.astype(dtype, copy=False), [n - 1 for n in y.shape], [n - 1 for n in y.shape], boundary, value)
    shape = tuple(a + b - 1 for a, b in zip(x.shape, y.shape))
    parts = (wide[tuple(slice(n - 1 - p, n - 1 - p + m) for p, n, m in zip(place, y.shape, shape))] * y[place] for place in numpy.ndindex(y.shape))
    return combined(parts, lambda a, b: a + b).astype(dtype, copy=False)


def _product_of_spectra(x, y, lengths, axes):
    """Returns the circular convolution along the axes, with these transform lengths. The sizes of the other axes broadcast."""
    if not axes:
        return x * y
    if x.dtype.kind == 'c' or y.dtype.kind == 'c':
        return _fft.ifftn(_fft.fftn(x, lengths, axes) * _fft.fftn(y, lengths, axes), lengths, axes)
    return _fft.irfftn(_fft.rfftn(x, lengths, axes) * _fft.rfftn(y, lengths, axes), lengths, axes)


def _by_spectra(x, y, axes=None):
    """Returns the full convolution by Fourier transforms along the axes in which both arrays have more than one element."""
    axes = range(x.ndim) if axes is None else axes
    shape = [a + b - 1 if k in axes else max(a, b) for k, (a, b) in enumerate(zip(x.shape, y.shape))]
    axes = [k for k in axes if x.shape[k] != 1 and y.shape[k] != 1]
    lengths = [next_fast_len(shape[k]) for k in axes]
    return _product_of_spectra(x, y, lengths, axes)[tuple(slice(0, n) for n in shape)]


def _in_blocks(x, y, axes):
    """Returns the result of _by_spectra by overlap-add. The longer array is cut into blocks along the axis in which it exceeds the other array most."""
    if not axes:
        return _by_spectra(x, y, axes)
    along = max(axes, key=lambda k: max(x.shape[k], y.shape[k]) / min(x.shape[k], y.shape[k]))
    if x.shape[along] < y.shape[along]:
        x, y = y, x
    n, overlap = x.shape[along], y.shape[along] - 1
    length = next_fast_len(max(8 * (overlap + 1), 64))
    step = length - overlap
    if overlap == 0 or 2 * step >= n:
        return _by_spectra(x, y, axes)
    blocks = -(-n // step)
    rest = list(x.shape)
    rest[along] = blocks * step - n
    x = _core._concatenate([x, _core.zeros(tuple(rest), x.dtype)], along)
    x = x.reshape(x.shape[:along] + (blocks, step) + x.shape[along + 1:])
    y = _core.expand_dims(y, along)
    made = _by_spectra(x, y, [k + (k >= along) for k in axes])
    made = overlapped(_core.moveaxis(made, (along, along + 1), (-2, -1)), step)
    return _core.moveaxis(made[..., :n + overlap], (-1,), (along,))


def overlapped(blocks, step):
    """Sums overlapping blocks [..., number, element], each of which starts `step` elements after the previous one."""
    number, length = blocks.shape[-2:]
    parts = -(-length // step)
    wide = _core._concatenate([blocks, _core.zeros(blocks.shape[:-1] + (parts * step - length,), blocks.dtype)], -1)
    rows = blocks.shape[:-2]

    def moved(k):
        zeros = [_core.zeros(rows + (n, step), blocks.dtype) for n in (k, parts - 1 - k)]
        return _core._concatenate([zeros[0], wide[..., k * step:(k + 1) * step], zeros[1]], -2)
    total = combined((moved(k) for k in range(parts)), lambda a, b: a + b)
    return total.reshape(rows + ((number + parts - 1) * step,))[..., :(number - 1) * step + length]


def _cut(full, shape, starts):
    return _core._copy(full[tuple(slice(s, s + n) for s, n in zip(starts, shape))], 'C')


def _check_mode(x, y, mode, function, axes):
    """Checks that in 'valid' mode one array is at least as large as the other along each axis, and returns which."""
    if mode not in ('full', 'same', 'valid'):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full', not %r" % (mode,))
    if mode == 'valid' and not (all(x.shape[k] >= y.shape[k] for k in axes) or all(x.shape[k] <= y.shape[k] for k in axes)):
        raise ValueError(f"{function}: for 'valid' mode, one must be at least as large as the other in every dimension, given shapes "
                         f'{x.shape} and {y.shape}')


def _of_mode(full, x, y, mode, axes, late=False):
    if mode == 'full':
        return full if full.flags.c_contiguous else _core._copy(full, 'C')
    shape, starts = list(full.shape), [0] * full.ndim
    for k in axes:
        a, b = x.shape[k], y.shape[k]
        shape[k], starts[k] = (a, (b - (not late)) // 2) if mode == 'same' else (abs(a - b) + 1, min(a, b) - 1)
    return _cut(full, shape, starts)


def _convolved(x, y, mode, function, boundary='constant', value=0, late=False, method='direct'):
    axes = range(x.ndim)
    if x.size == 0 or y.size == 0:
        _check_mode(x[:0], x[:0], mode, function, ())
        return _core.zeros((0,), numpy.result_type(x.dtype, y.dtype))
    _check_mode(x, y, mode, function, axes)
    if method == 'fft':
        dtype = numpy.result_type(x.dtype, y.dtype)
        wide = numpy.dtype('d') if dtype == bool else dtype
        full = _by_spectra(x.astype(wide, copy=False), y.astype(wide, copy=False))
        full = _core.around(full) if dtype.kind in 'iub' else full
        return _of_mode(full.astype(dtype, copy=False), x, y, mode, axes, late)
    large, small = (y, x) if y.size > x.size and boundary == 'constant' and value == 0 or mode == 'valid' and any(
        a < b for a, b in zip(x.shape, y.shape)) else (x, y)
    return _of_mode(_by_sums(large, small, boundary, value), x, y, mode, axes, late)


def _method(method, x, y, mode):
    if method not in ('auto', 'direct', 'fft'):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft', not %r" % (method,))
    return choose_conv_method(x, y, mode) if method == 'auto' else method


def convolve(in1, in2, mode='full', method='auto'):
    """Returns the convolution of two arrays by direct sums ('direct') or Fourier transforms ('fft'), rounded for integers."""
    x, y = _both(in1, in2, 'convolve')
    method = _method(method, x, y, mode)
    return x * y if x.ndim == 0 else _convolved(x, y, mode, 'convolve', method=method)


def correlate(in1, in2, mode='full', method='auto'):
    """Returns the cross-correlation of two arrays, as scipy.signal.correlate. The second array is conjugated."""
    x, y = _both(in1, in2, 'correlate')
    method = _method(method, x, y, mode)
    y = _core.ufuncs['conjugate'](y) if y.dtype.kind == 'c' else y
    if x.ndim == 0:
        return x * y
    return _convolved(x, y[(slice(None, None, -1),) * y.ndim], mode, 'correlate', method=method)


def _is_faster_by_spectra(x, y):
    """Estimates whether transforms are faster. The direct sum costs microseconds per element of the smaller array plus nanoseconds per product; the
    alternative is three transforms."""
    small, out = min(x.size, y.size), math.prod(a + b - 1 for a, b in zip(x.shape, y.shape))
    sums = small * (40e-6 + 0.5e-9 * out)
    return sums > 500e-6 + 5e-9 * out * math.log2(out + 1) * 3


def choose_conv_method(in1, in2, mode='full', measure=False):
    """Returns the faster method, 'fft' or 'direct'. It is 'direct' for integers too large for an exact transform. With `measure` it also returns a
    dict of the seconds of both."""
    x, y = _both(in1, in2, 'choose_conv_method')
    if measure:
        from time import perf_counter
        times = {}
        for method in ('direct', 'fft'):
            start = perf_counter()
            convolve(x, y, mode, method)
            _core.deviceSynchronize()
            times[method] = perf_counter() - start
        return min(times, key=times.get), times
    dtype = numpy.result_type(x.dtype, y.dtype)
    if x.size == 0 or y.size == 0 or dtype == bool or not _is_faster_by_spectra(x, y):
        return 'direct'
    if dtype.kind in 'iu':
        largest = [max(abs(int(_core.max(a))), abs(int(_core.min(a)))) for a in (x, y)]
        if largest[0] * largest[1] * min(x.size, y.size) >= 2 ** 51:
            return 'direct'
    return 'fft'


def _along_axes(in1, in2, mode, axes, function, compute):
    x, y = _both(in1, in2, function)
    if x.ndim == 0:
        return x * y
    if x.size == 0 or y.size == 0:
        return _core.zeros((0,), 'd')
    given, axes = axes is not None, range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    if given and not axes:
        raise ValueError(f'{function}: when provided, axes cannot be empty')
    if any(not -x.ndim <= k < x.ndim for k in axes):
        raise ValueError(f'{function}: axes exceeds dimensionality of input: {axes} of {x.ndim} axes')
    axes = sorted({k % x.ndim for k in axes})
    if any(k not in axes and a != b and 1 not in (a, b) for k, (a, b) in enumerate(zip(x.shape, y.shape))):
        raise ValueError(f'{function}: incompatible shapes for in1 and in2: {x.shape} and {y.shape}')
    _check_mode(x, y, mode, function, axes)
    # SciPy also takes the centre of an axis along which in1 is broadcast
    cut = [k for k in range(x.ndim) if k in axes or x.shape[k] == 1] if mode == 'same' else axes
    if all(1 in (x.shape[k], y.shape[k]) for k in axes):  # without a transform integers stay integers
        return _of_mode(x * y, x, y, mode, cut)
    dtype = numpy.result_type(x.dtype, y.dtype)
    dtype = dtype if dtype.char in 'fdFD' else numpy.dtype('f' if dtype == 'e' else 'd')
    x, y = x.astype(dtype, copy=False), y.astype(dtype, copy=False)
    return _of_mode(_core._copy(compute(x, y, axes), 'C'), x, y, mode, cut)


def fftconvolve(in1, in2, mode='full', axes=None):
    """Returns the convolution of two arrays by Fourier transforms along the given axes, or along all. The sizes of the other axes broadcast."""
    return _along_axes(in1, in2, mode, axes, 'fftconvolve', _by_spectra)


def oaconvolve(in1, in2, mode='full', axes=None):
    """Returns the result of fftconvolve by overlap-add: the longer array is transformed in blocks along one of the axes."""
    return _along_axes(in1, in2, mode, axes, 'oaconvolve', _in_blocks)


def _in_two(function, in1, in2, mode, boundary, fillvalue, turn):
    x, y = _both(in1, in2, function)
    if x.ndim != 2:
        raise ValueError(f'{function} inputs must both be 2-D arrays, given {x.ndim} axes')
    if boundary not in _BOUNDARIES:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm'), not %r" % (boundary,))
    if x.dtype == y.dtype == bool:
        raise ValueError(f'{function} not available for this type: astype to an integer dtype')
    if turn:
        y = _core.ufuncs['conjugate'](y) if y.dtype.kind == 'c' else y
        y = y[::-1, ::-1]
    return _convolved(x, y, mode, function, _BOUNDARIES[boundary], fillvalue, turn)


def convolve2d(in1, in2, mode='full', boundary='fill', fillvalue=0):
    """Returns the convolution of two matrices. Beyond the borders are a constant ('fill'), the periodic continuation ('wrap') or the mirrored matrix
    ('symm')."""
    return _in_two('convolve2d', in1, in2, mode, boundary, fillvalue, False)


def correlate2d(in1, in2, mode='full', boundary='fill', fillvalue=0):
    """Returns the cross-correlation of two matrices with the borders of convolve2d. The second matrix is conjugated."""
    return _in_two('correlate2d', in1, in2, mode, boundary, fillvalue, True)


def correlation_lags(in1_len, in2_len, mode='full'):
    """Returns the displacement of the second array for each element of a correlation."""
    lags = numpy.arange(1 - in2_len, in1_len)
    if mode == 'same':
        start = lags.size // 2 - in1_len // 2
        lags = lags[start:start + in1_len]
    elif mode == 'valid':
        shift = in1_len - in2_len
        lags = numpy.arange(shift + 1) if shift >= 0 else numpy.arange(shift, 1)
    elif mode != 'full':
        raise ValueError('Mode %s is invalid' % mode)
    return operand(lags.tolist(), 'correlation_lags')
