"""cupy.cuda.memory_hook"""

import threading

from catenary import _core

_hooks = threading.local()  # .entered: the active hooks by name


def _tell(kind, device, size, mem_size, pointer):
    facts = {'device_id': _core.Device(device).id, 'mem_size': mem_size}
    if kind == 'malloc':
        facts['size'] = size
    made = {'mem_ptr': pointer} if kind == 'alloc' else {'mem_ptr': pointer, 'pmem_id': pointer}
    if kind == 'free':
        facts.update(made)
    for hook in list(_hooks.entered.values()):
        getattr(hook, f'{kind}_preprocess')(**facts)
    for hook in list(_hooks.entered.values()):
        getattr(hook, f'{kind}_postprocess')(**facts, **({} if kind == 'free' else made))


class MemoryHook:
    """A hook whose methods observe this thread's memory within `with hook:`, with CuPy's keywords.

    alloc_* report memory of the device, malloc_* and free_* blocks of the pool. Operations run synchronously meanwhile: a method is called when
    the operation that needed the memory is done, free_* with the next one. Raises KeyError if a hook of its name is active.
    """

    name = 'MemoryHook'

    def __enter__(self):
        entered = _hooks.__dict__.setdefault('entered', {})
        if self.name in entered:
            raise KeyError(f'memory hook {self.name} already exists')
        entered[self.name] = self
        if len(entered) == 1:
            _core._watch_memory(_tell)
        return self

    def __exit__(self, *args):
        if len(_hooks.entered) == 1:
            _core._watch_memory(None)
        del _hooks.entered[self.name]

    def alloc_preprocess(self, **kwargs):
        """Called with device_id, mem_size."""

    def alloc_postprocess(self, **kwargs):
        """Called with device_id, mem_size, mem_ptr."""

    def malloc_preprocess(self, **kwargs):
        """Called with device_id, size, mem_size."""

    def malloc_postprocess(self, **kwargs):
        """Called with device_id, size, mem_size, mem_ptr, pmem_id."""

    def free_preprocess(self, **kwargs):
        """Called with device_id, mem_size, mem_ptr, pmem_id."""

    def free_postprocess(self, **kwargs):
        """Called with device_id, mem_size, mem_ptr, pmem_id."""
