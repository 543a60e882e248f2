"""Hooks that see every call of a function."""
from .cuda_profile import CUDAProfileHook  # noqa: F401
from .cupy_memory_profile import CupyMemoryProfileHook  # noqa: F401
from .debug_print import PrintHook  # noqa: F401
from .timer import TimerHook  # noqa: F401
