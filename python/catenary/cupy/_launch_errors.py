"""Errors of launches, with CuPy's names."""

from catenary import _core


class CUDADriverError(_core.CUDARuntimeError):
    """A launch that no device takes (cupy.cuda.driver.CUDADriverError). Other failures of drivers are CUDARuntimeError."""


class InvalidLaunch(CUDADriverError, ValueError):
    """A grid, a block or memory of a group that no launch may have."""
