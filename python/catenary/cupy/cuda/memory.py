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
    raise NotImplementedError('allocators other than MemoryPool.malloc are not supported: all memory is Catenary\'s '
                              'pool\'s')


class MemoryPool:
    """The pool of each device; counts are of the current one."""

    def __init__(self, allocator=None):
        check_allocator(allocator)

    def malloc(self, size):
        """Memory of so many bytes."""
        return alloc(size)

    def used_bytes(self):
        """Bytes in use."""
        return _core.pool_counters()['used_bytes']

    def free_bytes(self):
        """Bytes that are kept for reuse."""
        return _core.pool_counters()['free_bytes']

    def total_bytes(self):
        """Both together."""
        return _core.pool_counters()['total_bytes']

    def n_free_blocks(self):
        """Blocks that are kept for reuse."""
        return _core.pool_counters()['n_free_blocks']

    def free_all_blocks(self, stream=None):
        """Gives back what is not in use."""
        _core.pool_free_all_blocks()

    def free_all_free(self):
        """The same, by its old name."""
        _core.pool_free_all_blocks()

    def set_limit(self, size=None, fraction=None):
        """At most so many bytes, or so much of the device's memory."""
        _core.pool_set_limit(size, fraction)

    def get_limit(self):
        """The limit, 0 for none."""
        return _core.pool_counters()['limit']


def _host_bytes(mem, size):
    address = getattr(mem, 'value', mem)
    return numpy.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


_Current = contextlib.nullcontext  # the stream that is used anyway


class MemoryPointer:
    """Where an array's elements begin."""

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
        """The memory from here on, as an ndarray of bytes."""
        return self.mem._array[self.offset:]

    def copy_from_device(self, src, size):
        """Takes so many bytes from where another pointer is."""
        self.bytes()[:size] = src.bytes()[:size]

    def copy_from_host(self, mem, size):
        """Takes so many bytes of the host's memory: an address, or what ctypes has."""
        self.bytes()[:size] = _host_bytes(mem, size)

    def copy_to_host(self, mem, size):
        """Writes so many bytes into the host's memory: an address, or what ctypes has."""
        _host_bytes(mem, size)[:] = self.bytes()[:size].get()

    def copy_from(self, mem, size):
        """copy_from_device for a pointer, copy_from_host for anything else."""
        (self.copy_from_device if isinstance(mem, MemoryPointer) else self.copy_from_host)(mem, size)

    def memset(self, value, size):
        """Sets so many bytes."""
        self.bytes()[:size] = value

    def copy_from_device_async(self, src, size, stream=None):
        """copy_from_device in a stream's order."""
        with _Current() if stream is None else stream:
            self.copy_from_device(src, size)

    def copy_from_host_async(self, mem, size, stream=None):
        """copy_from_host in a stream's order."""
        with _Current() if stream is None else stream:
            self.copy_from_host(mem, size)

    def copy_to_host_async(self, mem, size, stream=None):
        """copy_to_host, which waits for what it copies."""
        with _Current() if stream is None else stream:
            self.copy_to_host(mem, size)

    def memset_async(self, value, size, stream=None):
        """memset in a stream's order."""
        with _Current() if stream is None else stream:
            self.memset(value, size)

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
        """Where it begins. On OpenCL, whose memory has no addresses, a number that no other memory has."""
        return _core._address(self._array)


class Memory(BaseMemory):
    """Memory of a pool."""


PooledMemory = Memory


class UnownedMemory(BaseMemory):
    """Memory of somebody else, which is refused."""

    def __init__(self, ptr, size, owner, device_id=-1):
        raise NotImplementedError('UnownedMemory: foreign memory is taken by from_dlpack')


def alloc(size):
    """Memory of so many bytes."""
    return MemoryPointer(Memory(_core.empty(int(size), 'u1')), 0)


default_pool = MemoryPool()


def set_allocator(allocator=None):
    """Takes MemoryPool.malloc, which is what there is, and nothing else."""
    check_allocator(allocator)


def get_allocator():
    """The pool's malloc."""
    return default_pool.malloc
