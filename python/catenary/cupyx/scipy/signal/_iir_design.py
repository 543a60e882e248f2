"""IIR filter design: analog prototypes with cutoff 1, their transformation to the requested filter, and the minimal orders. The host computes all of
it in float64."""

import math
import warnings

import numpy

from catenary.cupyx.scipy.signal._filter_conversions import all_sent, host, low_to_band, low_to_high, low_to_low, low_to_stop, of_form, to_digital


# ------------------------------------------------------------------ prototypes: (zeros, poles, gain)
def _order(N):
    if abs(int(N)) != N:
        raise ValueError('Filter order must be a nonnegative integer')
    return int(N)


def _angles(N):
    """Returns N angles, evenly spaced on a half circle, from the real axis."""
    return numpy.pi * numpy.arange(1 - N, N, 2) / (2 * N)


def _ripple(decibels):
    """Returns 10^(decibels / 10) - 1, the squared ripple factor."""
    return math.expm1(0.1 * math.log(10) * decibels)


def _gain(z, p):
    return float(numpy.real(numpy.prod(-p) / numpy.prod(-z)))


def _butterworth(N, rp=None, rs=None):
    N = _order(N)
    return numpy.zeros(0), -numpy.exp(1j * _angles(N)) if N else numpy.zeros(0, complex), 1.0


def _chebyshev1(N, rp, rs=None):
    N = _order(N)
    if N == 0:
        return numpy.zeros(0), numpy.zeros(0), 10 ** (-rp / 20)
    mu = math.asinh(1 / math.sqrt(_ripple(rp))) / N
    p = -numpy.sinh(mu + 1j * _angles(N))
    return numpy.zeros(0), p, _gain(numpy.zeros(0), p) / (1 if N % 2 else math.sqrt(1 + _ripple(rp)))


def _chebyshev2(N, rp, rs):
    N = _order(N)
    if N == 0:
        return numpy.zeros(0), numpy.zeros(0), 1.0
    mu = math.asinh(math.sqrt(_ripple(rs))) / N
    angles = _angles(N)
    zeros = -(1j / numpy.sin(angles[numpy.arange(1 - N, N, 2) != 0])).conj()
    p = 1 / (-math.sinh(mu) * numpy.cos(angles) - 1j * math.cosh(mu) * numpy.sin(angles))
    return zeros, p, _gain(zeros, p)


def _landen(k):
    """Returns the descending Landen sequence of the modulus k, in which each is about the square of a quarter of the previous one."""
    made = []
    while k > 1e-17 and len(made) < 30:
        k = (k / (1 + math.sqrt((1 - k) * (1 + k)))) ** 2
        made.append(k)
    return made


