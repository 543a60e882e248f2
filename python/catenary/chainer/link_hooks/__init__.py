"""Hooks that see every call of a link."""
from .spectral_normalization import SpectralNormalization  # noqa: F401
from .timer import TimerHook  # noqa: F401
from .weight_standardization import WeightStandardization  # noqa: F401
