"""Sparse matrices of odd shapes with unsorted and duplicate elements, compared with dense arrays."""

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import sparse
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(11)


def near(ours, theirs, tolerance):
    """Asserts equal dtype and shape, and near values, also of complex numbers."""
    theirs = numpy.asarray(theirs)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    numpy.testing.assert_allclose(ours.get(), theirs, rtol=tolerance, atol=tolerance)


def matrix(shape, density, dtype, duplicates=False):
    """Returns a dense matrix, and (data, indices, indptr) of its rows in random order."""
    dense = (G.integers(1, 9, shape) * (G.random(shape) < density)).astype(dtype)
    data, indices, indptr = [], [], [0]
    for row in dense:
        columns = G.permutation(numpy.flatnonzero(row))
        data, indices = data + row[columns].tolist(), indices + columns.tolist()
        if duplicates and len(columns):
            data, indices = data + [1], indices + [int(columns[0])]
            row[columns[0]] += 1
        indptr.append(len(data))
    return dense, (numpy.array(data, dtype), numpy.array(indices, 'i'), numpy.array(indptr, 'i'))


@pytest.mark.parametrize('dtype', 'fdD')
@pytest.mark.parametrize('shape', [(1, 1), (5, 9), (40, 7)], ids=str)
def test_sparse_matrices(shape, dtype):
    for duplicates in (False, True):
        a, own = matrix(shape, 0.4, dtype, duplicates)
        b, other = matrix(shape, 0.2, dtype)
        for format in ('csr', 'csc', 'coo'):
            s = sparse.csr_matrix(tuple(cupy.asarray(x) for x in own), shape=shape).asformat(format)
            t = sparse.csr_matrix(tuple(cupy.asarray(x) for x in other), shape=shape).asformat(format)
            x, wide = G.normal(size=shape[1]).astype(dtype), G.normal(size=(shape[1], 3)).astype(dtype)
            close = 1e-5 if dtype == 'f' else 1e-12
            near(s @ cupy.asarray(x), a @ x, close)
            near(s @ cupy.asarray(wide), a @ wide, close)
            near(s.T @ cupy.asarray(x[:1].repeat(shape[0])), a.T @ x[:1].repeat(shape[0]), close)
            for made, expected in ((s + t, a + b), (s - t, a - b), (s.multiply(t), a * b), (s.T @ t, a.T @ b), (s.tocsc(), a), (s.tocsr(), a),
                                   (s.T.tocsr(), a.T), (sparse.vstack([s, t]), numpy.vstack([a, b])), (sparse.hstack([s, t]), numpy.hstack([a, b])),
                                   (sparse.vstack([s, t], 'csr'), numpy.vstack([a, b])), (s.tocsr()[1:4], a[1:4]), (s.tocsr()[:, 2:5], a[:, 2:5]),
                                   (s.tocsc()[:, 2:5], a[:, 2:5]), (s.tocsc()[1:4], a[1:4]), (s.tocsr()[:, 3:1], a[:, 3:1])):
                near(made.toarray(), expected.astype(made.dtype), close)
            for axis in (None, 0, 1):
                near(cupy.asarray(s.sum(axis)), a.sum(axis, keepdims=axis is not None), close)
            if dtype != 'D':
                for axis in (0, 1):
                    same(s.max(axis).toarray(), a.max(axis, keepdims=True))
                    same((-s).min(axis).toarray(), (-a).min(axis, keepdims=True))
            r, c = G.integers(-shape[0], shape[0], 6), G.integers(-shape[1], shape[1], 6)
            same(s.tocsr()[cupy.asarray(r), cupy.asarray(c)], a[r, c].reshape(1, -1))
            assert complex(s.tocsc()[int(r[0]), int(c[0])]) == a[r[0], c[0]]
            same(s.tocsr()[cupy.asarray(r)].toarray(), a[r])


def test_sparse_indices_out_of_range():
    s = sparse.eye(4, format='csr')
    for key in ((4, 0), (0, -5)):
        with pytest.raises(IndexError):
            s[key]


@pytest.mark.parametrize('m, n, k', [(5, 5, 0), (4, 7, 2), (7, 4, -3), (3, 3, 5), (3, 3, -5), (0, 3, 0), (1, 1, 0)])
def test_sparse_eye(m, n, k):
    for format in (None, 'csr', 'csc', 'coo'):
        same(sparse.eye(m, n, k, format=format).toarray(), numpy.eye(m, n, k))


def test_sparse_random_draws_different_places():
    for m, n, density in ((3, 5, 0.5), (300, 200, 0.01), (1000, 1000, 0.2), (1000, 100, 0.24)):
        s = sparse.random(m, n, density, random_state=1)
        assert s.nnz == int(m * n * density) == sparse.csr_matrix(s).nnz
        places = s.row.get().astype('l') * n + s.col.get()
        assert len(numpy.unique(places)) == s.nnz and 0.3 * m * n < places.mean() < 0.7 * m * n or s.nnz < 20


def test_sparse_elements_beside_infinities():
    s = sparse.csr_matrix(cupy.asarray([[numpy.inf, 0, 2], [numpy.nan, 1, 0]]))
    assert [float(s[0, k]) for k in range(3)] == [numpy.inf, 0, 2] and float(s[-1, -2]) == 1 and float(s.tocsc()[1, 2]) == 0
    assert bool(sparse.csr_matrix(cupy.asarray([[True, False]]))[0, 0])
