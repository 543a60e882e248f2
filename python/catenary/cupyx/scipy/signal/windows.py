"""cupyx.scipy.signal.windows: window functions. NumPy computes them on the host, and the result is copied to the device."""

import math
import operator

import numpy

from catenary import _core, _wheel


def _window(compute):
    """Makes a window function of a function for symmetric windows. With sym=False the result is one period of a window with one more sample."""
    def window(M, *args, sym=True, **kwargs):
        names = compute.__code__.co_varnames[1:compute.__code__.co_argcount]
        if len(args) > len(names):  # sym was passed by position
            *args, sym = args
            if len(args) > len(names):
                raise TypeError(f'{compute.__name__}: too many arguments')
        M = _length(M)
        if M <= 1:
            return _core.ones((M,), 'd')
        values = compute(M + (not sym), *args, **kwargs)
        return _core.from_numpy(numpy.ascontiguousarray(values if sym else values[:-1], float), None)
    window.__name__ = window.__qualname__ = compute.__name__
    window.__doc__ = compute.__doc__
    return window


def _length(M):
    """Returns the number of samples. Raises ValueError if M is not a whole number of at least 0."""
    if int(M) != M or M < 0:
        raise ValueError('Window length M must be a non-negative integer, not %r' % (M,))
    return int(M)


def _cosines(M, a):
    """Sums of cosines, by their weights."""
    angles = numpy.linspace(-math.pi, math.pi, M)
    return sum(weight * numpy.cos(k * angles) for k, weight in enumerate(a))


def _of_cosines(name, *weights):
    def compute(M):
        return _cosines(M, weights)
    compute.__name__ = name
    compute.__doc__ = f'The sum of cosines with the weights {", ".join(map(str, weights))}.'
    return _window(compute)


def _centred(M):
    return numpy.arange(M) - (M - 1) / 2


@_window
def general_cosine(M, a):
    """Returns the sum of cosines with the weights a."""
    return _cosines(M, a)


@_window
def boxcar(M):
    """Returns a rectangular window."""
    return numpy.ones(M)


@_window
def triang(M):
    """Returns a triangular window without zeros at its ends."""
    return 1 - 2 * numpy.abs(_centred(M)) / (M + M % 2)


@_window
def bartlett(M):
    """Returns a triangular window with zeros at its ends."""
    return 1 - 2 * numpy.abs(_centred(M)) / (M - 1)


@_window
def parzen(M):
    """Returns Parzen's window of cubic pieces."""
    r = 2 * numpy.abs(_centred(M)) / M
    return numpy.where(numpy.abs(_centred(M)) <= (M - 1) / 4, 1 - 6 * r ** 2 * (1 - r), 2 * (1 - r) ** 3)


@_window
def bohman(M):
    """Returns Bohman's window."""
    r = numpy.abs(numpy.linspace(-1, 1, M))
    values = (1 - r) * numpy.cos(math.pi * r) + numpy.sin(math.pi * r) / math.pi
    values[[0, -1]] = 0
    return values


blackman = _of_cosines('blackman', 0.42, 0.5, 0.08)
nuttall = _of_cosines('nuttall', 0.3635819, 0.4891775, 0.1365995, 0.0106411)
blackmanharris = _of_cosines('blackmanharris', 0.35875, 0.48829, 0.14128, 0.01168)
flattop = _of_cosines('flattop', 0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368)
hann = _of_cosines('hann', 0.5, 0.5)
hamming = _of_cosines('hamming', 0.54, 0.46)


@_window
def general_hamming(M, alpha):
    """Returns alpha - (1 - alpha) cos, a generalized Hamming window."""
    return _cosines(M, (alpha, 1 - alpha))


@_window
def tukey(M, alpha=0.5):
    """Returns a tapered cosine window: flat, with cosine lobes at both ends that cover the fraction alpha."""
    if alpha <= 0:
        return numpy.ones(M)
    alpha = min(alpha, 1)
    n = numpy.arange(M)
    n = numpy.minimum(n, M - 1 - n)
    return numpy.where(n <= math.floor(alpha * (M - 1) / 2), 0.5 * (1 + numpy.cos(math.pi * (2 * n / alpha / (M - 1) - 1))), 1)


@_window
def barthann(M):
    """Returns the modified Bartlett-Hann window."""
    r = numpy.abs(numpy.arange(M) / (M - 1) - 0.5)
    return 0.62 - 0.48 * r + 0.38 * numpy.cos(2 * math.pi * r)


@_window
def kaiser(M, beta):
    """Returns a Kaiser window."""
    alpha = (M - 1) / 2
    return numpy.i0(beta * numpy.sqrt(1 - (_centred(M) / alpha) ** 2)) / numpy.i0(beta)


def kaiser_bessel_derived(M, beta, *, sym=True):
    """Returns a Kaiser-Bessel derived window of even length. Raises ValueError for an odd length and for sym=False."""
    if not sym:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for symmetric shapes")
    if M < 1:
        return _core.ones((0,), 'd')
    if M % 2:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for even number of points")
    half = M // 2
    sums = numpy.cumsum(numpy.i0(beta * numpy.sqrt(1 - ((numpy.arange(half + 1) - half / 2) / (half / 2)) ** 2)))
    values = numpy.sqrt(sums[:-1] / sums[-1])
    return _core.from_numpy(numpy.concatenate([values, values[::-1]]), None)


@_window
def gaussian(M, std):
    """Returns a Gaussian window with this standard deviation."""
    return numpy.exp(-_centred(M) ** 2 / (2 * std * std))


@_window
def general_gaussian(M, p, sig):
    """Returns exp(-|n / sig|^(2 p) / 2)."""
    return numpy.exp(-0.5 * numpy.abs(_centred(M) / sig) ** (2 * p))


