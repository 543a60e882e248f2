"""Construction and conversion of sparse matrices, compared with NumPy's dense matrices and SciPy's sparse ones."""

import pickle

import numpy
import pytest
import scipy.sparse

from catenary import cupy
from catenary.cupyx.scipy import sparse
from compare import refused, same
from sparse_matrices import A, B, EMPTY, FORMATS, S, equal, of, some

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]


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


def test_matrices_of_scipys_diagonals():
    own = scipy.sparse.dia_matrix((numpy.arange(1., 7).reshape(2, 3), [0, -1]), shape=(3, 4))
    x = sparse.dia_matrix(own)
    same(x.data, own.data)
    assert x.offsets.tolist() == [0, -1] and (x.get() != own).nnz == 0 and [x.row.tolist() for x in (x.tocoo(),)] == [[0, 1, 1, 2, 2]]


def test_pairs_that_are_diagonals():
    same(sparse.dia_matrix((cupy.ones(3), 1), shape=(3, 3)).toarray(), numpy.eye(3, k=1))
    same(sparse.dia_matrix((cupy.ones((2, 3)), (0, 1)), shape=(3, 3)).toarray(), numpy.eye(3) + numpy.eye(3, k=1))
    same(sparse.dia_matrix((2., (0,)), shape=(2, 2)).toarray(), numpy.asarray([[2., 0], [0, 0]]))
    assert sparse.dia_matrix((2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match='offsets one'):
        sparse.dia_matrix((cupy.ones(3), ([0, 1, 2], [0, 1, 2])), shape=(3, 3))


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


def test_has_sorted_indices_can_be_set():
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


def test_indices_that_int32_does_not_hold():
    big, one = 2 ** 32 + 1, cupy.ones(1)
    for call in (lambda: sparse.csr_matrix((one, cupy.asarray([big]), cupy.asarray([0, 1])), shape=(1, 5)), lambda: sparse.csr_matrix((one, cupy.asarray([0]), cupy.asarray([0, big]))),
                 lambda: sparse.dia_matrix((cupy.ones((1, 3)), cupy.asarray([big])), shape=(3, 3)), lambda: sparse.coo_matrix((2 ** 32, 2 ** 32))):
        with pytest.raises(ValueError):
            call()
    for made, shape in ((sparse.coo_matrix((one, (cupy.asarray([big]), cupy.asarray([0])))), (big + 1, 1)), (sparse.csr_matrix((one, cupy.asarray([big]), cupy.asarray([0, 1]))), (1, big + 1)),
                        (sparse.csr_matrix((3, 2 ** 31)), (3, 2 ** 31)), (sparse.kron(sparse.coo_matrix((2, 70000)), sparse.coo_matrix((2, 70000))), (4, 70000 ** 2)),
                        (sparse.coo_matrix((one, ([69999], [69999])), shape=(70000, 70000)).reshape(1, -1), (1, 70000 ** 2))):
        assert made.shape == shape and all(x.dtype == 'q' for x in ((made.row, made.col) if made.format == 'coo' else (made.indices, made.indptr)))
    assert sparse.coo_matrix((one, ([0], [2 ** 31 - 2])), shape=(1, 2 ** 31 - 1)).col.tolist() == [2 ** 31 - 2]


def test_index_pointers_that_end_before_the_data():
    parts = numpy.asarray([1., 2, 3, 4]), numpy.asarray([0, 1, 1, 9]), numpy.asarray([0, 1, 3])
    for kind in (sparse.csr_matrix, sparse.csc_matrix):
        x = kind(parts, shape=(2, 2))
        assert x.nnz == x.data.size == x.indices.size == 3
        same(kind(x * 2).toarray(), numpy.asarray([[2., 0], [0, 10]]).T if kind is sparse.csc_matrix else numpy.asarray([[2., 0], [0, 10]]))
    with pytest.raises(ValueError, match='non-decreasing'):
        sparse.csr_matrix(([1., 2, 3], [0, 1, 2], [0, 2, 1, 3]))


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


def test_counts_of_diagonals():
    data, offsets = numpy.array([[1, 0, 3, 4, 9], [0, 2, 0, 5, 9], [7, 8, 9, 1, 9], [5, 5, 5, 5, 5]]), numpy.array([0, -1, 2, 7])
    within = numpy.zeros((3, 4), int)
    for k in offsets:
        within += numpy.eye(3, 4, k, int)
    for kind in (sparse.dia_matrix, sparse.dia_array):
        x = kind((cupy.asarray(data), cupy.asarray(offsets)), shape=(3, 4))
        dense = x.toarray().get()
        for axis in (None, 0, 1, -1, -2):
            assert numpy.array_equal(x.count_nonzero(axis) if axis is None else x.count_nonzero(axis).get(), numpy.count_nonzero(dense, axis))
            assert numpy.array_equal(x.getnnz(axis) if axis is None else x.getnnz(axis).get(), within.sum(axis))


@pytest.mark.parametrize('statement, error, says', [
    ('sparse.csr_matrix(numpy.ones((2, 2)))', TypeError, 'use cupy.asarray'), ('x @ numpy.ones(7)', TypeError, "not <class 'numpy.ndarray'>"),
    ('x @ cupy.ones(5)', ValueError, 'dimension mismatch: (5, 7) and (5,)'), ('x + x.T', ValueError, 'inconsistent shapes: (5, 7) and (7, 5)'),
    ('x + 1', NotImplementedError, 'adding a nonzero scalar'), ('x[5]', IndexError, 'index (5) out of range for an axis of size 5'),
    ('x[0, 0, 0]', IndexError, 'too many indices'), ("x[2, 'foo']", IndexError, 'indexed by integers'), ('x[[[0, 0], [1, 1]]]', IndexError, 'one axis'), ('x[0.5]', IndexError, 'not by float64'), ('x.__setitem__(7, 1)', IndexError, 'out of range'),
    ('x.__setitem__((0, slice(3)), numpy.ones(4))', ValueError, 'broadcast'), ('x.todia()[0]', TypeError, 'not subscriptable'), ('len(x)', TypeError, 'ambiguous'), ('bool(x)', ValueError, 'ambiguous'),
    ('x.asformat("lil")', ValueError, 'Format lil is unknown; expected one of csr, csc, coo, dia'), ('x.setdiag(1, 7)', ValueError, 'k exceeds'), ('x.reshape(5, 6)', ValueError, 'cannot reshape'), ('x.transpose(0)', ValueError, 'axes'), ('x.toarray("K")', ValueError, 'order must be'), ('x ** 2', TypeError, 'not square'),
    ('sparse.coo_matrix(([1.], ([2], [0])), shape=(2, 2))', ValueError, 'exceeds matrix dimensions (2, 2)'), ('x.power(-1)', NotImplementedError, 'power(-1)'),
    ('sparse.coo_matrix(([1.], ([2, 1], [0, 1])))', ValueError, 'must all be the same length, given 2, 2 and 1'), ('sparse.csr_matrix((2, -1))', ValueError, "'shape' elements cannot be negative"),
    ('sparse.csr_matrix(([1.], [3], [0, 1]), shape=(1, 2))', ValueError, 'an index exceeds'), ('sparse.csr_matrix(([1.], [0], [0, 1]), shape=(3, 2))', ValueError, 'index pointer size 2'),
    ('sparse.bmat([[x, x.T]])', ValueError, 'row dimensions. Got blocks[0,1].shape[0] == 7, expected 5'), ('sparse.diags([[1, 2]], [0], shape=(4, 4))', ValueError, 'does not agree'),
    ('sparse.lil_matrix', AttributeError, 'lil_matrix'), ('sparse.csc_array(cupy.ones(3))', ValueError, "CSC arrays don't support 1D input"),
    ('sparse.dia_matrix((cupy.ones((1, 3)), cupy.asarray([0])))', ValueError, 'expected a shape'), ('x.todia().getnnz(2)', ValueError, 'axis out of'),
    ('sparse.dia_matrix((cupy.ones((2, 3)), cupy.asarray([1, 1])), shape=(3, 3))', ValueError, 'duplicate'), ('sparse.linalg.lsmr', AttributeError, 'names cupyx.scipy.sparse.linalg'),
    ('x[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]', IndexError, 'one axis, or the two that ix_ gives'), ('sparse.linalg.norm(x, 2)', NotImplementedError, 'ord=2')])
def test_invalid_arguments_raise(statement, error, says):
    refused(statement, error, says, sparse=sparse, x=of(A, 'csr'))


@pytest.mark.host
@pytest.mark.parametrize('indptr', [[0, 1, 5], [1, 2, 3]])
def test_index_pointers_beyond_the_indices_are_refused(indptr):
    with pytest.raises(ValueError, match=f'given {indptr[0]} and {indptr[-1]} for 3'):
        sparse.csr_matrix((cupy.ones(3), cupy.arange(3), cupy.asarray(indptr)), shape=(2, 3))


@pytest.mark.host
def test_blocks_that_do_not_fit_are_named():
    a, b, c = (sparse.csr_matrix(cupy.ones(shape)) for shape in ((2, 2), (3, 2), (3, 4)))
    with pytest.raises(ValueError, match=r'blocks\[0,:\] has incompatible row .*blocks\[0,1\].shape\[0\] == 3, expected 2'):
        sparse.bmat([[a, b]])
    with pytest.raises(ValueError, match=r'blocks\[:,0\] has incompatible column .*blocks\[1,0\].shape\[1\] == 4, expected 2'):
        sparse.bmat([[a], [c]])


@pytest.mark.host
def test_products_with_three_axes_are_refused():
    with pytest.raises(ValueError, match='one or two axes'):
        sparse.csr_matrix(cupy.ones((2, 2))) @ cupy.ones((2, 2, 2))
