"""The module that CuPy's pickles name for arrays."""

from catenary.cupy import _array
from catenary.cupy._array import ascontiguousarray, asfortranarray, ndarray


def array(*args, **kwargs):
    """Calls cupy.array."""
    return _array.array(*args, **kwargs)


array.__module__ = 'cupy._core.core'
