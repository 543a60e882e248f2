"""FIR filter design. The host computes the coefficients in float64."""

import math
import operator

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy.ndimage import convolve1d
from catenary.cupyx.scipy.signal._filter_conversions import host, sent
from catenary.cupyx.scipy.signal.windows import get_window


def kaiser_beta(a):
    """Returns the parameter beta of the Kaiser window for an attenuation in decibels."""
    return 0.1102 * (a - 8.7) if a > 50 else 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) if a > 21 else 0.0


def kaiser_atten(numtaps, width):
    """Returns the attenuation in decibels of a Kaiser window of numtaps elements, with the transition `width` relative to the Nyquist frequency."""
    return 2.285 * (numtaps - 1) * math.pi * width + 7.95


def kaiserord(ripple, width):
    """Returns (number of taps, beta) of a Kaiser window for ripples in decibels and the transition `width` relative to the Nyquist frequency."""
    ripple = abs(ripple)
    if ripple < 8:
        raise ValueError('Requested maximum ripple attentuation %f is too small for the Kaiser formula.' % ripple)
    return math.ceil((ripple - 7.95) / 2.285 / (math.pi * width) + 1), kaiser_beta(ripple)


def _nyquist(fs):
    if fs is not None and (numpy.ndim(fs) or not fs > 0):
        raise ValueError('Sampling frequency fs must be a single scalar.')
    return 1.0 if fs is None else fs / 2


def _window(window, n):
    return get_window(window, n, fftbins=False).get().astype('d')


def firwin(numtaps, cutoff, width=None, window='hamming', pass_zero=True, scale=True, fs=None):
    """Returns numtaps coefficients of a FIR filter, designed by the window method.

    The cutoffs alternate between passband and stopband. pass_zero (True, 'lowpass' or 'bandstop', else False, 'highpass' or 'bandpass') decides
    whether frequency 0 passes. `width`, the width of the transitions, selects a Kaiser window instead of `window`. `scale` makes the gain 1 in the
    middle of the first passband. Raises ValueError if the cutoffs are not increasing, and if an even number of coefficients would have to pass the
    Nyquist frequency.
    """
    nyquist = _nyquist(fs)
    edges = host(cutoff) / nyquist
    if edges.ndim > 1:
        raise ValueError('The cutoff argument must be at most one-dimensional.')
    if edges.size == 0:
        raise ValueError('At least one cutoff frequency must be given.')
    if edges.min() <= 0 or edges.max() >= 1:
        raise ValueError('Invalid cutoff frequency: frequencies must be greater than 0 and less than fs/2.')
    if (numpy.diff(edges) <= 0).any():
        raise ValueError('Invalid cutoff frequencies: the frequencies must be strictly increasing.')
    if width is not None:
        window = ('kaiser', kaiser_beta(kaiser_atten(numtaps, float(width) / nyquist)))
    if isinstance(pass_zero, str):
        counts = {'lowpass': (True, 1), 'highpass': (False, 1), 'bandstop': (True, 2), 'bandpass': (False, 2)}
        if pass_zero not in counts:
            raise ValueError(f'pass_zero must be True, False, "bandpass", "lowpass", "highpass", or "bandstop", got {pass_zero}')
        name, (pass_zero, count) = pass_zero, counts[pass_zero]
        if (edges.size == 1) != (count == 1):
            raise ValueError(f'cutoff must have {"one element" if count == 1 else "at least two elements"} if pass_zero=="{name}", got {edges.size}')
    pass_zero = bool(operator.index(pass_zero))
    passes_nyquist = bool(edges.size % 2) != pass_zero
    if passes_nyquist and numtaps % 2 == 0:
        raise ValueError('A filter with an even number of coefficients must have zero response at the Nyquist frequency.')
    bands = numpy.concatenate([[0.0] * pass_zero, edges, [1.0] * passes_nyquist]).reshape(-1, 2)
    places = numpy.arange(numtaps) - (numtaps - 1) / 2
    h = sum(high * numpy.sinc(high * places) - low * numpy.sinc(low * places) for low, high in bands) * _window(window, numtaps)
    if scale:
        low, high = bands[0]
        h = h / (h * numpy.cos(numpy.pi * places * (0.0 if low == 0 else 1.0 if high == 1 else (low + high) / 2))).sum()
    return sent(h)


