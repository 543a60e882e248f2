"""cupy.cuda.pinned_memory: host memory for copies. Catenary pins memory itself where that helps."""

import numpy


class PinnedMemoryPointer(bytearray):
    """Host memory, with the buffer interface."""

    def size(self):
        return len(self)

    @property
    def ptr(self):
        """Its address."""
        return numpy.frombuffer(self, 'u1').ctypes.data


def _allocated(size):
    try:
        return PinnedMemoryPointer(int(size))
    except MemoryError:
        raise MemoryError(f'out of memory on the host: cannot allocate {int(size)} bytes; allocate less at once') from None


class PinnedMemory:
    """Host memory by its pointer."""

    def __init__(self, size, flags=0):
        self._pointer, self.size = _allocated(size), int(size)

    @property
    def ptr(self):
        """Its address."""
        return self._pointer.ptr


_allocator = None


def alloc_pinned_memory(size):
    """Allocates host memory by the allocator that was set."""
    return (_allocator or default_pool.malloc)(size)


class PinnedMemoryPool:
    """Keeps nothing: host memory is Python's."""

    def __init__(self, allocator=None):
        pass

    def malloc(self, size):
        return _allocated(size)

    def free_all_blocks(self):
        pass

    def n_free_blocks(self):
        return 0


def set_pinned_memory_allocator(allocator=None):
    """Sets the function that alloc_pinned_memory calls. Copies of arrays use the library's own memory."""
    global _allocator
    _allocator = allocator


default_pool = PinnedMemoryPool()
