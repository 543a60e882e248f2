"""cupyx.scipy.sparse beside dense matrices of NumPy's."""

import math
import pickle

import numpy
import pytest
import scipy.sparse

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
    assert isinstance(ours, sparse.spmatrix) and ours.shape == expected.shape and (ours.format == 'dia' or ours.nnz == len(ours.data))
    assert format is None or ours.format == format
    same(ours.toarray(), expected)


@pytest.mark.filterwarnings('ignore::Warning')
@pytest.mark.parametrize('format', FORMATS)
@pytest.mark.parametrize('dtype', ['f', 'd', 'i'])
def test_functions_of_two_elements(format, dtype):
    """With a number, an array, and a matrix that has all elements, one row or one column."""
    a, b = some(5, 7, dtype=dtype), some(5, 7, dtype=dtype)
    a[0, 0], b[0, 0] = 3, 3  # equal, and kept in both
    x = of(a, format)
    for name, function in (('__eq__', numpy.equal), ('__ne__', numpy.not_equal), ('__lt__', numpy.less), ('__le__', numpy.less_equal), ('__gt__', numpy.greater),
                           ('__ge__', numpy.greater_equal), ('maximum', numpy.maximum), ('minimum', numpy.minimum)):
        for other in (0, 2, -2):
            equal(getattr(x, name)(other), function(a, other), 'csr')
        for other in (b, b[:1], b[:, :1]):
            equal(getattr(x, name)(of(other, format)), function(a, other), 'csr')
            found = getattr(x, name)(cupy.asarray(other))
            assert isinstance(found, cupy.ndarray)
            same(found, function(a, other))
    for other in (b, b[:1], b[:, :1]):
        equal(x.multiply(of(other, format)), a * other)
        equal(of(other, format).multiply(x), a * other)
    equal(of(a[:1], format).multiply(of(b[:, :1], format)), a[:1] * b[:, :1])
    with pytest.raises(ValueError):
        x.maximum(of(b[:, :3], format))
    with pytest.raises(ValueError):
        x == of(b[:4], format)


@pytest.mark.parametrize('kind', ['matrix', 'array'])
@pytest.mark.parametrize('format', [*FORMATS, 'dia'])
def test_products_with_arrays(format, kind):
    """Elements by elements, of what broadcasts, in SciPy's format."""
    for a in (A, A[:1], A[:, :1]):
        x, y = (getattr(of, f'{format}_{kind}')(a if of is scipy.sparse else cupy.asarray(a)) for of in (sparse, scipy.sparse))
        for dense in (A + 9, A[:1] + 9, A[0] + 9, A[:, :1] + 9, numpy.full((1, 1), 3.)):
            for function in (lambda x, dense: x.multiply(dense), lambda x, dense: x / dense, *([lambda x, dense: x * dense, lambda x, dense: dense * x] if kind == 'array' else [])):
                if format == 'dia' and a is not A:  # SciPy's broadcasts arrays to it alone
                    same(function(x, cupy.asarray(dense)).toarray(), function(y.tocsr(), dense).toarray())
                    continue
                found, expected = function(x, cupy.asarray(dense)), function(y, dense)
                same(found.toarray(), expected.toarray())
                assert found.format == expected.format and isinstance(found, sparse.sparray) == (kind == 'array')
    with pytest.raises(ValueError):
        x.multiply(cupy.ones((2, 5, 7)))


def test_numbers_that_are_none_beside_matrices():
    x = of(A, 'csr')
    assert (x == numpy.nan).nnz == 0
    with pytest.warns(sparse.SparseEfficiencyWarning, match='not_equal of sparse matrices'):
        assert (x != numpy.nan).nnz == A.size
    twice = sparse.csr_matrix((numpy.asarray([1., 2]), [0, 0], [0, 2, 2]), shape=(2, 2))  # 3 in two parts
    same((twice > 2.5).toarray(), numpy.asarray([[True, False], [False, False]]))
    same(twice.maximum(-1).toarray(), numpy.asarray([[3., 0], [0, 0]]))
    same(twice.max(1, explicit=True).toarray(), numpy.asarray([[3.], [0]]))


@pytest.mark.parametrize('format', FORMATS)
@pytest.mark.parametrize('dtype', ['f', 'd', 'i', '?'])
def test_extrema_of_what_is_kept(format, dtype):
    a = some(5, 7, dtype='i')
    a[2], a[:, 3] = 0, 0
    for sign in (1, -1) if dtype != '?' else (1,):
        b = (sign * abs(a)).astype(dtype)
        x, kept = of(b, format), numpy.ma.masked_equal(b, 0)
        for axis in (None, 0, 1, -1, -2):
            for name in ('max', 'min'):
                expected = getattr(kept, name)(axis=axis, keepdims=axis is not None)
                found = getattr(x, name)(axis, explicit=True)
                same(found if axis is None else found.toarray(), numpy.asarray(numpy.ma.filled(expected, 0), dtype))
            if dtype != '?':
                same(x.argmax(axis), b.argmax(axis, keepdims=axis is not None))
                same(x.argmin(axis), b.argmin(axis, keepdims=axis is not None))


def test_what_a_program_says_of_indices():
    x = sparse.csr_matrix((numpy.asarray([1., 2]), [1, 0], [0, 2]))
    assert not x.has_sorted_indices
    x.has_sorted_indices = True
    assert x.has_sorted_indices
    x.sort_indices()  # as SciPy's, believes it
    assert x.has_sorted_indices and x.indices.tolist() == [1, 0]
    x.has_sorted_indices = x.has_canonical_format = False
    x.sort_indices()
    assert x.has_sorted_indices is True and x.indices.tolist() == [0, 1]
    x.has_canonical_format = False
    assert x.has_canonical_format is False and x.copy().has_canonical_format
    x.sum_duplicates()
    assert x.has_canonical_format is True


