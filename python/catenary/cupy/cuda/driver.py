"""cupy.cuda.driver"""

from catenary import _core


class CUDADriverError(RuntimeError):
    """Never raised: failures of drivers are CUDARuntimeError."""


def get_build_version():
    """12000, as runtime.runtimeGetVersion."""
    return 12000


def ctxGetCurrent():
    """A number that stands for the current device's context."""
    return 1 + _core.getDevice()
