"""Floating-point types: mixed16 and the type that settings choose."""

import numpy


class _Mixed16:
    """The dtype of `chainer.mixed16`: float16 values with float32 parameters of batch normalization."""

    dtype = numpy.dtype(numpy.float16)

    def __repr__(self):
        return "dtype('mixed16')"

    def __reduce__(self):
        return 'mixed16'


mixed16 = _Mixed16()


def get_dtype(dtype=None, map_mixed16=None):
    """Returns a dtype, or the setting `dtype` for None. `map_mixed16` takes the place of mixed16."""
    if dtype is None:
        from .configuration import config
        dtype = config.dtype
    if dtype is mixed16 or (isinstance(dtype, str) and dtype == 'mixed16'):
        dtype = mixed16 if map_mixed16 is None else map_mixed16
    return dtype if dtype is mixed16 else numpy.dtype(dtype)
