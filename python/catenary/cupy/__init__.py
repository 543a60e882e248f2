"""CuPy's interface on every device that Catenary finds: docs/python.md says what differs."""

import atexit as _atexit
import importlib as _importlib
import os as _os

import numpy as _numpy

from catenary import _core as _native
from catenary.cupy import _errors

_errors.need_gil()

from catenary.cupy import _array, _functions, _modules, _util
from catenary.cupy._array import (array, asanyarray, asarray, asarray_chkfinite, ascontiguousarray, asfortranarray,
                                  asnumpy, copy, ndarray)
from catenary.cupy._files import load, save, savetxt, savez, savez_compressed
from catenary.cupy._indexing.generate import (c_, diag_indices, diag_indices_from, mgrid, ogrid, r_, tril_indices_from,
                                              triu_indices_from)
from catenary.cupy._util import PerformanceWarning, clear_memo, fuse, memoize

__version__ = '14.2.0'
catenary_version = _native.version

# A row of elementwise.def or reductions.def is a name here without a line of Python.
globals().update(_native.ufuncs)
ufunc = _native.ufunc
globals().update({_name: getattr(_functions, _name) for _name in vars(_functions)
                  if not _name.startswith('_') and callable(getattr(_functions, _name))
                  and getattr(_functions, _name).__module__ == _functions.__name__})
_not_of_numpy = {'Device', 'Event', 'Stream', 'RandomState', 'RawFunction', 'backend_of', 'device_of', 'deviceSynchronize',
                 'from_numpy', 'getDevice', 'getDeviceCount', 'get_elapsed_time', 'get_current_stream', 'groups_for',
                 'logsumexp', 'pool_counters', 'pool_free_all_blocks', 'pool_set_limit', 'reductions', 'runtime_info',
                 'ufuncs', 'version', 'linalg', 'CUDARuntimeError', 'OutOfMemoryError', 'as_strided', 'astype',
                 'fill', 'scatter_add', 'scatter_max', 'scatter_min', 'sliding_window_view'}
globals().update({_name: getattr(_native, _name) for _name in dir(_native)
                  if not _name.startswith('_') and _name not in _not_of_numpy and _name not in globals()})

# NumPy's second names
abs = absolute
acos, acosh, asin, asinh, atan, atanh, atan2 = arccos, arccosh, arcsin, arcsinh, arctan, arctanh, arctan2
amax, amin = max, min
bitwise_invert = bitwise_not = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
concat = concatenate
deg2rad, rad2deg = radians, degrees
fabs = _native.fabs
mod = remainder
permute_dims = transpose
pow = power
round = round_ = around
true_divide = divide
trapz = trapezoid

# NumPy's own: dtypes, constants, and what tells of them
for _name in ('bool_', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16', 'float32',
              'float64', 'byte', 'short', 'intc', 'int_', 'longlong', 'ubyte', 'ushort', 'uintc', 'uint', 'ulonglong',
              'intp', 'uintp', 'half', 'single', 'double', 'number', 'integer', 'signedinteger', 'unsignedinteger',
              'inexact', 'floating', 'complexfloating', 'complex64', 'complex128', 'generic', 'dtype', 'e', 'pi', 'inf',
              'nan', 'euler_gamma', 'newaxis', 'finfo', 'iinfo', 'issubdtype', 'promote_types', 'index_exp', 's_',
              'isscalar', 'typename', 'set_printoptions', 'get_printoptions', 'printoptions', 'base_repr', 'binary_repr'):
    globals()[_name] = getattr(_numpy, _name)
bool = _numpy.bool_
Inf = Infinity = PINF = infty = _numpy.inf
NINF = -_numpy.inf
NAN = NaN = _numpy.nan
PZERO, NZERO = 0.0, -0.0
del _name

_submodules = ('cuda', 'cudnn', 'fft', 'lib', 'linalg', 'random', 'testing', 'util', '_core', 'exceptions')


def is_available():
    """Is there a device?"""
    return _native.getDeviceCount() > 0


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """numpy.array_repr of the values."""
    return _numpy.array_repr(asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(arr, max_line_width=None, precision=None, suppress_small=None):
    """numpy.array_str of the values."""
    return _numpy.array_str(asnumpy(arr), max_line_width, precision, suppress_small)


def array2string(a, *args, **kwargs):
    """numpy.array2string of the values."""
    return _numpy.array2string(asnumpy(a), *args, **kwargs)


def show_config(*, _full=False):
    """Prints what `catenary info` prints."""
    from catenary.cupyx import get_runtime_info
    print(get_runtime_info())


def get_default_memory_pool():
    """The pool that the current device's arrays have their memory from."""
    return _importlib.import_module('catenary.cupy.cuda').memory.default_pool


def get_default_pinned_memory_pool():
    """The pool of host memory that copies go through."""
    return _importlib.import_module('catenary.cupy.cuda').pinned_memory.default_pool


_in_other_modules = {name: 'catenary.cupy._kernels' for name in
                     ('ElementwiseKernel', 'ReductionKernel', 'RawKernel', 'RawModule')}


def __getattr__(name):
    if name in _submodules:
        return _util.submodule(f'catenary.cupy.{name}')
    if name in _in_other_modules:
        value = getattr(_importlib.import_module(_in_other_modules[name]), name)
        globals()[name] = value
        return value
    if hasattr(_numpy, name):
        raise AttributeError(f"cupy has no {name!r} here, though numpy has: docs/coverage.md of Catenary lists what there "
                             'is')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def _finish(process=_os.getpid()):
    """A driver that is unloaded while work is under way crashes (PoCL does); what was wrong with that work is told."""
    if _os.getpid() == process:
        _native._finish()


_atexit.register(_finish)
