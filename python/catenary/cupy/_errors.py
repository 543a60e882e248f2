"""Exceptions and warnings with CuPy's names."""


class PerformanceWarning(RuntimeWarning):
    """Something that works, slowly."""