def test_formats_and_types_of_what_operations_give():
    """As SciPy's: csr of coo, coo of a product or a quotient with an array, float64 of float32 divided by a number or a matrix."""
    a = some(4, 4, dtype='f')
    x, dense = of(a, 'coo'), cupy.asarray(a + 10)
    assert {(x + x).format, (x @ x).format, x.multiply(x).format} == {'csr'} and x.multiply(dense).format == of(a, 'csc').multiply(dense).format == 'coo'
    assert (of(a, 'csr') / dense).format == (of(a, 'csc') / dense).format == 'coo' and (x / dense).dtype == 'f'
    assert (x / 2).dtype == (x / x).dtype == 'd' and (x * 2).dtype == 'f' and (of(a, 'csr').astype('F') / 2).dtype == 'F'
    assert sparse.vstack([of(a, 'csr')] * 2).format == 'csr' and sparse.hstack([of(a, 'csc')] * 2).format == 'csc'
    assert sparse.vstack([of(a, 'csc')] * 2).format == sparse.hstack([of(a, 'csr')] * 2).format == 'coo' and sparse.bmat([[None, None]]).shape == (0, 0)
    equal(x.dot(cupy.asarray(2, 'f')), a * 2, 'coo')
    equal(of(a, 'csc').getcol(1), a[:, 1:2], 'csc')
    assert x.has_canonical_format and not sparse.coo_matrix((x.data, (x.row, x.col))).has_canonical_format
    for call, error in ((lambda: x.tocsr().dot(cupy.asarray(2.)), ValueError), (lambda: sparse.coo_matrix((cupy.ones(3), cupy.arange(3))), TypeError),
                        (lambda: sparse.csr_matrix((cupy.ones(2), cupy.arange(2), cupy.arange(3)), shape=(2,)), ValueError), (lambda: sparse.csc_matrix(dense, shape=(4, 5)), ValueError),
                        (lambda: x ** [], ValueError), (lambda: x.sum('q'), TypeError), (lambda: x.sum(3), ValueError),
                        (lambda: sparse.csr_matrix(cupy.ones((1, 1, 1))), ValueError), (lambda: sparse.kronsum(x, of(A, 'csr')), ValueError)):
        with pytest.raises(error):
            call()


def test_diagonals_by_rows_and_sums_of_products():
    data = numpy.arange(1., 13).reshape(3, 4)
    for m, n in ((3, 4), (4, 4), (5, 3), (2, 6)):
        expected = numpy.zeros((m, n))
        for row, k in zip(data, (0, -1, 2)):
            for j in range(min(n, 4)):
                if 0 <= j - k < m:
                    expected[j - k, j] = row[j]
        equal(sparse.spdiags(data, [0, -1, 2], m, n), expected)
    with pytest.raises(ValueError, match='spdiags'):
        sparse.spdiags(data, [0, 0, 1], 3, 4)
    equal(sparse.kronsum(of(S, 'csr'), of(B[:4], 'coo'), 'csc'), numpy.kron(numpy.eye(4), S) + numpy.kron(B[:4], numpy.eye(6)), 'csc')


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
    assert not any(numpy.shares_memory(getattr(x, name).get(), getattr(x.copy(), name).get()) or getattr(x, name) is getattr(x.copy(), name) for name in x._arrays)
    assert x.toarray().flags.c_contiguous and x.toarray('F').flags.f_contiguous
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
    assert sparse.csr_matrix((3, 4), dtype='f').nnz == 0 and str(twice).endswith('Coords\tValues\n  (0, 1)\t3.0\n  (2, 0)\t3.0')
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
                           (x.mean(), A.mean()), (x.mean(1), A.mean(1, keepdims=True)), (x.max(), A.max()), (x.min(axis=0).toarray(), A.min(0, keepdims=True)),
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
    same(x[[0, 1, 4], [2, 3, -7]], A[[0, 1, 4], [2, 3, -7]][None])  # as SciPy's matrices
    same(sparse.csr_array(x)[[0, 1, 4], [2, 3, -7]], A[[0, 1, 4], [2, 3, -7]])
    for number in (numpy.asarray(2), cupy.asarray(2)):
        equal(x[[0, 3], number], A[[0, 3], 2:3], format)
        equal(x[number, [0, 3]], A[2:3, [0, 3]], format)
        same(x[number, number], A[2, 2])
    equal(x.getrow(2), A[2:3])
    equal(x.getcol(2), A[:, 2:3])
    equal(x.tocoo()[1:3], A[1:3])


@pytest.mark.parametrize('format', FORMATS)
def test_diagonals_and_other_shapes(format):
    for k in range(-5, 8):
        same(of(A, format).diagonal(k), numpy.diagonal(A, k) if -5 < k < 7 else numpy.zeros(0))
        if not -5 < k < 7:
            continue
        length = numpy.diagonal(A, k).size
        for values in (3.0, G.normal(size=length), G.normal(size=length + 1), G.normal(size=1)):
            x, expected = of(A, format), A.copy()
            count = length if numpy.ndim(values) == 0 else min(length, len(values))
            at = numpy.arange(count)
            expected[at - min(k, 0), at + max(k, 0)] = values if numpy.ndim(values) == 0 else values[:count]
            x.setdiag(cupy.asarray(values) if numpy.ndim(values) else values, k)
            equal(x, expected, format)
    for shape in ((7, 5), (35, 1), (1, 35), (-1, 5)):
        for order in 'CF':
            equal(of(A, format).reshape(shape, order=order), A.reshape(shape, order=order), format)
    same(of(A, format).sum((0, 1)), A.sum())
    same(of(A, format).sum((1,)), A.sum(1, keepdims=True))
    assert of(A.astype('i'), format).asfptype().dtype == 'd' and of(A, format).transpose((1, 0)).shape == (7, 5)


