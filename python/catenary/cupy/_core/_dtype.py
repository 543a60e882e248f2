"""What dtypes are called."""

import numpy

get_dtype = numpy.dtype
