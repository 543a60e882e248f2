"""Spectral analysis: periodograms, Welch's method, short-time Fourier transforms, detrend, hilbert and Fourier resampling."""

import warnings

import numpy

from catenary import _core
from catenary.cupy import fft as _fft
from catenary.cupy._arguments import operand
from catenary.cupy._array import asarray, ndarray
from catenary.cupyx.scipy._complex import of_parts
from catenary.cupyx.scipy.signal._convolutions import overlapped
from catenary.cupyx.scipy.signal.windows import get_window

_conjugate, _absolute = _core.ufuncs['conjugate'], _core.ufuncs['absolute']


def _floating(x):
    """Converts the array to a dtype that can be transformed."""
    return x if x.dtype.char in 'fdFD' else x.astype('f' if x.dtype == 'e' else 'd')


def _last(x, axis):
    if not -x.ndim <= axis < x.ndim:
        raise numpy.exceptions.AxisError(axis, x.ndim)
    return _core.moveaxis(x, (axis,), (x.ndim - 1,))


def detrend(data, axis=-1, type='linear', bp=0, overwrite_data=False):
    """Subtracts the mean along an axis ('constant'), or the least-squares line of each piece between the break points bp ('linear')."""
    if type not in ('linear', 'l', 'constant', 'c'):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    data = _floating(operand(data, 'detrend'))
    if type in ('constant', 'c'):
        return data - _core.mean(data, axis=axis, keepdims=True)
    x = _last(data, axis)
    n = x.shape[-1]
    points = numpy.unique(numpy.concatenate([[0], numpy.atleast_1d(bp.get() if isinstance(bp, ndarray) else bp), [n]]).astype(int))
    if points.size and (points[-1] > n or points[0] < 0):
        raise ValueError('Breakpoints must be less than length of data along given axis.')
    made = []
    for start, stop in zip(points[:-1], points[1:]):
        piece = x[..., start:stop]
        t = numpy.arange(stop - start) - (stop - start - 1) / 2
        t = _core.from_numpy(t / ((t * t).sum() or 1) ** 0.5, None).astype(numpy.result_type(x.real.dtype))
        piece = piece - _core.mean(piece, axis=-1, keepdims=True)
        made.append(piece - _core.sum(piece * t, axis=-1, keepdims=True) * t)
    return _core._copy(_core.moveaxis(_core._concatenate(made, -1) if made else x, (-1,), (axis,)), 'C')