@pytest.mark.parametrize('statement, error, says', [
    ('sparse.csr_matrix(numpy.ones((2, 2)))', TypeError, 'use cupy.asarray'), ('x @ numpy.ones(7)', TypeError, "not <class 'numpy.ndarray'>"),
    ('x @ cupy.ones(5)', ValueError, 'dimension mismatch: (5, 7) and (5,)'), ('x + x.T', ValueError, 'inconsistent shapes: (5, 7) and (7, 5)'),
    ('x + 1', NotImplementedError, 'adding a nonzero scalar'), ('x[5]', IndexError, 'index (5) out of range for an extent of 5'),
    ('x[0, 0, 0]', IndexError, 'too many indices'), ("x[2, 'foo']", IndexError, 'indexed by integers'), ('x[[[0, 0], [1, 1]]]', IndexError, 'one axis'), ('x[0.5]', IndexError, 'not by float64'), ('x.__setitem__(7, 1)', IndexError, 'out of range'),
    ('x.__setitem__((0, slice(3)), numpy.ones(4))', ValueError, 'broadcast'), ('x.todia()[0]', TypeError, 'not subscriptable'), ('len(x)', TypeError, 'ambiguous'), ('bool(x)', ValueError, 'ambiguous'),
    ('x.asformat("lil")', ValueError, 'Format lil is unknown: csr, csc, coo, dia'), ('x.setdiag(1, 7)', ValueError, 'k exceeds'), ('x.reshape(5, 6)', ValueError, 'cannot reshape'), ('x.transpose(0)', ValueError, 'axes'), ('x.toarray("K")', ValueError, 'order must be'), ('x ** 2', TypeError, 'not square'),
    ('sparse.coo_matrix(([1.], ([2], [0])), shape=(2, 2))', ValueError, 'exceeds matrix dimensions (2, 2)'), ('x.power(-1)', NotImplementedError, 'power(-1)'),
    ('sparse.coo_matrix(([1.], ([2, 1], [0, 1])))', ValueError, 'must all be the same length, given 2, 2 and 1'), ('sparse.csr_matrix((2, -1))', ValueError, "'shape' elements cannot be negative"),
    ('sparse.csr_matrix(([1.], [3], [0, 1]), shape=(1, 2))', ValueError, 'an index exceeds'), ('sparse.csr_matrix(([1.], [0], [0, 1]), shape=(3, 2))', ValueError, 'index pointer size 2'),
    ('sparse.bmat([[x, x.T]])', ValueError, 'row dimensions. Got blocks[0,1].shape[0] == 7, expected 5'), ('sparse.diags([[1, 2]], [0], shape=(4, 4))', ValueError, 'does not agree'),
    ('sparse.lil_matrix', AttributeError, 'lil_matrix'), ('sparse.csc_array(cupy.ones(3))', ValueError, "CSC arrays don't support 1D input"),
    ('sparse.dia_matrix((cupy.ones((1, 3)), cupy.asarray([0])))', ValueError, 'expected a shape'), ('x.todia().getnnz(0)', NotImplementedError, 'DIA'),
    ('sparse.dia_matrix((cupy.ones((2, 3)), cupy.asarray([1, 1])), shape=(3, 3))', ValueError, 'duplicate'), ('sparse.linalg.lsmr', AttributeError, 'names cupyx.scipy.sparse.linalg'),
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
    with pytest.raises(ValueError, match='square'):
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


# ------------------------------------------------------------------ systems and eigenvalues by products alone
def steep(n, dtype, m=None):
    """A matrix of chance whose diagonal is large."""
    m = m or n
    a = numpy.where(G.random((m, n)) < 0.4, G.normal(size=(m, n)), 0) + 6 * numpy.eye(m, n)
    return (a + 1j * numpy.where(G.random((m, n)) < 0.4, G.normal(size=(m, n)), 0) if dtype in 'FD' else a).astype(dtype)


@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'D'])
@pytest.mark.parametrize('name', ['gmres', 'bicgstab', 'cgs', 'cg'])
def test_systems_by_products(name, dtype):
    solve, tolerance = getattr(linalg, name), 1e-3 if dtype in 'fF' else 1e-8
    for n in (1, 2, 23):
        a = steep(n, dtype)
        a = a @ a.conj().T if name == 'cg' else a
        b = (G.normal(size=n) + (1j * G.normal(size=n) if dtype in 'FD' else 0)).astype(dtype)
        expected = numpy.linalg.solve(a, b)
        near_inverse = cupy.asarray(numpy.diag(1 / numpy.diag(a)))
        x, y = cupy.asarray(a), cupy.asarray(b)
        for matrix in (x, of(a, 'csr'), of(a, 'coo'), linalg.aslinearoperator(x), linalg.LinearOperator(a.shape, lambda v: x @ v, dtype=dtype)):
            for keywords in ({}, {'M': near_inverse}, {'x0': cupy.ones((n, 1))}):
                found, left = solve(matrix, y, rtol=tolerance / 100, **keywords)
                assert left == 0 and found.shape == (n,) and found.dtype == dtype
                numpy.testing.assert_allclose(found.get(), expected, rtol=tolerance, atol=tolerance)
        assert solve(x, y[:, None], rtol=1e-3)[0].shape == (n,)
    seen = []
    assert solve(x, y, tol=0, maxiter=3, callback=seen.append)[1] >= 3 and seen
    assert solve(x, cupy.zeros(23))[0].tolist() == [0] * 23 and solve(cupy.zeros((0, 0)), cupy.zeros(0))[1] == 0


def test_gmres_begins_anew():
    a, b = steep(30, 'd'), G.normal(size=30)
    seen = []
    found, left = linalg.gmres(of(a, 'csr'), cupy.asarray(b), restart=4, rtol=1e-10, callback=seen.append)
    numpy.testing.assert_allclose(found.get(), numpy.linalg.solve(a, b), rtol=1e-7, atol=1e-9)
    assert left == 0 and len(seen) > 2 and all(isinstance(s, float) for s in seen) and seen[-1] < 1e-9
    seen.clear()
    linalg.gmres(of(a, 'csr'), cupy.asarray(b), restart=4, callback=lambda x: seen.append(x.shape), callback_type='x')
    assert set(seen) == {(30,)}


@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'D'])
@pytest.mark.parametrize('m, n', [(9, 9), (14, 6), (5, 8), (1, 1)])
def test_least_squares(m, n, dtype):
    a, b, tolerance = steep(n, dtype, m), G.normal(size=m).astype(dtype), 5e-3 if dtype in 'fF' else 1e-7
    for damp in (0, 0.7):
        wide = numpy.concatenate([a, damp * numpy.eye(n)])
        expected = numpy.linalg.lstsq(wide, numpy.concatenate([b, numpy.zeros(n)]), rcond=None)[0]
        found = linalg.lsqr(of(a, 'csr'), cupy.asarray(b), damp, 1e-12, 1e-12, calc_var=True)
        assert len(found) == 10 and found[0].dtype == dtype and found[1] in range(1, 8)
        numpy.testing.assert_allclose(found[0].get(), expected, rtol=tolerance, atol=tolerance)
        numpy.testing.assert_allclose(found[3:5], [numpy.linalg.norm(a @ expected - b), numpy.linalg.norm(wide @ expected - numpy.concatenate([b, numpy.zeros(n)]))],
                                      atol=tolerance * 10)
        numpy.testing.assert_allclose(found[8], numpy.linalg.norm(expected), rtol=tolerance * 10)
    begun = linalg.lsqr(cupy.asarray(a), cupy.asarray(b), x0=cupy.ones(n), atol=1e-12, btol=1e-12)[0]
    numpy.testing.assert_allclose(a.conj().T @ (a @ begun.get() - b), 0, atol=tolerance * 50)
    assert linalg.lsqr(cupy.asarray(a), cupy.zeros(m))[:2][1] == 0


