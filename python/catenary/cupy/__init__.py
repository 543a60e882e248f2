"""CuPy's interface on every device that Catenary supports. docs/reference/cupy.md lists the differences."""

import importlib as _importlib

import numpy as _numpy

from catenary import _core as _native, _names
from catenary.cupy import _errors

_errors.need_gil()

from catenary.cupy import _array, _functions, _info, _modules, _ufuncs, _util
from catenary.cupy._array import (array, asanyarray, asarray, asarray_chkfinite, ascontiguousarray, asfortranarray,
                                  asnumpy, copy, flatiter, ndarray)
from catenary.cupy._files import load, save, savetxt, savez, savez_compressed
from catenary.cupy._indexing.generate import (c_, diag_indices, diag_indices_from, mgrid, ogrid, r_, tril_indices_from,
                                              triu_indices_from)
from catenary.cupy._array_api import astype, block, isdtype, matrix_transpose
from catenary.cupy._ufuncs import divmod, fabs, fix, float_power, frexp, ldexp, modf, positive, sinc
from catenary.cupy._util import clear_memo, fuse, memoize

__version__ = _names.CUPY
catenary_version = _native.version

# names.txt lists the public names. A row of elementwise.def or reductions.def, or a function of the extension or of _functions, becomes a name here
# if CuPy or NumPy has it.
_found = {**{_name: getattr(_native, _name) for _name in dir(_native)}, **_native.ufuncs,
          **{_name: _value for _family in _functions.FAMILIES for _name, _value in vars(_family).items()
             if getattr(_value, '__module__', None) == _family.__name__}}
# submodules that are loaded on first use
_submodules = ('cublas', 'cuda', 'cudnn', 'fft', 'lib', 'linalg', 'polynomial', 'random', 'testing', 'typing', 'util', '_core', 'exceptions')
globals().update({_name: _found[_name] for _name in _names.here('cupy') & _found.keys()
                  if _name not in globals() and _name not in _submodules and _name != 'polyval'})
# aliases of NumPy
abs = absolute
acos, acosh, asin, asinh, atan, atanh, atan2 = arccos, arccosh, arcsin, arcsinh, arctan, arctanh, arctan2
amax, amin = max, min
bitwise_invert = bitwise_not = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
concat = concatenate
conj = conjugate
deg2rad, rad2deg = radians, degrees
mod = remainder
permute_dims = transpose
pow = power
round = round_ = around
true_divide = divide
trapz = trapezoid

# NumPy's own dtypes, constants and dtype functions
for _name in ('bool_', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16', 'float32',
              'float64', 'byte', 'short', 'intc', 'int_', 'longlong', 'ubyte', 'ushort', 'uintc', 'uint', 'ulonglong',
              'intp', 'uintp', 'half', 'single', 'double', 'number', 'integer', 'signedinteger', 'unsignedinteger',
              'inexact', 'floating', 'complexfloating', 'complex64', 'complex128', 'generic', 'dtype', 'e', 'pi', 'inf',
              'nan', 'euler_gamma', 'newaxis', 'finfo', 'iinfo', 'issubdtype', 'promote_types', 'index_exp', 's_',
              'isscalar', 'typename', 'set_printoptions', 'get_printoptions', 'printoptions', 'base_repr', 'binary_repr',
              'cdouble', 'csingle', 'iterable', 'mintypecode', 'ndindex', 'format_float_positional',
              'format_float_scientific'):
    globals()[_name] = getattr(_numpy, _name)
bool = _numpy.bool_
Inf = Infinity = PINF = infty = _numpy.inf
NINF = -_numpy.inf
NAN = NaN = _numpy.nan
PZERO, NZERO = 0.0, -0.0
long, ulong = _numpy.dtype('l').type, _numpy.dtype('L').type
from catenary.cupy.exceptions import (AxisError, ComplexWarning, ModuleDeprecationWarning, RankWarning, TooHardError,
                                      VisibleDeprecationWarning)
del _found, _name


def is_available():
    """Returns whether there is a device."""
    return _native.getDeviceCount() > 0


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """Returns numpy.array_repr of the values."""
    return _numpy.array_repr(asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(arr, max_line_width=None, precision=None, suppress_small=None):
    """Returns numpy.array_str of the values."""
    return _numpy.array_str(asnumpy(arr), max_line_width, precision, suppress_small)


def array2string(a, *args, **kwargs):
    """Returns numpy.array2string of the values."""
    return _numpy.array2string(asnumpy(a), *args, **kwargs)


def show_config(*, _full=False):
    """Prints the output of `catenary info`."""
    print(_info.RuntimeInfo())


def get_default_memory_pool():
    """Returns the memory pool of the current device's arrays."""
    return _importlib.import_module('catenary.cupy.cuda').memory.default_pool


def get_default_pinned_memory_pool():
    """Returns the pool of host memory for copies."""
    return _importlib.import_module('catenary.cupy.cuda').pinned_memory.default_pool


_in_other_modules = {name: f'catenary.cupy.{module}' for module, names in {
    '_kernels': ('ElementwiseKernel', 'ReductionKernel', 'RawKernel', 'RawModule'),
    '_vectorize': ('vectorize', 'apply_along_axis', 'apply_over_axes', 'piecewise'),
    '_polynomials': ('poly', 'poly1d', 'polyadd', 'polymul', 'polysub', 'polyval', 'roots')}.items() for name in names}

# The names for `from cupy import *`, from which array_api_compat makes its namespace. It includes modules and classes that are loaded on first use.
__all__ = [*(_name for _name in globals() if not _name.startswith('_')), *_in_other_modules,
           'cuda', 'exceptions', 'fft', 'lib', 'linalg', 'polynomial', 'random', 'testing']


def __getattr__(name):
    if name in _submodules:
        return _util.submodule(f'catenary.cupy.{name}')
    if name in _in_other_modules:
        value = getattr(_importlib.import_module(_in_other_modules[name]), name)
        globals()[name] = value
        return value
    if hasattr(_numpy, name):
        raise AttributeError(f"cupy has no {name!r} here, though numpy has: `python -m catenary names cupy` lists the "
                             "available names, and docs/reference/cupy.md of Catenary explains the differences")
    raise _names.absent('cupy', name)