def _analytic_weights(n):
    weights = numpy.zeros(n)
    weights[0] = 1
    weights[1:(n + 1) // 2] = 2
    if n % 2 == 0:
        weights[n // 2] = 1
    return weights


def hilbert(x, N=None, axis=-1):
    """Returns the analytic signal, whose imaginary part is the Hilbert transform of x. Raises ValueError for complex input."""
    x = operand(x, 'hilbert')
    if x.dtype.kind == 'c':
        raise ValueError('x must be real.')
    N = x.shape[axis] if N is None else N
    if N <= 0:
        raise ValueError('N must be positive.')
    spectrum = _last(_fft.fft(x, N, axis), axis)
    weights = _core.from_numpy(_analytic_weights(N), None).astype(spectrum.real.dtype)
    return _fft.ifft(_core.moveaxis(spectrum * weights, (-1,), (axis,)), axis=axis)


def hilbert2(x, N=None, axes=(-2, -1)):
    """Returns the 2-d analytic signal with transform lengths N: only frequencies that are non-negative along both axes remain."""
    x = operand(x, 'hilbert2')
    if x.ndim < 2:
        raise ValueError('x must be at least 2-D.')
    if x.dtype.kind == 'c':
        raise ValueError('x must be real.')
    if isinstance(N, int) and N <= 0:
        raise ValueError(f'N must be positive, not {N}')
    lengths = tuple(x.shape[k] for k in axes) if N is None else (N, N) if isinstance(N, int) else tuple(N)
    if len(lengths) != 2 or min(lengths) <= 0:
        raise ValueError('When given as a tuple, N must hold exactly two positive integers')
    spectrum = _core.moveaxis(_fft.fft2(x, lengths, axes), tuple(axes), (-2, -1))
    weights = [_analytic_weights(n) for n in lengths]
    for k, n in enumerate(lengths):
        weights[k][(n + 1) // 2:] = 0
    product = _core.from_numpy(weights[0][:, None] * weights[1], None).astype(spectrum.real.dtype)
    return _fft.ifft2(_core.moveaxis(spectrum * product, (-2, -1), tuple(axes)), axes=axes)


def resample(x, num, t=None, axis=0, window=None, domain='time'):
    """Resamples a periodic signal to num samples along an axis by its Fourier transform. domain='freq' takes the transform itself. With sample
    positions t it returns (samples, positions)."""
    if domain not in ('time', 'freq'):
        raise ValueError(f"Acceptable domain flags are 'time' or 'freq', not domain={domain}")
    if num <= 0:
        raise ValueError('resample: num must be positive, not %r' % (num,))
    x = _floating(operand(x, 'resample'))
    n = x.shape[axis]
    real = domain == 'time' and x.dtype.kind != 'c'
    spectrum = _last(x if domain == 'freq' else _fft.rfft(x, axis=axis) if real else _fft.fft(x, axis=axis), axis)
    if spectrum.dtype.kind != 'c':
        spectrum = spectrum.astype(numpy.result_type(spectrum.dtype, 'F'))
    if window is not None:
        if callable(window):
            weights = asarray(window(_fft.fftfreq(n)))
        elif isinstance(window, (ndarray, numpy.ndarray)):
            if window.shape != (n,):
                raise ValueError(f'window must have as many elements as there are frequency bins: window.shape={window.shape} != ({n},)')
            weights = asarray(window)
        else:
            weights = _fft.fftshift(get_window(window, n))
        if real:
            mirrored = _core._concatenate([weights[:1], weights[:0:-1]], 0)
            weights = ((weights + mirrored) * 0.5)[:n // 2 + 1]
        spectrum = spectrum * weights.astype(spectrum.real.dtype)
    least = min(num, n)
    half = least // 2 + 1
    middle = _core.ones((half,), spectrum.real.dtype)
    if real:
        if least % 2 == 0 and num != n:
            middle[-1] = 2 if num < n else 0.5
        made = _fft.irfft(spectrum[..., :half] * middle, num)
    else:
        positive = spectrum[..., :half]
        negative = spectrum[..., n - (least - half):] if least > half else spectrum[..., :0]
        zeros = _core.zeros(spectrum.shape[:-1] + (num - least,), spectrum.dtype)
        if least % 2 == 0 and num != n:
            edge = positive[..., -1:]
            if num < n:
                edge = edge + spectrum[..., n - least // 2:n - least // 2 + 1]
                positive = _core._concatenate([positive[..., :-1], edge], -1)
            else:
                positive, zeros = _core._concatenate([positive[..., :-1], edge * 0.5], -1), _core._concatenate([zeros[..., :-1], edge * 0.5], -1)
        made = _fft.ifft(_core._concatenate([positive, zeros, negative], -1))
    made = _core._copy(_core.moveaxis(made * (num / n), (-1,), (axis,)), 'C')
    if t is None:
        return made
    t = asarray(t)
    return made, _core.arange(num) * (t[1] - t[0]) * n / float(num) + t[0]


def _extended(x, boundary, n):
    """Extends the last axis by n elements at both ends."""
    if boundary is None or n < 1:
        return x
    if boundary not in ('even', 'odd', 'constant', 'zeros'):
        raise ValueError(f"Unknown boundary option '{boundary}', must be one of: ['even', 'odd', 'constant', 'zeros', None]")
    if boundary in ('even', 'odd') and n > x.shape[-1] - 1:
        raise ValueError(f'The extension length n ({n}) is too big. It must not exceed x.shape[axis]-1, which is {x.shape[-1] - 1}.')
    first, last = x[..., :1], x[..., -1:]
    if boundary == 'zeros':
        left = right = _core.zeros(x.shape[:-1] + (n,), x.dtype)
    elif boundary == 'constant':
        left, right = _core.repeat(first, n, axis=x.ndim - 1), _core.repeat(last, n, axis=x.ndim - 1)
    else:
        left, right = x[..., n:0:-1], x[..., -2:-n - 2:-1]
        if boundary == 'odd':
            left, right = 2 * first - left, 2 * last - right
    return _core._concatenate([left, x, right], -1)


def _weights(window, nperseg, length, function):
    """Returns (weights of the window, length of a segment)."""
    if isinstance(window, (str, tuple)):
        nperseg = 256 if nperseg is None else int(nperseg)
        if nperseg > length:
            warnings.warn(f'nperseg = {nperseg:d} is greater than input length  = {length:d}, using nperseg = {length:d}', stacklevel=4)
            nperseg = length
        return get_window(window, nperseg), nperseg
    weights = asarray(window)
    if weights.ndim != 1:
        raise ValueError('window must be 1-D')
    if length < weights.shape[0]:
        raise ValueError('window is longer than input signal')
    if nperseg is not None and int(nperseg) != weights.shape[0]:
        raise ValueError('value specified for nperseg is different from length of window')
    return weights, weights.shape[0]


def _lengths(nperseg, noverlap, nfft):
    if nperseg < 1:
        raise ValueError('nperseg must be a positive integer')
    nfft = nperseg if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ValueError('nfft must be greater than or equal to nperseg.')
    noverlap = nperseg // 2 if noverlap is None else int(noverlap)
    if noverlap >= nperseg:
        raise ValueError('noverlap must be less than nperseg.')
    return noverlap, nfft


def _removed(how):
    """Returns the function that removes the trend from segments."""
    if not how:
        return lambda x: x
    return how if callable(how) else lambda x: detrend(x, -1, how)


def _spectra(function, x, y, fs, window, nperseg, noverlap, nfft, trend, onesided, scaling, axis, mode, boundary=None, padded=False):
    """Returns (frequencies, times, values [..., frequency, ..., segment]): the spectra of segments of x, or their cross-spectra with y."""
    x, y = operand(x, function), None if y is None else operand(y, function)
    dtype = numpy.result_type(x.dtype, *(() if y is None else (y.dtype,)), 'F')  # small integers are also computed in float64
    x, y = _floating(x), None if y is None else _floating(y)
    axis = axis % x.ndim if -x.ndim <= axis < x.ndim else axis
    signals = [_last(a, axis) for a in ((x,) if y is None else (x, y))]
    if len(signals) == 2:
        n = max(a.shape[-1] for a in signals)
        signals = [_core._concatenate([a, _core.zeros(a.shape[:-1] + (n - a.shape[-1],), a.dtype)], -1) if a.shape[-1] < n else a for a in signals]
    length = signals[0].shape[-1]
    weights, nperseg = _weights(window, nperseg, length, function)
    noverlap, nfft = _lengths(nperseg, noverlap, nfft)
    step = nperseg - noverlap
    signals = [_extended(a, boundary, nperseg // 2) for a in signals]
    if padded:
        more = -(signals[0].shape[-1] - nperseg) % step % nperseg
        signals = [_core._concatenate([a, _core.zeros(a.shape[:-1] + (more,), a.dtype)], -1) for a in signals]
    if scaling == 'density':
        scale = 1 / (fs * float(_core.sum(weights * weights)))
    elif scaling == 'spectrum':
        scale = 1 / float(_core.sum(weights)) ** 2
    else:
        raise ValueError(f'Unknown scaling: {scaling!r}')
    onesided = onesided and all(a.dtype.kind != 'c' for a in signals)
    weights = weights.astype(x.real.dtype if y is None or y.real.dtype == x.real.dtype else 'd')
    trendless, transform = _removed(trend), _fft.rfft if onesided else _fft.fft
    spectra = [transform(weights * trendless(_core.sliding_window_view(a, nperseg, -1)[..., ::step, :]), nfft) for a in signals]
    if mode == 'stft':
        made = spectra[0] * scale ** 0.5
    else:
        made = _conjugate(spectra[0]) * spectra[-1] * scale
        if onesided:
            double = numpy.full(made.shape[-1], 2.)
            double[0] = 1
            if nfft % 2 == 0:
                double[-1] = 1
            made = made * _core.from_numpy(double, None).astype(made.real.dtype)
        made = made.real if y is None else made
    made = made.astype(dtype if made.dtype.kind == 'c' else numpy.empty(0, dtype).real.dtype, copy=False)
    frequencies = (_fft.rfftfreq if onesided else _fft.fftfreq)(nfft, 1 / fs)
    total = signals[0].shape[-1]
    times = numpy.arange(nperseg / 2, total - nperseg / 2 + 1, step) / float(fs)
    times = times - nperseg / 2 / fs if boundary is not None else times
    return frequencies, _core.from_numpy(times, None), _core.moveaxis(made, (-1,), (axis,))


def _same(x, y):
    return None if y is x or y is None else y


def csd(x, y, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, detrend='constant', return_onesided=True, scaling='density',
        axis=-1, average='mean'):
    """Returns (frequencies, cross power spectral density) of two signals: the mean or median of the segments' cross-periodograms."""
    if average not in ('mean', 'median'):
        raise ValueError(f"average must be 'median' or 'mean', got {average}")
    x = operand(x, 'csd')
    if x.size == 0 or y is not None and operand(y, 'csd').size == 0:
        shapes = [a.shape for a in (x, x if y is None else operand(y, 'csd'))]
        rest = numpy.broadcast_shapes(*(numpy.delete(shape, axis).tolist() for shape in map(list, shapes)))
        empty = _core.zeros(rest + (min(shape[axis] for shape in shapes),), 'd')
        empty = _core.moveaxis(empty, (-1,), (axis,))
        return empty, empty
    frequencies, _, made = _spectra('csd', x, _same(x, y), fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, 'psd')
    number = made.shape[-1]
    if average == 'mean' or number == 1:
        return frequencies, _core.mean(made, axis=-1)
    bias = float(1 + (1 / (2 * numpy.arange(1, (number - 1) // 2 + 1) + 1.) - 1 / (2. * numpy.arange(1, (number - 1) // 2 + 1))).sum())
    if made.dtype.kind == 'c':
        made = of_parts(*(_core.median(part, axis=-1) for part in (made.real, made.imag)))
    else:
        made = _core.median(made, axis=-1)
    return frequencies, made / bias


def welch(x, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, detrend='constant', return_onesided=True, scaling='density', axis=-1,
          average='mean'):
    """Returns (frequencies, power spectral density) by Welch's method: the mean or median of the segments' periodograms."""
    return csd(x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def periodogram(x, fs=1.0, window='boxcar', nfft=None, detrend='constant', return_onesided=True, scaling='density', axis=-1):
    """Returns (frequencies, power spectral density) of a whole signal."""
    x = operand(x, 'periodogram')
    if x.size == 0:
        return _core.zeros(x.shape, 'd'), _core.zeros(x.shape, 'd')
    length = x.shape[axis]
    window = 'boxcar' if window is None else window
    if not isinstance(window, (str, tuple)) and len(window) != (length if nfft is None else min(nfft, length)):
        raise ValueError('the size of the window must be the same size of the input on the specified axis')
    if nfft is not None and nfft < length:
        x = _core.moveaxis(_last(x, axis)[..., :nfft], (-1,), (axis,))
        length, nfft = nfft, None
    return welch(x, fs, window, length, 0, nfft, detrend, return_onesided, scaling, axis)


def coherence(x, y, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, detrend='constant', axis=-1):
    """Returns (frequencies, |csd(x, y)|^2 / (welch(x) welch(y)))."""
    own = {'fs': fs, 'window': window, 'nperseg': nperseg, 'noverlap': noverlap, 'nfft': nfft, 'detrend': detrend, 'axis': axis}
    frequencies, of_x = welch(x, **own)
    size = _absolute(csd(x, y, **own)[1])
    return frequencies, size * size / of_x / welch(y, **own)[1]


def spectrogram(x, fs=1.0, window=('tukey', 0.25), nperseg=None, noverlap=None, nfft=None, detrend='constant', return_onesided=True,
                scaling='density', axis=-1, mode='psd'):
    """Returns (frequencies, times, spectra of segments). `mode` is power ('psd'), 'complex', 'magnitude', 'angle' or 'phase'."""
    if mode not in ('psd', 'complex', 'magnitude', 'angle', 'phase'):
        raise ValueError(f"unknown value for mode {mode}, must be one of ['psd', 'complex', 'magnitude', 'angle', 'phase']")
    x = operand(x, 'spectrogram')
    weights, nperseg = _weights(window, nperseg, x.shape[axis], 'spectrogram')
    noverlap = nperseg // 8 if noverlap is None else noverlap
    own = (fs, weights, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis)
    frequencies, times, made = _spectra('spectrogram', x, None, *own, 'psd' if mode == 'psd' else 'stft')
    if mode in ('psd', 'complex'):
        return frequencies, times, made
    if mode == 'magnitude':
        return frequencies, times, _absolute(made)
    angles = _core.ufuncs['arctan2'](made.imag, made.real)
    return frequencies, times, angles if mode == 'angle' else _core.unwrap(angles, axis=axis - 1 if axis < 0 else axis)


_SCALES = {'spectrum': 'spectrum', 'psd': 'density'}


def stft(x, fs=1.0, window='hann', nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True, boundary='zeros', padded=True,
         axis=-1, scaling='spectrum'):
    """Returns (frequencies, times, short-time Fourier transform)."""
    if scaling not in _SCALES:
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    return _spectra('stft', x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, _SCALES[scaling], axis, 'stft', boundary, padded)


def istft(Zxx, fs=1.0, window='hann', nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True, time_axis=-1, freq_axis=-2,
          scaling='spectrum'):
    """Returns (times, signal), the inverse of stft. It warns if the windows do not cover the signal."""
    if scaling not in _SCALES:
        raise ValueError(f"Parameter scaling={scaling!r} not in ['spectrum', 'psd']!")
    spectra = operand(Zxx, 'istft')
    if spectra.ndim < 2:
        raise ValueError('Input stft must be at least 2d!')
    if freq_axis % spectra.ndim == time_axis % spectra.ndim:
        raise ValueError('Must specify differing time and frequency axes!')
    have = spectra.shape[freq_axis]
    whole = 2 * (have - 1) if input_onesided else have
    nperseg = (whole if isinstance(window, (str, tuple)) else len(window)) if nperseg is None else int(nperseg)
    if nperseg < 1:
        raise ValueError('nperseg must be a positive integer')
    nfft = (nperseg if input_onesided and nperseg == whole + 1 else whole) if nfft is None else int(nfft)
    noverlap, nfft = _lengths(nperseg, noverlap, nfft)
    spectra = _core.moveaxis(spectra, (time_axis, freq_axis), (-2, -1))
    weights = get_window(window, nperseg) if isinstance(window, (str, tuple)) else asarray(window)
    if weights.shape != (nperseg,):
        raise ValueError(f'window must have length of {nperseg}, given shape {weights.shape}')
    segments = (_fft.irfft if input_onesided else _fft.ifft)(spectra, nfft)[..., :nperseg]
    weights = weights.astype(segments.real.dtype)
    squares = weights * weights
    factor = float(_core.sum(weights)) if scaling == 'spectrum' else (fs * float(_core.sum(squares))) ** 0.5
    step = nperseg - noverlap
    made = overlapped(segments * weights * factor, step)
    norm = overlapped(_core.broadcast_to(squares, segments.shape[-2:]), step)
    if boundary:
        cut = slice(nperseg // 2, made.shape[-1] - nperseg // 2)
        made, norm = made[..., cut], norm[cut]
    if bool(_core.any(norm <= 1e-10)):
        warnings.warn('NOLA condition failed, STFT may not be invertible.' + (' Possibly due to missing boundary' if not boundary else ''), stacklevel=2)
    made = made / _core.where(norm > 1e-10, norm, 1.0).astype(norm.dtype)
    times = _core.arange(made.shape[-1]) / float(fs)
    if spectra.ndim > 2 and time_axis != -1:
        if freq_axis % spectra.ndim < time_axis % spectra.ndim:
            time_axis = time_axis % spectra.ndim - 1
        made = _core.moveaxis(made, (-1,), (time_axis,))
    return times, made
