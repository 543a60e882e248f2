"""cupy.util, the old name of cupy._util."""

from catenary.cupy._util import PerformanceWarning, clear_memo, memoize  # noqa: F401
