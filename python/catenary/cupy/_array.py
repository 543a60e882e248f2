"""Construction of arrays from Python's values, and methods of ndarray that need no C++."""

import functools
import importlib
import math
import pickle
import sys

import numpy

from catenary import _core, _names
from catenary.cupy import _stretches, _structured, _util

ndarray = _core.ndarray
ndarray.__module__ = 'cupy._core.core'  # Chainer's printed graphs and tests contain this name


_NUMBERS = frozenset((bool, int, float, complex, numpy.float64, numpy.float32, numpy.int64, numpy.int32, numpy.bool_))


def _arrays_in(values):
    """Do nested lists contain an ndarray, or an object with an array protocol?"""
    if isinstance(values, (list, tuple)):
        if _NUMBERS.issuperset(map(type, values)):
            return False
        return any(map(_arrays_in, values))
    return isinstance(values, ndarray) or hasattr(values, '__cuda_array_interface__') or hasattr(values, '__cupy_get_ndarray__')


def _stacked(values, dtype):
    if isinstance(values, (list, tuple)):
        return _core._stack([_stacked(v, dtype) for v in values], 0)
    return array(values, dtype, copy=None)


def _shared(interface):
    """Returns an array over the memory of a __cuda_array_interface__, if that memory is Catenary's."""
    dtype, shape = numpy.dtype(interface['typestr']), tuple(interface['shape'])
    if interface.get('mask') is not None:
        raise ValueError('CuPy does not support masked arrays: __cuda_array_interface__ has a mask')
    if not dtype.isnative:
        raise ValueError(f'__cuda_array_interface__: {dtype.str} does not have the byte order of this machine')
    if 0 in shape:
        return _core.empty(shape, dtype)
    strides = interface.get('strides')
    if strides is None:
        strides = tuple(int(numpy.prod(shape[i + 1:], dtype=int)) * dtype.itemsize for i in range(len(shape)))
    reach = [step * (extent - 1) for step, extent in zip(strides, shape)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach) + dtype.itemsize
    memory = _core._at(interface['data'][0] + low, 'u1', high - low)
    return ndarray(shape, dtype, memory.data - low, strides)


def array(object, dtype=None, copy=True, order='K', subok=False, ndmin=0, *, blocking=False):
    """Returns an array on the current device with the values of `object`: an ndarray, any argument of numpy.asarray, or nested lists with ndarrays.

    copy=None copies if necessary. With copy=False a necessary copy raises ValueError.
    """
    if subok:
        raise NotImplementedError('array: subok=True is not supported')
    if isinstance(object, ndarray):
        result = _core._to_current_device(object)
        order_of_copy = order if order in ('C', 'F') else 'K'
        if dtype is not None and numpy.dtype(dtype) != result.dtype:
            result = result.astype(dtype, order=order_of_copy)
        elif result is object and copy:
            result = _core._copy(result, order_of_copy)
        elif order_of_copy != 'K':
            result = _core._contiguous(result, order_of_copy == 'F')
    elif hasattr(object, '__cuda_array_interface__'):
        return array(_shared(object.__cuda_array_interface__), dtype, copy, order, subok, ndmin)
    elif hasattr(object, '__cupy_get_ndarray__'):
        return array(object.__cupy_get_ndarray__(), dtype, copy, order, subok, ndmin)
    elif _arrays_in(object):
        result = _core._contiguous(_stacked(object, dtype), order in ('F', 'f'))
    elif isinstance(object, _structured.StructuredArray):
        return object.copy() if copy else object
    else:
        given = None if isinstance(object, (numpy.ndarray, numpy.generic)) else dtype
        values = numpy.asarray(object, given, order=None if order == 'K' else order)
        if values.dtype.fields and not values.dtype.hasobject:
            return _structured.from_host(values)
        if values.dtype.kind in 'OSUVMm' and values.dtype.name != 'bfloat16':
            raise ValueError(f'Unsupported dtype {values.dtype}')
        result = _core.from_numpy(values, dtype)
    if copy is False and result is not object:
        raise ValueError('Unable to avoid copy while creating an array as requested: pass copy=None to allow a copy')
    if not isinstance(ndmin, (int, numpy.integer)):
        raise TypeError(f"array: argument 'ndmin' must be an integer, given {type(ndmin).__name__} {ndmin!r}")
    if result.ndim < ndmin:
        result = result.reshape((1,) * (ndmin - result.ndim) + result.shape)
    return result


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    """Returns `a` itself if it is an array of this dtype, order and device, else a new array. `copy` is as for array()."""
    return array(a, dtype, copy, 'K' if order is None else order)


