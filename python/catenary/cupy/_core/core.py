"""The name under which pickles of CuPy know arrays."""

from catenary.cupy import _array
from catenary.cupy._array import ascontiguousarray, asfortranarray, ndarray


def array(*args, **kwargs):
    """cupy.array."""
    return _array.array(*args, **kwargs)


array.__module__ = 'cupy._core.core'
