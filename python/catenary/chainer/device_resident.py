"""Objects that live on a device, such as links."""

import contextlib
import threading

import numpy

from . import backend
from .backends import _cpu, cuda

_thread = threading.local()


class DeviceResident:
    """An object with arrays on a device. Subclasses define device_resident_accept."""

    def __init__(self):
        self._device = _cpu.CpuDevice()

    @property
    def device(self):
        """The device."""
        return self._device

    @property
    def xp(self):
        """The array module of the device."""
        return self._device.xp

    def to_cpu(self):
        """Moves everything to the processor."""
        return self.to_device(_cpu.CpuDevice())

    def to_gpu(self, device=None):
        """Moves everything that is on the processor to a GPU, by default the current one."""
        cuda.check_cuda_available()
        number = cuda.Device().id if device is None else int(getattr(device, 'id', device))
        self.__to_device(_Move(backend.GpuDevice.from_device_id(number), skip_between_cupy_devices=True))
        return self

    def to_device(self, device):
        """Moves everything to a device."""
        self.__to_device(_Move(backend.get_device(device)))
        return self

    def to_intel64(self):
        raise RuntimeError('iDeep is not provided')

    def to_chx(self):
        raise RuntimeError('ChainerX is not provided')

    def from_chx(self):
        """Does nothing: nothing has arrays of ChainerX."""
        return self

    def __to_device(self, visitor):
        overridden = self._overridden()
        if overridden and getattr(visitor, 'by_method', True):
            visitor = visitor.respecting(overridden)
        self.device_resident_accept(visitor)

    def _overridden(self):
        return [name for name in ('to_cpu', 'to_gpu', 'to_intel64')
                if getattr(type(self), name) is not getattr(DeviceResident, name)]

    def device_resident_accept(self, visitor):
        """Lets a visitor move this object. Subclasses move their arrays, too."""
        visitor.visit_device_resident(self)

    @contextlib.contextmanager
    def _moved(self, visitor):
        yield


class DeviceResidentsVisitor:
    """Visits the parts of an object that lives on a device."""

    def visit_device_resident(self, device_resident):
        raise NotImplementedError

    def visit_array(self, arr):
        """Returns the array that takes the place of this one."""
        raise NotImplementedError

    def visit_variable(self, param):
        """Changes a parameter in place."""
        raise NotImplementedError


class _Move(DeviceResidentsVisitor):
    """Moves parts to a device."""

    def __init__(self, device, skip_between_cupy_devices=False):
        self._device = device
        self._skips = skip_between_cupy_devices

    def respecting(self, names):
        return self

    def _stays(self, device):
        return self._skips and isinstance(device, backend.GpuDevice)

    def visit_device_resident(self, device_resident):
        if self._stays(device_resident._device):
            return
        device_resident._device = self._device

    def visit_array(self, arr):
        if self._stays(backend.get_device_from_array(arr)):
            return arr
        return self._device.send(arr)

    def visit_variable(self, param):
        if not self._stays(param.device):
            param.to_device(self._device)


def is_array(value):
    return isinstance(value, (numpy.ndarray, cuda.ndarray))
