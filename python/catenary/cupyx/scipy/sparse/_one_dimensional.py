"""Arrays of one axis: their elements are kept as those of a matrix of one row."""

import functools

import numpy

from catenary.cupy._array import ndarray


def extents(shape):
    """The two extents of the matrix that keeps the elements."""
    return (1, *shape) if len(shape) == 1 else tuple(shape)


def one_axis(x):
    """The one row of a matrix: csr stays csr, of the other formats it becomes coo; of an ndarray the row."""
    if isinstance(x, ndarray):
        return x.reshape(x.shape[1:])
    made = x if x.format == 'csr' else x.tocoo()
    return made._seen_as(made.shape[1:], made._classes[True, made.format])


def _axes(x):
    return x.ndim if hasattr(x, 'ndim') else numpy.ndim(x)


def by_rows(method):
    """A method of matrices (self, other, ...) for arrays of one axis, too: they take part as matrices of one row, and what none but they have made is of one axis again."""
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
        raise ValueError(f'{name}: an array of one axis, shape {x.shape}, has no diagonals and no triangles')
