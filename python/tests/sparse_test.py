"""cupyx.scipy.sparse beside dense matrices of NumPy's."""

import math

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import sparse
from catenary.cupyx.scipy.sparse import linalg
from compare import refused, same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(5)
FORMATS = ['csr', 'csc', 'coo']


def some(m, n, share=0.4, dtype='d'):
    return numpy.where(G.random((m, n)) < share, G.integers(-4, 5, (m, n)), 0).astype(dtype)


A, B, S, EMPTY = some(5, 7), some(7, 4), some(6, 6), numpy.zeros((3, 4))
V, W = G.normal(size=7), G.normal(size=(7, 3))


def of(a, format):
    return getattr(sparse, format + '_matrix')(cupy.asarray(a))


def equal(ours, expected, format=None):
    assert isinstance(ours, sparse.spmatrix) and ours.shape == expected.shape and ours.nnz == len(ours.data)
    assert format is None or ours.format == format
    same(ours.toarray(), expected)


@pytest.mark.parametrize('format', FORMATS)
@pytest.mark.parametrize('a', [A, S, EMPTY, some(1, 9), some(4, 3, dtype='f'), some(4, 3, dtype='i'), some(4, 3) > 0, numpy.zeros((0, 3)), numpy.zeros((2, 0))])
def test_conversions(a, format):
    x = of(a, format)
    assert (x.format, x.dtype, x.shape, x.nnz, x.ndim) == (format, a.dtype, a.shape, numpy.count_nonzero(a), 2)
    for other in FORMATS:
        equal(x.asformat(other), a, other)
        equal(getattr(sparse, other + '_matrix')(x), a, other)
        equal(x.asformat(other).T, a.T)
    equal(x.copy(), a, format)
    equal(x.T.T, a)
    same(x.toarray('F'), a)
    if a.dtype != bool:
        equal(x.astype('d') * 2, a.astype('d') * 2, format)
        equal(-x, -a, format)
        equal(abs(x), abs(a), format)
    for k, name in enumerate(('row', 'col')):
        same(getattr(x.tocsr().tocoo(), name), numpy.nonzero(a)[k].astype('i'))
    assert x.count_nonzero() == x.nnz and x.getnnz(0).get().tolist() == (a != 0).sum(0).tolist() and x.getnnz(1).get().tolist() == (a != 0).sum(1).tolist()


def test_makers():
    twice = sparse.coo_matrix(([1., 2, 3], ([0, 0, 2], [1, 1, 0])))
    assert twice.shape == (3, 2) and twice.nnz == 3 and twice.tocsr().nnz == twice.tocsc().nnz == 2
    equal(twice, numpy.asarray([[0, 3.], [0, 0], [3, 0]]))
    twice.sum_duplicates()
    assert twice.nnz == 2 and twice.has_canonical_format
    data, indices, indptr = numpy.asarray([1., 2, 3, 0]), [2, 0, 1, 1], [0, 2, 2, 4]
    x = sparse.csr_matrix((data, indices, indptr))
    same(x.toarray(), numpy.asarray([[2., 0, 1], [0, 0, 0], [0, 3, 0]]))
    same(sparse.csc_matrix((data, indices, indptr), shape=(4, 3)).toarray(), numpy.asarray([[2., 0, 0], [0, 0, 3], [1, 0, 0], [0, 0, 0]]))
    assert not x.has_sorted_indices
    x.sum_duplicates()
    assert x.has_canonical_format and x.nnz == 3
    x.eliminate_zeros()
    assert x.nnz == 3 and x[0, 2] == 1
    assert sparse.csr_matrix((3, 4), dtype='f').nnz == 0 and str(twice) == '  (0, 1)\t3.0\n  (2, 0)\t3.0'
    assert sparse.issparse(x) and sparse.isspmatrix_csr(x) and not sparse.isspmatrix_coo(x) and not sparse.issparse(cupy.ones(2))
    equal(sparse.eye(3, 5, 1), numpy.eye(3, 5, 1), 'csr')
    equal(sparse.identity(3, 'f', 'csc'), numpy.eye(3, dtype='f'), 'csc')
    equal(sparse.diags([[1, 2, 3], [4, 5]], [0, 1]), numpy.diag([1., 2, 3]) + numpy.diag([4., 5], 1))
    equal(sparse.diags([cupy.asarray([1., 2]), 7], [-1, 0], shape=(3, 3)), numpy.diag([1., 2], -1) + 7 * numpy.eye(3))
    equal(sparse.diags(cupy.asarray([1., 2, 3])), numpy.diag([1., 2, 3]))
    equal(sparse.hstack([of(A, 'csr'), of(A, 'coo')]), numpy.hstack([A, A]))
    equal(sparse.vstack([of(A, 'csr'), of(A, 'coo')], 'csc'), numpy.vstack([A, A]), 'csc')
    equal(sparse.bmat([[of(A, 'csr'), None], [None, of(B, 'csc')]]), numpy.block([[A, numpy.zeros((5, 4))], [numpy.zeros((7, 7)), B]]))
    equal(sparse.block_diag([of(A, 'csr'), of(B, 'csc'), of(S, 'coo')]).tocsr()[5:12, 7:11], B)
    equal(sparse.kron(of(S, 'csr'), of(B, 'csc')), numpy.kron(S, B))
    equal(sparse.tril(of(S, 'csr'), -1), numpy.tril(S, -1))
    equal(sparse.triu(of(S, 'csc')), numpy.triu(S))
    for ours, expected in zip(sparse.find(of(A, 'csc')), (*numpy.nonzero(A), A[numpy.nonzero(A)])):
        same(ours.astype(expected.dtype), expected)
    chance = sparse.random(20, 30, 0.25, 'csr', random_state=3)
    assert chance.nnz == 150 and chance.tocsr().nnz == 150 and 0 <= float(chance.data.min()) and float(chance.data.max()) < 1


