"""Waveforms (chirp, sawtooth, square, max_len_seq) and relative extrema (argrelmax, argrelmin)."""

import math

import numpy

from catenary import _core
from catenary.cupy._arguments import given, operand
from catenary.cupyx.scipy.signal._from_scipy import host

_cos, _sin, _exp, _log = (_core.ufuncs[n] for n in ('cos', 'sin', 'exp', 'log'))
_logical_and = _core.ufuncs['logical_and']


def _times(t):
    t = given(t)
    return t if t.dtype.char in 'fd' else t.astype('d')


def _share(t):
    """Returns the elapsed fraction of a period of 2 pi."""
    rest = _core.ufuncs['fmod'](t, 2 * math.pi)  # exact for any t
    return _core.where(rest < 0, rest + 2 * math.pi, rest) / (2 * math.pi)


def sawtooth(t, width=1.0):
    """Returns a sawtooth wave with period 2 pi: it rises from -1 to 1 during the fraction `width` of the period, then falls. NaN where width is
    outside 0 to 1."""
    share, width = _share(_times(t)), _times(width)
    made = _core.where(share < width, share / _core.where(width == 0, 1, width) * 2 - 1, (1 + width - 2 * share) / _core.where(width == 1, 1, 1 - width))
    return _core.where((width > 1) | (width < 0), math.nan, made)


def square(t, duty=0.5):
    """Returns a square wave with period 2 pi: 1 during the fraction `duty` of the period, then -1. NaN where duty is outside 0 to 1."""
    share, duty = _share(_times(t)), _times(duty)
    made = _core.where(share < duty, 1.0, -1.0).astype(numpy.result_type(share.dtype, duty.dtype))
    return _core.where((duty > 1) | (duty < 0), math.nan, made)


def gausspulse(t, fc=1000, bw=0.5, bwr=-6, tpr=-60, retquad=False, retenv=False):
    """Returns a cosine of frequency fc in a Gaussian envelope whose bandwidth is bw * fc at bwr decibels.

    retquad adds the sine and retenv the envelope to the results. t='cutoff' returns the time at which the envelope has fallen to tpr decibels.
    Raises ValueError for values out of range.
    """
    if fc < 0:
        raise ValueError('Center frequency (fc=%.2f) must be >=0.' % fc)
    if bw <= 0:
        raise ValueError('Fractional bandwidth (bw=%.2f) must be > 0.' % bw)
    if bwr >= 0:
        raise ValueError('Reference level for bandwidth (bwr=%.2f) must be < 0 dB' % bwr)
    steep = -(math.pi * fc * bw) ** 2 / (4 * math.log(10 ** (bwr / 20)))
    if isinstance(t, str):
        if t != 'cutoff':
            raise ValueError("If `t` is a string, it must be 'cutoff'")
        if tpr >= 0:
            raise ValueError('Reference level for time cutoff must be < 0 dB')
        return math.sqrt(-math.log(10 ** (tpr / 20)) / steep)
    t = _times(t)
    envelope = _exp(-steep * t * t)
    waves = [envelope * _cos(2 * math.pi * fc * t)]
    if retquad:
        waves.append(envelope * _sin(2 * math.pi * fc * t))
    if retenv:
        waves.append(envelope)
    return waves[0] if len(waves) == 1 else tuple(waves)


def chirp(t, f0, t1, f1, method='linear', phi=0, vertex_zero=True):
    """Returns a cosine with phase phi (degrees) whose frequency changes from f0 at time 0 to f1 at t1.

    method is 'linear', 'quadratic' (with the parabola's vertex at 0, or at t1 if vertex_zero is False), 'logarithmic' or 'hyperbolic'. Raises
    ValueError for another method and for frequencies that it does not support.
    """
    t, f0, t1, f1 = _times(t), float(f0), float(t1), float(f1)
    if method in ('linear', 'lin', 'li'):
        phase = 2 * math.pi * (f0 * t + 0.5 * (f1 - f0) / t1 * t * t)
    elif method in ('quadratic', 'quad', 'q'):
        beta = (f1 - f0) / t1 ** 2
        phase = (f0 * t + beta * t ** 3 / 3) if vertex_zero else (f1 * t + beta * ((t1 - t) ** 3 - t1 ** 3) / 3)
        phase = 2 * math.pi * phase
    elif method in ('logarithmic', 'log', 'lo'):
        if f0 * f1 <= 0:
            raise ValueError('For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.')
        beta = None if f0 == f1 else t1 / math.log(f1 / f0)
        phase = 2 * math.pi * f0 * t if beta is None else 2 * math.pi * beta * f0 * ((f1 / f0) ** (t / t1) - 1)
    elif method in ('hyperbolic', 'hyp'):
        if f0 == 0 or f1 == 0:
            raise ValueError('For a hyperbolic chirp, f0 and f1 must be nonzero.')
        sing = None if f0 == f1 else -f1 * t1 / (f0 - f1)
        phase = 2 * math.pi * f0 * t if sing is None else 2 * math.pi * (-sing * f0) * _log(_core.ufuncs['absolute'](1 - t / sing))
    else:
        raise ValueError("method must be 'linear', 'quadratic', 'logarithmic', or 'hyperbolic', but a value of %r was given." % (method,))
    return _cos(phase + phi * math.pi / 180)


