"""Zero-phase filtering (filtfilt, sosfiltfilt) and resampling (upfirdn, resample_poly, decimate), with lfiltic, deconvolve and wiener."""

import math
import operator

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy._sliding_windows import combined
from catenary.cupyx.scipy.ndimage import uniform_filter
from catenary.cupyx.scipy.signal._convolutions import convolve
from catenary.cupyx.scipy.signal._lfilter import lfilter, passed, passed_sections, sosfilt, steady, steady_sections
from catenary.cupyx.scipy.signal._from_scipy import checked_sections, host, scipy_function, sent


def _rows(x, axis):
    if not -x.ndim <= axis < x.ndim:
        raise numpy.exceptions.AxisError(axis, x.ndim)
    return _core.moveaxis(x, (axis,), (x.ndim - 1,))


def _back(rows, axis):
    return _core._copy(_core.moveaxis(rows, (-1,), (axis,)), 'C')


# ------------------------------------------------------------------ forwards and backwards
def _continued(rows, kind, padlen, taps):
    """Returns (rows extended at both ends, number of samples added at each). Raises ValueError for an unknown kind and for rows that are too short."""
    if kind not in ('odd', 'even', 'constant', None):
        raise ValueError(f"Unknown value '{kind}' given to padtype. padtype must be 'even', 'odd', 'constant', or None.")
    n = 0 if kind is None else 3 * taps if padlen is None else int(padlen)
    if rows.shape[-1] <= n:
        raise ValueError('The length of the input vector x must be greater than padlen, which is %d.' % n)
    if n < 1:
        return rows, 0
    first, last = rows[..., :1], rows[..., -1:]
    if kind == 'constant':
        shape = rows.shape[:-1] + (n,)
        return _core._concatenate([_core.broadcast_to(first, shape), rows, _core.broadcast_to(last, shape)], -1), n
    before, after = rows[..., n:0:-1], rows[..., -2:-2 - n:-1]
    if kind == 'odd':
        before, after = 2 * first - before, 2 * last - after
    return _core._concatenate([before, rows, after], -1), n


def _without_ends(made, n):
    return made[..., n:made.shape[-1] - n] if n else made


def _gustafsson(b, a, rows):
    """Filters forwards and backwards from the initial states for which the order of the two passes does not matter (Gustafsson, 1996)."""
    def forth(values):
        return passed(b, a, values)

    def back(values):
        return forth(values[..., ::-1])[..., ::-1]
    order = max(len(a), len(b)) - 1
    if order == 0:
        return back(forth(rows))
    n = rows.shape[-1]
    states = _core.eye(order, dtype=rows.dtype)
    own = passed(b, a, _core.zeros((order, n), rows.dtype), states)  # zero-input response to each initial state
    turned = own[:, ::-1]
    first_forth, first_back = back(forth(rows)), forth(back(rows))
    system = _core._concatenate([back(own) - own, turned - forth(turned)], 0).get()
    wanted = (first_back - first_forth).get().reshape(-1, n)
    found = sent(numpy.linalg.lstsq(system.T, wanted.T, rcond=None)[0].T).astype(rows.dtype)
    made = first_forth.reshape(-1, n) + found[:, :order] @ back(own) + found[:, order:] @ turned
    return made.reshape(rows.shape)


def filtfilt(b, a, x, axis=-1, padtype='odd', padlen=None, method='pad', irlen=None):
    """Filters along an axis forwards and backwards, so that the result has zero phase.

    The ends are extended by padlen samples (padtype 'odd', 'even', 'constant' or None). method='gust' instead chooses the initial states for which
    the order of the passes does not matter, and ignores irlen. Raises ValueError if x is not longer than padlen.
    """
    b, a = host(b), host(a)
    x = operand(x, 'filtfilt')
    if method not in ('pad', 'gust'):
        raise ValueError("method must be 'pad' or 'gust'.")
    rows = _rows(x, axis)
    if method == 'gust':
        kind = numpy.result_type(rows.dtype, b.dtype, a.dtype)
        return _back(_gustafsson(b, a, rows.astype(kind)), axis)
    wide, n = _continued(rows, padtype, padlen, max(len(a), len(b)))
    rest = steady(b, a)
    made = passed(b, a, wide, rest * wide[..., :1])
    turned = made[..., ::-1]
    made = passed(b, a, turned, rest * turned[..., :1])[..., ::-1]
    return _back(_without_ends(made, n), axis)