def asanyarray(a, dtype=None, order=None, *, blocking=False):
    """Returns asarray(a), as ndarray has no subclasses."""
    return asarray(a, dtype, order)


def ascontiguousarray(a, dtype=None):
    """Returns the array in C order with at least one axis, without a copy if possible."""
    result = asarray(a, dtype, 'C')
    return result if result.ndim else result.reshape(1)


def asfortranarray(a, dtype=None):
    """Returns the array in Fortran order with at least one axis, without a copy if possible."""
    result = asarray(a, dtype, 'F')
    return result if result.ndim else result.reshape(1)


def asarray_chkfinite(a, dtype=None, order=None):
    """Returns asarray(a). Raises ValueError for infinite values and NaN."""
    result = asarray(a, dtype, order)
    if result.dtype.kind == 'f' and not bool(_core.all(_core.ufuncs['isfinite'](result))):
        raise ValueError('array must not contain Infs or NaNs')
    return result


def copy(a, order='K'):
    """Returns a new array with the values of `a`."""
    return _core._copy(asarray(a), order)


def asnumpy(a, stream=None, order='C', out=None, *, blocking=True):
    """Returns the values in host memory: a copy of an ndarray, or numpy.asarray of other objects."""
    if isinstance(a, _structured.StructuredArray):
        return a.get()
    if isinstance(a, ndarray) or hasattr(a, '__cuda_array_interface__'):
        return asarray(a).get(stream=stream, order=order, out=out)
    if out is None:
        return numpy.asarray(a, order=order)
    numpy.copyto(out, a)
    return out


class Flags:
    """The memory layout of an array."""

    __slots__ = ('c_contiguous', 'f_contiguous', 'owndata')
    writeable = aligned = True

    def __init__(self, c_contiguous, f_contiguous, owndata):
        for name, value in zip(self.__slots__, (c_contiguous, f_contiguous, owndata)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(f'flags are read-only: {name} cannot be set')

    @property
    def fnc(self):
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self):
        return self.f_contiguous or self.c_contiguous

    def __getitem__(self, name):
        names = {'C_CONTIGUOUS': 'c_contiguous', 'F_CONTIGUOUS': 'f_contiguous', 'OWNDATA': 'owndata', 'FNC': 'fnc',
                 'FORC': 'forc', 'WRITEABLE': 'writeable', 'ALIGNED': 'aligned'}
        if name not in names:
            raise KeyError(f'{name} is not defined for cupy.ndarray.flags')
        return getattr(self, names[name])

    def __repr__(self):
        return (f'  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}\n'
                f'  OWNDATA : {self.owndata}')


def _method(function):
    setattr(ndarray, function.__name__, function)
    return function


@_method
def get(self, stream=None, order='C', out=None, blocking=True):
    """Returns the values as a numpy.ndarray in `order` C, F or A. `out` is a numpy.ndarray of equal shape and dtype."""
    if order not in ('C', 'F', 'A'):
        raise ValueError(f"get: order must be 'C', 'F' or 'A', not {order!r}")
    if out is not None:
        if not isinstance(out, numpy.ndarray):
            raise TypeError('get: only numpy.ndarray can be obtained from cupy.ndarray')
        if out.dtype != self.dtype or out.shape != self.shape:
            raise ValueError(f'get: out is {out.dtype} of shape {out.shape}, the array {self.dtype} of {self.shape}')
    with _using(stream):
        if order == 'F' or (order == 'A' and self._f_contiguous and not self._c_contiguous):
            values = self.T._to_numpy().T
        else:
            values = self._to_numpy()
    if out is None:
        return values
    out[...] = values
    return out


@_method
def set(self, arr, stream=None):
    """Copies the values of a numpy.ndarray of equal shape and dtype into the array."""
    if not isinstance(arr, numpy.ndarray):
        raise TypeError('set: only numpy.ndarray can be set to cupy.ndarray')
    if arr.dtype != self.dtype:
        raise TypeError(f'set: {arr.dtype} array cannot be set to {self.dtype} array')
    if arr.shape != self.shape:
        raise ValueError(f'set: shape mismatch, the array is {self.shape} and the values are {arr.shape}')
    with _using(stream):
        self._set_numpy(arr)


class _Nothing:
    def __enter__(self):
        pass

    def __exit__(self, *args):
        pass


def _using(stream):
    return _Nothing() if stream is None else stream


