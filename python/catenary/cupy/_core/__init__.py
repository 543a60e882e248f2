"""Names that programs import from `cupy._core`, CuPy's compiled core. Catenary's own core is `catenary._core`."""

from types import SimpleNamespace

from catenary.cupy._array import Flags, array, ascontiguousarray, asfortranarray, ndarray
from catenary.cupy._core import _accelerator, _cub_reduction, _dtype, _routines_linalg, _scalar, core, internal
from catenary.cupy._core._accelerator import (get_compute_type, get_reduction_accelerators, get_routine_accelerators,
                                              set_compute_type, set_reduction_accelerators, set_routine_accelerators)
from catenary.cupy._kernels import ElementwiseKernel, RawKernel, RawModule, ReductionKernel
from catenary.cupy._create_ufunc import create_ufunc
from catenary.cupy._util import fuse, memoize

flags = SimpleNamespace(Flags=Flags)


def get_size(size):
    """Returns the argument size= as a tuple."""
    if size is None:
        return ()
    return tuple(size) if hasattr(size, '__iter__') else (size,)


def elementwise_copy(source, out):
    """Copies an array into another one to whose shape it broadcasts, with any dtypes. Returns the destination."""
    out[...] = source.astype(out.dtype, copy=False)
    return out
