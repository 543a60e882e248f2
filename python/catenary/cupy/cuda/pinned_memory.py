"""cupy.cuda.pinned_memory: host memory for copies, which Catenary pins itself where that helps."""


class PinnedMemoryPointer(bytearray):
    """Host memory, with the buffer interface."""

    def size(self):
        return len(self)


def alloc_pinned_memory(size):
    """Host memory of so many bytes."""
    return PinnedMemoryPointer(int(size))


class PinnedMemoryPool:
    """Keeps nothing: host memory is Python's."""

    def __init__(self, allocator=None):
        pass

    def malloc(self, size):
        return alloc_pinned_memory(size)

    def free_all_blocks(self):
        pass

    def n_free_blocks(self):
        return 0


def set_pinned_memory_allocator(allocator=None):
    """Host memory is Python's: an allocator would not be called, so only PinnedMemoryPool.malloc is taken."""
    if allocator is not None and not isinstance(getattr(allocator, '__self__', None), PinnedMemoryPool):
        raise NotImplementedError('set_pinned_memory_allocator: only PinnedMemoryPool.malloc is taken')


default_pool = PinnedMemoryPool()
