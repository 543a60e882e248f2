"""Filters that enlarge or shrink images."""

import numpy

from .. import backend
from ..initializer import Initializer
from ._constant import _check_dtype


def _filter(size):
    """Returns the weights of linear interpolation in a window."""
    factor = (size + 1) // 2
    center = factor - 1 if size % 2 == 1 else factor - 0.5
    return 1 - numpy.abs(numpy.arange(size) - center) / factor


class _Interpolation(Initializer):
    """A filter of linear interpolation for each channel."""

    def __init__(self, upsampling, interpolation, dtype):
        if interpolation not in (None, 'linear', 'lanczos') or interpolation == 'lanczos' and upsampling:
            raise ValueError('the interpolation %r is not known: use linear' % (interpolation,))
        super().__init__(dtype)

    def __call__(self, array):
        if self.dtype is not None:
            _check_dtype(self, array)
        rows, columns, *sizes = array.shape
        if rows != columns and columns != 1:
            raise ValueError('the numbers of inputs and outputs must be equal, or one input per group, not %d and %d' % (columns, rows))
        window = numpy.ones(())
        for size in sizes:
            window = window[..., None] * _filter(size)
        values = numpy.zeros(array.shape, array.dtype)
        for i in range(rows):
            values[i, i if columns != 1 else 0] = self._scaled(window)
        backend.copyto(array, values)

    def _scaled(self, window):
        return window


class UpsamplingDeconvFilter(_Interpolation):
    """Makes a deconvolution enlarge images by linear interpolation."""

    def __init__(self, interpolation='linear', dtype=None):
        super().__init__(True, interpolation, dtype)


class DownsamplingConvFilter(_Interpolation):
    """Makes a convolution shrink images by linear interpolation."""

    def __init__(self, interpolation='linear', dtype=None):
        super().__init__(False, interpolation, dtype)

    def _scaled(self, window):
        return window / window.sum()
