"""cupy.cuda: devices, streams, memory. The devices are CUDA's, HIP's and OpenCL's in the order of Catenary's gpu:N."""

import contextlib

from catenary import _core, _names
from catenary.cupy.cuda import compiler, cub, cublas, cutensor, device, driver, function, memory, memory_hook, nvtx
from catenary.cupy.cuda import pinned_memory, profiler, runtime, stream, texture
from catenary.cupy.cuda.memory import (BaseMemory, Memory, MemoryAsyncPool, MemoryPointer, MemoryPool, PooledMemory,
                                       UnownedMemory, alloc, get_allocator, malloc_async, malloc_managed, set_allocator)
from catenary.cupy.cuda.memory_hook import MemoryHook
from catenary.cupy.cuda.pinned_memory import (PinnedMemory, PinnedMemoryPointer, PinnedMemoryPool, alloc_pinned_memory,
                                              set_pinned_memory_allocator)

Device = _core.Device
Stream = _core.Stream
Event = _core.Event
get_current_stream = _core.get_current_stream
get_elapsed_time = _core.get_elapsed_time
Stream.null = Stream(null=True)
nvtx_enabled = False
cudnn_available = nccl_available = cub_available = cutensor_available = False
cusolver_enabled = True


def ExternalStream(ptr, device_id=-1):
    """Returns this package's stream with the handle `ptr` (Stream.ptr). Raises NotImplementedError for a stream of another library."""
    stream = _core._stream_of_handle(ptr, device_id)
    if stream is None:
        raise NotImplementedError(f'ExternalStream: {ptr:#x} is not the handle of a living cupy Stream. Streams of other libraries are not supported: '
                                  'synchronize them, and use Stream()')
    return stream


def is_available():
    """Returns whether there is a device."""
    return _core.getDeviceCount() > 0


get_local_runtime_version = runtime.runtimeGetVersion


def get_cuda_path():
    """Returns None, as no toolkit is needed."""
    return None


def get_device_id():
    """Returns the ordinal of the current device."""
    return _core.getDevice()


@contextlib.contextmanager
def using_allocator(allocator=None):
    """Accepts only Catenary's pool as the allocator."""
    memory.check_allocator(allocator)
    yield


def __getattr__(name):
    if name in ('cudnn', 'nccl', 'cusparselt'):
        raise AttributeError(f'cupy.cuda.{name} is not available')
    raise _names.absent('cupy.cuda', name)


def __check_current_stream_done():
    return get_current_stream().done
