"""cupy.util"""

from catenary.cupy._errors import PerformanceWarning  # noqa: F401
from catenary.cupy._kernels import clear_memo, memoize  # noqa: F401
