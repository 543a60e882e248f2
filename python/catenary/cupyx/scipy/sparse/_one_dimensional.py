"""1-d sparse arrays, stored as a matrix with one row."""

import functools

import numpy

from catenary.cupy._array import ndarray


def extents(shape):
    """Returns the 2-d shape of the matrix that stores the elements."""
    return (1, *shape) if len(shape) == 1 else tuple(shape)


def one_axis(x):
    """Converts a one-row matrix to 1-d: csr stays csr, other formats become coo, and an ndarray gives its row."""
    if isinstance(x, ndarray):
        return x.reshape(x.shape[1:])
    made = x if x.format == 'csr' else x.tocoo()
    return made._seen_as(made.shape[1:], made._classes[True, made.format])


def _axes(x):
    return x.ndim if hasattr(x, 'ndim') else numpy.ndim(x)


def by_rows(method):
    """Adapts a method of matrices (self, other, ...) to 1-d arrays: they take part as one-row matrices, and a result of 1-d operands alone is 1-d."""
    @functools.wraps(method)
    def function(self, other, *more):
        if self.ndim == 2 and getattr(other, 'two_axes', None) is None:
            return method(self, other, *more)
        most = max(self.ndim, _axes(other))
        made = method(self.two_axes(), other.two_axes() if hasattr(other, 'two_axes') else other, *more)
        return one_axis(made) if most < 2 and made is not NotImplemented else made
    return function


def two_alone(x, name):
    """Raises ValueError for an array of one axis."""
    if x.ndim == 1:
        raise ValueError(f'{name}: a 1-d array of shape {x.shape} has no diagonals or triangles')
