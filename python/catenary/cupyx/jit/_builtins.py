"""Functions and variables for kernels of cupyx.jit: thread indices, barriers, shared memory, atomic operations, shuffles."""

import builtins

import numpy

from catenary.cupyx.jit._numbers import Builtin, Constant, Data, Intrinsic, SharedMemory

_UINT32 = numpy.dtype('uint32')
_INTEGERS = 'iIlLqQ'


class _Dim3:
    """threadIdx and similar values."""

    def __init__(self, name):
        self.x, self.y, self.z = (Intrinsic('%s.%s' % (name, axis), _UINT32) for axis in 'xyz')


threadIdx, blockDim, blockIdx, gridDim = map(_Dim3, ('threadIdx', 'blockDim', 'blockIdx', 'gridDim'))
warpsize = Intrinsic('warpSize', numpy.dtype('int32'))


def _axes(name, expression):
    def call(compiler, ndim):
        if not isinstance(ndim, Constant) or not isinstance(ndim.obj, int):
            raise TypeError('jit.%s: ndim must be an int that is known when the kernel is compiled' % name)
        if ndim.obj not in (1, 2, 3):
            raise ValueError('jit.%s: ndim must be 1, 2 or 3, not %d' % (name, ndim.obj))
        values = tuple(Data('(%s)' % expression.format(axis), _UINT32) for axis in 'xyz'[:ndim.obj])
        return values[0] if ndim.obj == 1 else values
    return Builtin(name, call)


grid = _axes('grid', 'threadIdx.{0} + blockIdx.{0} * blockDim.{0}')
gridsize = _axes('gridsize', 'blockDim.{0} * gridDim.{0}')


def _laneid(compiler):
    return Data('((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % warpSize)', _UINT32)


def _syncthreads(compiler):
    return Data('__syncthreads()', None)


def _syncwarp(compiler, *, mask=Constant(0xffffffff)):
    compiler.need('warps')
    return Data('__syncwarp(%s)' % compiler.cast(mask, _UINT32), None)


def _shared_memory(compiler, dtype, size, alignment=Constant(None)):
    if not isinstance(dtype, Constant) or not isinstance(size, Constant):
        raise TypeError('jit.shared_memory: dtype and size must be known when the kernel is compiled')
    if alignment.obj is not None:
        raise ValueError('jit.shared_memory: an alignment cannot be given here; shared memory is aligned for its dtype')
    if size.obj is not None and (not isinstance(size.obj, int) or size.obj < 1):
        raise ValueError('jit.shared_memory: size must be None or an int greater than 0, not %r' % (size.obj,))
    return SharedMemory(numpy.dtype(dtype.obj), size.obj)


laneid, syncthreads, syncwarp, shared_memory = (
    Builtin(name, call) for name, call in (('laneid', _laneid), ('syncthreads', _syncthreads), ('syncwarp', _syncwarp),
                                           ('shared_memory', _shared_memory)))


class _Range(Builtin):
    def __call__(self, *args, unroll=None):
        """Calls the builtin range outside of kernels."""
        return builtins.range(*args)


range = _Range('range', lambda compiler, *args, **kwargs: compiler.loop(*args, **kwargs))


def _atomic(name, function, kinds):
    def call(compiler, array, index, value, alt_value=None):
        element = compiler.element(array, index)
        place, dtype = '&' + element.text, element.dtype
        if dtype.char not in kinds:
            raise TypeError('jit.%s: elements of %s are not among %s' % (name, dtype, ', '.join(numpy.dtype(c).name for c in kinds)))
        values = [compiler.cast(v, dtype) for v in (value, alt_value) if v is not None]
        if (alt_value is None) == (name == 'atomic_cas'):
            raise TypeError('jit.%s: %s' % (name, 'the value to store is missing' if alt_value is None else 'takes one value'))
        if name in ('atomic_inc', 'atomic_dec'):
            compiler.need(name)
        elif name == 'atomic_exch' and dtype.char == 'f':  # exchanges the bits, as not every device can exchange floats
            return Data('__int_as_float(atomicExch((int*)(%s), __float_as_int(%s)))' % (place, values[0]), dtype)
        elif name == 'atomic_sub':  # subtraction by adding the negative, which wraps
            return Data('atomicAdd(%s, (%s)(-(%s)))' % (place, compiler.word(dtype), values[0]), dtype)
        elif dtype.char in 'lq' and name in ('atomic_max', 'atomic_min'):  # HIP has them for long long since ROCm 5.3
            compiler.need(name)
            return Data('jit_%s(%s, %s)' % (name, place, values[0]), dtype)
        elif dtype.char in 'lq' and name != 'atomic_add':
            place = '(unsigned long long*)(%s)' % place
            return Data('(long long)%s(%s, %s)' % (function, place, ', '.join('(unsigned long long)(%s)' % v for v in values)), dtype)
        return Data('%s(%s, %s)' % (function, place, ', '.join(values)), dtype)
    return Builtin(name, call)


atomic_add = _atomic('atomic_add', 'atomicAdd', _INTEGERS + 'efd')
atomic_sub = _atomic('atomic_sub', None, 'iI')
atomic_exch = _atomic('atomic_exch', 'atomicExch', _INTEGERS + 'f')
atomic_min = _atomic('atomic_min', 'atomicMin', _INTEGERS)
atomic_max = _atomic('atomic_max', 'atomicMax', _INTEGERS)
atomic_inc = _atomic('atomic_inc', 'jit_atomic_inc', 'I')
atomic_dec = _atomic('atomic_dec', 'jit_atomic_dec', 'I')
atomic_cas = _atomic('atomic_cas', 'atomicCAS', 'H' + _INTEGERS)
atomic_and = _atomic('atomic_and', 'atomicAnd', _INTEGERS)
atomic_or = _atomic('atomic_or', 'atomicOr', _INTEGERS)
atomic_xor = _atomic('atomic_xor', 'atomicXor', _INTEGERS)


def _shuffle(name, other):
    def call(compiler, mask, var, val_id, *, width=None):
        compiler.need('warps')
        value = compiler.data(var)
        width = 'warpSize' if width is None else compiler.cast(width, numpy.dtype('int32'))
        return Data('__%s(%s, %s, %s, %s)' % (name, compiler.cast(mask, _UINT32), value.text, compiler.cast(val_id, numpy.dtype(other)),
                                              width), value.dtype)
    return Builtin(name, call)


shfl_sync = _shuffle('shfl_sync', 'int32')
shfl_up_sync = _shuffle('shfl_up_sync', 'uint32')
shfl_down_sync = _shuffle('shfl_down_sync', 'uint32')
shfl_xor_sync = _shuffle('shfl_xor_sync', 'int32')
