"""cupy.cuda.memory: Catenary's pool with CuPy's names."""

import contextlib
import ctypes

import numpy

from catenary import _core

OutOfMemoryError = _core.OutOfMemoryError


def check_allocator(allocator):
    """Raises for an allocator that is not Catenary's pool, which all memory comes from."""
    if allocator is None or allocator is alloc or isinstance(getattr(allocator, '__self__', None), MemoryPool):
        return
    if allocator is malloc_managed:
        malloc_managed(0)
    raise NotImplementedError('set_allocator: only MemoryPool.malloc is supported, because all memory comes from Catenary\'s pool')


class MemoryPool:
    """The memory pools of all devices. Sizes refer to the current device."""

    def __init__(self, allocator=None):
        check_allocator(allocator)

    def malloc(self, size):
        """Allocates memory of this size in bytes."""
        return alloc(size)

    # bytes in use, bytes and blocks kept for reuse, the sum of both, the limit or 0
    used_bytes, free_bytes, n_free_blocks, total_bytes, get_limit = (
        lambda self, name=name: _core.pool_counters()[name]
        for name in ('used_bytes', 'free_bytes', 'n_free_blocks', 'total_bytes', 'limit'))

    def free_all_blocks(self, stream=None):
        """Returns unused memory to the driver."""
        _core.pool_free_all_blocks()

    free_all_free = free_all_blocks  # its old name

    def set_limit(self, size=None, fraction=None):
        """Limits the pool to a size in bytes or a fraction of the device's memory."""
        _core.pool_set_limit(size, fraction)


def _host_bytes(mem, size):
    address = getattr(mem, 'value', mem)
    return numpy.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def _in_stream(method):
    """Adds an argument to a method: the stream in whose order it works."""
    def run(self, what, size, stream=None):
        with contextlib.nullcontext() if stream is None else stream:
            method(self, what, size)
    return run


class MemoryPointer:
    """A pointer to an array's first element."""

    def __init__(self, mem, offset):
        self.mem = mem
        self.offset = offset
        self.device = mem.device
        self.device_id = mem.device.id

    @property
    def ptr(self):
        return self.mem.ptr + self.offset

    def __int__(self):
        return self.ptr

    def bytes(self):
        """Returns the memory from here on as an ndarray of bytes."""
        return self.mem._array[self.offset:]

    def copy_from_device(self, src, size):
        """Copies bytes from another pointer."""
        self.bytes()[:size] = src.bytes()[:size]

    def copy_from_host(self, mem, size):
        """Copies bytes from host memory, given by an address or a ctypes object."""
        self.bytes()[:size] = _host_bytes(mem, size)

    def copy_to_host(self, mem, size):
        """Copies bytes to host memory, given by an address or a ctypes object."""
        _host_bytes(mem, size)[:] = self.bytes()[:size].get()

    def copy_from(self, mem, size):
        """Calls copy_from_device for a pointer, and copy_from_host for other sources."""
        (self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host)(mem, size)

    def memset(self, value, size):
        """Sets bytes to a value."""
        self.bytes()[:size] = value

    copy_from_device_async, copy_from_host_async = _in_stream(copy_from_device), _in_stream(copy_from_host)
    copy_to_host_async, memset_async = _in_stream(copy_to_host), _in_stream(memset)

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.offset + offset)

    __radd__ = __add__

    def __sub__(self, offset):
        return MemoryPointer(self.mem, self.offset - offset)


class BaseMemory:
    """A block of memory on a device."""

    def __init__(self, array):
        self._array = array
        self.device = array.device
        self.device_id = self.device.id
        self.size = array.nbytes

    @property
    def ptr(self):
        """Its address. On OpenCL, whose memory has no addresses, a unique number."""
        return _core._address(self._array)


class Memory(BaseMemory):
    """Memory of a pool."""


PooledMemory = Memory


class UnownedMemory(BaseMemory):
    """Memory of another owner, which is not supported."""

    def __init__(self, ptr, size, owner, device_id=-1):
        raise NotImplementedError('UnownedMemory: not supported; import foreign memory by from_dlpack')


def alloc(size):
    """Allocates memory of this size in bytes."""
    return MemoryPointer(Memory(_core.empty(int(size), 'u1')), 0)


default_pool = MemoryPool()


class MemoryAsyncPool(MemoryPool):
    """The same pool as MemoryPool. It already reuses memory in the order of each stream's work, which is the purpose of CUDA's asynchronous pool."""

    def __init__(self, pool_handles='current'):
        super().__init__()


malloc_async = alloc


def malloc_managed(size):
    """Raises NotImplementedError: there is no managed memory."""
    raise NotImplementedError('malloc_managed: managed memory is not supported; use MemoryPool() instead of MemoryPool(malloc_managed)')


def set_allocator(allocator=None):
    """Accepts only MemoryPool.malloc, the allocator in use."""
    check_allocator(allocator)


def get_allocator():
    """Returns the pool's malloc."""
    return default_pool.malloc
