"""cupy.cuda.device"""

from catenary import _core

Device = _core.Device
get_device_id = _core.getDevice


def get_compute_capability():
    """Of the current device."""
    return Device().compute_capability


def get_cublas_handle():
    """A number that stands for the current device's handle."""
    return Device().cublas_handle


Device.cublas_handle = property(lambda self: 1 + self.id)
Device.pci_bus_id = property(lambda self: self.info['pci'])
Device.attributes = property(lambda self: {'MaxThreadsPerBlock': self.info['group_size'],
                                           'MultiProcessorCount': self.info['compute_units'],
                                           'MaxSharedMemoryPerBlock': self.info['local_bytes']})
