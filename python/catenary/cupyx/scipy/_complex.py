"""Complex numbers from real and imaginary parts."""

import numpy

from catenary import _core


def of_parts(real, imaginary):
    """Returns complex numbers from two arrays of one shape and dtype, float32 or float64."""
    made = _core.empty(real.shape, numpy.result_type(real.dtype, 'F'))
    made.real, made.imag = real, imaginary
    return made