def sosfiltfilt(sos, x, axis=-1, padtype='odd', padlen=None):
    """Filters with second-order sections forwards and backwards along an axis, as filtfilt."""
    sos = checked_sections(sos)
    x = operand(x, 'sosfiltfilt')
    taps = 2 * len(sos) + 1 - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
    wide, n = _continued(_rows(x, axis), padtype, padlen, taps)
    rest = steady_sections(sos).reshape(len(sos), *(1,) * (x.ndim - 1), 2)
    rest = _core.broadcast_to(rest, (len(sos), *wide.shape[:-1], 2))
    made = passed_sections(sos, wide, rest * wide[..., :1])
    turned = made[..., ::-1]
    made = passed_sections(sos, turned, rest * turned[..., :1])[..., ::-1]
    return _back(_without_ends(made, n), axis)


def lfiltic(b, a, y, x=None):
    """Returns the initial state for lfilter from previous outputs y and inputs x, latest first. Missing samples are zero. Without x and y the state
    is None."""
    if y is None and x is None:
        return None
    kinds = [getattr(v, 'dtype', None) or numpy.asarray(v).dtype for v in (b, a, y, x) if v is not None]
    kind = numpy.result_type(*kinds)
    b, a = host(b), host(a)
    if not a.size or not a.any() or a[0] == 0:
        raise ValueError('There must be at least one nonzero `a` coefficient.')
    y, x = (numpy.zeros(0) if v is None else host(v) for v in (y, x))
    y, x = (numpy.concatenate([v[:n], numpy.zeros(max(0, n - len(v)))]) for v, n in ((y, len(a) - 1), (x, len(b) - 1)))
    state = numpy.concatenate([x[::-1], y[::-1]])
    return sent(state.astype(kind if kind.char in 'fdFD' else 'd'))


def deconvolve(signal, divisor):
    """Returns (quotient, remainder) such that signal = convolve(divisor, quotient) + remainder."""
    signal, divisor = (_core._copy(operand(v, 'deconvolve').ravel() if getattr(v, 'ndim', 1) == 0 else operand(v, 'deconvolve'), 'C') for v in (signal, divisor))
    if signal.ndim > 1:
        raise ValueError('signal must be 1-D.')
    if divisor.ndim > 1:
        raise ValueError('divisor must be 1-D.')
    n, d = signal.size, divisor.size
    if d > n:
        return _core.zeros((0,), numpy.result_type(signal.dtype, divisor.dtype, 'f')), signal
    impulse = numpy.zeros(n - d + 1)
    impulse[0] = 1
    quotient = lfilter(signal, divisor, sent(impulse))
    return quotient, signal - convolve(divisor, quotient, mode='full')


