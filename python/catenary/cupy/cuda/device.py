"""cupy.cuda.device"""

from catenary import _core

Device = _core.Device
get_device_id = _core.getDevice


# Shared memory per block in bytes that the processor allows as an opt-in: that of NVIDIA's H100.
_MOST_ON_PROCESSOR = 227 * 1024


def most_shared_bytes(device):
    """Returns the maximum shared memory per block in bytes, as an opt-in of a kernel."""
    most = device.info['local_bytes']
    return max(most, _MOST_ON_PROCESSOR) if _core.backend_of(device) == 'cpu' else most


def get_compute_capability():
    """Returns the compute capability of the current device."""
    return Device().compute_capability


def get_cublas_handle():
    """Returns a placeholder for the current device's cuBLAS handle."""
    return Device().cublas_handle


Device.cublas_handle = property(lambda self: 1 + self.id)
Device.pci_bus_id = property(lambda self: self.info['pci'])
Device.attributes = property(lambda self: {'MaxThreadsPerBlock': self.info['group_size'],
                                           'MultiProcessorCount': self.info['compute_units'],
                                           'MaxSharedMemoryPerBlock': self.info['local_bytes'],
                                           'MaxSharedMemoryPerBlockOptin': most_shared_bytes(self)})
