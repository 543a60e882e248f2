"""Names that chainer.cuda had in Chainer 1: allocation, copies and devices."""

import numpy

from . import cuda


def _on(array, device=None):
    """Returns the device on which an array like another one is made."""
    if device is not None:
        return get_device(device)
    return array.device if isinstance(array, cuda.ndarray) else cuda.DummyDevice


def get_device(device):
    """Returns the device of a number, an array or a device."""
    return cuda.get_device_from_id(device) if isinstance(device, (int, numpy.integer)) else cuda.get_device(device)


def init(device=None):
    """Chooses the device of this thread. Nothing else has to be initialized."""
    cuda.check_cuda_available()
    if device is not None:
        use_device(device)


def shutdown():
    """Waits for the device, and frees memory that no array uses."""
    cuda.cupy.cuda.Device().synchronize()
    cuda.memory_pool.free_all_blocks()


def use_device(arg, pop=True):
    """Chooses the device of this thread."""
    get_device(arg).use()


def using_device(*args):
    """Returns a context with the device of the first array that lies on one, or of a number."""
    return cuda.get_device(*args)


def _make(name, doc):
    def function(shape, dtype=numpy.float32):
        cuda.check_cuda_available()
        return getattr(cuda.cupy, name)(shape, dtype=dtype)

    def like(array, device=None):
        cuda.check_cuda_available()
        with _on(array, device):
            return getattr(cuda.cupy, name)(array.shape, dtype=array.dtype)
    function.__name__, like.__name__ = name, name + '_like'
    function.__doc__, like.__doc__ = 'Returns ' + doc + '.', 'Returns %s of the shape and dtype of another one.' % doc
    return function, like


empty, empty_like = _make('empty', 'an array on the device without initial values')
zeros, zeros_like = _make('zeros', 'an array of zeros on the device')
ones, ones_like = _make('ones', 'an array of ones on the device')


def full(shape, fill_value, dtype=numpy.float32, stream=None):
    """Returns an array of one value on the device."""
    cuda.check_cuda_available()
    return cuda.cupy.full(shape, fill_value, dtype=dtype)


def full_like(array, fill_value, stream=None, device=None):
    """Returns an array of one value with the shape and dtype of another one."""
    cuda.check_cuda_available()
    with _on(array, device):
        return cuda.cupy.full(array.shape, fill_value, dtype=array.dtype)


def _stream(stream):
    import contextlib
    return contextlib.nullcontext() if stream is None else stream


def to_gpu_async(array, stream=None):
    """Copies an array to the current device, in the order of a stream."""
    with _stream(stream):
        return cuda.to_gpu(array)


def to_cpu_async(array, stream=None):
    """Copies an array to the processor, in the order of a stream. The copy is complete on return."""
    with _stream(stream):
        return cuda.to_cpu(array)


def copy_async(array, out=None, out_device=None, stream=None):
    """Copies an array of a device, in the order of a stream."""
    with _stream(stream):
        return cuda.copy(array, out, out_device)


def mem_alloc(nbytes):
    """Returns memory of the current device."""
    cuda.check_cuda_available()
    return cuda.cupy.cuda.alloc(nbytes)


def seed(s=None, device=None):
    """Seeds the random numbers of a device."""
    cuda.check_cuda_available()
    with cuda.cupy.cuda.Device() if device is None else get_device(device):
        cuda.cupy.random.seed(s)


NAMES = frozenset((
    'copy_async', 'empty', 'empty_like', 'full', 'full_like', 'init', 'mem_alloc', 'ones', 'ones_like', 'seed', 'shutdown', 'to_cpu_async', 'to_gpu_async',
    'use_device', 'using_device', 'zeros', 'zeros_like'))

# names of PyCUDA and its companions, which Chainer 1.0 to 1.2 used -> the replacement
REFUSED = {
    'Context': 'cupy.cuda.Device', 'get_context': 'cupy.cuda.Device', 'DeviceUser': 'cupy.cuda.Device', 'GPUArray': 'cupy.ndarray', 'gpuarray': 'cupy',
    'cublas': 'cupy.dot', 'culinalg': 'cupy.linalg', 'cumisc': 'cupy', 'curandom': 'cupy.random', 'get_cublas_handle': 'cupy.dot', 'using_cumisc': 'cupy',
    'get_generator': 'cupy.random', 'IPCEvent': 'chainermn', 'IPCArrayHandle': 'chainermn', 'mem_pool': 'cupy.get_default_memory_pool()',
    'pycuda': 'cupy', 'driver': 'cupy.cuda', 'drv': 'cupy.cuda', 'scikits': 'cupy.linalg', 'get_scalar_ndarray': 'cupy'}
