"""cupyx"""

import contextlib

from catenary import _core, _wheel
from catenary.cupy import _modules
from catenary.cupy._info import RuntimeInfo
from catenary.cupy._util import submodule
from catenary.cupyx import scipy  # noqa: F401
from catenary.cupyx._pinned import empty_like_pinned, empty_pinned, zeros_like_pinned, zeros_pinned  # noqa: F401

# none of cuSPARSE's functions is called
cusparse = _modules.make('catenary.cupyx.cusparse', check_availability=lambda name: False)
# functions of cuSOLVER that have an equivalent in linalg
cusolver = _modules.make('catenary.cupyx.cusolver', check_availability=lambda name: name in (
    'gesvdj', 'gesvdjBatched', 'potrfBatched', 'potrsBatched', 'syevj', 'syevjBatched'))

rsqrt = _core.ufuncs['rsqrt']
scatter_add = _core.scatter_add
scatter_max = _core.scatter_max
scatter_min = _core.scatter_min


def get_runtime_info(*, full=False):
    """Returns the output of `catenary info` as an object that prints itself."""
    return RuntimeInfo()


def errstate(*, linalg=None, fallback_mode=None):
    """Accepts settings without effect: errors are always raised."""
    if linalg == 'ignore':
        raise ValueError("errstate: linalg='ignore' is not supported, singular matrices raise")
    return contextlib.nullcontext()


def __getattr__(name):
    if name in ('jit', 'linalg', 'profiler', 'signal'):
        return submodule(f'{__name__}.{name}')
    raise _wheel.absent('cupyx', name)