@pytest.mark.parametrize('format', FORMATS)
def test_products_and_sums(format):
    x, y, s = of(A, format), of(B, format), of(S, format)
    v, w = cupy.asarray(V), cupy.asarray(W)
    for ours, expected in ((x @ v, A @ V), (x * v, A @ V), (x.dot(w), A @ W), (x @ w, A @ W), (v[:5] @ x, V[:5] @ A), (w.T @ x.T, W.T @ A.T),
                           (x.sum(), A.sum()), (x.sum(0), A.sum(0, keepdims=True)), (x.sum(axis=-1), A.sum(1, keepdims=True)),
                           (x.mean(), A.mean()), (x.mean(1), A.mean(1, keepdims=True)), (x.max(), A.max()), (x.min(axis=0), A.min(0, keepdims=True)),
                           (s.diagonal(), S.diagonal()), (x.diagonal(2), A.diagonal(2)), (x.diagonal(-1), A.diagonal(-1)), (s.trace(), S.trace()),
                           (x + cupy.asarray(A), A + A), (x - cupy.asarray(A), A - A), (cupy.asarray(A) + x, A + A)):
        same(ours, expected)
    for ours, expected in ((x @ y, A @ B), (x * y, A @ B), (x + x * 2, A * 3), (x - 3 * x, A * -2), (x / 2, A / 2), (x.multiply(x), A * A),
                           (x.multiply(cupy.asarray(A[0])), A * A[0]), (x.multiply(3), A * 3), (x.power(2), A ** 2), (s ** 3, S @ S @ S),
                           (s ** 0, numpy.eye(6)), (of(EMPTY, format) @ of(B[:4], format), EMPTY @ B[:4]), (x > 0, A > 0), (x != x, A != A),
                           (of(EMPTY, format) + of(EMPTY, format), EMPTY)):
        equal(ours, expected)
    same(of(EMPTY, format) @ cupy.ones(4), numpy.zeros(3))
    whole = of(A.astype('i'), format)
    same(whole @ cupy.arange(7, dtype='i'), A.astype('i') @ numpy.arange(7, dtype='i'))
    same(whole.sum(0), A.astype('i').sum(0, keepdims=True))
    assert (whole @ v).dtype == 'd' and (whole @ whole.T).dtype == 'i' and (x @ v.astype('f')).dtype == 'd'


