"""Indexing and assignment of sparse matrices, compared with NumPy's dense matrices and SciPy's sparse ones."""

import numpy
import pytest
import scipy.sparse

from catenary import cupy
from catenary.cupyx.scipy import sparse
from compare import same
from sparse_matrices import A, FORMATS, G, equal, of, some

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]


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


@pytest.mark.parametrize('format', [*FORMATS, 'dia'])
@pytest.mark.parametrize('shape', [(0, 3), (3, 0), (0, 0), (2, 3)])
def test_diagonals_without_elements(format, shape):
    """As in SciPy, assignment to a diagonal of an empty matrix does nothing, and a diagonal outside of the matrix raises."""
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
    for format in (*FORMATS, 'dia'):  # of nothing nothing is set
        for own in (a, numpy.zeros((4, 0), 'F'), numpy.zeros((0, 4), 'F')):
            x = of(own, format)
            x.setdiag(cupy.zeros(0, 'D'))
            same(x.toarray(), own)


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


@pytest.mark.parametrize('format', ['csr', 'csc'])
def test_assignment_to_stored_elements(format):
    """As in SciPy, existing elements are overwritten in the shared data."""
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


@pytest.mark.parametrize('key', [slice(1, None), [0, 2], slice(0, 2)])
def test_implicit_zeros_of_an_assigned_matrix_are_not_stored(key):
    dense, value = numpy.asarray([[0, 1., 0, 2], [3, 0, 0, 0], [0, 0, 4, 0]]), numpy.asarray([[0, 0, 5.], [0, 0, 0]])
    value = numpy.pad(value, ((0, 0), (0, 1)))
    expected, found = scipy.sparse.csr_matrix(dense), sparse.csr_matrix(cupy.asarray(dense))
    expected[key] = scipy.sparse.csr_matrix(value)
    found[key] = sparse.csr_matrix(cupy.asarray(value))
    assert found.nnz == expected.nnz
    same(found.toarray(), expected.toarray())