@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'D'])
def test_eigenvalues_by_products(dtype):
    tolerance = 1e-4 if dtype in 'fF' else 1e-10
    for n in (3, 60):
        a = steep(n, dtype)
        a = a + a.conj().T
        values = numpy.linalg.eigvalsh(a)
        for which, order in (('LM', numpy.argsort(-abs(values))), ('LA', numpy.argsort(-values)), ('SA', numpy.argsort(values))):
            for k in (1, min(6, n - 1)):
                for matrix in (cupy.asarray(a), of(a, 'csr')):
                    found, vectors = linalg.eigsh(matrix, k, which=which)
                    assert found.dtype == dtype.lower() and vectors.dtype == dtype and vectors.shape == (n, k)
                    numpy.testing.assert_allclose(found.get(), numpy.sort(values[order[:k]]), rtol=tolerance, atol=tolerance)
                    numpy.testing.assert_allclose(a @ vectors.get(), vectors.get() * found.get(), atol=tolerance * 20)
                    numpy.testing.assert_allclose((vectors.conj().T @ vectors).get(), numpy.eye(k), atol=tolerance)
                numpy.testing.assert_allclose(linalg.eigsh(matrix, k, which=which, ncv=k + 2, return_eigenvectors=False).get(), found.get(), rtol=tolerance, atol=tolerance)
    few = steep(30, dtype)[:, :3]
    few = few @ few.conj().T  # of rank 3, so that the steps come to an end
    numpy.testing.assert_allclose(linalg.eigsh(cupy.asarray(few), 5, ncv=8)[0].get(), numpy.linalg.eigvalsh(few)[-5:], atol=tolerance * 100)
    numpy.testing.assert_allclose(linalg.eigsh(cupy.eye(30, dtype=dtype), 4, ncv=7)[0].get(), numpy.ones(4), rtol=tolerance)


@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'D'])
@pytest.mark.parametrize('m, n', [(30, 20), (20, 20), (6, 50)])
def test_singular_values_by_products(m, n, dtype):
    a, tolerance = steep(n, dtype, m), 1e-3 if dtype in 'fF' else 1e-9
    u, s, vt = numpy.linalg.svd(a, False)
    for matrix in (cupy.asarray(a), of(a, 'csr'), linalg.aslinearoperator(of(a, 'csc'))):
        left, found, right = linalg.svds(matrix, 4)
        assert left.shape == (m, 4) and right.shape == (4, n) and found.dtype == dtype.lower()
        numpy.testing.assert_allclose(found.get(), s[:4][::-1], rtol=tolerance)
        numpy.testing.assert_allclose((left * found @ right).get(), u[:, :4] * s[:4] @ vt[:4], atol=tolerance * 10)
        numpy.testing.assert_allclose(linalg.svds(matrix, 4, return_singular_vectors=False).get(), s[:4][::-1], rtol=tolerance)


def test_operators():
    a, b = steep(4, 'D'), steep(4, 'D')
    x, y = linalg.aslinearoperator(cupy.asarray(a)), linalg.LinearOperator((4, 4), lambda v: cupy.asarray(b) @ v, lambda v: cupy.asarray(b.conj().T) @ v)
    v = cupy.asarray(G.normal(size=(4, 2)) + 1j)
    assert y.dtype == 'D' and repr(x) == '<4x4 MatrixLinearOperator with dtype=complex128>'
    for operator, expected in ((x + y, a + b), (x - y, a - b), (x @ y, a @ b), (2j * x, 2j * a), (y * 3, b * 3), (-y, -b), (x ** 3, a @ a @ a), (x ** 0, numpy.eye(4)), (y.H, b.conj().T), (y.T, b.T),
                               ((x @ y + x).H, (a @ b + a).conj().T), ((2j * y).T, 2j * b.T), (x.H.H, a)):
        numpy.testing.assert_allclose((operator @ v).get(), expected @ v.get(), atol=1e-12)
        numpy.testing.assert_allclose(operator.matvec(v[:, 0]).get(), expected @ v.get()[:, 0], atol=1e-12)
        numpy.testing.assert_allclose(operator.rmatvec(v[:, :1]).get(), expected.conj().T @ v.get()[:, :1], atol=1e-12)
        numpy.testing.assert_allclose(operator.rmatmat(v).get(), expected.conj().T @ v.get(), atol=1e-12)

    class Doubles(linalg.LinearOperator):
        def __init__(self):
            super().__init__('d', (3, 3))

        def _matvec(self, v):
            return 2 * v
    assert (Doubles() @ cupy.ones(3)).tolist() == [2] * 3 and Doubles().matmat(cupy.ones((3, 2))).shape == (3, 2)
    with pytest.raises(NotImplementedError, match='rmatvec is not defined'):
        Doubles().rmatvec(cupy.ones(3))
    with pytest.raises(TypeError, match='type not understood'):
        linalg.aslinearoperator([1, 2])


