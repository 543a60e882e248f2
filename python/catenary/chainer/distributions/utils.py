"""Functions that several distributions need."""

import warnings

import numpy

from .. import backend
from .. import functions as F
from ..function_node import FunctionNode
from ..variable import as_variable


class ModifiedXLogX(FunctionNode):
    """Computes x log x, with the limit 0 at 0. The gradient at 0 is -inf, and backward warns about it."""

    def forward(self, inputs):
        x, = inputs
        self.retain_inputs((0,))
        xp = backend.get_array_module(x)
        return xp.asarray(x * xp.log(xp.where(x == 0, x.dtype.type(1), x)), x.dtype),

    def backward(self, indexes, gradients):
        x, = self.get_retained_inputs()
        if (x.array == 0).any():
            warnings.warn('the gradient of x log x at 0 is -inf', RuntimeWarning, stacklevel=2)
        return gradients[0] * (F.log(x) + 1),


def _modified_xlogx(x):
    return ModifiedXLogX().apply((x,))[0]


def select(condition, x, otherwise):
    """Returns a variable with the elements of x where an array of booleans is true, and a number or variable elsewhere."""
    xp = backend.get_array_module(condition)
    shape = numpy.broadcast_shapes(condition.shape, x.shape, numpy.shape(otherwise))
    if isinstance(otherwise, (int, float)):
        otherwise = xp.full(shape, otherwise, x.dtype)
    return F.where(xp.broadcast_to(condition, shape), F.broadcast_to(x, shape), F.broadcast_to(as_variable(otherwise), shape))


def times_log(weight, logarithm):
    """Returns weight * logarithm, which is 0 where the weight is 0, also where the logarithm is infinite."""
    return weight * select(weight.array != 0, logarithm, 0)


def draw(like, kind, *arguments, shape, dtype=None):
    """Returns random numbers as an array on the device of the variable or array `like`, by default of its dtype.

    Args:
        kind: the name of a function of numpy.random, which gets the arguments.
        shape: the shape of the array.
        dtype: the dtype. `False` keeps the one that the function returns.
    """
    device = backend.get_device_from_array(like)
    arguments = [getattr(argument, 'array', argument) for argument in arguments]
    with backend.using_device(device):
        numbers = getattr(device.xp.random, kind)(*arguments, size=shape)
        return numbers if dtype is False else numbers.astype(dtype or like.dtype, copy=False)
