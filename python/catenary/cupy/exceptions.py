"""cupy.exceptions: NumPy's own."""

from numpy.exceptions import *  # noqa: F401,F403
