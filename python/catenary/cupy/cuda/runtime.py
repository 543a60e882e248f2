"""cupy.cuda.runtime"""

from catenary import _core

CUDARuntimeError = _core.CUDARuntimeError
getDevice = _core.getDevice
getDeviceCount = _core.getDeviceCount
deviceSynchronize = _core.deviceSynchronize
memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = 1, 2, 3, 4
eventDefault, eventBlockingSync, eventDisableTiming = 0, 1, 2
streamDefault, streamNonBlocking = 0, 1


def __getattr__(name):
    if name == 'is_hip':
        return getDeviceCount() > 0 and _core.backend_of(_core.Device(0)) == 'hip'
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def setDevice(ordinal):
    """Makes it the device of the calling thread's new arrays."""
    _core.Device(ordinal).use()


def memGetInfo():
    """Returns (free, total) bytes of the current device."""
    return _core.Device().mem_info


def getDeviceProperties(ordinal):
    """Returns the properties that the driver reports for a device."""
    info = _core.Device(ordinal).info
    return {'name': info['name'].encode(), 'totalGlobalMem': info['memory_bytes'],
            'multiProcessorCount': info['compute_units'], 'maxThreadsPerBlock': info['group_size'],
            'sharedMemPerBlock': info['local_bytes'], 'pciBusID': info['pci'], 'gcnArchName': info['arch'].encode(),
            'warpSize': 32}


def runtimeGetVersion():
    """Returns 12000, the version of the interface. A CUDA runtime is not needed."""
    return 12000


driverGetVersion = runtimeGetVersion
