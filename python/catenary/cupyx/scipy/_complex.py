"""Complex numbers of their parts."""

import numpy

from catenary import _core


def of_parts(real, imaginary):
    """The complex numbers of two arrays of one shape and dtype, float32 or float64."""
    made = _core.empty(real.shape, numpy.result_type(real.dtype, 'F'))
    made.real, made.imag = real, imaginary
    return made