@_method
def tolist(self):
    """Returns the values as nested lists of Python numbers."""
    return self._to_numpy().tolist()


@_method
def tobytes(self, order='C'):
    """Returns the bytes of the values."""
    return self.get().tobytes(order)


ndarray.__bytes__ = tobytes


@_method
def tofile(self, fid, sep='', format='%s'):
    """Writes the values in C order to a file or a path, as numpy.ndarray.tofile does: bytes, or with `sep` text."""
    self.get().tofile(fid, sep, format)


@_method
def dump(self, file):
    """Writes the array to a file or a path by pickle."""
    if hasattr(file, 'write'):
        pickle.dump(self, file, -1)
        return
    with open(file, 'wb') as opened:
        pickle.dump(self, opened, -1)


@_method
def dumps(self):
    """Returns the array's pickle."""
    return pickle.dumps(self, -1)


class flatiter:
    """A writable 1-d view of the elements in C order."""

    def __init__(self, a):
        self.base, self._left = a, iter(range(a.size))

    def __iter__(self):
        return self

    def __next__(self):
        return self[next(self._left)]

    def __len__(self):
        return self.base.size

    def copy(self):
        """Returns the elements in a new array."""
        return self.base.flatten()

    def __getitem__(self, key):
        if key is not Ellipsis and (isinstance(key, bool) or not isinstance(key, (int, numpy.integer, slice))):
            raise IndexError(f'flat: expected an integer, a slice or an ellipsis, not {type(key).__name__}')
        return self.base.flatten()[key]

    def __setitem__(self, key, value):
        part = self[key]
        if isinstance(value, ndarray):
            value = _core.resize(value, part.shape)
        flat = self.base.flatten()
        flat[key] = value
        self.base[...] = flat.reshape(self.base.shape)


ndarray.flat = property(flatiter)


def _set_real(self, value):
    _core._real(self)[...] = value


def _set_imag(self, value):
    if self.dtype.kind != 'c':
        raise TypeError('imag: the array has no imaginary part to set')
    _core._imag(self)[...] = value


ndarray.real = property(lambda self: _core._real(self) if self.dtype.kind == 'c' else self, _set_real, None,
                        'The real parts; the array itself where it is not complex.')
ndarray.imag = property(_core._imag, _set_imag, None, 'The imaginary parts; zeros of an array that is not complex.')


@_method
def byteswap(self, inplace=False):
    """Returns a copy with reversed bytes in each element, or swaps them in place."""
    swapped = _core._byteswap(self)
    if inplace:
        _core.copyto(self, swapped)
    return self if inplace else swapped


@_method
def copy_(self, order='C'):
    """Returns a copy on the current device."""
    return _core._copy(_core._to_current_device(self), order)


copy_.__name__ = 'copy'
ndarray.copy = copy_
del ndarray.copy_


@_method
def __copy__(self):
    return _core._copy(self, 'K')


@_method
def __deepcopy__(self, memo):
    return _core._copy(self, 'K')


@_method
def __reduce__(self):
    # if `cupy` is Catenary's, pickles use CuPy's name, so that either library reads the other's
    served = sys.modules.get('cupy') is sys.modules['catenary.cupy']
    return (importlib.import_module('cupy._core.core').array if served else array), (self.get(order='A'),)


@_method
def __array__(self, dtype=None, copy=None):
    raise TypeError('Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy '
                    'array explicitly.')


@_method
def __format__(self, spec):
    return format(self.item(), spec) if self.ndim == 0 else format(str(self), spec)


def check_kind(kind, function):
    """Checks the name of a sorting algorithm. All of NumPy's names select one stable sort."""
    if kind not in (None, 'stable', 'quicksort', 'mergesort', 'heapsort'):
        raise ValueError(f"{function}: kind must be 'stable' or another of numpy.sort's, not {kind!r}")


def is_complex(x):
    """Is it a complex number, or an array of such?"""
    return isinstance(x, (complex, numpy.complexfloating)) or isinstance(x, (ndarray, numpy.ndarray)) and x.dtype.kind == 'c'


def refuse_complex(name, *values):
    """Raises TypeError if a number, or an element of an array or list, is complex, as C++ takes it as a double."""
    for x in values:
        if isinstance(x, (list, tuple)):
            refuse_complex(name, *x)
        elif is_complex(x):
            raise TypeError(f'{name}: complex input is not supported; pass real(x), imag(x) or absolute(x)')