@pytest.mark.parametrize('statement, error, says', [
    ('linalg.gmres(cupy.ones((2, 3)), cupy.ones(3))', ValueError, 'square'), ('linalg.gmres(cupy.ones((2, 2)), cupy.ones(3))', ValueError, 'b has incompatible dimensions'),
    ('linalg.gmres(cupy.ones((2, 2), int), cupy.ones(2))', TypeError, 'unsupported dtype'), ("linalg.gmres(cupy.eye(2), cupy.ones(2), callback_type='q')", ValueError, 'q'),
    ('linalg.bicgstab(cupy.eye(2), cupy.ones(2), x0=cupy.ones(3))', ValueError, 'x0 has'), ('linalg.cgs(cupy.eye(2), cupy.ones(2), M=cupy.eye(3))', ValueError, 'preconditioner'),
    ('linalg.lsqr(cupy.ones((3, 2)), cupy.ones(2))', ValueError, 'b must be'), ('linalg.lsqr(cupy.eye(2), cupy.ones(2), show=True)', NotImplementedError, 'show'), ('linalg.eigsh(cupy.ones((2, 3)))', ValueError, 'square'),
    ('linalg.eigsh(cupy.eye(3), 3)', ValueError, 'smaller than 3'), ('linalg.eigsh(cupy.eye(3), 0)', ValueError, 'greater than 0'), ("linalg.eigsh(cupy.eye(3), 1, which='SM')", ValueError, 'SM'),
    ('linalg.eigsh(cupy.eye(3, dtype=int), 1)', TypeError, 'unsupported dtype'), ("linalg.svds(cupy.eye(3), 1, which='SM')", ValueError, 'SM'), ('linalg.svds(cupy.ones(3), 1)', ValueError, 'expected a matrix'),
    ('linalg.aslinearoperator(cupy.eye(2)) @ linalg.aslinearoperator(cupy.eye(3))', ValueError, 'shape mismatch'), ('linalg.aslinearoperator(cupy.eye(2)) @ 2', ValueError, 'Scalar'), ('linalg.LinearOperator((2, 2, 2), abs)', ValueError, '2-d')])
def test_what_solvers_refuse(statement, error, says):
    with pytest.raises(error) as caught:
        eval(statement, {'linalg': linalg, 'cupy': cupy})
    assert says in str(caught.value), caught.value


@pytest.mark.parametrize('dtype', ['f', 'd', 'D'])
def test_factors(dtype):
    a, tolerance = steep(7, dtype), 1e-4 if dtype == 'f' else 1e-10
    b = (G.normal(size=(7, 2))).astype(dtype)
    factors = linalg.splu(of(a, 'csc'))
    assert factors.shape == (7, 7)
    for right in (b, b[:, 0]):
        y = cupy.asarray(right)
        for trans, matrix in (('N', a), ('T', a.T), ('H', a.conj().T)):
            numpy.testing.assert_allclose(factors.solve(y, trans).get(), numpy.linalg.solve(matrix, right), rtol=tolerance, atol=tolerance)
        numpy.testing.assert_allclose(linalg.factorized(of(a, 'csr'))(y).get(), numpy.linalg.solve(a, right), rtol=tolerance, atol=tolerance)
        for lower, triangle in ((True, numpy.tril(a)), (False, numpy.triu(a))):
            numpy.testing.assert_allclose(linalg.spsolve_triangular(of(a, 'coo'), y, lower).get(), numpy.linalg.solve(triangle, right), rtol=tolerance, atol=tolerance)
        ones = numpy.tril(a, -1) + numpy.eye(7)
        numpy.testing.assert_allclose(linalg.spsolve_triangular(of(a, 'csr'), y, unit_diagonal=True).get(), numpy.linalg.solve(ones, right), rtol=tolerance, atol=tolerance)
    for call, error in ((lambda: linalg.splu(cupy.asarray(a)), TypeError), (lambda: linalg.splu(of(A, 'csr')), ValueError), (lambda: factors.solve(cupy.ones(3)), ValueError),
                        (lambda: factors.solve(cupy.ones(7), 'q'), ValueError), (lambda: linalg.spsolve_triangular(of(a, 'csr'), b), TypeError)):
        with pytest.raises(error):
            call()


# ------------------------------------------------------------------ diagonals, elements that are set, arrays
@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'i'])
def test_matrices_by_diagonals(dtype):
    data = numpy.arange(1, 13, dtype=dtype).reshape(3, 4)
    for shape in ((3, 4), (4, 4), (5, 3), (2, 6)):
        x = sparse.dia_matrix((data, [0, -1, 2]), shape=shape)
        expected = sparse.spdiags(data, [0, -1, 2], *shape).toarray().get()
        equal(x.tocoo(), expected, 'coo')
        assert x.format == 'dia' and x.dtype == dtype and x.offsets.tolist() == [0, -1, 2] and x.nnz == numpy.count_nonzero(expected) == x.count_nonzero()
        for other in FORMATS:
            equal(x.asformat(other), expected, other)
            again = of(expected, other).todia()
            assert again.format == 'dia'
            same(again.toarray(), expected)
        for found, wanted in ((x.T, expected.T), (-x, -expected), (x * 2, expected * 2), (abs(x), abs(expected)), (x.astype('D'), expected.astype('D')), (x.copy(), expected),
                              (x.conj(), expected)):
            assert found.format == 'dia'
            same(found.toarray(), wanted)
        same(x.toarray(order='F'), expected)
        same((x + x.tocsr()).toarray(), expected * 2)
        same(x @ cupy.ones(shape[1], dtype), expected @ numpy.ones(shape[1], dtype))
        same((x @ x.T).toarray(), expected @ expected.T)
        same(x.sum(0), expected.sum(0, keepdims=True))
        for k in (-2, 0, 1):
            same(x.diagonal(k), numpy.diagonal(expected, k))
        x.setdiag(7)
        numpy.fill_diagonal(expected[:min(shape), :min(shape)], 7)
        same(x.toarray(), expected)
        assert sparse.isspmatrix_dia(x) and not sparse.isspmatrix_dia(x.tocsr()) and 'DIAgonal sparse matrix' in repr(x) and 'diagonals)' in repr(x)
    assert sparse.dia_matrix((cupy.zeros((1, 0)), cupy.asarray([0])), shape=(2, 2)).nnz == 0
    again = pickle.loads(pickle.dumps(x))
    assert again.format == 'dia'
    same(again.toarray(), expected)