def firwin2(numtaps, freq, gain, nfreqs=None, window='hamming', antisymmetric=False, fs=None):
    """Returns numtaps coefficients of a FIR filter with the given gains at the given frequencies, interpolated linearly from 0 to the Nyquist
    frequency.

    A frequency that appears twice is a step. Raises ValueError if the frequencies decrease, and if this number of coefficients cannot have these
    gains.
    """
    nyquist = _nyquist(fs)
    freq, gain = host(freq).copy(), host(gain)
    if freq.size != gain.size:
        raise ValueError('freq and gain must be of same length.')
    if nfreqs is not None and numtaps >= nfreqs:
        raise ValueError('ntaps must be less than nfreqs, but firwin2 was called with ntaps=%d and nfreqs=%s' % (numtaps, nfreqs))
    if freq[0] != 0 or freq[-1] != nyquist:
        raise ValueError('freq must start with 0 and end with fs/2.')
    step = numpy.diff(freq)
    if (step < 0).any():
        raise ValueError('The values in freq must be nondecreasing.')
    if ((step[:-1] + step[1:]) == 0).any():
        raise ValueError('A value in freq must not occur more than twice.')
    if freq[1] == 0:
        raise ValueError('Value 0 must not be repeated in freq')
    if freq[-2] == nyquist:
        raise ValueError('Value fs/2 must not be repeated in freq')
    kind = (3 if numtaps % 2 else 4) if antisymmetric else 1 if numtaps % 2 else 2
    if kind in (2, 3) and gain[-1] != 0:
        raise ValueError('A Type %s filter must have zero gain at the Nyquist frequency.' % ('II' if kind == 2 else 'III'))
    if kind in (3, 4) and gain[0] != 0:
        raise ValueError('A Type %s filter must have zero gain at zero frequency.' % ('III' if kind == 3 else 'IV'))
    nfreqs = 1 + 2 ** math.ceil(math.log2(numtaps)) if nfreqs is None else nfreqs
    if (step == 0).any():
        apart = numpy.finfo(float).eps * nyquist
        for k in numpy.flatnonzero(step == 0):
            freq[k], freq[k + 1] = freq[k] - apart, freq[k + 1] + apart
        if (numpy.diff(freq) <= 0).any():
            raise ValueError('freq cannot contain numbers that are too close (within eps * (fs/2)) to a repeated value')
    at = numpy.linspace(0.0, nyquist, nfreqs)
    turned = numpy.exp(-(numtaps - 1) / 2 * 1j * numpy.pi * at / nyquist) * (1j if antisymmetric else 1)
    h = numpy.fft.irfft(numpy.interp(at, freq, gain) * turned)[:numtaps]
    if window is not None:
        h = h * _window(window, numtaps)
    if kind == 3:
        h[numtaps // 2] = 0
    return sent(h)


def firls(numtaps, bands, desired, weight=None, fs=None):
    """Returns numtaps coefficients (an odd number) of a linear-phase FIR filter by weighted least squares.

    `bands` are pairs of frequencies, `desired` the gains at these, between which the gain is linear, and `weight` one number per band. Raises
    ValueError for inconsistent arguments.
    """
    nyquist = _nyquist(fs)
    numtaps = int(numtaps)
    if numtaps % 2 == 0 or numtaps < 1:
        raise ValueError('numtaps must be odd and >= 1')
    bands = host(bands) / nyquist
    if bands.size % 2:
        raise ValueError('bands must contain frequency pairs.')
    bands, desired = bands.reshape(-1, 2), host(desired)
    if (bands < 0).any() or (bands > 1).any():
        raise ValueError('bands must be between 0 and 1 relative to Nyquist')
    if desired.size != bands.size:
        raise ValueError(f'desired must have one entry per frequency, got {desired.size} gains for {bands.size} frequencies.')
    desired = desired.reshape(-1, 2)
    if (numpy.diff(bands) <= 0).any() or (numpy.diff(bands[:, 0]) < 0).any():
        raise ValueError('bands must be monotonically nondecreasing and have width > 0.')
    if (bands[:-1, 1] > bands[1:, 0]).any():
        raise ValueError('bands must not overlap.')
    if (desired < 0).any():
        raise ValueError('desired must be non-negative.')
    weight = numpy.ones(len(desired)) if weight is None else host(weight)
    if len(weight) != len(desired):
        raise ValueError('weight must be the same size as the number of band pairs (%d).' % len(bands))
    if (weight < 0).any():
        raise ValueError('weight must be non-negative.')
    half = (numtaps - 1) // 2
    # integrals over the bands of cos(n w), and of the desired gain times cos(n w)
    n = numpy.arange(2 * half + 1)[:, None, None]
    whole = (numpy.sinc(bands * n) * bands)
    q = numpy.diff(whole, axis=2)[:, :, 0] @ weight
    slope = numpy.diff(desired)[:, 0] / numpy.diff(bands)[:, 0]
    start = desired[:, 0] - bands[:, 0] * slope
    n = numpy.arange(half + 1)[:, None, None]
    with numpy.errstate(all='ignore'):
        bent = numpy.cos(numpy.pi * n * bands) / (numpy.pi * n) ** 2
    bent[0] = bands ** 2 / 2
    of_lines = bands * (slope[:, None] * bands + start[:, None]) * numpy.sinc(bands * n)
    of_lines[0] = start[:, None] * bands
    of_lines += slope[:, None] * bent
    wanted = numpy.diff(of_lines, axis=2)[:, :, 0] @ weight
    rows = numpy.arange(half + 1)
    system = q[abs(rows[:, None] - rows)] + q[rows[:, None] + rows]
    found = numpy.linalg.lstsq(system, wanted, rcond=None)[0]
    return sent(numpy.concatenate([found[:0:-1], [2 * found[0]], found[1:]]))


def minimum_phase(h, method='homomorphic', n_fft=None, half=True):
    """Returns a minimum-phase filter for a symmetric linear-phase filter.

    With `half` the result has half the length and the square root of the gain. method is 'homomorphic' (by the cepstrum) or 'hilbert'. Raises
    ValueError for another method and if n_fft is less than the length.
    """
    h = h.get() if isinstance(h, ndarray) else numpy.asarray(h)
    if h.dtype.kind == 'c':
        raise ValueError('Complex filters not supported')
    if h.ndim != 1 or h.size <= 2:
        raise ValueError('h must be 1-D and at least 2 samples long')
    if method not in ('homomorphic', 'hilbert'):
        raise ValueError("method must be 'homomorphic' or 'hilbert', got %r" % (method,))
    h = h.astype('d')
    n = 2 ** math.ceil(math.log2(2 * (h.size - 1) / 0.01)) if n_fft is None else int(n_fft)
    if n < h.size:
        raise ValueError('n_fft must be at least len(h)==%s' % h.size)

    def folded(log_gain, middle):  # the cepstrum of the minimum phase for this gain
        weights = numpy.zeros(n)
        weights[0], weights[1:n // 2], weights[n // 2] = 1, 2, middle
        return numpy.fft.ifft(log_gain).real * weights
    if method == 'homomorphic':
        gain = abs(numpy.fft.fft(h, n))
        gain = numpy.log(gain + 1e-7 * gain[gain > 0].min())
        made = numpy.fft.ifft(numpy.exp(numpy.fft.fft(folded(gain * 0.5 if half else gain, n % 2)))).real
        return sent(made[:h.size // 2 + h.size % 2 if half else h.size])
    if not half:
        raise ValueError("`half=False` is only supported when `method='homomorphic'`")
    turned = (numpy.fft.fft(h, n) * numpy.exp(1j * numpy.arange(n) * (2 * numpy.pi / n * (h.size // 2)))).real
    above, below = turned.max() - 1, -turned.min()
    scale = 4 / (math.sqrt(1 + above + below) + math.sqrt(1 - above + below)) ** 2
    gain = numpy.sqrt(numpy.maximum((turned + below) * scale, 0)) + 1e-10
    middle = numpy.fft.ifft(numpy.exp(numpy.fft.fft(folded(numpy.log(gain), 1)))).real
    return sent(middle[:(h.size + 1) // 2])


# ------------------------------------------------------------------ polynomials of least squares
def savgol_coeffs(window_length, polyorder, deriv=0, delta=1.0, pos=None, use='conv'):
    """Returns the coefficients of a 1-d Savitzky-Golay filter: the value or derivative, at index pos, of the polynomial fitted to window_length
    samples that are delta apart. The order suits a convolution, or a dot product with use='dot'."""
    if polyorder >= window_length:
        raise ValueError('polyorder must be less than window_length.')
    half, rest = divmod(window_length, 2)
    place = (half if rest else half - 0.5) if pos is None else pos
    if not 0 <= place < window_length:
        raise ValueError('pos must be nonnegative and less than window_length.')
    if use not in ('conv', 'dot'):
        raise ValueError("`use` must be 'conv' or 'dot'")
    if deriv > polyorder:
        return sent(numpy.zeros(window_length))
    at = numpy.arange(-place, window_length - place, dtype=float)
    wanted = numpy.zeros(polyorder + 1)
    wanted[deriv] = math.factorial(deriv) / delta ** deriv
    found = numpy.linalg.lstsq(at ** numpy.arange(polyorder + 1)[:, None], wanted, rcond=None)[0]
    return sent(found[::-1] if use == 'conv' else found)


def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode='interp', cval=0.0):
    """Applies a Savitzky-Golay filter along an axis. mode='interp' evaluates the polynomial of the outermost window near the ends, other modes extend
    the signal as scipy.ndimage does."""
    if mode not in ('mirror', 'constant', 'nearest', 'interp', 'wrap'):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest' 'wrap' or 'interp'.")
    x = operand(x, 'savgol_filter')
    x = x if x.dtype.char in 'fd' else x.astype('d')
    weights = savgol_coeffs(window_length, polyorder, deriv, delta).get()
    if mode != 'interp':
        return convolve1d(x, weights, axis, mode=mode, cval=cval)
    n = x.shape[axis]
    if window_length > n:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    made = _core.moveaxis(convolve1d(x, weights, axis, mode='constant'), (axis,), (x.ndim - 1,))
    rows = _core.moveaxis(x, (axis,), (x.ndim - 1,))
    half = window_length // 2
    ends = [savgol_coeffs(window_length, polyorder, deriv, delta, pos, 'dot').get() for pos in (*range(half), *range(window_length - half, window_length))]
    first, last = numpy.stack(ends[:half], 1) if half else None, numpy.stack(ends[half:], 1) if half else None
    if half:
        made[..., :half] = _core.matmul(rows[..., :window_length], sent(first).astype(x.dtype))
        made[..., n - half:] = _core.matmul(rows[..., n - window_length:], sent(last).astype(x.dtype))
    return _core._copy(_core.moveaxis(made, (-1,), (axis,)), 'C')
