"""The base of initializers."""

import numpy


class Initializer:
    """Fills an array. `dtype` is the type of the arrays that are made for it, or None for the setting."""

    def __init__(self, dtype=None):
        self.dtype = dtype

    def __call__(self, array):
        """Fills the array."""
        raise NotImplementedError


def get_fans(shape):
    """Returns the numbers of inputs and outputs of each unit for a weight of this shape."""
    if not isinstance(shape, tuple):
        raise ValueError('a shape must be a tuple, not %s' % type(shape))
    if len(shape) < 2:
        raise ValueError('a weight has at least two axes, not the shape %s' % (shape,))
    field = int(numpy.prod(shape[2:], dtype=numpy.int64))
    return shape[1] * field, shape[0] * field
