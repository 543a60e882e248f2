"""cupyx"""

import contextlib

from catenary import _core
from catenary.cupyx import scipy  # noqa: F401

rsqrt = _core.ufuncs['rsqrt']
scatter_add = _core.scatter_add
scatter_max = _core.scatter_max
scatter_min = _core.scatter_min


def get_runtime_info(*, full=False):
    """What `catenary info` prints, as an object that prints itself."""
    return _RuntimeInfo()


class _RuntimeInfo:
    def __str__(self):
        from catenary import cupy
        return f'CuPy Version                 : {cupy.__version__} (Catenary {cupy.catenary_version})\n' + _core.runtime_info()

    __repr__ = __str__


def errstate(*, linalg=None, fallback_mode=None):
    """For settings that have no effect here: errors are always raised."""
    if linalg == 'ignore':
        raise ValueError("errstate: linalg='ignore' is not supported, singular matrices raise")
    return contextlib.nullcontext()