@pytest.mark.filterwarnings('ignore:Changing the sparsity')
@pytest.mark.parametrize('format', ['csr', 'csc'])
@pytest.mark.parametrize('share', [0, 0.4])
def test_elements_that_are_set(format, share):
    a = some(6, 7, share)
    rows, mask = [4, 0, 2], numpy.asarray([True, False, True, True, False, False])
    for key, values in (((1, 2), 5), ((1, 2), 0), ((slice(1, 4), slice(2, 5)), 3), ((slice(None, None, -2), 1), 2), (rows, 4), ((rows, [1, 6, 3]), [1, 2, 3]), ((rows, slice(0, 2)), 9),
                        ((slice(2, 4), slice(0, 2)), [[4], [1]]), ((slice(2, 4), slice(0, 2)), [[4, 5], [6, 7]]), ((slice(2, 4), 0), [[4], [6]]), (mask, 8), (slice(4, 2), 1),
                        ((numpy.ix_([0, 2], [1, 3])), 6), ((-1, slice(None)), numpy.arange(7)), (a > 1, 11), (([0, 0, 0], [3, 3, 2]), [1, 2, 3]), ((2, [5, 1]), [7, 8])):
        x, expected = of(a, format), a.copy()
        x[key] = cupy.asarray(values, 'd') if isinstance(values, (list, numpy.ndarray)) else values
        values = numpy.asarray(values)
        expected[key] = values.ravel() if values.ndim == 2 and values.shape[1] == 1 and expected[key].ndim == 1 else values
        same(x.toarray(), expected)
        assert x.format == format and x.has_canonical_format
    x, part = of(a, format), some(2, 3)
    x[1:3, 2:5] = of(part, 'coo')
    expected = a.copy()
    expected[1:3, 2:5] = part
    same(x.toarray(), expected)
    x[of(a, 'csr') != 0] = -3
    expected[a != 0] = -3
    same(x.toarray(), expected)
    same(x[of(a, 'csr') != 0], expected[a != 0][None])
    with pytest.warns(sparse.SparseEfficiencyWarning, match='Changing the sparsity structure'):
        sparse.csr_matrix((2, 2))[0, 1] = 1


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo', 'dia'])
def test_arrays_of_which_few_elements_are_kept(format):
    """`*` and `**` are by elements, sums along an axis have one axis, and what is made of arrays is one."""
    kind = getattr(sparse, format + '_array')
    a = kind(cupy.asarray(S))
    assert isinstance(a, sparse.sparray) and not isinstance(a, sparse.spmatrix) and sparse.issparse(a) and not sparse.isspmatrix(a) and 'sparse array' in repr(a)
    for found, expected in ((a * a, S * S), (a * 2, S * 2), (2 * a, S * 2), (a ** 2, S ** 2), (a @ a, S @ S), (a + a, S + S), (a - 2 * a, -S), (-a, -S), (abs(a), abs(S)), (a.T, S.T),
                            (a.conj(), S), (a.copy(), S), (a / 2, S / 2), (a.multiply(sparse.csr_matrix(cupy.asarray(S))), S * S), (a.maximum(1 - a.multiply(0).toarray() * 0 - 1 + a), abs(S) * 0 + S)):
        if isinstance(found, cupy.ndarray):
            same(found, expected)
            continue
        assert isinstance(found, sparse.sparray)
        same(found.toarray(), expected)
    assert isinstance(sparse.csr_matrix(cupy.asarray(S)).multiply(a), sparse.spmatrix)
    for axis in (0, 1):
        same(a.sum(axis), S.sum(axis))
        same(a.mean(axis), S.mean(axis))
        same(a.argmax(axis), S.argmax(axis))
    same(a @ cupy.asarray(S[0]), S @ S[0])
    for other in ('csr', 'csc', 'coo', 'dia'):
        made = a.asformat(other)
        assert type(made) is getattr(sparse, other + '_array')
        same(made.toarray(), S)
    for made in (sparse.hstack([a, a]), sparse.vstack([a, a]), sparse.kron(a, a), sparse.tril(a), sparse.block_array([[a]]), sparse.eye_array(3), sparse.diags_array([1., 2]),
                 sparse.random_array((3, 4)), pickle.loads(pickle.dumps(a))):
        assert isinstance(made, sparse.sparray)
    same(sparse.swapaxes(a, 0, -1).toarray(), S.T)
    same(sparse.permute_dims(a, (0, 1)).toarray(), S)
    b, data = a, a.data
    b *= 3
    assert b is a and a.data is data
    same(a.toarray(), S * 3)
    for name in ('getrow', 'getH', 'asfptype', 'A'):
        assert not hasattr(a, name)


def test_counts_of_what_is_not_zero():
    x = sparse.coo_matrix((numpy.asarray([1., -1, 2, 0]), ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 3))
    assert x.count_nonzero() == 1 and x.nnz == 4
    assert x.count_nonzero(0).tolist() == [1, 0, 0] and x.tocsr().count_nonzero(1).tolist() == [0, 1, 0]
    assert x.astype('d', copy=False) is x and x.astype('d') is not x
    same(round(sparse.csr_matrix(cupy.asarray([[1.4, 2.6]]))).toarray(), numpy.asarray([[1., 3]]))


@pytest.mark.parametrize('kind', ['matrix', 'array'])
@pytest.mark.parametrize('format', FORMATS)
def test_types_of_counts(format, kind):
    """SciPy's: of a csr matrix' rows and a csc matrix' columns int32, else int64."""
    ours, theirs = getattr(sparse, f'{format}_{kind}')(cupy.asarray(A)), getattr(scipy.sparse, f'{format}_{kind}')(A)
    for axis in (0, 1, -1, -2):
        same(ours.count_nonzero(axis), theirs.count_nonzero(axis))
        if kind == 'matrix':
            same(ours.getnnz(axis), theirs.getnnz(axis))
    assert ours.count_nonzero() == theirs.count_nonzero() == ours.getnnz()


@pytest.mark.parametrize('format', [*FORMATS, 'dia'])
@pytest.mark.parametrize('shape', [(0, 3), (3, 0), (0, 0), (2, 3)])
def test_diagonals_without_elements(format, shape):
    """As SciPy's: nothing is set where an extent is 0, and a diagonal outside of the extents is refused."""
    for k in range(-4, 5):
        for values in (7., [1.], [1., 2]):
            x, y = (getattr(of, format + '_matrix')(shape, dtype='f') for of in (sparse, scipy.sparse))
            try:
                y.setdiag(values, k)
            except ValueError:
                with pytest.raises(ValueError, match='k exceeds'):
                    x.setdiag(values, k)
                continue
            x.setdiag(values, k)
            same(x.toarray(), y.toarray())


def test_matrices_of_scipys_diagonals():
    own = scipy.sparse.dia_matrix((numpy.arange(1., 7).reshape(2, 3), [0, -1]), shape=(3, 4))
    x = sparse.dia_matrix(own)
    same(x.data, own.data)
    assert x.offsets.tolist() == [0, -1] and (x.get() != own).nnz == 0 and [x.row.tolist() for x in (x.tocoo(),)] == [[0, 1, 1, 2, 2]]