def of_real_numbers(function, name, module):
    """Wraps a function that accepts no complex arguments."""
    @functools.wraps(function)
    def of_real_numbers(*args, **kwargs):
        refuse_complex(name, *args, *kwargs.values())
        return function(*args, **kwargs)
    del of_real_numbers.__wrapped__  # so that inspect.signature does not report the extension's missing signature
    of_real_numbers.__module__ = module
    of_real_numbers.__name__ = of_real_numbers.__qualname__ = name
    return of_real_numbers


@_method
def sort(self, axis=-1, kind=None):
    """Sorts in place along an axis."""
    check_kind(kind, 'sort')
    if self.ndim == 0:
        raise numpy.exceptions.AxisError('Sorting arrays with the rank of zero is not supported')
    _core.copyto(self, _core._sort(self, axis))


@_method
def argsort(self, axis=-1, kind=None):
    """Returns the indices that sort along an axis."""
    check_kind(kind, 'argsort')
    return _core._argsort(self, None if self.ndim == 0 and axis in (0, -1) else axis)


@_method
def partition(self, kth, axis=-1):
    """Partially sorts in place along an axis: the element at kth is where a full sort would put it, with smaller ones before it."""
    _core.copyto(self, _core.partition(self, kth, axis))


@_method
def view(self, dtype=None, type=None):
    """Returns a view of the same bytes, with another dtype if one is given. `type` has no effect, as there are no subclasses."""
    if type not in (None, ndarray):
        raise TypeError(f'view: type must be cupy.ndarray, given {type!r}')
    if dtype is not None and dtype is not ndarray and numpy.dtype(dtype).fields:
        return _structured.view(self, dtype)
    return self._view(None if dtype is ndarray else dtype)


@_method
def reduced_view(self, dtype=None):
    """Returns a view with as few axes as the strides allow."""
    shape, strides = [], []
    for extent, stride in zip(self.shape, self.strides):
        if extent == 1:
            continue
        if shape and strides[-1] == stride * extent:
            shape[-1] *= extent
            strides[-1] = stride
        else:
            shape.append(extent)
            strides.append(stride)
    if self.size == 0:
        return self.reshape(0)
    return _core.as_strided(self, tuple(shape), tuple(strides))


@_method
def __complex__(self):
    return complex(self.item())


@_method
def conj(self):
    """Returns the complex conjugates, or a real array itself."""
    return _core.ufuncs['conjugate'](self) if self.dtype.kind == 'c' else self


def _flags(self):
    return Flags(self._c_contiguous, self._f_contiguous, self._is_owner())


ndarray.conjugate = conj
ndarray.flags = property(_flags)
ndarray.device = property(_core.device_of)
ndarray.__class_getitem__ = classmethod(lambda cls, item: cls)


def _data(self):
    from catenary.cupy.cuda.memory import Memory, MemoryPointer
    memory = Memory(_core._block(self))
    return MemoryPointer(memory, _core._address(self) - memory.ptr)


ndarray.data = property(_data)


# __array_function__: NumPy's functions called with ndarrays use the function of this name here.

def _array_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    from catenary import cupy
    if out is not None:
        kwargs['out'] = out[0] if len(out) == 1 else out
        if any(not isinstance(o, ndarray) for o in out if o is not None):
            raise TypeError(f'{ufunc.__name__}: out must be a cupy.ndarray where an operand is one')
    # NumPy passes its scalars as 0-d arrays
    inputs = [x[()] if isinstance(x, numpy.ndarray) and x.ndim == 0 else x for x in inputs]
    for value in inputs:
        if isinstance(value, numpy.ndarray):
            raise TypeError(f'{ufunc.__name__}: Unsupported type {type(value)}; numpy.ndarray is not converted implicitly, '
                            'use cupy.asarray')
    function = getattr(cupy, ufunc.__name__, None)
    if function is None:  # a ufunc of SciPy
        if getattr(sys.modules.get('scipy.special'), ufunc.__name__, None) is ufunc:
            importlib.import_module(_names.OF_SCIPYS_UFUNCS)
        function = next((getattr(sys.modules[name], ufunc.__name__, None) for name in _util.of_ufuncs if name in sys.modules), None)
    if method != '__call__':
        function = getattr(function, method, None)
    return NotImplemented if function is None else function(*inputs, **kwargs)


def _array_function(self, func, types, args, kwargs):
    from catenary import cupy
    if any(not issubclass(t, (ndarray, numpy.ndarray)) for t in types):
        return NotImplemented
    module = cupy
    for name in (func.__module__ or '').split('.')[1:]:
        module = getattr(module, name, None)
    function = getattr(module, func.__name__, None)
    if function is None or function is func:
        return NotImplemented
    return function(*args, **kwargs)


