"""Conversion of arrays between Python and the library. NumPy's are shared without a copy if possible, cupy's are the library's own."""

import numpy

from catenary import _core
from catenary.cupy import ndarray as _ndarray


def is_array(x):
    """Is it one that communicators take?"""
    return isinstance(x, (numpy.ndarray, _ndarray))


def given(x, function):
    """Converts an array of NumPy's or cupy's to the library's. Raises TypeError for other objects and unsupported dtypes."""
    if isinstance(x, _ndarray):
        return x
    if not isinstance(x, numpy.ndarray):
        raise TypeError('%s: %s is not an array of NumPy or cupy' % (function, type(x).__name__))
    if x.dtype.kind not in 'biuf' or x.dtype.itemsize > 8 or not x.dtype.isnative:
        if x.dtype.name != 'bfloat16':
            raise TypeError('%s does not support dtype %s' % (function, x.dtype))
        return _core.host_array(x)
    return shared(x) if x.flags.writeable and x.size else _core.host_array(x)


def single(x, function):
    """Converts an array as given(). Raises TypeError also for a tuple of arrays."""
    if not is_array(x):
        raise TypeError('%s cannot handle %s; expected one array of NumPy or cupy' % (function, type(x).__name__))
    return given(x, function)


def sequence(xs, function):
    """Converts arrays to a list. They must all be NumPy's or all cupy's, of one dtype. Raises ValueError and TypeError."""
    if not hasattr(xs, '__iter__'):
        raise TypeError('%s: %s is not an array of NumPy or cupy, nor a tuple of them' % (function, type(xs).__name__))
    xs = list(xs)
    if not (all(isinstance(x, numpy.ndarray) for x in xs) or all(isinstance(x, _ndarray) for x in xs)):
        raise ValueError('%s: %s; expected arrays of NumPy alone, or of cupy alone'
                         % (function, ', '.join(type(x).__name__ for x in xs)))
    if len({x.dtype for x in xs}) > 1:
        raise TypeError('%s: arrays of %s; expected one dtype' % (function, ', '.join(str(x.dtype) for x in xs)))
    return xs


def shared(x):
    """Returns a library's array over the memory of a writable NumPy array."""
    return _core.from_dlpack(x)


def taken(x):
    """Returns a host array of the library's, which nobody else holds, as a NumPy array."""
    if x.dtype.name == 'bfloat16' or not x.size:
        return x.get()
    y = numpy.from_dlpack(x)
    return y if y.flags.writeable else y.copy()  # for NumPy before 2.1


def delivered(x, to_host):
    """Returns a library's array as NumPy's, or as cupy's on the current device."""
    y = taken(x)
    if to_host:
        return y
    import cupy
    return cupy.asarray(y)


def reduced(x, y):
    """Returns a reduced x where x is: on the host or on its device."""
    return taken(y) if isinstance(x, numpy.ndarray) else y


def _memory(x):
    """Returns the memory to write into: NumPy's own, whatever its layout."""
    return x if isinstance(x, _ndarray) else shared(x)


def bcast_data(ranks, params):
    """Copies rank 0's parameters (named parameters of Chainer) to all ranks, in place."""
    ranks.bcast_data([name[1:] for name, _ in params], [_memory(p.array) for _, p in params])


def mean_grads(ranks, params):
    """Returns the mean over all ranks of each parameter's gradient, as new arrays."""
    means = ranks.mean_grads([name[1:] for name, _ in params], [given(p.array, 'multi_node_mean_grad') for _, p in params],
                             [given(p.grad, 'multi_node_mean_grad') for _, p in params])
    for (_, p), mean in zip(params, means):
        p.grad = reduced(p.grad, mean)
