"""What programs take from `cupy._core`, the home of CuPy's classes. Ours is `catenary._core`."""

from catenary.cupy._array import array, ascontiguousarray, asfortranarray, ndarray
from catenary.cupy._core import core
from catenary.cupy._kernels import ElementwiseKernel, RawKernel, RawModule, ReductionKernel
from catenary.cupy._util import fuse, memoize
