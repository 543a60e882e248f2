"""Sparse matrices for the tests of cupyx.scipy.sparse, and their comparison with dense ones."""

import numpy

from catenary import cupy
from catenary.cupyx.scipy import sparse
from compare import same

G = numpy.random.default_rng(5)
FORMATS = ['csr', 'csc', 'coo']


def some(m, n, share=0.4, dtype='d'):
    return numpy.where(G.random((m, n)) < share, G.integers(-4, 5, (m, n)), 0).astype(dtype)


A, B, S, EMPTY = some(5, 7), some(7, 4), some(6, 6), numpy.zeros((3, 4))
V, W = G.normal(size=7), G.normal(size=(7, 3))


def of(a, format):
    return getattr(sparse, format + '_matrix')(cupy.asarray(a))


def equal(ours, expected, format=None):
    assert isinstance(ours, sparse.spmatrix) and ours.shape == expected.shape and (ours.format == 'dia' or ours.nnz == len(ours.data))
    assert format is None or ours.format == format
    same(ours.toarray(), expected)


def steep(n, dtype, m=None):
    """Returns a random matrix with a dominant diagonal."""
    m = m or n
    a = numpy.where(G.random((m, n)) < 0.4, G.normal(size=(m, n)), 0) + 6 * numpy.eye(m, n)
    return (a + 1j * numpy.where(G.random((m, n)) < 0.4, G.normal(size=(m, n)), 0) if dtype in 'FD' else a).astype(dtype)