def _at(self, a, indices, b=None):
    """Computes a[indices] op= b. Repeated indices count each time."""
    name = self.__name__
    if isinstance(b, ndarray) and _core._may_share_memory(a, b):
        b = b.copy()
    if is_complex(b) and not is_complex(a):
        return at_on_host(self, a, indices, b)  # computed in complex numbers. The real parts are kept, with NumPy's warning.
    if b is not None and a.dtype.kind in 'biu':
        if not isinstance(b, ndarray):
            b = numpy.asarray(b)
        result = self(*(_core.empty(0, x.dtype) for x in (a, b))).dtype
        # integer sums and products wrap, other operations use the common dtype before the cast
        if result != a.dtype and not (name in ('add', 'subtract', 'multiply') and a.dtype.kind != 'b' and result.kind in 'iu'):
            return at_on_host(self, a, indices, b)
        b = (b if isinstance(b, ndarray) else asarray(b)).astype(a.dtype)
    if name == 'subtract':
        name, b = 'add', -asarray(b).astype(a.dtype)  # addition of the negative, which exists in unsigned dtypes as well
    if name == 'add' or name in ('maximum', 'minimum') and not is_complex(a):
        getattr(_core, {'add': 'scatter_add', 'maximum': 'scatter_max', 'minimum': 'scatter_min'}[name])(a, indices, b)
    else:
        self._at(a, indices, b)


def at_on_host(self, a, indices, b=None):
    """Computes ufunc.at where the common dtype is wider than the array's: NumPy casts to the array's dtype after each element."""
    def host(x):
        return tuple(host(y) for y in x) if isinstance(x, tuple) else x.get() if isinstance(x, ndarray) else x
    values = a.get()
    getattr(numpy, self.__name__).at(values, host(indices), *(() if b is None else (host(b),)))
    a[...] = asarray(values)


def _outer(self, a, b, **kwargs):
    """Applies the function to each pair of elements of `a` and `b`."""
    if self.nin != 2:
        raise ValueError(f'{self.__name__}.outer: the function takes {self.nin} operands, not 2')
    a, b = asarray(a), asarray(b)
    return self(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)


_ASSOCIATIVE = ('maximum', 'minimum', 'fmax', 'fmin', 'logical_and', 'logical_or', 'logical_xor', 'bitwise_and', 'bitwise_or', 'bitwise_xor',
                'gcd', 'lcm', 'hypot', 'logaddexp', 'logaddexp2')
_IN_ONE_KERNEL = ('add', 'multiply', 'maximum', 'minimum', 'logical_and', 'logical_or')
_OF_NOTHING = {'logical_xor': False, 'bitwise_and': -1, 'bitwise_or': 0, 'bitwise_xor': 0, 'gcd': 0, 'hypot': 0, 'logaddexp': -numpy.inf,
               'logaddexp2': -numpy.inf}


def _rows(self, array, axes, dtype, method):
    """Arranges these axes as rows, in the dtype of the results, which are reused as operands."""
    if not isinstance(array, ndarray):
        raise TypeError(f'{self.__name__}.{method}: expected a cupy.ndarray, given {type(array)}')
    rows = _core.moveaxis(array, axes, tuple(range(len(axes))))
    rows = rows.reshape((math.prod(array.shape[k] for k in axes), *rows.shape[len(axes):]))
    if not self.__name__.startswith('logical'):
        rows = rows if dtype is None else rows.astype(dtype)
        gives = self(rows[:0], rows[:0]).dtype
        if dtype is not None and gives != dtype:
            raise TypeError(f'{self.__name__}.{method}: no loop with the result dtype {numpy.dtype(dtype)}')
        return rows.astype(gives)
    if dtype is not None and numpy.dtype(dtype) != bool:
        raise TypeError(f'{self.__name__}.{method}: the result is bool, not {numpy.dtype(dtype)}')
    return rows.astype(bool)


def _put(result, out, method):
    if out is None:
        return _core._copy(result, 'C')
    out = out[0] if isinstance(out, tuple) else out
    if not isinstance(out, ndarray) or out.shape != result.shape:
        raise ValueError(f'{method}: out must be a cupy.ndarray of shape {result.shape}, given {getattr(out, "shape", type(out))}')
    _core.copyto(out, result)
    return out


