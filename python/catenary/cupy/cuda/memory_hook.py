"""cupy.cuda.memory_hook"""


class MemoryHook:
    """Sees allocations in CuPy. Memory is Catenary's pool's here, which calls no Python: entering one is refused."""

    name = 'MemoryHook'

    def __enter__(self):
        raise NotImplementedError('memory hooks are not supported: cupy.get_default_memory_pool() counts bytes')

    def __exit__(self, *args):
        pass
