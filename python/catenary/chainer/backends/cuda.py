"""GPUs: CuPy's arrays, which are the library's on any device that it finds."""

import functools
import warnings

import numpy

from catenary._core import ndarray

from .._backend import Device as _Device, convert
from . import _cpu

def _load():
    """Imports CuPy when a program first needs it."""
    from catenary import cupy
    return cupy


# No code path depends on cuDNN: the library's own kernels compute everything.
cudnn_enabled = False
cudnn = None
libcudnn = None
numpy_types = (numpy.ndarray,)


class DummyDeviceType:
    """The device of NumPy arrays. It does nothing as a context."""

    id = -1

    def __init__(self, device_id=-1):
        pass

    def __int__(self):
        return -1

    def __eq__(self, other):
        return isinstance(other, DummyDeviceType)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        """Does nothing, as the processor is always current."""

    def synchronize(self):
        """Does nothing, as NumPy's functions return when they are done."""

    use = synchronize

    def __hash__(self):
        return hash(DummyDeviceType)


DummyDevice = DummyDeviceType()

class GpuDevice(_Device):
    """A GPU, or any other device of the library's."""

    supported_array_types = (ndarray,)

    def __init__(self, device):
        self.device = device

    @staticmethod
    def from_device_id(device_id):
        check_cuda_available()
        if isinstance(device_id, bool) or not isinstance(device_id, (int, numpy.integer)) or device_id < 0:
            raise ValueError('a GPU has a number from 0, not %r' % (device_id,))
        return GpuDevice(_load().cuda.Device(int(device_id)))

    @staticmethod
    def from_array(array):
        if isinstance(array, ndarray) and array.device is not None:
            return GpuDevice(array.device)
        return None

    @property
    def xp(self):
        return _load()

    @property
    def name(self):
        return '@cupy:%d' % self.device.id

    def __eq__(self, other):
        return isinstance(other, GpuDevice) and other.device == self.device

    def __hash__(self):
        return hash((GpuDevice, self.device.id))

    def __repr__(self):
        return '<GpuDevice (cupy):%d>' % self.device.id

    def create_context(self):
        return _load().cuda.Device(self.device.id)

    def use(self):
        self.device.use()

    def send_array(self, array):
        return _to_gpu(array, self.device.id)

    def is_array_supported(self, array):
        return isinstance(array, ndarray) and self.device == array.device


def check_cuda_available():
    """Raises RuntimeError if there is no device for CuPy's arrays."""
    if not _load().is_available():
        raise RuntimeError('no GPU can be used: the library finds no device but the processor. CATENARY_CUPY_CPU=1 makes the processor ordinal 0')


def get_device(*args):
    """Returns the device of an array or of a number (deprecated)."""
    warnings.warn('get_device is deprecated: use get_device_from_id or get_device_from_array', DeprecationWarning)
    for argument in args:
        if type(argument) is int:
            return get_device_from_id(argument)
        if isinstance(argument, ndarray):
            return argument.device
        if isinstance(argument, _load().cuda.Device):
            return argument
    return DummyDevice


def get_device_from_id(device_id):
    """Returns CuPy's device of this number, or DummyDevice for None or a negative one."""
    if device_id is None or device_id < 0:
        return DummyDevice
    check_cuda_available()
    return _load().cuda.Device(int(device_id))


def get_device_from_array(*arrays):
    """Returns the device of the first array that lies on one, or DummyDevice."""
    for array in arrays:
        array = getattr(array, 'array', array)
        if isinstance(array, ndarray) and array.device is not None:
            return array.device
    return DummyDevice


def _to_gpu(array, device_id=None, stream=None):
    if not isinstance(array, (ndarray, numpy.ndarray, numpy.generic, int, float, bool)):
        raise TypeError('an array of NumPy or CuPy is expected, not %s' % type(array))
    check_cuda_available()
    cupy = _load()
    device = cupy.cuda.Device() if device_id is None else cupy.cuda.Device(device_id)
    if isinstance(array, ndarray):
        if array.device == device:
            return array
        with device:
            return cupy.array(array, copy=True)
    with device:
        return cupy.asarray(array)


