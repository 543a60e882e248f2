"""Initial values of parameters."""
from .. import initializers
from ..variable import Parameter


def weight(initializer, shape=None):
    """Returns a parameter that starts with `initializer`; None stands for LeCun's normal distribution."""
    return Parameter(initializers._get_initializer(initializer), shape)


def constant(initializer, value, shape=None):
    """Returns a parameter that starts with `initializer`; None stands for `value`."""
    return weight(value if initializer is None else initializer, shape)


def pair(x):
    return x if hasattr(x, '__getitem__') else (x, x)
