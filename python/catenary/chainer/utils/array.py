"""Helpers for the shapes of arrays."""
import functools
import operator


def as_vec(x):
    """Returns `x` as one axis."""
    return x if x.ndim == 1 else x.ravel()


def as_mat(x):
    """Returns `x` with the axes after the first joined."""
    if x.ndim == 2:
        return x
    return x.reshape(len(x), functools.reduce(operator.mul, x.shape[1:], 1))


def empty_like(x):
    """Returns an uninitialised array with the shape and dtype of `x`, on its device."""
    from .. import backend
    return backend.get_array_module(x).empty_like(x)


def size_of_shape(shape):
    """Returns the number of elements of an array of `shape`."""
    return functools.reduce(operator.mul, shape, 1)


def sum_to(x, shape):
    """Adds up the broadcast axes of `x` until it has `shape`."""
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    kept = tuple(axis + lead for axis, size in enumerate(shape) if size == 1)
    total = x.sum(tuple(range(lead)) + kept, keepdims=True)
    return total.squeeze(tuple(range(lead))) if lead else total