def _elliptic(N, rp, rs):
    """Returns zeros, poles and gain of an elliptic filter. Zeros and poles are values of cd and sn, whose modulus follows from both ripples by their
    nomes (Orfanidis, Lecture notes on elliptic filter design)."""
    N = _order(N)
    if N == 0:
        return numpy.zeros(0), numpy.zeros(0), 10 ** (-rp / 20)
    if N == 1:
        p = numpy.asarray([-1 / math.sqrt(_ripple(rp))])
        return numpy.zeros(0), p, -float(p[0])
    ratio = math.sqrt(_ripple(rp) / _ripple(rs))
    if not 0 < ratio < 1:
        raise ValueError('Cannot design a filter with given rp and rs specifications.')

    def mean(a, b):  # the arithmetic-geometric mean
        while abs(a - b) > 1e-16 * a:
            a, b = (a + b) / 2, math.sqrt(a * b)
            if abs(a - b) < 4e-16 * a:
                break
        return a
    nome = math.exp(-math.pi * mean(1, math.sqrt((1 - ratio) * (1 + ratio))) / mean(1, ratio) / N)
    powers = range(1, 60)
    k = 4 * math.sqrt(nome) * ((1 + sum(nome ** (n * (n + 1)) for n in powers)) / (1 + 2 * sum(nome ** (n * n) for n in powers))) ** 2
    moduli, of_ratio = _landen(k), _landen(ratio)

    def ascended(w):
        for v in reversed(moduli):
            w = (1 + v) * w / (1 + v * w * w)
        return w
    pairs = (2 * numpy.arange(N // 2, 0, -1) - 1) / N
    zeros = 1j / (k * ascended(numpy.cos(pairs * numpy.pi / 2)))
    w, before = 1j / math.sqrt(_ripple(rp)), ratio  # inverse sn with the modulus of both ripples
    for v in of_ratio:
        w, before = 2 * w / ((1 + v) * (1 + numpy.sqrt(1 - (before * w) ** 2))), v
    depth = (-1j * (1 - 2 / numpy.pi * numpy.arccos(w))).real * 1j / N
    p = 1j * ascended(numpy.cos((pairs - depth) * numpy.pi / 2))
    p = -abs(p.real) - 1j * abs(p.imag)
    z, p = (numpy.concatenate([x, x.conj()]) for x in (zeros, p))
    if N % 2:
        middle = (1j * ascended(numpy.sin(depth * numpy.pi / 2))).real
        p = numpy.concatenate([[-abs(middle)], p])
    return z, p, _gain(z, p) / (1 if N % 2 else math.sqrt(1 + _ripple(rp)))


_PROTOTYPES = {'butter': _butterworth, 'butterworth': _butterworth, 'cheby1': _chebyshev1, 'chebyshev1': _chebyshev1, 'chebyshevi': _chebyshev1,
               'cheby2': _chebyshev2, 'chebyshev2': _chebyshev2, 'chebyshevii': _chebyshev2, 'ellip': _elliptic, 'elliptic': _elliptic, 'cauer': _elliptic}
_BANDS = {'band': 'bandpass', 'bandpass': 'bandpass', 'pass': 'bandpass', 'bp': 'bandpass', 'bs': 'bandstop', 'bandstop': 'bandstop', 'bands': 'bandstop',
          'stop': 'bandstop', 'l': 'lowpass', 'low': 'lowpass', 'lowpass': 'lowpass', 'lp': 'lowpass', 'high': 'highpass', 'highpass': 'highpass',
          'h': 'highpass', 'hp': 'highpass'}


def buttap(N):
    """Returns (zeros, poles, gain) of the analog Butterworth prototype of order N, with half its power at 1."""
    return all_sent(_butterworth(N))


def cheb1ap(N, rp):
    """Returns (zeros, poles, gain) of the analog Chebyshev type I prototype, with ripples of rp decibels up to 1."""
    return all_sent(_chebyshev1(N, rp))


def cheb2ap(N, rs):
    """Returns (zeros, poles, gain) of the analog Chebyshev type II prototype, with at least rs decibels of attenuation from 1 on."""
    return all_sent(_chebyshev2(N, None, rs))


def ellipap(N, rp, rs):
    """Returns (zeros, poles, gain) of the analog elliptic prototype, with ripples of rp decibels up to 1 and rs decibels of attenuation beyond."""
    return all_sent(_elliptic(N, rp, rs))


# ------------------------------------------------------------------ filters
def _rate(fs, analog):
    if fs is not None and analog:
        raise ValueError('fs cannot be specified for an analog filter')
    if fs is not None and (numpy.ndim(fs) or not fs > 0):
        raise ValueError('Sampling frequency fs must be a single scalar.')
    return fs


def iirfilter(N, Wn, rp=None, rs=None, btype='band', analog=False, ftype='butter', output='ba', fs=None):
    """Returns an IIR filter of order N with the cutoffs Wn, on the current device.

    A band filter has order 2 N. Wn is one frequency or two, in units of the Nyquist frequency, or of fs. ftype is butter, cheby1 (with rp), cheby2
    (with rs) or ellip (with both). output is 'ba' (coefficients), 'zpk' or 'sos' (sections). Raises ValueError for other values.
    """
    fs = _rate(fs, analog)
    ftype, btype, output = ftype.lower(), btype.lower(), output.lower()
    if btype not in _BANDS:
        raise ValueError("'%s' is an invalid bandtype for filter." % btype)
    if ftype not in _PROTOTYPES:
        raise ValueError("'%s' is not a valid basic IIR filter." % ftype)
    if output not in ('ba', 'zpk', 'sos'):
        raise ValueError("'%s' is not a valid output form." % output)
    make, btype = _PROTOTYPES[ftype], _BANDS[btype]
    rp, rs = (None if r is None else float(r) for r in (rp, rs))
    if rp is not None and rp < 0:
        raise ValueError('passband ripple (rp) must be positive')
    if rs is not None and rs < 0:
        raise ValueError('stopband attenuation (rs) must be positive')
    if make in (_chebyshev1, _elliptic) and rp is None:
        raise ValueError('passband ripple (rp) must be provided to design a filter of the kind %s.' % ftype)
    if make in (_chebyshev2, _elliptic) and rs is None:
        raise ValueError('stopband attenuation (rs) must be provided to design a filter of the kind %s.' % ftype)
    cutoff = host(Wn).real
    if fs is not None:
        cutoff = 2 * cutoff / fs
    if (cutoff <= 0).any():
        raise ValueError('filter critical frequencies must be greater than 0')
    if cutoff.size > 1 and not cutoff[0] < cutoff[1]:
        raise ValueError('Wn[0] must be less than Wn[1]')
    if not analog and (cutoff >= 1).any():
        raise ValueError('Digital filter critical frequencies must be 0 < Wn < 1' if fs is None else
                         f'Digital filter critical frequencies must be 0 < Wn < fs/2 (fs={fs} -> fs/2={fs / 2})')
    z, p, k = make(N, rp, rs)
    cutoff = cutoff if analog else 4 * numpy.tan(numpy.pi * cutoff / 2)
    if btype in ('lowpass', 'highpass'):
        if cutoff.size != 1:
            raise ValueError('Must specify a single critical frequency Wn for lowpass or highpass filter')
        z, p, k = (low_to_low if btype == 'lowpass' else low_to_high)(z, p, k, float(cutoff[0]))
    else:
        if cutoff.size != 2:
            raise ValueError('Wn must specify start and stop frequencies for bandpass or bandstop filter')
        low, high = map(float, cutoff)
        z, p, k = (low_to_band if btype == 'bandpass' else low_to_stop)(z, p, k, math.sqrt(low * high), high - low)
    if not analog:
        z, p, k = to_digital(z, p, k, 2.0)
    return of_form(output, z, p, k, analog)


def butter(N, Wn, btype='low', analog=False, output='ba', fs=None):
    """Returns a Butterworth filter of order N. The arguments are those of iirfilter."""
    return iirfilter(N, Wn, btype=btype, analog=analog, output=output, ftype='butter', fs=fs)


def cheby1(N, rp, Wn, btype='low', analog=False, output='ba', fs=None):
    """Returns a Chebyshev type I filter with passband ripples of rp decibels. The arguments are those of iirfilter."""
    return iirfilter(N, Wn, rp=rp, btype=btype, analog=analog, output=output, ftype='cheby1', fs=fs)


def cheby2(N, rs, Wn, btype='low', analog=False, output='ba', fs=None):
    """Returns a Chebyshev type II filter with a stopband attenuation of rs decibels. The arguments are those of iirfilter."""
    return iirfilter(N, Wn, rs=rs, btype=btype, analog=analog, output=output, ftype='cheby2', fs=fs)


def ellip(N, rp, rs, Wn, btype='low', analog=False, output='ba', fs=None):
    """Returns an elliptic filter with passband ripples of rp and a stopband attenuation of rs decibels. The arguments are those of iirfilter."""
    return iirfilter(N, Wn, rp=rp, rs=rs, btype=btype, analog=analog, output=output, ftype='ellip', fs=fs)


def _notch_or_peak(w0, Q, fs, is_notch):
    w0, Q = float(w0), float(Q)
    w0 = 2 * w0 / float(fs)
    if not 0 < w0 < 1:
        raise ValueError('w0 should be such that 0 < w0 < 1')
    w0, width = w0 * math.pi, w0 * math.pi / Q
    gain = 1 / (1 + math.tan(width / 2))
    b = gain * numpy.asarray([1, -2 * math.cos(w0), 1]) if is_notch else (1 - gain) * numpy.asarray([1., 0, -1])
    return all_sent((b, numpy.asarray([1, -2 * gain * math.cos(w0), 2 * gain - 1])))


def iirnotch(w0, Q, fs=2.0):
    """Returns second-order coefficients (b, a) of a notch filter at w0 with bandwidth w0 / Q."""
    return _notch_or_peak(w0, Q, fs, True)


def iirpeak(w0, Q, fs=2.0):
    """Returns second-order coefficients (b, a) of a peak filter at w0 with bandwidth w0 / Q."""
    return _notch_or_peak(w0, Q, fs, False)


def iircomb(w0, Q, ftype='notch', fs=2.0, *, pass_zero=False):
    """Returns coefficients (b, a) that remove ('notch') or keep ('peak') the multiples of w0, which must divide fs. pass_zero says whether frequency
    0 passes: where that contradicts ftype, the filter acts halfway between the multiples."""
    w0, Q, fs, ftype = float(w0), float(Q), float(fs), ftype.lower()
    if not 0 < w0 < fs / 2:
        raise ValueError(f'w0 must be between 0 and {fs / 2} (nyquist), but given {w0}.')
    if ftype not in ('notch', 'peak'):
        raise ValueError('ftype must be either notch or peak.')
    n = round(fs / w0)
    if abs(w0 - fs / n) / fs > 1e-14:
        raise ValueError('fs must be divisible by w0.')
    ratio = math.tan(math.pi / (2 * Q))
    sign = -1 if (ftype == 'peak') == bool(pass_zero) else 1
    b, a = numpy.zeros(n + 1), numpy.zeros(n + 1)
    b[0], b[-1] = (1, sign) if ftype == 'notch' else (ratio, -sign * ratio)
    b, a[0], a[-1] = b / (1 + ratio), 1, sign * (1 - ratio) / (1 + ratio)
    return all_sent((b, a))


# ------------------------------------------------------------------ orders
def _specified(wp, ws, gpass, gstop, analog, fs):
    """Returns (passband edges, stopband edges, band type) as analog frequencies. Raises ValueError if the edges are inconsistent."""
    fs = _rate(fs, analog)
    if gpass <= 0.0:
        raise ValueError('gpass should be larger than 0.0')
    if gstop <= 0.0:
        raise ValueError('gstop should be larger than 0.0')
    if gpass > gstop:
        raise ValueError('gpass should be smaller than gstop')
    wp, ws = host(wp), host(ws)
    if fs is not None:
        wp, ws = 2 * wp / fs, 2 * ws / fs
    if wp.size not in (1, 2) or wp.shape != ws.shape:
        raise ValueError('wp and ws must have one or two elements each, and the same shape')
    if (numpy.concatenate([wp, ws]) < 0).any() or not analog and (numpy.concatenate([wp, ws]) > 1).any():
        raise ValueError('Values for wp, ws must be greater than 0, and less than 1 (or fs/2 if fs is not None)')
    if wp.size == 2 and not (ws[0] < wp[0] < wp[1] < ws[1] or wp[0] < ws[0] < ws[1] < wp[1]):
        raise ValueError('Passband must lie strictly inside stopband or vice versa')
    kind = ('highpass' if wp[0] >= ws[0] else 'lowpass') if wp.size == 1 else ('bandstop' if wp[0] < ws[0] else 'bandpass')
    if not analog:
        wp, ws = numpy.tan(numpy.pi * wp / 2), numpy.tan(numpy.pi * ws / 2)
    return wp, ws, kind


def _ratio(wp, ws, kind):
    """Returns the start of the prototype's stopband if its passband ends at 1."""
    if kind in ('lowpass', 'highpass'):
        above, below = (float(edge[0]) for edge in ((ws, wp) if kind == 'lowpass' else (wp, ws)))
        return above / below if below else math.inf
    product, width = wp[0] * wp[1], wp[0] - wp[1]
    seen = (ws ** 2 - product) / (ws * width) if kind == 'bandpass' else ws * width / (ws ** 2 - product)
    return float(numpy.abs(seen).min())


def _butter_order(ratio, gpass, gstop):
    return math.log10(_ripple(gstop) / _ripple(gpass)) / (2 * math.log10(ratio))


def _chebyshev_order(ratio, gpass, gstop):
    return math.acosh(math.sqrt(_ripple(gstop) / _ripple(gpass))) / math.acosh(ratio)


def _elliptic_order(ratio, gpass, gstop):
    def quotient(k):  # K(k) / K'(k), the quotient of complete elliptic integrals
        a, b, c, d = 1, math.sqrt((1 - k) * (1 + k)), 1, k
        for _ in range(12):
            a, b, c, d = (a + b) / 2, math.sqrt(a * b), (c + d) / 2, math.sqrt(c * d)
        return c / a
    return quotient(1 / ratio) / quotient(math.sqrt(_ripple(gpass) / _ripple(gstop)))


def _least(function, low, high):
    """Returns the minimum of a unimodal function to 1e-5 by Brent's method (1973): parabolic steps, or golden sections where these fail."""
    golden = (3 - math.sqrt(5)) / 2
    best = second = third = low + golden * (high - low)
    of_best = of_second = of_third = function(best)
    last = before = 0.0  # the last two steps
    while True:
        middle = (low + high) / 2
        near = math.sqrt(numpy.finfo(float).eps) * abs(best) + 1e-5 / 3
        if abs(best - middle) <= 2 * near - (high - low) / 2:
            return best
        by_parabola = False
        if abs(before) > near:
            r, q = (best - second) * (of_best - of_third), (best - third) * (of_best - of_second)
            p, q = (best - third) * q - (best - second) * r, 2 * (q - r)
            p, q, two_ago, before = -p if q > 0 else p, abs(q), before, last
            if abs(p) < abs(q * two_ago / 2) and q * (low - best) < p < q * (high - best):
                by_parabola, last = True, p / q
                if min(best + last - low, high - best - last) < 2 * near:
                    last = near if middle >= best else -near
        if not by_parabola:
            before = (low if best >= middle else high) - best
            last = golden * before
        place = best + math.copysign(max(abs(last), near), last)
        value = function(place)
        if value <= of_best:
            low, high = (best, high) if place >= best else (low, best)
            third, of_third, second, of_second, best, of_best = second, of_second, best, of_best, place, value
            continue
        low, high = (place, high) if place < best else (low, place)
        if value <= of_second or second == best:
            third, of_third, second, of_second = second, of_second, place, value
        elif value <= of_third or third in (best, second):
            third, of_third = place, value


_ORDERS = {'butter': _butter_order, 'cheby': _chebyshev_order, 'ellip': _elliptic_order}


def band_stop_obj(wp, ind, passb, stopb, gpass, gstop, type):
    """Returns the non-integer order of a band-stop filter whose passband edge number ind is wp. type is 'butter', 'cheby' or 'ellip'."""
    if type not in _ORDERS:
        raise ValueError('Incorrect type: %s' % type)
    edges = host(passb).copy()
    edges[ind] = float(wp)
    return _ORDERS[type](_ratio(edges, host(stopb), 'bandstop'), gpass, gstop)


def _fitted(wp, ws, kind, gpass, gstop, type):
    """Returns (passband, start of the prototype's stopband). The passband of a band-stop filter is narrowed to minimise the order."""
    if kind == 'bandstop':
        wp = wp.copy()
        wp[0] = _least(lambda w: band_stop_obj(w, 0, wp, ws, gpass, gstop, type), wp[0], ws[0] - 1e-12)
        wp[1] = _least(lambda w: band_stop_obj(w, 1, wp, ws, gpass, gstop, type), ws[1] + 1e-12, wp[1])
    return wp, _ratio(wp, ws, kind)


def _delivered(order, edges, analog, fs):
    edges = numpy.atleast_1d(edges)
    if not analog:
        edges = 2 / numpy.pi * numpy.arctan(edges)
    if fs is not None:
        edges = edges * fs / 2
    found = all_sent((edges,))[0]
    return order, found if edges.size > 1 else found.reshape(())  # a 0-d array, as CuPy's


def _stretched(wp, kind, by):
    """Returns the edges of a passband whose lowpass prototype has its edges `by` times as far out."""
    if kind == 'lowpass':
        return by * wp
    if kind == 'highpass':
        return wp / by
    width = (wp[1] - wp[0]) * (by if kind == 'bandpass' else 1 / by)
    root = math.sqrt(width ** 2 / 4 + wp[0] * wp[1])
    return numpy.asarray([root - width / 2, root + width / 2])


def buttord(wp, ws, gpass, gstop, analog=False, fs=None):
    """Returns (least order, cutoff) of a Butterworth filter that loses at most gpass decibels in the passband (edge wp) and at least gstop decibels
    beyond ws."""
    wp, ws, kind = _specified(wp, ws, gpass, gstop, analog, fs)
    wp, ratio = _fitted(wp, ws, kind, gpass, gstop, 'butter')
    order = math.ceil(_butter_order(ratio, gpass, gstop))
    if order == 0:
        warnings.warn('Order is zero: check the frequencies', RuntimeWarning, stacklevel=2)
    w0 = _ripple(gpass) ** (-1 / (2 * order)) if order else 1.0
    return _delivered(order, _stretched(wp, kind, w0), analog, fs)


def cheb1ord(wp, ws, gpass, gstop, analog=False, fs=None):
    """Returns (least order, cutoff) of a Chebyshev type I filter. The arguments are those of buttord."""
    wp, ws, kind = _specified(wp, ws, gpass, gstop, analog, fs)
    wp, ratio = _fitted(wp, ws, kind, gpass, gstop, 'cheby')
    return _delivered(math.ceil(_chebyshev_order(ratio, gpass, gstop)), wp, analog, fs)


def cheb2ord(wp, ws, gpass, gstop, analog=False, fs=None):
    """Returns (least order, cutoff) of a Chebyshev type II filter. The arguments are those of buttord."""
    wp, ws, kind = _specified(wp, ws, gpass, gstop, analog, fs)
    wp, ratio = _fitted(wp, ws, kind, gpass, gstop, 'cheby')
    order = math.ceil(_chebyshev_order(ratio, gpass, gstop))
    w0 = 1 / math.cosh(math.acosh(math.sqrt(_ripple(gstop) / _ripple(gpass))) / order)  # where the stopband edge is 1
    return _delivered(order, _stretched(wp, kind, 1 / w0), analog, fs)


def ellipord(wp, ws, gpass, gstop, analog=False, fs=None):
    """Returns (least order, cutoff) of an elliptic filter. The arguments are those of buttord."""
    wp, ws, kind = _specified(wp, ws, gpass, gstop, analog, fs)
    wp, ratio = _fitted(wp, ws, kind, gpass, gstop, 'ellip')
    return _delivered(math.ceil(_elliptic_order(ratio, gpass, gstop)), wp, analog, fs)


def iirdesign(wp, ws, gpass, gstop, analog=False, ftype='ellip', output='ba', fs=None):
    """Returns the filter of the least order that loses at most gpass decibels in the passband (edge wp) and at least gstop decibels beyond ws. The
    remaining arguments are those of iirfilter."""
    orders = {'butter': buttord, 'butterworth': buttord, 'cheby1': cheb1ord, 'chebyshev1': cheb1ord, 'chebyshevi': cheb1ord, 'cheby2': cheb2ord,
              'chebyshev2': cheb2ord, 'chebyshevii': cheb2ord, 'ellip': ellipord, 'elliptic': ellipord, 'cauer': ellipord}
    if ftype.lower() not in orders:
        raise ValueError('Invalid IIR filter type: %s' % ftype)
    kind = _specified(wp, ws, gpass, gstop, analog, fs)[2]
    edges = numpy.concatenate([host(wp), host(ws)])
    if (edges <= 0).any():
        raise ValueError('Values for wp, ws must be greater than 0')
    if not analog and (edges >= (1 if fs is None else fs / 2)).any():
        raise ValueError('Values for wp, ws must be less than 1' if fs is None else f'Values for wp, ws must be less than fs/2 (fs={fs} -> fs/2={fs / 2})')
    order, cutoff = orders[ftype.lower()](wp, ws, gpass, gstop, analog, fs)
    return iirfilter(order, cutoff, rp=gpass, rs=gstop, btype=kind, analog=analog, ftype=ftype, output=output, fs=fs)
