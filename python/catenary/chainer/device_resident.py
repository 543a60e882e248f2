"""Objects that live on a device, such as links."""

import contextlib
import threading
import warnings

from . import backend
from .backends import _cpu, cuda

_thread = threading.local()
_OVERRIDABLE = ('to_cpu', 'to_gpu', 'to_intel64')
_FINAL = ('to_device', 'to_chx', 'from_chx')


def _deprecated(name, device):
    warnings.warn("%s is deprecated: use to_device('%s')" % (name, device), DeprecationWarning, stacklevel=3)


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

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name in _FINAL:
            if name in vars(cls):
                raise TypeError('%s: the method %s is final' % (cls.__name__, name))
        for name in _OVERRIDABLE:
            if name in vars(cls):
                warnings.warn('%s: overriding %s is deprecated: override device_resident_accept' % (cls.__name__, name), DeprecationWarning,
                              stacklevel=2)

    def to_cpu(self):
        """Moves everything to the processor (deprecated: use to_device)."""
        _deprecated('to_cpu', '@numpy')
        with self._in_own_method():
            return self.to_device(_cpu.CpuDevice())

    def to_gpu(self, device=None):
        """Moves everything that is on the processor to a GPU, by default the current one (deprecated: use to_device)."""
        _deprecated('to_gpu', '@cupy:N')
        cuda.check_cuda_available()
        number = cuda.Device().id if device is None else int(getattr(device, 'id', device))
        with self._in_own_method():
            self.device_resident_accept(_Move(backend.GpuDevice.from_device_id(number), skip_between_cupy_devices=True))
        return self

    def to_device(self, device):
        """Moves everything to a device."""
        self.device_resident_accept(_Move(backend.get_device(device)))
        return self

    def to_intel64(self):
        raise RuntimeError('iDeep is not provided')

    def to_chx(self):
        raise RuntimeError('ChainerX is not provided')

    def from_chx(self):
        """Does nothing: nothing has arrays of ChainerX."""
        return self

    @contextlib.contextmanager
    def _in_own_method(self):
        """Returns a context in which a visitor does not call to_cpu() or to_gpu() of this object."""
        inside = _thread.__dict__.setdefault('inside', [])
        inside.append(id(self))
        try:
            yield
        finally:
            inside.pop()

    def device_resident_accept(self, visitor):
        """Lets a visitor move this object. Subclasses move their arrays, too."""
        visitor.visit_device_resident(self)


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

    def _stays(self, device):
        return self._skips and isinstance(device, backend.GpuDevice)

    def visit_device_resident(self, device_resident):
        if self._stays(device_resident._device):
            return
        if id(device_resident) not in _thread.__dict__.get('inside', ()):
            self._by_own_method(device_resident)
        device_resident._device = self._device

    def _by_own_method(self, device_resident):
        """Calls to_cpu() or to_gpu() of an object whose class overrides it."""
        device = self._device
        on_gpu = isinstance(device, backend.GpuDevice)
        name = 'to_gpu' if on_gpu else 'to_cpu'
        if getattr(type(device_resident), name) is not getattr(DeviceResident, name):
            getattr(device_resident, name)(*([device.device.id] if on_gpu else []))

    def visit_array(self, arr):
        if self._stays(backend.get_device_from_array(arr)):
            return arr
        return self._device.send(arr)

    def visit_variable(self, param):
        if not self._stays(param.device):
            param.to_device(self._device)