# ------------------------------------------------------------------ more and fewer samples
def upfirdn(h, x, up=1, down=1, axis=-1, mode='constant', cval=0):
    """Inserts up - 1 zeros between samples along an axis, convolves with h, and keeps every down-th sample. Zeros lie beyond the ends."""
    if mode not in (None, 'constant') or cval != 0:
        raise NotImplementedError(f"upfirdn: mode={mode!r} and cval={cval!r} are not supported; only mode='constant' with cval=0")
    up, down = int(up), int(down)
    if up < 1 or down < 1:
        raise ValueError('Both up and down must be >= 1')
    x, h = operand(x, 'upfirdn'), h if isinstance(h, ndarray) else sent(numpy.asarray(h))
    if h.ndim != 1 or h.size == 0:
        raise ValueError('h must be 1-D with non-zero length')
    kind = numpy.result_type(x.dtype, h.dtype, 'f')
    rows = _rows(x, axis).astype(kind)
    taps = h.get().astype(kind)
    length = (((rows.shape[-1] - 1) * up + h.size) - 1) // down + 1 if rows.shape[-1] else 0
    if length <= 0 or rows.size == 0:
        return _back(_core.zeros(rows.shape[:-1] + (max(length, 0),), kind), axis)
    # sample m uses the taps phase, phase + up, … of h and equally many samples before index m * down // up
    each = -(-h.size // up)
    table = numpy.zeros((each, up), kind)
    table.reshape(-1)[:h.size] = taps
    if up == 1:  # strided views suffice
        zeros = _core.zeros(rows.shape[:-1] + (each - 1,), kind)
        wide = _core._concatenate([zeros, rows, _core.zeros(rows.shape[:-1] + (each + down,), kind)], -1)
        stop = (length - 1) * down + 1
        terms = (wide[..., each - 1 - k:each - 1 - k + stop:down] * table[k, 0].item() for k in range(each) if table[k, 0])
    else:
        steps = numpy.arange(length) * down
        phase, place = steps % up, steps // up
        wide = _core._concatenate([_core.zeros(rows.shape[:-1] + (each - 1,), kind), rows, _core.zeros(rows.shape[:-1] + (each + down,), kind)], -1)
        places = sent(place + each - 1)
        terms = (wide[..., places - k] * sent(table[k][phase]) for k in range(each))
    made = combined(terms, lambda p, q: p + q)
    return _back(_core.zeros(rows.shape[:-1] + (length,), kind) if made is None else made, axis)


_OFFSETS = {'mean': _core.mean, 'minimum': _core.min, 'maximum': _core.max}


def resample_poly(x, up, down, axis=0, window=('kaiser', 5.0), padtype='constant', cval=None):
    """Resamples x along an axis by the factor up / down, with a polyphase low-pass filter.

    `window` is a window of the filter or an array of its coefficients. Beyond the ends are zeros or cval, or with padtype 'mean', 'median',
    'minimum' or 'maximum' that value of the signal, which is subtracted before filtering and added afterwards.
    """
    x = operand(x, 'resample_poly')
    if up != int(up):
        raise ValueError('up must be an integer')
    if down != int(down):
        raise ValueError('down must be an integer')
    up, down = int(up), int(down)
    if up < 1 or down < 1:
        raise ValueError('up and down must be >= 1')
    if cval is not None and padtype != 'constant':
        raise ValueError("cval has no effect when padtype is " + str(padtype))
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return _core._copy(x, 'C')
    if padtype not in ('constant', 'median', *_OFFSETS):
        raise ValueError(f'padtype must be one of: maximum, minimum, mean, median, constant (borders that are not the same everywhere are not supported), not {padtype!r}')
    x = x if x.dtype.kind in 'fc' else x.astype('d')
    rows = _rows(x, axis)
    n = rows.shape[-1]
    length = -(-n * up // down)
    if isinstance(window, (list, ndarray, numpy.ndarray)):
        h = window.get() if isinstance(window, ndarray) else numpy.asarray(window)
        if h.ndim > 1:
            raise ValueError('window must be 1-D')
        half = (h.size - 1) // 2
    else:
        half = 10 * max(up, down)
        h = scipy_function('firwin')(2 * half + 1, 1 / max(up, down), window=window).astype(rows.real.dtype if rows.dtype.char in 'fFdD' else 'f')
    h = h * up
    # zeros in front, so that each output sample lies at the filter's centre, and enough zeros behind
    before = (down - half % down) % down
    skipped = (half + before) // down
    after = 0
    while ((n - 1) * up + h.size + before + after - 1) // down + 1 < length + skipped:
        after += 1
    h = numpy.concatenate([numpy.zeros(before, h.dtype), h, numpy.zeros(after, h.dtype)])
    offset = None
    if padtype == 'constant':
        if cval:  # extends both ends by cval as far as the filter reaches
            more = -(-h.size // (up * down)) * down
            beyond = _core.full(rows.shape[:-1] + (more,), cval, rows.dtype)
            rows, skipped = _core._concatenate([beyond, rows, beyond], -1), skipped + more * up // down
    elif padtype == 'median':
        from catenary.cupy import median
        offset = median(rows, axis=-1, keepdims=True)
    else:
        offset = _OFFSETS[padtype](rows, axis=-1, keepdims=True)
    made = upfirdn(h, rows if offset is None else rows - offset, up, down)[..., skipped:skipped + length]
    return _back(made if offset is None else made + offset, axis)


def decimate(x, q, n=None, ftype='iir', axis=-1, zero_phase=True):
    """Keeps every q-th sample along an axis after a low-pass filter of order n.

    ftype is 'iir' (Chebyshev type I), 'fir', a system, or a pair of coefficients (b, a). With zero_phase the filter causes no delay.
    """
    x, q, n = operand(x, 'decimate'), operator.index(q), None if n is None else operator.index(n)
    x = x if x.dtype.char in 'fdFD' else x.astype('d')
    sos, kind = None, x.dtype
    if ftype == 'fir':
        b, a = scipy_function('firwin')(20 * q + 1 if n is None else n + 1, 1.0 / q, window='hamming').astype(x.real.dtype), numpy.ones(1, 'f')
    elif ftype == 'iir':
        sos = scipy_function('cheby1')(8 if n is None else n, 0.05, 0.8 / q, output='sos')
    elif isinstance(ftype, tuple) and len(ftype) == 2:
        b, a = map(host, ftype)
    elif hasattr(ftype, 'to_zpk'):
        system = ftype.to_zpk()
        z, p, k = host(system.zeros), host(system.poles), system.gain
        if not p.size or numpy.iscomplexobj(numpy.poly(p)) or numpy.imag(k):
            b, a = scipy_function('zpk2tf')(z, p, k)
        else:
            sos, kind = scipy_function('zpk2sos')(z, p, float(numpy.real(k))), None
    else:
        raise ValueError("invalid ftype: expected 'iir', 'fir', a system or a pair of coefficients")
    if sos is not None:
        made = (sosfiltfilt if zero_phase else sosfilt)(sos, x, axis)
        made = made if kind is None else made.astype(kind, copy=False)
    elif len(a) > 1:
        made = (filtfilt if zero_phase else lfilter)(b, a, x, axis)
    elif zero_phase:
        return resample_poly(x, 1, q, axis=axis, window=b / a[0])
    else:
        places = [slice(None)] * x.ndim
        places[axis] = slice(None, -(-x.shape[axis] // q))
        return _core._copy(upfirdn(b / a[0], x, 1, q, axis)[tuple(places)], 'C')
    return _every(made, q, axis)


def _every(made, q, axis):
    places = [slice(None)] * made.ndim
    places[axis] = slice(None, None, q)
    return _core._copy(made[tuple(places)], 'C')


def wiener(im, mysize=None, noise=None):
    """Applies a Wiener filter: elements are drawn to the mean of their window by the share of noise in its variance. `noise` is by default the mean
    of all variances."""
    x = operand(im, 'wiener')
    sizes = [3] * x.ndim if mysize is None else [int(s) for s in numpy.broadcast_to(host(mysize).real, (x.ndim,))]
    x = x if x.dtype.char in 'dD' else x.astype('D' if x.dtype.kind == 'c' else 'd')
    mean = uniform_filter(x, sizes, mode='constant')
    variance = uniform_filter(x * x, sizes, mode='constant') - mean * mean
    if noise is None:
        noise = _core.mean(variance)
    return _core.where(variance < noise, mean, mean + (x - mean) * (1 - noise / variance))