_AS_REDUCTIONS = {'add': 'sum', 'multiply': 'prod', 'maximum': 'max', 'minimum': 'min', 'logical_and': 'all', 'logical_or': 'any'}


def _reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Reduces along one or more axes, or all. `initial` is the start value, and elements where `where` is false are left out."""
    name = self.__name__
    if where is not True or initial is not None:
        from catenary.cupy import _where_reductions
        if name not in _AS_REDUCTIONS:
            raise TypeError(f'{name}.reduce: where= and initial= go with {", ".join(_AS_REDUCTIONS)}')
        return _where_reductions.reduced(_AS_REDUCTIONS[name], array, axis, dtype, out, keepdims, initial=initial, where=where)
    if name in _IN_ONE_KERNEL:
        return self._reduce(array, axis, dtype, out, keepdims)
    if name not in _ASSOCIATIVE:
        raise ValueError(f'{name}.reduce is not supported')
    ndim = getattr(array, 'ndim', 0)
    axes = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if ndim == 0 and axes in ((0,), (-1,)):
        axes = ()
    for k in axes:
        if not -ndim <= k < ndim:
            raise numpy.exceptions.AxisError(k, ndim)
    if len({k % ndim for k in axes}) < len(axes):
        raise ValueError(f"{name}.reduce: duplicate value in 'axis': {axis}")
    axes = tuple(sorted(k % ndim for k in axes))
    rows = _rows(self, array, axes, dtype, 'reduce')
    if len(rows) < 2 and name in _OF_NOTHING:  # so that the function is applied at least once
        nothing = _core.full((1, *rows.shape[1:]), numpy.array(_OF_NOTHING[name]).astype(rows.dtype), rows.dtype)
        rows = _core._concatenate([nothing, rows], 0)
    elif len(rows) == 0:
        raise ValueError(f'zero-size array to reduction operation {name} which has no identity')
    while len(rows) > 1:
        half = len(rows) // 2
        rows = _core._concatenate([self(rows[:half], rows[half:2 * half]), rows[2 * half:]], 0)
    result = rows[0].reshape(tuple(1 if k in axes else n for k, n in enumerate(array.shape))) if keepdims else rows[0]
    return _put(result, out, f'{name}.reduce')


def _accumulate(self, array, axis=0, dtype=None, out=None):
    """Returns the running results along an axis."""
    scans = {'add': _core.cumsum, 'multiply': _core.cumprod}
    if self.__name__ in scans:
        return scans[self.__name__](array, axis, dtype, out)
    if self.__name__ not in _ASSOCIATIVE:
        raise TypeError(f'{self.__name__}.accumulate: expected add, multiply or one of {", ".join(_ASSOCIATIVE)}')
    rows = _rows(self, array, (axis,), dtype, 'accumulate')
    step = 1
    while step < len(rows):  # after a step, each element holds the result over 2 * step elements
        rows = _core._concatenate([rows[:step], self(rows[:-step], rows[step:])], 0)
        step *= 2
    return _put(_core.moveaxis(rows, 0, axis), out, f'{self.__name__}.accumulate')


def _reduceat(self, array, indices, axis=0, dtype=None, out=None):
    """Reduces an axis from each index to the next. If the next index is not greater, it returns the single element."""
    name = self.__name__
    own = name not in _IN_ONE_KERNEL and name in _ASSOCIATIVE
    rows = _rows(self, array, (axis,), dtype, 'reduceat') if own else _core.moveaxis(array, axis, 0)
    starts = numpy.asarray(indices.get() if isinstance(indices, ndarray) else indices).astype('l')
    if starts.size and not 0 <= starts.min() <= starts.max() < len(rows):
        raise IndexError(f'{name}.reduceat: an index is out of range for an axis of {len(rows)} elements')
    ends = numpy.maximum(starts + 1, numpy.append(starts[1:], len(rows)))
    if not own:  # in the dtype of the reduction, whose checks apply
        rows = rows.astype(self.reduce(rows[:1], 0, dtype).dtype, copy=False)
    result = _core.moveaxis(_stretches.reduced(self, rows, starts, ends) if starts.size else rows[:0], 0, axis)
    return _put(result, out, f'{name}.reduceat')


_core.ufunc.at, _core.ufunc.outer, _core.ufunc.reduce, _core.ufunc.accumulate, _core.ufunc.reduceat = _at, _outer, _reduce, _accumulate, _reduceat
ndarray.__array_ufunc__ = _array_ufunc
ndarray.__array_function__ = _array_function