@pytest.mark.parametrize('format', ['csr', 'csc'])
def test_places(format):
    x = of(A, format)
    mask, rows, columns = A[:, 0] > 0, numpy.asarray([3, 1, 1]), numpy.asarray([-1, 0, 5])
    for key, own in (((slice(1, 4), slice(None)),) * 2, ((slice(None, None, -2),),) * 2, ((slice(None), slice(1, 6, 2)),) * 2, ((1,), (slice(1, 2),)),
                     ((-1,), (slice(4, 5),)), ((slice(None), 2), (slice(None), slice(2, 3))), ((1, slice(2, 5)), (slice(1, 2), slice(2, 5))),
                     ((slice(1, 3), -1), (slice(1, 3), slice(6, 7))), ((rows,),) * 2, ((slice(None), columns),) * 2, ((mask,),) * 2,
                     ((cupy.asarray(rows), slice(0, 3)), (rows, slice(0, 3))), ((1, [2, 3]), (slice(1, 2), [2, 3])), ((numpy.ix_([0, 2], [1, 3]),), (numpy.ix_([0, 2], [1, 3]),)),
                     ((slice(0, 0),),) * 2, ((Ellipsis, slice(2, 4)), (slice(None), slice(2, 4)))):
        key, own = (k[0] if len(k) == 1 else k for k in (key, own))
        equal(x[key], A[own], format)
    same(x[2, 3], A[2, 3])
    same(x[-1, -2], A[-1, -2])
    same(x[[0, 1, 4], [2, 3, -7]], A[[0, 1, 4], [2, 3, -7]])
    equal(x.getrow(2), A[2:3])
    equal(x.getcol(2), A[:, 2:3])
    equal(x.tocoo()[1:3], A[1:3])


@pytest.mark.parametrize('statement, error, says', [
    ('sparse.csr_matrix(numpy.ones((2, 2)))', TypeError, 'use cupy.asarray'), ('x @ numpy.ones(7)', TypeError, "not <class 'numpy.ndarray'>"),
    ('x @ cupy.ones(5)', ValueError, 'dimension mismatch: (5, 7) and (5,)'), ('x + x.T', ValueError, 'inconsistent shapes: (5, 7) and (7, 5)'),
    ('x + 1', NotImplementedError, 'adding a nonzero scalar'), ('x[5]', IndexError, 'index (5) out of range for an extent of 5'),
    ('x[0, 0, 0]', IndexError, 'too many indices'), ('x[0.5]', IndexError, 'not by float64'), ('x[0] = 1', NotImplementedError, 'elements are not set'),
    ('x.__setitem__(0, 1)', NotImplementedError, 'elements are not set'), ('len(x)', TypeError, 'ambiguous'), ('bool(x)', ValueError, 'ambiguous'),
    ('x.asformat("dia")', ValueError, 'Format dia is unknown: csr, csc and coo'), ('x.diagonal(7)', ValueError, 'k exceeds'), ('x ** 2', TypeError, 'not square'),
    ('sparse.coo_matrix(([1.], ([2], [0])), shape=(2, 2))', ValueError, 'exceeds matrix dimensions (2, 2)'), ('x.power(-1)', NotImplementedError, 'power(-1)'),
    ('sparse.coo_matrix(([1.], ([2, 1], [0, 1])))', ValueError, 'must all be the same length, given 2, 2 and 1'), ('sparse.csr_matrix((2, -1))', ValueError, 'invalid shape'),
    ('sparse.csr_matrix(([1.], [3], [0, 1]), shape=(1, 2))', ValueError, 'an index exceeds'), ('sparse.csr_matrix(([1.], [0], [0, 1]), shape=(3, 2))', ValueError, 'index pointer size 2'),
    ('sparse.bmat([[x, x.T]])', ValueError, 'incompatible dimensions: 7, expected 5'), ('sparse.diags([[1, 2]], [0], shape=(4, 4))', ValueError, 'does not agree'),
    ('sparse.dia_matrix', AttributeError, 'names cupyx.scipy.sparse'), ('sparse.linalg.gmres', AttributeError, 'names cupyx.scipy.sparse.linalg'),
    ('x[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]', IndexError, 'one axis, or the two that ix_ gives'), ('sparse.linalg.norm(x, 2)', NotImplementedError, 'ord=2')])
def test_what_is_refused(statement, error, says):
    refused(statement, error, says, sparse=sparse, x=of(A, 'csr'))


def test_conjugate_gradients():
    a = S @ S.T + 6 * numpy.eye(6)
    x, b = of(a, 'csr'), cupy.asarray(V[:6])
    for more in ({}, {'M': sparse.diags(1 / x.diagonal())}, {'x0': b}):
        found, steps = linalg.cg(x, b, rtol=1e-12, **more)
        assert steps == 0
        same(found, numpy.linalg.solve(a, V[:6]), 1e-9)
    seen = []
    assert linalg.cg(x, b, rtol=1e-12, maxiter=2, callback=seen.append)[1] == 2 == len(seen)
    same(linalg.cg(cupy.asarray(a), b, rtol=1e-12)[0], numpy.linalg.solve(a, V[:6]), 1e-9)
    for order in (None, 'fro', 1, math.inf):
        same(linalg.norm(of(A, 'csc'), order), numpy.linalg.norm(A, order))
    with pytest.raises(ValueError, match='incompatible dimensions'):
        linalg.cg(of(A, 'csr'), b)