@pytest.mark.parametrize('dtype', ['f', 'd', 'F'])
def test_norms_along_axes(dtype):
    a = (numpy.arange(12).reshape(3, 4) - 4 + (1j if dtype == 'F' else 0)).astype(dtype)
    a[0, 0] = 0
    x = of(a, 'csr')
    for axis in (0, 1, -1, -2, (1,), (0,)):
        for ord in (None, 0, 1, 2, 3, math.inf, -math.inf):
            expected = numpy.linalg.norm(a, ord, axis[0] if isinstance(axis, tuple) else axis)
            found = linalg.norm(x, ord, axis)
            assert found.shape == expected.shape
            numpy.testing.assert_allclose(found.get(), expected, rtol=1e-5)
    for axis in (None, (0, 1), (1, -2)):
        for ord in (None, 'fro', 1, -1, math.inf, -math.inf):
            numpy.testing.assert_allclose(linalg.norm(x, ord, axis).get(), numpy.linalg.norm(a, ord, axis), rtol=1e-5)
    for ord, axis, error in ((2, None, NotImplementedError), (3, None, ValueError), ('fro', 0, ValueError), (None, 2, ValueError), (None, (0, 0), ValueError), (None, 0.5, TypeError)):
        with pytest.raises(error):
            linalg.norm(x, ord, axis)


def test_operators_that_set_their_shape_themselves():
    class Own(linalg.LinearOperator):
        def __init__(self):
            self.shape, self.dtype = (5, 7), numpy.dtype('d')

        def _matvec(self, v):
            return cupy.asarray(A) @ v
    same(Own() @ cupy.asarray(V), A @ V)


@pytest.mark.parametrize('format', FORMATS)
def test_extents_that_are_set(format):
    x = of(A, format)
    x.shape = (7, 5)
    equal(x, A.reshape(7, 5), format)
    x.set_shape((1, 35))
    equal(x, A.reshape(1, 35), format)
    with pytest.raises(ValueError):
        x.shape = (2, 2)
    with pytest.raises(AttributeError):
        sparse.csr_array(x).shape = (35, 1)


# ------------------------------------------------------------------ as SciPy's in what is seldom asked for
@pytest.mark.parametrize('format', ['csr', 'csc', 'coo', 'dia'])
def test_products_and_differences_as_scipys(format):
    a = getattr(sparse, format + '_array')(cupy.asarray(S))
    for other in (a, a.tocsr()):
        same(a.dot(other).toarray(), S @ S)
    same(a.dot(cupy.asarray(S)), S @ S)
    same(a.dot(cupy.asarray(S[0])), S @ S[0])
    same(a.dot(2).toarray(), S * 2)
    few = numpy.asarray([[1, 0, 2], [0, 3, 0]], 'B')
    for dtype in ('B', '?'):
        x = of(few.astype(dtype), format)
        same(cupy.zeros((2, 3), 'f') - x, -few.astype(dtype).astype('f'))
        same(x.__rsub__(of(few.astype('d'), 'csr')).toarray(), few.astype('d') - few.astype(dtype))
    same((0 - of(few, format)).toarray(), -few)


def test_indices_that_int32_does_not_hold():
    big, one = 2 ** 32 + 1, cupy.ones(1)
    for call in (lambda: sparse.coo_matrix((one, (cupy.asarray([big]), cupy.asarray([0])))), lambda: sparse.csr_matrix((one, cupy.asarray([big]), cupy.asarray([0, 1]))),
                 lambda: sparse.csr_matrix((one, cupy.asarray([big]), cupy.asarray([0, 1])), shape=(1, 5)), lambda: sparse.csr_matrix((one, cupy.asarray([0]), cupy.asarray([0, big]))),
                 lambda: sparse.dia_matrix((cupy.ones((1, 3)), cupy.asarray([big])), shape=(3, 3)), lambda: sparse.csr_matrix((3, 2 ** 31)),
                 lambda: sparse.kron(sparse.coo_matrix((2, 70000)), sparse.coo_matrix((2, 70000))), lambda: sparse.coo_matrix((70000, 70000)).reshape(1, -1),
                 lambda: sparse.coo_matrix((one, ([69999], [69999])), shape=(70000, 70000)).reshape(1, -1)):
        with pytest.raises(ValueError):
            call()
    assert sparse.coo_matrix((one, ([0], [2 ** 31 - 2])), shape=(1, 2 ** 31 - 1)).col.tolist() == [2 ** 31 - 2]


def test_index_pointers_that_end_before_the_data():
    parts = numpy.asarray([1., 2, 3, 4]), numpy.asarray([0, 1, 1, 9]), numpy.asarray([0, 1, 3])
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        x = kind(parts, shape=(2, 2))
        assert x.nnz == x.data.size == x.indices.size == 3
        same(kind(x * 2).toarray(), numpy.asarray([[2., 0], [0, 10]]).T if kind is sparse.csc_matrix else numpy.asarray([[2., 0], [0, 10]]))
    with pytest.raises(ValueError, match='non-decreasing'):
        sparse.csr_matrix(([1., 2, 3], [0, 1, 2], [0, 2, 1, 3]))


@pytest.mark.parametrize('format', FORMATS)
def test_functions_of_what_is_there_twice(format):
    parts = (numpy.asarray([1., 1, -3]), ([0, 0, 1], [1, 1, 0])) if format == 'coo' else (numpy.asarray([1., 1, -3]), [1, 1, 0], [0, 2, 3])
    whole = numpy.asarray([[0, 2.], [-3, 0]])
    whole = whole.T if format == 'csc' else whole
    for function, expected in ((lambda x: x.sin(), numpy.sin(whole)), (abs, abs(whole)), (lambda x: x.power(2), whole ** 2), (round, whole), (lambda x: x.astype(bool).astype('d'), whole != 0)):
        x = getattr(sparse, format + '_matrix')(parts, shape=(2, 2))
        same(function(x).toarray(), expected.astype('d'))
        assert x.nnz == 2


