"""cupy.fft: what of it needs no complex numbers. The transforms are not there."""

import numpy

from catenary import _core, _names
from catenary.cupy._array import asarray
from catenary.cupy._functions import _given

_ABSENT = _names.known()['cupy.fft'][1]


def fftfreq(n, d=1.0):
    """The frequencies of a transform of n samples that are d apart."""
    return asarray(numpy.fft.fftfreq(n, d))


def rfftfreq(n, d=1.0):
    """The frequencies of a transform of n real samples that are d apart."""
    return asarray(numpy.fft.rfftfreq(n, d))


def _shifted(x, axes, sign):
    x = _given(x)
    axes = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return _core.roll(x, tuple(sign * (x.shape[k] // 2) for k in axes), axes)


def fftshift(x, axes=None):
    """The frequency 0 moved to the middle of each axis, or of those named."""
    return _shifted(x, axes, 1)


def ifftshift(x, axes=None):
    """What fftshift undoes."""
    return _shifted(x, axes, -1)


def __getattr__(name):
    if name in _ABSENT:
        raise AttributeError(f'cupy.fft.{name} is not here: Fourier transforms need complex numbers, and there are no complex '
                             'dtypes; numpy.fft has them for cupy.asnumpy(x)')
    raise _names.absent('cupy.fft', name)
