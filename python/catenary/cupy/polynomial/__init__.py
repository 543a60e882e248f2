"""cupy.polynomial: polynomials by their coefficients, the lowest power first."""

from catenary import _names
from catenary.cupy.polynomial import polynomial, polyutils  # noqa: F401

__getattr__ = _names.getter('cupy.polynomial')
