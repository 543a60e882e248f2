"""cupy.fft: discrete Fourier transforms with NumPy's names and conventions, by the library's own kernels."""

import threading as _threading

import numpy as _numpy

from catenary import _core, _names
from catenary.cupy._arguments import given as _given
from catenary.cupy._array import asarray as _asarray
from catenary.cupy.fft import config  # noqa: F401


def _operand(a):
    if isinstance(a, _numpy.ndarray):
        raise TypeError(f'Unsupported type {type(a)}; numpy.ndarray is not converted implicitly, use cupy.asarray')
    return _given(a)


_entered = _threading.local()  # stack of checks, one for each block of a plan that the thread is in


def _checked(name, a, lengths, axes):
    """Returns the array. Raises ValueError if the thread is in the block of a plan for another transform."""
    if checks := getattr(_entered, 'checks', None):
        checks[-1](name, a, lengths, axes)
    return a


def _one(name, doc):
    def transform(a, n=None, axis=-1, norm=None):
        return _core._fft(name, _checked(name, _operand(a), n, axis), n, axis, norm)
    return _named(transform, name, doc)


def _lengths(a, s, axes, name):
    """Returns `s` with the axis sizes in place of -1 and None."""
    if s is None or isinstance(s, int) or all(n not in (None, -1) for n in s):
        return s
    axes = range(a.ndim - len(s), a.ndim) if axes is None else axes
    whole = [a.shape[k] for k in axes]
    if name == 'irfftn' and s[-1] is None:
        whole[-1] = 2 * (whole[-1] - 1)
    return tuple(length if n in (None, -1) else n for n, length in zip(s, whole, strict=True))


def _several(name, doc, axes, s_of=None):
    def transform(a, s=None, axes=axes, norm=None):
        a = _operand(a)
        if axes is not None and len(axes) == 0:
            if (s_of or name) in ('rfftn', 'irfftn'):
                raise IndexError('tuple index out of range')
            return a
        lengths = _lengths(a, s, axes, s_of or name)
        return _core._fftn(s_of or name, _checked(name, a, lengths, axes), lengths, axes, norm)
    return _named(transform, name, doc)


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


fft = _one('fft', 'Returns the discrete Fourier transform along one axis.')
ifft = _one('ifft', 'Returns the inverse of fft.')
rfft = _one('rfft', 'Returns the first n // 2 + 1 elements of the transform of real numbers.')
irfft = _one('irfft', 'Returns the inverse of rfft: n real numbers.')
hfft = _one('hfft', 'Returns the real transform of a Hermitian-symmetric array, given by its first half.')
ihfft = _one('ihfft', 'Returns the inverse of hfft.')
fftn = _several('fftn', 'Returns the discrete Fourier transform along several axes.', None)
ifftn = _several('ifftn', 'Returns the inverse of fftn.', None)
rfftn = _several('rfftn', 'Applies rfft along the last of the axes and fft along the others.', None)
irfftn = _several('irfftn', 'Returns the inverse of rfftn.', None)
fft2 = _several('fft2', 'Returns the transform of the last two axes.', (-2, -1), 'fftn')
ifft2 = _several('ifft2', 'Returns the inverse of fft2.', (-2, -1), 'ifftn')
rfft2 = _several('rfft2', 'Applies rfft along the last axis and fft along the one before.', (-2, -1), 'rfftn')
irfft2 = _several('irfft2', 'Returns the inverse of rfft2.', (-2, -1), 'irfftn')


def fftfreq(n, d=1.0):
    """Returns the frequencies of a transform of n samples with spacing d."""
    return _asarray(_numpy.fft.fftfreq(n, d))


def rfftfreq(n, d=1.0):
    """Returns the frequencies of a transform of n real samples with spacing d."""
    return _asarray(_numpy.fft.rfftfreq(n, d))


def fftshift(x, axes=None):
    """Shifts frequency 0 to the middle of each axis, or of the given axes."""
    return _core._fftshift(_given(x), axes)


def ifftshift(x, axes=None):
    """Returns the inverse of fftshift."""
    return _core._ifftshift(_given(x), axes)


def __getattr__(name):
    raise _names.absent('cupy.fft', name)