def sweep_poly(t, poly, phi=0):
    """Returns a cosine with phase phi (degrees) whose frequency is a polynomial of time: a poly1d of NumPy or cupy, or coefficients, highest power
    first."""
    t = _times(t)
    coefficients = host(getattr(poly, 'coeffs', poly))
    made = 0
    for c in numpy.polyint(coefficients):
        made = made * t + float(c)
    return _cos(2 * math.pi * made + phi * math.pi / 180)


def unit_impulse(shape, idx=None, dtype=float):
    """Returns zeros with a 1 at the first element, at the middle with idx='mid', or at idx."""
    made = _core.zeros(shape, dtype)
    if idx is None:
        idx = (0,) * made.ndim
    elif isinstance(idx, str) and idx == 'mid':
        idx = tuple(n // 2 for n in made.shape)
    elif not hasattr(idx, '__iter__'):
        idx = (idx,) * made.ndim
    made[tuple(idx)] = 1
    return made


_TAPS = {2: [1], 3: [2], 4: [3], 5: [3], 6: [5], 7: [6], 8: [7, 6, 1], 9: [5], 10: [7], 11: [9], 12: [11, 10, 4], 13: [12, 11, 8], 14: [13, 12, 2], 15: [14], 16: [15, 13, 4],
         17: [14], 18: [11], 19: [18, 17, 14], 20: [17], 21: [19], 22: [21], 23: [18], 24: [23, 22, 17], 25: [22], 26: [25, 24, 20], 27: [26, 25, 22], 28: [25], 29: [27],
         30: [29, 28, 7], 31: [28], 32: [31, 30, 10]}  # exponents of SciPy's primitive polynomials, which determine the sequences


def max_len_seq(nbits, state=None, length=None, taps=None):
    """Returns (sequence of 0 and 1, final state) of a maximum length sequence of 2^nbits - 1 elements, or `length`.

    The shift register has feedback from `taps` and starts from `state`, by default ones. Raises ValueError for a zero state and for taps outside 0
    to nbits.
    """
    if taps is None:
        if nbits not in _TAPS:
            raise ValueError('nbits must be between %s and %s if taps is None' % (min(_TAPS), max(_TAPS)))
        taps = _TAPS[nbits]
    else:
        taps = numpy.unique(host(taps).real.astype(int))
        if taps.size < 1 or (taps < 0).any() or (taps > nbits).any():
            raise ValueError('taps must be non-empty with values between zero and nbits (inclusive)')
    length = 2 ** nbits - 1 if length is None else int(length)
    if length < 0:
        raise ValueError('length must be greater than or equal to 0')
    first = numpy.ones(nbits, 'b') if state is None else (host(state) != 0).astype('b')
    if first.shape != (nbits,):
        raise ValueError('state must be a 1-D array of size nbits')
    if not first.any():
        raise ValueError('state must not be all zeros')
    made = numpy.empty(length + nbits, 'b')
    made[:nbits] = first
    done, lags = nbits, [nbits, *(nbits - int(t) % nbits for t in taps)]
    while done < made.size:
        # the recurrence also holds with doubled lags, so that each step computes more elements at once
        while 2 * max(lags) <= done:
            lags = [2 * lag for lag in lags]
        count = min(min(lags), made.size - done)
        made[done:done + count] = sum(made[done - lag:done - lag + count] for lag in lags) % 2
        done += count
    return _core.from_numpy(made[:length].copy(), None), _core.from_numpy(made[length:].copy(), None)


# ------------------------------------------------------------------ extrema
def _extrema(data, compare, axis, order, mode):
    """Returns a mask of the elements for which compare(element, neighbour) holds for all neighbours up to `order` steps away."""
    if int(order) != order or order < 1:
        raise ValueError('Order must be an int >= 1')
    if mode not in ('clip', 'wrap'):
        raise NotImplementedError(f"mode must be 'clip' or 'wrap', not {mode!r}")
    n = data.shape[axis]
    made = _core.ones(data.shape, bool)
    places = numpy.arange(n)
    for k in range(1, int(order) + 1):
        for step in (k, -k):
            other = (places + step) % n if mode == 'wrap' and n else numpy.clip(places + step, 0, max(n - 1, 0))
            made = _logical_and(made, compare(data, _core.take(data, _core.from_numpy(other, None), axis=axis)))
        if not bool(_core.any(made)):
            break
    return made


def argrelextrema(data, comparator, axis=0, order=1, mode='clip'):
    """Returns the indices, a tuple of arrays, where comparator(element, neighbour) holds for all neighbours up to `order` steps away along an axis.
    Beyond the ends is the last element, or the opposite end with mode='wrap'."""
    return _core.nonzero(_extrema(operand(data, 'argrelextrema'), comparator, axis, order, mode))


def argrelmin(data, axis=0, order=1, mode='clip'):
    """Returns the indices of relative minima, as argrelextrema."""
    return argrelextrema(data, _core.ufuncs['less'], axis, order, mode)


def argrelmax(data, axis=0, order=1, mode='clip'):
    """Returns the indices of relative maxima, as argrelextrema."""
    return argrelextrema(data, _core.ufuncs['greater'], axis, order, mode)