@pytest.mark.parametrize('format', FORMATS)
@pytest.mark.parametrize('dtype', ['D', pytest.param('F', marks=pytest.mark.host)])
def test_complex_elements(format, dtype):
    a, b, s = (some(*shape, dtype=dtype) + (1j * some(*shape)).astype(dtype) for shape in ((5, 7), (7, 4), (6, 6)))
    x, y, z, r = of(a, format), of(b, format), of(s, format), of(A.astype(dtype.lower()), format)
    real = A.astype(dtype.lower())
    v = (V[:7] + 1j * W[:, 0]).astype(dtype)
    for ours, expected in ((x.T, a.T), (x.H, a.conj().T), (x.getH(), a.conj().T), (x.conj(), a.conj()), (x.real, a.real), (x.imag, a.imag), (r.conj(), real), (r.imag, real * 0),
                           (-x, -a), (x * 2j, a * 2j), (x / 2j, a / 2j), (r * 1j, real * dtype_of(1j, dtype)), (x + r, a + real), (r - x, real - a), (x @ y, a @ b), (r @ y, real @ b), (x @ x.H, a @ a.conj().T),
                           (x.multiply(x), a * a), (x.multiply(r), a * real), (x.power(2), a ** 2), (x != r, a != real), (x.tocsc().tocoo().tocsr(), a), (sparse.kron(x, y), numpy.kron(a, b)),
                           (sparse.hstack([x, r]), numpy.hstack([a, real])), (z ** 2, s @ s), (r.astype(dtype), real.astype(dtype)), (x.sqrt(), numpy.sqrt(a)), (r.sin(), numpy.sin(real))):
        assert ours.dtype == expected.dtype and ours.nnz == len(ours.data)
        numpy.testing.assert_allclose(ours.toarray().get(), expected, rtol=1e-5, atol=1e-5)
    for ours, expected in ((x @ cupy.asarray(v), a @ v), (r @ cupy.asarray(v), real @ v), (x.sum(), a.sum()), (x.sum(0), a.sum(0, keepdims=True)), (x.mean(), a.mean()), (x.mean(1), a.mean(1, keepdims=True)),
                           (z.diagonal(), s.diagonal()), (z.trace(), s.trace()), (linalg.norm(x), numpy.linalg.norm(a)), (linalg.norm(x, 1), numpy.linalg.norm(a, 1)), (abs(x).sum(), abs(a).sum()),
                           (sparse.diags([cupy.asarray(v[:3])], [0]).toarray(), numpy.diag(v[:3]))):
        assert ours.dtype == expected.dtype and ours.shape == expected.shape
        numpy.testing.assert_allclose(ours.get(), expected, rtol=1e-5, atol=1e-4)
    whole = s @ s.conj().T + 6 * numpy.eye(6, dtype=dtype)
    found, steps = linalg.cg(of(whole, format), cupy.asarray(v[:6]), rtol=1e-6)
    assert steps == 0
    numpy.testing.assert_allclose(found.get(), numpy.linalg.solve(whole, v[:6]), rtol=1e-3, atol=1e-3)


def dtype_of(number, dtype):
    return numpy.dtype(dtype).type(number)


def test_solutions_by_the_whole_matrix():
    a = numpy.diag([4., 3, 2, 5]) + numpy.eye(4, k=1) - numpy.eye(4, k=-2)
    for b in (numpy.arange(4.), numpy.arange(8.).reshape(4, 2), numpy.arange(4) * 1j):
        for made in (sparse.csr_matrix, sparse.csc_matrix):
            x = sparse.linalg.spsolve(made(cupy.asarray(a)), cupy.asarray(b))
            numpy.testing.assert_allclose(x.get(), numpy.linalg.solve(a, b), rtol=1e-12, atol=1e-14)
    assert sparse.linalg.spsolve(sparse.csr_matrix(cupy.asarray(a.astype('f'))), cupy.ones(4, 'f')).dtype == 'f'
    with pytest.raises(ValueError, match='matrix must be square'):
        sparse.linalg.spsolve(sparse.csr_matrix(cupy.ones((2, 3))), cupy.ones(2))
    with pytest.raises(ValueError, match='dimension mismatch'):
        sparse.linalg.spsolve(sparse.csr_matrix(cupy.eye(3)), cupy.ones(2))
