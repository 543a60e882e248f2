"""Fast Hankel transform of samples on a logarithmic scale, by their Fourier transform."""

import math

import numpy

from catenary import _core
from catenary.cupy import fft as _fft

_BERNOULLI = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)  # coefficients of Stirling's series


def _log_gamma(z):
    """Returns log(gamma(z)) of NumPy's complex numbers: Stirling's series after shifting z to where it converges, and the reflection formula left of
    1/2."""
    left = z.real < 0.5
    w = numpy.where(left, 1 - z, z).astype(complex)
    sunk = numpy.zeros_like(w)
    for _ in range(12):
        low = w.real < 10
        sunk += numpy.where(low, numpy.log(w), 0)
        w = numpy.where(low, w + 1, w)
    made = (w - 0.5) * numpy.log(w) - w + 0.5 * math.log(2 * math.pi) - sunk
    for k, b in enumerate(_BERNOULLI):
        made += b / w ** (2 * k + 1)
    upper = numpy.where(z.imag < 0, z.conj(), z)
    # log(sin(pi z)) without overflow for large imaginary parts
    sine = -1j * math.pi * (upper - 0.5) + numpy.log1p(-numpy.exp(2j * math.pi * upper)) - math.log(2)
    sine = numpy.where(z.imag < 0, sine.conj(), sine)
    return numpy.where(left, math.log(math.pi) - sine - made, made)


def _coefficients(n, dln, mu, offset, bias):
    """Returns the spectrum of the transform's kernel."""
    y = numpy.arange(n // 2 + 1) * (math.pi / (n * dln))
    up, down = (mu + 1 + bias) / 2, (mu + 1 - bias) / 2
    with numpy.errstate(all='ignore'):
        logs = _log_gamma(up + 1j * y) - _log_gamma(down - 1j * y)
    u = numpy.exp(logs.real + bias * math.log(2) + 1j * (logs.imag + 2 * (math.log(2) - offset) * y))
    if n % 2 == 0:
        u.imag[-1] = 0
    if not numpy.isfinite(u[0]):  # one of both has a pole
        ratio = math.nan if up <= 0 and up == round(up) and down <= 0 and down == round(down) else math.inf if up <= 0 and up == round(up) else 0.0
        u[0] = 2 ** bias * ratio
    return u


def _transform(a, dln, mu, offset, bias, inverse, function):
    a = _fft._operand(a)
    if a.dtype.kind == 'c':
        raise TypeError(f'{function}: expected real numbers, got {a.dtype}')
    if a.ndim == 0 or a.shape[-1] < 1:
        raise ValueError(f'{function}: expected samples along the last axis, given shape {a.shape}')
    a = a.astype('d')
    n = a.shape[-1]
    u = _coefficients(n, dln, mu, offset, bias)
    if not numpy.isfinite(u[0]) and not inverse or inverse and u[0] == 0:
        raise ValueError(f'{function}: the transform is singular for mu={mu} and bias={bias}')

    def scaled(x, sign, shift):
        return x if bias == 0 else x * _core.from_numpy(numpy.exp(
            sign * bias * ((numpy.arange(n) - (n - 1) / 2) * dln + shift)), None)
    if inverse:
        a = scaled(a, 1, offset)
        spectrum = 1 / u.conj()
    else:
        a = scaled(a, -1, 0)
        spectrum = u
    made = _fft.irfft(_fft.rfft(a) * _core.from_numpy(spectrum, None), n)[..., ::-1]
    return scaled(made, 1, 0) if inverse else scaled(made, -1, offset)


def fht(a, dln, mu, offset=0.0, bias=0.0):
    """Returns the fast Hankel transform of order mu of samples at exp(dln * k), as scipy.fft.fht. Raises ValueError if it is singular."""
    return _transform(a, dln, mu, offset, bias, False, 'fht')


def ifht(A, dln, mu, offset=0.0, bias=0.0):
    """Returns the inverse of fht."""
    return _transform(A, dln, mu, offset, bias, True, 'ifht')
