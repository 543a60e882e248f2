"""as_strided of arrays that are not contiguous: strides and offset count elements of the memory that the array views."""

import numpy

from .. import backend
from ..function_node import FunctionNode


def _memory(array):
    """Returns the whole memory of an array as a 1-d array, and the position of the array's first element."""
    if not isinstance(array, numpy.ndarray):
        memory = array.data.mem
        xp = backend.get_array_module(array)
        whole = xp.ndarray((memory.size // array.itemsize,), array.dtype, xp.cuda.MemoryPointer(memory, 0))
        return whole, (array.data.ptr - memory.ptr) // array.itemsize
    base = array
    while isinstance(base.base, numpy.ndarray):
        base = base.base
    offset = array.__array_interface__['data'][0] - base.__array_interface__['data'][0]
    return base.ravel('K').view(array.dtype), offset // array.itemsize


def _positions(shape, strides, offset):
    """Returns the positions in memory of the elements of a geometry."""
    found = numpy.full(shape, offset, numpy.int64)
    for axis, (size, stride) in enumerate(zip(shape, strides)):
        found += (stride * numpy.arange(size)).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return found


def _stride_array(array, shape, strides, storage_offset):
    """Returns a view of an array's memory. Strides and offset count elements."""
    memory, _ = _memory(array)
    if len(shape) != len(strides):
        raise ValueError('as_strided: shape %s and strides %s must have equal lengths' % (shape, strides))
    ends = [stride * (size - 1) for size, stride in zip(shape, strides)]
    first, last = [storage_offset + sum([f(end, 0) for end in ends]) for f in (min, max)]
    if 0 not in shape and (first < 0 or last >= memory.size):
        raise ValueError('as_strided: elements %d to %d of memory that has %d' % (first, last, memory.size))
    strides = [stride * array.itemsize for stride in strides]
    if isinstance(array, numpy.ndarray):
        return numpy.ndarray(shape, array.dtype, memory, storage_offset * array.itemsize, strides)
    xp = backend.get_array_module(array)
    return xp.ndarray(shape, array.dtype, xp.cuda.MemoryPointer(array.data.mem, storage_offset * array.itemsize), strides)


class AsStrided(FunctionNode):
    """Copies elements of the memory of an array. An element of memory that several elements of the array view shares its gradient among them."""

    def __init__(self, shape, strides, offset):
        self._geometry = shape, strides, offset

    def forward(self, inputs):
        x, = inputs
        memory, offset = _memory(x)
        self._size, self._of_x = memory.size, _positions(x.shape, [stride // x.itemsize for stride in x.strides], offset)
        return _stride_array(x, *self._geometry).copy(),

    def backward(self, indexes, grad_outputs):
        from .. import functions
        gy, = grad_outputs
        if gy.dtype.kind != 'f':
            raise TypeError('as_strided: the gradient must be floating, not %s' % gy.dtype)
        xp = backend.get_array_module(gy)
        with backend.using_device(backend.get_device_from_array(gy.array)):
            picked, of_x = xp.asarray(_positions(*self._geometry)), xp.asarray(self._of_x)
            counts = numpy.bincount(self._of_x.ravel(), minlength=self._size)[self._of_x]
            memory = functions.scatter_add(xp.zeros(self._size, gy.dtype), picked, gy)
            return functions.get_item(memory, of_x) / xp.asarray(counts.astype(gy.dtype)),


def as_strided(x, shape, strides, storage_offset=0):
    return AsStrided(tuple(shape), tuple(strides), storage_offset).apply((x,))[0]