def to_gpu(array, device=None, stream=None):
    """Copies an array, or arrays in a tuple or list, to a GPU (by default the current one)."""
    check_cuda_available()
    if isinstance(device, GpuDevice):
        device = device.device
    device_id = None if device is None else int(getattr(device, 'id', device))
    if stream is not None:
        warnings.warn('the argument stream of to_gpu is deprecated: it is ignored', DeprecationWarning)
    return convert(array, lambda x: _to_gpu(x, device_id))


def to_cpu(array, stream=None):
    """Copies an array, or arrays in a tuple or list, to the processor."""
    return convert(array, _cpu.to_numpy)


def copy(array, out=None, out_device=None, stream=None):
    """Copies an array of a GPU, into `out` or to another GPU."""
    check_cuda_available()
    if out is None:
        device = array.device if out_device is None else get_device_from_id(int(getattr(out_device, 'id', out_device)))
        with device:
            out = _load().empty_like(array)
    with get_device_from_array(array):
        source = array.copy() if out.device == array.device else array
    with out.device:
        out[...] = _load().asarray(source)
    return out


def get_array_module(*args):
    """Returns cupy if any argument is an array (or a Variable) on a GPU, else numpy."""
    for argument in args:
        if isinstance(getattr(argument, 'array', argument), ndarray):
            return _load()
    return numpy


def should_use_cudnn(level, lowest_version=0):
    """Is False: there is no cuDNN."""
    from ..configuration import config
    if level not in ('>=auto', '==always'):
        raise ValueError('level must be ">=auto" or "==always", not %r' % (level,))
    if config.use_cudnn not in ('always', 'auto', 'never'):
        raise ValueError('the setting use_cudnn must be always, auto or never, not %r' % (config.use_cudnn,))
    return False


def should_use_cudnn_tensor_core(dtype):
    """Is False: there is no cuDNN."""
    return False


_workspace = 0


def get_max_workspace_size():
    """Returns the size that set_max_workspace_size() set. Nothing uses it: there is no cuDNN."""
    return _workspace


def set_max_workspace_size(size):
    """Sets the size that get_max_workspace_size() returns."""
    global _workspace
    _workspace = size


def clear_memo():
    """Forgets the kernels that memoize() keeps."""
    _load().clear_memo()


def memoize(for_each_device=False):
    """Returns a decorator that keeps a function's results."""
    def decorate(function):
        kept = []

        @functools.wraps(function)
        def call(*args, **kwargs):
            check_cuda_available()
            if not kept:
                kept.append(_load().memoize(for_each_device)(function))
            return kept[0](*args, **kwargs)
        return call
    return decorate


@functools.lru_cache(None)
def elementwise(in_params, out_params, operation, name, **kwargs):
    """Returns an elementwise kernel, made once for its arguments."""
    check_cuda_available()
    return _load().ElementwiseKernel(in_params, out_params, operation, name, **kwargs)


@functools.lru_cache(None)
def reduce(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, **kwargs):
    """Returns a reduction kernel, made once for its arguments."""
    check_cuda_available()
    return _load().ReductionKernel(in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, **kwargs)


@functools.lru_cache(None)
def raw(code, name, *args, **kwargs):
    """Returns a raw kernel, made once for its arguments."""
    check_cuda_available()
    return _load().RawKernel(code, name, *args, **kwargs)


_OF_CUDA = ('Device', 'Event', 'Stream')  # CuPy's; the base of GpuDevice is chainer.backend.Device
_OF_CUPY = {'memory_pool': 'get_default_memory_pool', 'pinned_memory_pool': 'get_default_pinned_memory_pool'}


def __getattr__(name):
    if name == 'cupy':
        value = _load()
    elif name == 'available':
        value = _load().is_available()
    elif name in _OF_CUDA:
        value = getattr(_load().cuda, name)
    elif name in _OF_CUPY:
        value = getattr(_load(), _OF_CUPY[name])()
    elif name == 'fuse':
        value = _load().fuse
    elif name[:1] != '_':
        from . import _old_cuda
        if name in _old_cuda.REFUSED:
            raise AttributeError('cuda.%s belongs to PyCUDA, which Chainer 1.3 replaced: use %s' % (name, _old_cuda.REFUSED[name]))
        if name not in _old_cuda.NAMES:
            raise AttributeError('module %r has no attribute %r' % (__name__, name))
        value = getattr(_old_cuda, name)
    else:
        raise AttributeError('module %r has no attribute %r' % (__name__, name))
    globals()[name] = value
    return value
