"""Initializers of parameters."""

import numpy

from .. import _paths, backend
from .._dtypes import get_dtype
from ..initializer import Initializer
from ._constant import Constant, Identity, NaN, One, Zero
from ._random import (GlorotNormal, GlorotUniform, HeNormal, HeUniform, LeCunNormal, LeCunUniform, Normal, Orthogonal, Uniform)
from ._sampling import (DownsamplingConvFilter, UpsamplingDeconvFilter)

__all__ = ['Constant', 'DownsamplingConvFilter', 'GlorotNormal', 'GlorotUniform', 'HeNormal', 'HeUniform', 'Identity', 'Initializer',
           'LeCunNormal', 'LeCunUniform', 'NaN', 'Normal', 'One', 'Orthogonal', 'Uniform', 'UpsamplingDeconvFilter', 'Zero', 'generate_array']

__getattr__ = _paths._package('chainer.initializers')


def generate_array(initializer, shape, xp, dtype=None, device=None):
    """Returns an array of this shape that the initializer has filled. Its dtype is the initializer's, the argument or the setting."""
    own = getattr(initializer, 'dtype', None)
    if dtype is not None and own is not None and numpy.dtype(get_dtype(own, numpy.float16)) != numpy.dtype(get_dtype(dtype, numpy.float16)):
        raise ValueError('the dtype of the initializer is %s, the dtype of the array %s' % (own, dtype))
    dtype = get_dtype(own if dtype is None else dtype, map_mixed16=numpy.float16)
    if device is None:
        device = backend._guess_device_from_array_module(xp)
    else:
        device = backend.get_device(device)
        if device.xp is not xp:
            raise ValueError('the device %s does not belong to the array module' % device)
    with backend.using_device(device):
        array = device.xp.empty(shape, dtype=dtype)
        initializer(array)
    return array


def _make(value, dtype):
    return Constant(value, dtype=dtype)


def _get_initializer(initializer):
    """Returns an initializer for None (LeCunNormal), a number or array (Constant), or a function."""
    if initializer is None:
        return LeCunNormal()
    if isinstance(initializer, (Initializer,)):
        return initializer
    if numpy.isscalar(initializer) or backend.GpuDevice.from_array(initializer) is not None or isinstance(initializer, numpy.ndarray):
        return Constant(initializer)
    if not callable(initializer):
        raise TypeError('an initializer is None, a number, an array or a function, not %s' % type(initializer))
    return initializer


def _check_is_initializer_like(initializer):
    if not (initializer is None or isinstance(initializer, (Initializer, numpy.ndarray)) or callable(initializer) or numpy.isscalar(initializer)
            or backend.GpuDevice.from_array(initializer) is not None):
        raise TypeError('an initializer is None, a number, an array or a function, not %s' % type(initializer))