@_window
def chebwin(M, at):
    """Returns a Dolph-Chebyshev window with side lobes at least `at` decibels down."""
    order = M - 1
    beta = math.cosh(math.acosh(10 ** (abs(at) / 20)) / order)
    x = beta * numpy.cos(math.pi * numpy.arange(M) / M)
    inner = numpy.cos(order * numpy.arccos(numpy.clip(x, -1, 1)))
    outer = numpy.cosh(order * numpy.arccosh(numpy.maximum(numpy.abs(x), 1))) * numpy.where(x < 0, (-1) ** order, 1)
    p = numpy.where(numpy.abs(x) > 1, outer, inner)
    if M % 2:
        values = numpy.fft.fft(p).real[:(M + 1) // 2]
        values = numpy.concatenate([values[:0:-1], values])
    else:
        values = numpy.fft.fft(p * numpy.exp(1j * math.pi / M * numpy.arange(M))).real[1:M // 2 + 1]
        values = numpy.concatenate([values[::-1], values])
    return values / values.max()


@_window
def cosine(M):
    """Returns a cosine window: half a period of a sine."""
    return numpy.sin(math.pi / M * (numpy.arange(M) + 0.5))


def exponential(M, center=None, tau=1.0, sym=True):
    """Returns exp(-|n - center| / tau). Raises ValueError for a center given to a symmetric window, whose center is fixed."""
    if sym and center is not None:
        raise ValueError('exponential: if sym==True, center must be None.')
    M = _length(M)
    if M <= 1:
        return _core.ones((M,), 'd')
    center = (M + (not sym) - 1) / 2 if center is None else center
    return _core.from_numpy(numpy.exp(-numpy.abs(numpy.arange(M) - center) / tau), None)


@_window
def lanczos(M):
    """Returns the main lobe of sinc."""
    return numpy.sinc(2 * numpy.arange(M) / (M - 1) - 1)


@_window
def taylor(M, nbar=4, sll=30, norm=True):
    """Returns a Taylor window with nbar nearly equal side lobes, sll decibels down."""
    a = math.acosh(10 ** (sll / 20)) / math.pi
    s2 = nbar ** 2 / (a ** 2 + (nbar - 0.5) ** 2)
    m = numpy.arange(1, nbar)
    weights = [(-1) ** (k + 1) * numpy.prod(1 - k ** 2 / s2 / (a ** 2 + (m - 0.5) ** 2)) / (2 * numpy.prod(1 - k ** 2 / m[m != k] ** 2)) for k in m]

    def at(n):
        return 1 + 2 * sum(weight * numpy.cos(2 * math.pi * k * (n - M / 2 + 0.5) / M) for k, weight in zip(m, weights))
    return at(numpy.arange(M)) * (1 / at((M - 1) / 2) if norm else 1) + numpy.zeros(M)


_NEED = {'kaiser': 1, 'kaiser_bessel_derived': 1, 'gaussian': 1, 'general_gaussian': 2, 'general_cosine': 1, 'general_hamming': 1, 'chebwin': 1}
_MORE = ('tukey', 'exponential', 'taylor')
_PLAIN = ('boxcar', 'triang', 'bartlett', 'parzen', 'bohman', 'blackman', 'nuttall', 'blackmanharris', 'flattop', 'hann', 'hamming', 'barthann',
          'cosine', 'lanczos')
_SHORT = {'box': 'boxcar', 'ones': 'boxcar', 'rect': 'boxcar', 'rectangular': 'boxcar', 'tri': 'triang', 'triangle': 'triang', 'bart': 'bartlett',
          'brt': 'bartlett', 'par': 'parzen', 'parz': 'parzen', 'bman': 'bohman', 'bmn': 'bohman', 'black': 'blackman', 'blk': 'blackman',
          'nutl': 'nuttall', 'nut': 'nuttall', 'blackharr': 'blackmanharris', 'bkh': 'blackmanharris', 'flat': 'flattop', 'flt': 'flattop',
          'han': 'hann', 'hamm': 'hamming', 'ham': 'hamming', 'brthan': 'barthann', 'bth': 'barthann', 'ksr': 'kaiser', 'kaiser bessel derived': 'kaiser_bessel_derived', 'gauss': 'gaussian',
          'gss': 'gaussian', 'general gaussian': 'general_gaussian', 'general_gauss': 'general_gaussian', 'general gauss': 'general_gaussian',
          'ggs': 'general_gaussian', 'general cosine': 'general_cosine', 'general hamming': 'general_hamming', 'cheb': 'chebwin',
          'halfcosine': 'cosine', 'sinc': 'lanczos', 'tuk': 'tukey', 'poisson': 'exponential', 'taylorwin': 'taylor'}


def get_window(window, Nx, fftbins=True):
    """Returns a window by its name, by a tuple (name, parameters), or by a number, the beta of a Kaiser window.

    With fftbins it is periodic, else symmetric. Raises ValueError for an unknown name.
    """
    Nx = operator.index(Nx)
    if isinstance(window, (int, float)):
        return kaiser(Nx, float(window), sym=not fftbins)
    name, *parameters = (window,) if isinstance(window, str) else window if isinstance(window, tuple) else (None,)
    if not isinstance(name, str):
        raise ValueError(f'{type(window)} as window type is not supported.')
    name = _SHORT.get(name, name)
    if name not in _PLAIN + _MORE and name not in _NEED:
        raise ValueError('Unknown window type: %r' % (name,))
    if len(parameters) < _NEED.get(name, 0):
        raise ValueError(f"The '{name}' window needs one or more parameters -- pass a tuple.")
    return globals()[name](Nx, *parameters, sym=not fftbins)


__getattr__ = _wheel.getter('cupyx.scipy.signal.windows')
