"""Exceptions and warnings with CuPy's names, and the check that Python has a GIL."""

import sys


def need_gil():
    """Checks Python's GIL. To be called when the extension is imported: a free-threaded Python turns its GIL on and warns. Raises ImportError if that
    was disabled."""
    if not getattr(sys, '_is_gil_enabled', lambda: True)():
        raise ImportError('catenary._core needs the GIL, but PYTHON_GIL=0 or -X gil=0 disables it in this free-threaded '
                          'Python; start Python without them', name='catenary._core')


class PerformanceWarning(RuntimeWarning):
    """Issued if an operation works, but slowly."""
