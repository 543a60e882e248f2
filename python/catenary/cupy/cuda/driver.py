"""cupy.cuda.driver"""

from catenary import _core


class CUDADriverError(RuntimeError):
    """Never raised: failures of drivers are CUDARuntimeError."""


def ctxGetCurrent():
    """A number that stands for the current device's context."""
    return 1 + _core.getDevice()
