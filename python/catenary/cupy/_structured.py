"""Arrays of structures such as CUDA's short2, which raw kernels take and whose fields are arrays of numbers."""

import warnings

import numpy

from catenary import _core

# Integers (and a complex number) of a structure's size, as OpenCL kernels count the first element's offset in structures
_OF_SIZE = {1: 'u1', 2: 'u2', 4: 'u4', 8: 'u8', 16: 'D'}


def is_structured(dtype):
    """Has the dtype fields? Objects have no memory on devices."""
    try:
        with warnings.catch_warnings():  # about old names of other dtypes
            warnings.simplefilter('ignore', DeprecationWarning)
            made = numpy.dtype(dtype)
    except TypeError:
        return False
    return made.fields is not None and not made.hasobject


class StructuredArray:
    """An array with a structured dtype.

    It has indexing, fields by name, views and copies, and no arithmetic: compute with its fields, which share its memory.
    """

    __array_ufunc__ = None  # NumPy refuses to compute with it

    def __init__(self, memory, dtype):
        self.memory, self.dtype = memory, numpy.dtype(dtype)  # uint8, and the last axis holds a structure

    shape = property(lambda self: self.memory.shape[:-1], None, None, 'The shape.')
    ndim = property(lambda self: self.memory.ndim - 1, None, None, 'The number of axes.')
    size = property(lambda self: self.memory.size // self.dtype.itemsize, None, None, 'The number of structures.')
    itemsize = property(lambda self: self.dtype.itemsize, None, None, 'The bytes of a structure.')
    nbytes = property(lambda self: self.memory.nbytes, None, None, 'The bytes of all structures.')
    strides = property(lambda self: self.memory.strides[:-1], None, None, 'The bytes between neighbours along each axis.')
    device = property(lambda self: self.memory.device, None, None, 'The device.')
    data = property(lambda self: self.memory.data, None, None, 'The memory.')

    def __len__(self):
        if self.ndim == 0:
            raise TypeError('len() of unsized object')
        return self.shape[0]

    def __repr__(self):
        return repr(self.get())

    def _part(self, memory, dtype=None):
        return StructuredArray(memory, dtype or self.dtype)

    def __getitem__(self, index):
        if isinstance(index, str):
            dtype, start = self.dtype.fields[index][:2]
            part = self.memory[..., start:start + dtype.itemsize]
            if dtype.fields:
                return self._part(part, dtype)
            base, inner = dtype.subdtype or (dtype, ())
            return part.view(base).reshape(self.shape + inner)
        index = index if isinstance(index, tuple) else (index,)
        return self._part(self.memory[index + ((slice(None),) if any(i is Ellipsis for i in index) else (Ellipsis, slice(None)))])

    def __setitem__(self, index, value):
        if isinstance(index, str):
            self[index][...] = value
        else:
            value = value if isinstance(value, StructuredArray) else from_host(numpy.asarray(value, self.dtype))
            if value.dtype != self.dtype:
                raise TypeError(f'cannot assign structures of {value.dtype} to structures of {self.dtype}')
            self[index].memory[...] = value.memory

    def view(self, dtype=None):
        """Returns a view of the same bytes, with another dtype if one is given."""
        dtype = self.dtype if dtype is None else numpy.dtype(dtype)
        if dtype.itemsize != self.itemsize:
            if self.ndim == 0 or self.shape[-1] > 1 and self.strides[-1] != self.itemsize:
                raise ValueError('To change to a dtype of a different size, the last axis must be contiguous')
            return view(self.memory.reshape(self.shape[:-1] + (self.shape[-1] * self.itemsize,)), dtype)
        return self._part(self.memory, dtype) if dtype.fields else self.memory.view(dtype).reshape(self.shape)

    def reshape(self, *shape):
        """Returns the structures with another shape, without a copy if possible."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._part(self.memory.reshape(numpy.empty(self.shape, 'u1').reshape(shape).shape + (self.itemsize,)))

    def ravel(self):
        """Returns the structures along one axis."""
        return self.reshape(-1)

    def squeeze(self, axis=None):
        """Returns the structures without axes of length 1."""
        axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        kept = [n for n in range(self.ndim) if n not in [a % max(self.ndim, 1) for a in axes] or axis is None and self.shape[n] != 1]
        if axis is not None and any(self.shape[a] != 1 for a in axes):
            raise ValueError('cannot select an axis to squeeze out which has size not equal to one')
        return self._part(self.memory.reshape(tuple(self.shape[n] for n in kept) + (self.itemsize,)))

    def copy(self, order='C'):
        """Returns a copy."""
        return self._part(self.memory.copy())

    def get(self):
        """Returns the structures in host memory."""
        return self.memory.get().view(self.dtype).reshape(self.shape)

    def argument(self, kernel, by_address):
        """Returns the array that is passed to a kernel."""
        if self.itemsize not in _OF_SIZE and not by_address:
            raise TypeError(f'{kernel}: structures of {self.itemsize} bytes cannot be passed on {self.device}; pad them to 1, 2, 4, 8 or 16 bytes')
        return self.memory.view(_OF_SIZE[self.itemsize]) if self.itemsize in _OF_SIZE else self.memory


def view(array, dtype):
    """Returns a view of an ndarray of numbers with another dtype, which may be structured."""
    dtype = numpy.dtype(dtype)
    if not dtype.fields:
        return array._view(dtype)
    if array.itemsize == dtype.itemsize:
        return StructuredArray(array._view('u1').reshape(array.shape + (dtype.itemsize,)), dtype)
    bytes_ = array._view('u1')
    if bytes_.shape[-1] % dtype.itemsize:
        raise ValueError('When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.')
    return StructuredArray(bytes_.reshape(bytes_.shape[:-1] + (bytes_.shape[-1] // dtype.itemsize, dtype.itemsize)), dtype)


def from_host(values):
    """Returns the structures of a NumPy array on the current device."""
    values = numpy.require(values, requirements='C')
    return StructuredArray(_core.from_numpy(values.reshape(values.shape + (1,)).view('u1')), values.dtype)


def answer(name, values):
    """Returns the result of a function of the extension that was called with structures or a structured dtype, or None."""
    first = next(iter(values.values()), None)
    if isinstance(first, StructuredArray) and name in ('squeeze', 'ravel', 'reshape', 'copy'):
        return getattr(first, name)(*list(values.values())[1:])
    if name not in ('empty', 'zeros', 'empty_like', 'zeros_like'):
        return None
    dtype, shape = values.get('dtype'), values.get('shape')
    if name.endswith('_like'):
        dtype, shape = first.dtype if dtype is None else dtype, first.shape if shape is None else shape
    else:
        shape = first
    make = _core.empty if name.startswith('empty') else _core.zeros
    if not is_structured(dtype):
        return make(shape, dtype) if isinstance(first, StructuredArray) else None
    shape = (shape,) if isinstance(shape, (int, numpy.integer)) else tuple(shape)
    return StructuredArray(make(shape + (numpy.dtype(dtype).itemsize,), 'u1'), dtype)