def test_types_of_sums_and_means():
    a = numpy.asarray([[200, 100, 0, 0], [0, 0, 7, 8]])
    for format in ('csr', 'csc', 'coo', 'dia'):
        x = getattr(sparse, format + '_array')(cupy.asarray(a))
        for dtype in ('B', '?', 'i', 'f', 'D'):
            for axis in (None, 0, 1):
                same(x.sum(axis, dtype), a.sum(axis).astype(dtype))
                same(x.mean(axis, dtype), a.mean(axis).astype(dtype), 1e-6)
        same(x.mean((0, 1)), a.mean())
        assert int(x.argmax((0, 1))) == 0 and int(x.argmin((0, -1))) == 2 and float(x.max((0, 1))) == 200
        for name in ('sum', 'mean', 'argmax', 'max') + (('getnnz', 'count_nonzero') if format != 'dia' else ()):
            for axis in (2, -3, 5, (0, 0), ()):
                with pytest.raises(ValueError, match='axis'):
                    getattr(x, name)(axis)
        with pytest.raises(ValueError, match='out'):
            x.sum(0, out=cupy.zeros((2, 3)))
    odd = of(numpy.asarray([[1, numpy.nan, 0], [numpy.nan, 2, 3], [0, 0, -1]]), 'csr')  # as SciPy's: what is not kept comes before NaN
    assert odd.argmax(1).ravel().tolist() == [2, 0, 0] and odd.argmin(1).ravel().tolist() == [2, 0, 2] and int(odd.argmax()) == int(odd.argmin()) == 2


def test_pairs_that_are_diagonals():
    same(sparse.dia_matrix((cupy.ones(3), 1), shape=(3, 3)).toarray(), numpy.eye(3, k=1))
    same(sparse.dia_matrix((cupy.ones((2, 3)), (0, 1)), shape=(3, 3)).toarray(), numpy.eye(3) + numpy.eye(3, k=1))
    same(sparse.dia_matrix((2., (0,)), shape=(2, 2)).toarray(), numpy.asarray([[2., 0], [0, 0]]))
    assert sparse.dia_matrix((2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match='offsets one'):
        sparse.dia_matrix((cupy.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(3, 3))


def test_shapes_beside_matrices():
    for own in ('csr', 'csc', 'coo', 'dia'):
        for given in ('csr', 'csc', 'coo', 'dia'):
            x, kind = of(A, given), getattr(sparse, own + '_matrix')
            same(kind(x, shape=(5, 7)).toarray(), A)
            for shape in ((5, 8), (7, 5)):
                with pytest.raises(ValueError, match='inconsistent shapes'):
                    kind(x, shape=shape)
    with pytest.raises(ValueError, match='inconsistent shapes'):
        sparse.csr_matrix((2, 3), shape=(4, 5))


def test_diagonals_of_another_type():
    a = numpy.asarray([[1, 2, 0], [0, 0, 3]], 'i')
    for format in FORMATS:
        x = of(a, format)
        x.setdiag(cupy.asarray([1, 2.5]))
        same(x.toarray(), numpy.asarray([[1, 2, 0], [0, 2.5, 3]]))
        x = of(a, format)
        x.setdiag(2.5)
        same(x.toarray(), numpy.asarray([[2, 2, 0], [0, 2, 3]], 'i'))
        if format != 'coo':  # where all is there it keeps its type
            x.setdiag(cupy.asarray([3.5, 4]))
            same(x.toarray(), numpy.asarray([[3, 2, 0], [0, 4, 3]], 'i'))


class Named(sparse.csr_matrix):
    pass


def test_small_things_as_scipys():
    a = numpy.asarray([[11, 2, 0], [0, 0, 3]], 'i')
    for format in ('csr', 'csc', 'coo', 'dia'):
        x = of(a, format)
        same(round(x).toarray(), a)
        same(round(x, -1).toarray(), a.round(-1))
        assert (x == None) is False and (x != None) is True  # noqa: E711
        with pytest.raises(TypeError):
            x < None
        out = cupy.ones((2, 3), 'i')
        assert x.toarray(out=out) is out
        same(out, a)
        for wrong in (cupy.zeros((3, 2), 'i'), cupy.zeros((2, 3))):
            with pytest.raises(ValueError, match='out'):
                x.toarray(out=wrong)
    assert sparse.eye_array(3).format == 'dia' and sparse.eye_array(3, format='csc').format == 'csc'
    x = Named(cupy.asarray(a))
    x.name, x.has_sorted_indices = 'own', True
    again = pickle.loads(pickle.dumps(x))
    assert type(again) is Named and again.name == 'own'
    same(again.toarray(), a)
    again.has_sorted_indices = False
    assert x.has_sorted_indices and type(pickle.loads(pickle.dumps(of(a, 'coo')))) is sparse.coo_matrix


@pytest.mark.filterwarnings('ignore:Changing the sparsity')
@pytest.mark.parametrize('format', ['csr', 'csc'])
def test_masks_of_two_axes(format):
    for kind in ('_matrix', '_array'):
        x = getattr(sparse, format + kind)(cupy.asarray(A))
        for mask in (A > 1, A < 2, numpy.zeros((5, 7), bool)):
            expected = A[mask][None] if kind == '_matrix' else A[mask]
            for key in (mask, cupy.asarray(mask), mask.tolist(), (mask,), of(mask, 'coo')):
                same(x[key], expected)
        for key in (A[:4] > 0, (A > 0, 0)):
            with pytest.raises(IndexError):
                x[key]
        same(x[True, 0], A[1, 0])
        x[False, True] = 9
        assert x[0, 1] == 9


@pytest.mark.parametrize('format', ['csr', 'csc'])
def test_what_is_set_where_something_is(format):
    """Into the matrix's own data, as SciPy's: what shares them has it, too."""
    x = of(A + 10, format)
    data = cupy.array(x.data)
    for own in (x, getattr(sparse, format + '_matrix')((data, x.indices, x.indptr), shape=x.shape)):
        kept, y = own.data, own.T
        own[0, 0] = 5
        own[1:3, [2, 4]] = -1
        own[A > 2] = 7
        own.setdiag(3)
        expected = A + 10
        expected[0, 0], expected[1:3, [2, 4]], expected[A > 2] = 5, -1, 7
        numpy.fill_diagonal(expected, 3)
        same(own.toarray(), expected)
        same(y.toarray(), expected.T)
        assert own.data is kept
    twice = sparse.csr_matrix((numpy.asarray([1., 2, 4]), [1, 0, 0], [0, 3]))
    twice.has_canonical_format = True  # which is not believed
    twice[0, 0] = 3
    same(twice.toarray(), numpy.asarray([[3., 1]]))
