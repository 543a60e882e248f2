"""Names of dtypes."""

import numpy

get_dtype = numpy.dtype
