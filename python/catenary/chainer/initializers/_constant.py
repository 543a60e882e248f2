"""Initializers with fixed values."""

import numpy

from .. import backend
from ..initializer import Initializer


class Constant(Initializer):
    """Fills an array with a number or copies another array."""

    def __init__(self, fill_value, dtype=None):
        super().__init__(dtype)
        self.fill_value = fill_value

    def __call__(self, array):
        if self.dtype is not None:
            _check_dtype(self, array)
        value = self.fill_value
        if isinstance(value, (int, float, numpy.generic)):
            array.fill(value)
        else:
            backend.copyto(array, value.astype(array.dtype, copy=False) if hasattr(value, 'astype') else numpy.asarray(value, array.dtype))


def _check_dtype(initializer, array):
    from .._dtypes import get_dtype
    if array.dtype != get_dtype(initializer.dtype, map_mixed16=numpy.float16):
        raise ValueError('the dtype of the initializer is %s, the dtype of the array %s' % (initializer.dtype, array.dtype))


class Zero(Constant):
    """Fills an array with zeros."""

    def __init__(self, dtype=None):
        super().__init__(0.0, dtype)


class One(Constant):
    """Fills an array with ones."""

    def __init__(self, dtype=None):
        super().__init__(1.0, dtype)


class NaN(Constant):
    """Fills an array with NaN."""

    def __init__(self, dtype=None):
        super().__init__(numpy.nan, dtype)


class Identity(Initializer):
    """Makes a square matrix the identity, times a scale."""

    def __init__(self, scale=1.0, dtype=None):
        super().__init__(dtype)
        self.scale = scale

    def __call__(self, array):
        if self.dtype is not None:
            _check_dtype(self, array)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ValueError('Identity: a square matrix is expected, not the shape %s' % (array.shape,))
        array[...] = 0
        with backend.using_device(backend.get_device_from_array(array)):
            places = backend.get_array_module(array).arange(len(array))
            array[places, places] = self.scale
