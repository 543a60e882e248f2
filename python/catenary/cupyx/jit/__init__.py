"""cupyx.jit: kernels written in Python. `_compile` translates a function's syntax tree to CUDA C++ for the types of its arguments, and a RawKernel
runs it on every device."""

import builtins
import functools

import numpy

from catenary.cupy._array import asarray, ndarray
from catenary.cupy._kernels import RawKernel
from catenary.cupyx.jit import _compile
from catenary.cupyx.jit._builtins import (  # noqa: F401
    atomic_add, atomic_and, atomic_cas, atomic_dec, atomic_exch, atomic_inc, atomic_max, atomic_min, atomic_or, atomic_sub, atomic_xor,
    blockDim, blockIdx, grid, gridDim, gridsize, laneid, range, shared_memory, shfl_down_sync, shfl_sync, shfl_up_sync, shfl_xor_sync,
    syncthreads, syncwarp, threadIdx, warpsize)


class _JitRawKernel:
    """A kernel from rawkernel(), called as kernel(grid, block, arguments) or kernel[grid, block](*arguments)."""

    def __init__(self, func, mode, device):
        self._func, self._mode, self._device, self._kernels = func, mode, device, {}
        functools.update_wrapper(self, func)

    def __call__(self, grid, block, args, shared_mem=0, stream=None):
        if self._device:
            raise ValueError('%s: a device function is called by kernels, not by the host' % self._func.__name__)
        values, types = [], []
        for a in args:
            if not isinstance(a, ndarray) and hasattr(a, '__cuda_array_interface__'):
                a = asarray(a)
            if isinstance(a, ndarray):
                types.append(_compile.ArrayType(a.dtype, a.ndim))
                values += [a, *map(numpy.int64, a.shape), *(numpy.int64(s // a.itemsize) for s in a.strides)]
            elif isinstance(a, (bool, int, float, complex, numpy.generic)):
                value = a if isinstance(a, numpy.generic) else numpy.asarray(a)[()]
                types.append(value.dtype)
                values.append(value)
            else:
                raise TypeError('%s: an argument must be a cupy.ndarray or a number, given %s' % (self._func.__name__, type(a)))
        key = tuple(types)
        if key not in self._kernels:
            text, name = _compile.kernel(self, types)
            self._kernels[key] = RawKernel(text, name), text
        self._kernels[key][0](grid, block, tuple(values), shared_mem=shared_mem, stream=stream)

    def __getitem__(self, grid_and_block):
        grid, block = grid_and_block
        return lambda *args, **kwargs: self(grid, block, args, **kwargs)

    @property
    def cached_codes(self):
        """The generated texts by argument types."""
        return {types: text for types, (_, text) in self._kernels.items()}

    @property
    def cached_code(self):
        """Returns the kernel's source if there is only one, else a dictionary of all."""
        codes = self.cached_codes
        return next(iter(codes.values())) if len(codes) == 1 else codes


def rawkernel(*, mode='cuda', device=False):
    """Makes a kernel of a Python function.

    `mode` selects the result types of operations: 'cuda' those of C++, 'numpy' those of NumPy. `device` marks a function that kernels call. Python
    that cannot be translated raises an error with its line at the first call.
    """
    if mode not in ('cuda', 'numpy'):
        raise ValueError("rawkernel: mode must be 'cuda' or 'numpy', not %r" % (mode,))
    return lambda func: _JitRawKernel(func, mode, builtins.bool(device))


def __getattr__(name):
    if name in ('cg', 'cub', 'thrust'):
        raise AttributeError('cupyx.jit.%s: cooperative groups, CUB and Thrust are not supported' % name)
    raise AttributeError('module %r has no attribute %r' % ('cupyx.jit', name))
