"""Frequency responses of digital and analog filters, computed on the host in float64."""

import operator

import numpy

from catenary.cupyx.scipy.signal._filter_conversions import all_sent, checked_sections, host


def _frequencies(worN, whole, include_nyquist=False, fs=2 * numpy.pi):
    """Returns angular frequencies: worN values from 0 to half or all of the circle, or the given frequencies in units of the sampling rate fs."""
    worN = 512 if worN is None else worN
    try:
        n = operator.index(worN.item() if getattr(worN, 'ndim', None) == 0 and worN.dtype.kind in 'iu' else worN)
    except TypeError:
        return 2 * numpy.pi * host(worN).real / fs
    if n < 0:
        raise ValueError('worN must be nonnegative, got %s' % n)
    return numpy.linspace(0, 2 * numpy.pi if whole else numpy.pi, n, endpoint=include_nyquist and not whole)


def _at(coefficients, x):
    """Evaluates polynomials, lowest power first along the first axis, at x along the last axis of the result."""
    made = numpy.zeros(numpy.broadcast_shapes(coefficients.shape[1:], x.shape), complex)
    for c in coefficients[::-1]:
        made = made * x + c
    return made


def _told(angles, h, fs, plot=None):
    return _shown(angles * (fs / (2 * numpy.pi)), h, plot)


def _shown(w, h, plot):
    made = all_sent((w, h))
    if plot is not None:
        plot(*made)
    return made


def freqz(b, a=1, worN=512, whole=False, plot=None, fs=2 * numpy.pi, include_nyquist=False):
    """Returns (frequencies, complex response) of a digital filter.

    worN is a number of frequencies from 0 to the Nyquist frequency, or to the sampling rate with `whole`, or an array of frequencies. The
    coefficients lie along the first axis.
    """
    b, a = host(b), host(a)
    angles = _frequencies(worN, whole, include_nyquist, fs)
    x = numpy.exp(-1j * angles)
    b, a = (c if c.shape[-1:] == (1,) or c.ndim == 1 else c[..., None] if c.ndim > 1 and c.shape[-1] != x.size else c for c in (b, a))
    return _told(angles, _at(b, x) / _at(a, x), fs, plot)


def freqz_zpk(z, p, k, worN=512, whole=False, fs=2 * numpy.pi):
    """Returns the response of freqz for zeros, poles and a gain."""
    angles = _frequencies(worN, whole, False, fs)
    x = numpy.exp(1j * angles)
    z, p = host(z), host(p)
    return _told(angles, float(k) * numpy.prod(x[:, None] - z, 1) / numpy.prod(x[:, None] - p, 1), fs)


def freqz_sos(sos, worN=512, whole=False, fs=2 * numpy.pi):
    """Returns the response of freqz for second-order sections."""
    sos = checked_sections(sos)
    if not len(sos):
        raise ValueError('Cannot compute frequencies with no sections')
    angles = _frequencies(worN, whole, False, fs)
    x, h = numpy.exp(-1j * angles), 1.0
    for section in sos:
        h = h * (_at(section[:3], x) / _at(section[3:], x))
    return _told(angles, h, fs)


def sosfreqz(sos, worN=512, whole=False, fs=2 * numpy.pi):
    """Calls freqz_sos (the older name)."""
    return freqz_sos(sos, worN, whole, fs)


def findfreqs(num, den, N, kind='ba'):
    """Returns N frequencies at which the response of an analog filter is of interest, from its coefficients, or with kind='zp' from its zeros and
    poles."""
    if kind not in ('ba', 'zp'):
        raise ValueError("input must be one of {'ba', 'zp'}")
    zeros, poles = (numpy.roots(host(num)), numpy.roots(host(den))) if kind == 'ba' else (host(num), host(den))
    poles = numpy.atleast_1d(poles) + 0j
    poles = poles if poles.size else numpy.asarray([-1000 + 0j])
    places = numpy.concatenate([poles[poles.imag >= 0], zeros[(abs(zeros) < 1e5) & (zeros.imag >= 0)]])
    at_zero = abs(places) < 1e-10
    high = round(float(numpy.log10((3 * abs(places.real + at_zero) + 1.5 * places.imag).max())) + 0.5)
    low = round(float(numpy.log10(0.1 * abs((places + at_zero).real + 2 * places.imag).min())) - 0.5)
    return all_sent((numpy.logspace(low, high, N),))[0]


def _analog(worN, zeros, poles, kind):
    worN = 200 if worN is None else worN
    try:
        return findfreqs(zeros, poles, operator.index(worN), kind).get()
    except TypeError:
        return host(worN)


def freqs(b, a, worN=200, plot=None):
    """Returns (angular frequencies, complex response) of an analog filter. worN is a number of frequencies to choose, or the frequencies."""
    b, a = host(b), host(a)
    w = _analog(worN, b, a, 'ba')
    h = numpy.polyval(b, 1j * w) / numpy.polyval(a, 1j * w)
    return _shown(w, h, plot)


def freqs_zpk(z, p, k, worN=200):
    """Returns the response of freqs for zeros, poles and a gain."""
    z, p = host(z), host(p)
    w = _analog(worN, z, p, 'zp')
    x = 1j * w[:, None]
    return all_sent((w, float(host(k).reshape(())) * numpy.prod(x - z, 1) / numpy.prod(x - p, 1)))


def group_delay(system, w=512, whole=False, fs=2 * numpy.pi):
    """Returns (frequencies, group delay in samples) of a filter (b, a). Where the gain is 0 the delay is 0 and a warning is issued."""
    import warnings
    angles = _frequencies(w, whole, False, fs)
    b, a = map(host, system)
    c = numpy.convolve(b, a[::-1].conj())
    x = numpy.exp(-1j * angles)
    above, below = _at(c * numpy.arange(c.size), x), _at(c, x)
    singular = abs(below) < 10 * numpy.finfo(float).eps
    delay = numpy.zeros(angles.shape)
    delay[~singular] = (above[~singular] / below[~singular]).real - a.size + 1
    if singular.any():
        warnings.warn('The group delay is singular at frequencies [%s], setting to 0' % ', '.join(f'{x:.3f}' for x in angles[singular]), stacklevel=2)
    return _told(angles, delay, fs)

