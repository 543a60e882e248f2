"""cupy.typing: names for annotations. An ndarray is not generic: NDArray[float] is ndarray."""

from numpy.typing import ArrayLike, DTypeLike, NBitBase  # noqa: F401

from catenary.cupy._array import ndarray as NDArray  # noqa: F401
