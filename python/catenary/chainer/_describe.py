"""Descriptions of variables for people who look for a fault."""

from .backends import cuda


def _device(array):
    if array is None:
        return None
    return str(array.device) if isinstance(array, cuda.ndarray) else 'CPU'


def _statistics(array):
    """Returns mean and standard deviation in words."""
    return 'mean=%.8f, std=%.8f' % (float(array.mean()), float(array.std()))


def _gradient(grad):
    if grad is None:
        return None
    return _statistics(grad) if bool((grad != 0).any()) else 0


def debug_print(variable):
    """Returns where the array of a variable lies, its shape and dtype, and the mean of its values and of its gradient."""
    array = variable.array
    rows = {
        'device': _device(array),
        'backend': None if array is None else type(array),
        'shape': None if array is None else array.shape,
        'dtype': None if array is None else array.dtype,
        'statistics': None if array is None else _statistics(array),
        'grad': _gradient(variable.grad),
    }
    return '\n'.join([variable.summary(), *('- %s: %s' % row for row in rows.items())])
