"""Devices and the array modules of arrays."""

import contextlib
import threading

import numpy

from ._backend import Device
from .backends import cuda
from .backends._cpu import CpuDevice
from .backends.cuda import GpuDevice

__all__ = ['ChainerxDevice', 'CpuDevice', 'Device', 'GpuDevice', 'Intel64Device', 'copyto', 'get_array_module', 'get_device',
           'get_device_from_array', 'using_device']

_current = threading.local()
_ARRAYS = (numpy.ndarray, cuda.ndarray)


class _Absent(Device):
    """A device that is not provided. No array and no device is of this class."""

    def __new__(cls, *args, **kwargs):
        raise RuntimeError('%s is not provided: Catenary has no ChainerX and no iDeep' % cls.__name__)

    @staticmethod
    def from_array(array):
        return None


class ChainerxDevice(_Absent):
    """Is not provided."""

    @staticmethod
    def from_fallback_device(device):
        return ChainerxDevice()


class Intel64Device(_Absent):
    """Is not provided."""


def get_device(specifier):
    """Returns a device by its name ('@numpy', '@cupy:0', 'native'…), by a number (negative: the processor), or for an array module, a device of
    CuPy's or a pair of both."""
    if isinstance(specifier, Device):
        return specifier
    if specifier is numpy:
        return CpuDevice()
    if isinstance(specifier, (int, numpy.integer)) and not isinstance(specifier, bool):
        return CpuDevice() if specifier < 0 else GpuDevice.from_device_id(int(specifier))
    if isinstance(specifier, str):
        return _named(specifier)
    if isinstance(specifier, tuple) and len(specifier) == 2 and specifier[0] is cuda.cupy:
        return GpuDevice.from_device_id(specifier[1])
    if specifier is cuda.cupy:
        return GpuDevice(cuda.Device())
    if isinstance(specifier, cuda.Device):
        return GpuDevice(specifier)
    raise ValueError('invalid device specifier: %r' % (specifier,))


def _named(word):
    try:
        number = int(word)
    except ValueError:
        pass
    else:
        return get_device(number)
    if not word.startswith('@'):
        raise RuntimeError('the device %r is ChainerX\'s, which is not provided. Use "@numpy", "@cupy:0" or a number' % word)
    module, colon, index = word[1:].partition(':')
    if module == 'numpy' and not colon:
        return CpuDevice()
    if module == 'intel64':
        return Intel64Device()
    if module == 'cupy':
        if index.isdigit():
            return GpuDevice.from_device_id(int(index))
    raise ValueError('invalid device specifier: %r' % word)


def using_device(device_spec):
    """Makes a device current until the end of the `with` block."""
    return _in_context(get_device(device_spec))


@contextlib.contextmanager
def _in_context(device):
    with device.create_context():
        yield device


def get_array_module(*args):
    """Returns cupy if any argument is an array or Variable on a GPU, else numpy."""
    return cuda.get_array_module(*args)


def get_device_from_array(*arrays):
    """Returns the device of the first array or Variable on a GPU, else the processor."""
    for array in arrays:
        device = GpuDevice.from_array(getattr(array, 'array', array))
        if device is not None:
            return device
    return CpuDevice()


def get_array_types():
    """Returns the classes of arrays."""
    return _ARRAYS


def is_array(value):
    """Returns whether the value is an array of NumPy or CuPy."""
    return isinstance(value, _ARRAYS)


def get_cpu_array_types():
    """Returns the classes of arrays on the processor."""
    return (numpy.ndarray,)


def is_arrays_compatible(arrays):
    """Returns whether all arrays have one class. None counts as any class."""
    return len({isinstance(x, numpy.ndarray) for x in arrays if x is not None}) < 2 and all(
        is_array(x) for x in arrays if x is not None)


def to_chx(array):
    """Raises RuntimeError: ChainerX is not provided."""
    raise RuntimeError('ChainerX is not provided')


def from_chx(array):
    """Returns arrays as they are: none is ChainerX's."""
    return array


def _guess_device_from_array_module(xp):
    """Returns the current device of an array module."""
    return get_device(xp)


def copyto(dst, src):
    """Copies the elements of an array to another, which may be on another device."""
    if isinstance(dst, numpy.ndarray):
        numpy.copyto(dst, CpuDevice().send(src) if not isinstance(src, numpy.ndarray) else src)
    elif isinstance(dst, cuda.ndarray):
        with dst.device:
            if isinstance(src, numpy.ndarray) and dst.dtype != src.dtype:
                src = src.astype(dst.dtype)
            dst[...] = cuda.cupy.asarray(src) if is_array(src) else src
    else:
        raise TypeError('arrays of NumPy or CuPy are expected, not %s' % type(dst))
