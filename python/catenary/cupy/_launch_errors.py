"""Launch errors with CuPy's names."""

from catenary import _core


class CUDADriverError(_core.CUDARuntimeError):
    """Raised for launches that no device supports (cupy.cuda.driver.CUDADriverError). Other driver failures raise CUDARuntimeError."""


class InvalidLaunch(CUDADriverError, ValueError):
    """Raised for a grid, block or shared-memory size beyond all limits."""
