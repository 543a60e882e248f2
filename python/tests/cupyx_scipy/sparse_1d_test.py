"""1-d coo and csr arrays, and operations with 1-d results, compared with SciPy and NumPy."""

import itertools
import operator
import pickle

import numpy
import pytest
import scipy.sparse

from catenary import cupy
from catenary.cupyx.scipy import get_array_module, sparse
from catenary.cupyx.scipy.sparse import linalg
from compare import refused, same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels, pytest.mark.filterwarnings('ignore::Warning')]
BOTH = pytest.mark.parametrize('format', ['csr', 'coo'])
V, W = numpy.asarray([0., 3, 0, -2, 1]), numpy.asarray([1., 3, 0, 0, 2])
M = numpy.asarray([[0., 0, 0, 3, 0], [0, 6, 0, 0, 9]])


def of(a, format):
    return getattr(sparse, format + '_array')(cupy.asarray(a))


def equal(ours, expected, format=None):
    """Asserts an array with these values, and with this format if given."""
    assert isinstance(ours, sparse.sparray) and ours.shape == expected.shape and ours.ndim == expected.ndim, ours
    assert format is None or ours.format == format
    same(ours.toarray(), expected)
    if ours.format != 'dia':
        assert ours.nnz == ours.data.size


def as_scipys(ours, theirs):
    """Asserts equality with SciPy's result: class, format, shape, dtype and values."""
    if not scipy.sparse.issparse(theirs):
        same(ours, theirs)
        return
    assert ours.format == theirs.format
    equal(ours, theirs.toarray())


@BOTH
def test_constructors_of_1d_arrays(format):
    ours, theirs = getattr(sparse, format + '_array'), getattr(scipy.sparse, format + '_array')
    data, places = V[1:4], numpy.asarray([0, 2, 4])
    for arguments, keywords in (((V,), {}), ((V,), {'dtype': 'f'}), (((5,),), {}), (((0,),), {'dtype': 'i'}), (((data, (places,)),), {}), (((data, (places,)),), {'shape': (7,)}),
                                (((data, places[None]),), {'shape': (5,)}), (([1, 0, 2],), {}), ((numpy.zeros(0),), {}), ((V > 0,), {}), ((V * 1j,), {})):
        own = [cupy.asarray(x) if isinstance(x, numpy.ndarray) else x for x in arguments]
        as_scipys(ours(*own, **keywords), theirs(*arguments, **keywords))
    x = ours(cupy.asarray(V))
    for made in (ours(x), ours(theirs(V)), sparse.coo_array(x).asformat(format), sparse.csr_array(x).asformat(format), x.copy(), pickle.loads(pickle.dumps(x)), x.T, x.transpose(copy=True)):
        equal(made, V, format)
    equal(ours(x, shape=(6,)), numpy.append(V, 0), format)
    own = x.get()
    assert type(own) is theirs and (own.toarray() == V).all()
    assert (x.ndim, x.shape, x.size, x.dtype, x.T is x) == (1, (5,), 3, V.dtype, True) and x.transpose(copy=True) is not x
    assert repr(x) == repr(theirs(V)) and str(x) == str(theirs(V))
    assert ours._allow_nd == (1, 2) and sparse.csc_array._allow_nd == sparse.csr_matrix._allow_nd == (2,)


def test_places_of_one_axis():
    x = sparse.csr_array((cupy.asarray([1., 2, 4, 9]), cupy.asarray([4, 1, 1, 0]), cupy.asarray([0, 3])), shape=(6,))
    assert x.nnz == 3 and x.indptr.tolist() == [0, 3] and not x.has_sorted_indices
    twice = numpy.asarray([0., 6, 0, 0, 1, 0])
    equal(x, twice, 'csr')
    x.sum_duplicates()
    assert x.nnz == 2 and x.indices.tolist() == [1, 4] and x.has_canonical_format
    y = sparse.coo_array((cupy.asarray([1., 0, 2, 4]), (cupy.asarray([4, 0, 1, 1]),)), shape=(6,))
    assert len(y.coords) == 1 and y.coords[0] is y.col and y.row.tolist() == [0] * 4 and y.nnz == 4 and y.count_nonzero() == 2
    y.sum_duplicates()
    assert y.nnz == 3
    y.eliminate_zeros()
    assert y.nnz == 2 and y.col.tolist() == [1, 4]
    x = y.tocsr()
    x.prune()
    equal(x, twice, 'csr')
    x.data[0] = 0
    x.eliminate_zeros()
    assert x.nnz == 1
    equal(sparse.csr_array(cupy.asarray(V), shape=(1, 5)), V[None], 'csr')
    equal(sparse.csr_array(sparse.coo_array(cupy.asarray(V)), shape=(1, 5)), V[None], 'csr')
    assert sparse.csr_matrix(cupy.asarray(V)).shape == sparse.csr_array((cupy.ones(1), cupy.asarray([4]), cupy.asarray([0, 1]))).shape == (1, 5)


OPERATIONS = {'+': operator.add, '-': operator.sub, '*': operator.mul, 'multiply': lambda x, y: x.multiply(y), '@': operator.matmul, 'dot': lambda x, y: x.dot(y), '/': operator.truediv,
              '<': operator.lt, '==': operator.eq, '!=': operator.ne, '>=': operator.ge, 'maximum': lambda x, y: x.maximum(y), 'minimum': lambda x, y: x.minimum(y)}


@BOTH
@pytest.mark.parametrize('name', OPERATIONS)
def test_operations_of_one_axis(name, format):
    """Operations with 1-d arrays, numbers and 2-d arrays, on either side."""
    function = OPERATIONS[name]
    x, y = of(V, format), getattr(scipy.sparse, format + '_array')(V)
    with numpy.errstate(all='ignore'):
        for other in ('csr', 'coo'):
            as_scipys(function(x, of(W, other)), function(y, getattr(scipy.sparse, other + '_array')(W)))
        as_scipys(function(x, cupy.asarray(W)), function(y, W))
        if name in '+-*@<==!=>=':
            as_scipys(function(cupy.asarray(W), x), function(W, y))
        if name in ('*', 'multiply', '/', 'dot', '<', '==', '!=', '>=', 'maximum', 'minimum'):
            number = -1 if name == 'maximum' else 2  # functions with f(0) != 0 are computed densely
            as_scipys(function(x, number), function(y, number))
        if name in ('*', 'multiply', '/', '<', 'maximum'):
            as_scipys(function(x, cupy.asarray(M)), function(y, M))
    if name in '@dot':
        for other in ('csr', 'csc', 'coo', 'dia'):
            equal(function(of(M, other), x), M @ V, 'coo')
            equal(function(of([1., 2], format), of(M, other)), numpy.asarray([1., 2]) @ M, 'coo')
        same(function(of([1., 2], format), cupy.asarray(M)), numpy.asarray([1., 2]) @ M)
        equal(function(sparse.csr_matrix(cupy.asarray(M)), x), M @ V, 'coo')
    if name == '@':
        same(cupy.asarray(M) @ x, M @ V)
        same(cupy.asarray(W) @ x, W @ V)
    if name in ('*', 'multiply'):
        for other in ('csr', 'csc', 'coo'):
            equal(function(x, of(M, other)), V * M)
            equal(function(of(M, other), x), V * M)
            equal(function(of(M[:, :1] + 1, other), x), (M[:, :1] + 1) * V)


@BOTH
def test_functions_of_one_axis(format):
    for a in (V, numpy.asarray([1, 0, 0, 5], 'i'), V * (1 + 2j)):
        x = of(a, format)
        for found, expected in ((-x, -a), (abs(x), abs(a)), (x ** 2, a ** 2), (x.power(2), a ** 2), (x / 2, a / 2), (2 * x, 2 * a), (x + 0, a), (0 - x, -a), (x.conj(), a.conj()), (x.real, a.real),
                                (x.imag, a.imag), (x.astype('D'), a.astype('D')), (x.dot(3), a * 3)):
            equal(found, expected, format)
    x = of(V, format)
    equal(x.sin(), numpy.sin(V), format)
    same(x.nonzero()[0], numpy.nonzero(V)[0].astype('i'))
    assert len(x.nonzero()) == 1 and 3. in x and [float(k) for k in x] == V.tolist()
    y = x
    y *= 2
    assert y is x
    equal(x, V * 2, format)


@BOTH
def test_sums_of_one_axis(format):
    for a in (V, numpy.asarray([1, 0, 0, 5], 'i'), V > 0):
        x = of(a, format)
        for axis in (None, 0, -1, (0,)):
            for name in ('sum', 'mean', 'max', 'min'):
                same(getattr(x, name)(axis=axis), getattr(a, name)())
            for name in ('argmax', 'argmin'):
                assert int(getattr(x, name)(axis=axis)) == int(getattr(a, name)())
            assert x.count_nonzero(axis) == x.getnnz(axis) == numpy.count_nonzero(a)
        for name in ('sum', 'mean', 'max', 'argmin', 'count_nonzero', 'getnnz'):
            for axis in (1, -2, (0, 1)):
                with pytest.raises(ValueError, match='axis out of range'):
                    getattr(x, name)(axis)
    same(of(V, format).sum(dtype='i'), V.sum(dtype='i'))
    same(of(V, format).max(explicit=True), V.max())
    out = cupy.zeros(())
    assert of(V, format).mean(out=out) is out and abs(float(out) - V.mean()) < 1e-12
    with pytest.raises(ValueError, match='out'):
        of(V, format).sum(out=cupy.zeros(3))
    with pytest.raises(ZeroDivisionError):
        of(V[:0], format).mean()
    twice = sparse.coo_array((cupy.asarray([True, True]), (cupy.asarray([1, 1]),)), shape=(3,))  # true once
    assert int(twice.sum()) == 1 and float(twice.mean()) == 1 / 3 and twice.nnz == 2
    same(linalg.norm(of(V, format)), numpy.linalg.norm(V))
    for order in (1, 3, numpy.inf):
        same(linalg.norm(of(V, format), order), numpy.linalg.norm(V, order))


@BOTH
def test_extents_of_one_axis(format):
    x = of(numpy.append(V, 7), format)
    for shape in ((6,), (-1,), (1, 6), (6, 1), (2, 3), (-1, 2), (3, -1)):
        for order in 'CF':
            equal(x.reshape(shape, order=order), numpy.append(V, 7).reshape(shape, order=order), format if len(shape) == 1 else 'coo')
    equal(x.reshape(2, 3), numpy.append(V, 7).reshape(2, 3))
    equal(x.reshape(6), numpy.append(V, 7), format)
    for other in ('csr', 'csc', 'coo', 'dia'):
        for order in 'CF':
            equal(of(M, other).reshape(10, order=order), M.reshape(10, order=order), 'coo')
            equal(of(M, other).reshape((-1,), order=order), M.reshape(10, order=order), 'coo')
    for other in ('csr', 'coo'):
        equal(x.asformat(other), numpy.append(V, 7), other)
    same(x.toarray('F'), numpy.append(V, 7))
    out = cupy.ones(6)
    assert x.toarray(out=out) is out and out.tolist() == numpy.append(V, 7).tolist()


KEYS = [3, -1, numpy.int64(2), numpy.asarray(1), slice(1, 4), slice(None, None, -2), slice(None), [0, 3, 4], [-1, -1], [], numpy.asarray([[0, 3], [1, 1]]), V > 0, (V > 0).tolist(), None, (None, slice(None)),
        (slice(None), None), (None, 1), (2, None), ..., (..., 3), (3, ...), (None, ...), (None, slice(1, 3)), (), ([0, 3],), (None, [0, 3]), ([0, 3], None)]


@BOTH
@pytest.mark.parametrize('key', KEYS, ids=repr)
def test_indexing_1d_arrays(key, format):
    x, expected = of(V, format), V[key]
    for own in (key, cupy.asarray(key) if isinstance(key, numpy.ndarray) else key):
        found = x[own]
        if expected.ndim == 0:
            same(found, expected)
        else:
            equal(found, expected, 'coo' if expected.ndim == 2 and not isinstance(key, numpy.ndarray) else format)


@BOTH
def test_masks_of_one_axis(format):
    equal(of(V, format)[of(V > 0, 'csr')], V[V > 0], format)
    for wrong in (of(V[1:] > 0, 'csr'), cupy.asarray(V[1:] > 0), (0, 1), (None, None), 5, -6, 'a', 1.5, ([0, 1], None, 2)):
        with pytest.raises(IndexError):
            of(V, format)[wrong]


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo'])
@pytest.mark.parametrize('key', [0, -1, (1, slice(None)), (slice(None), 3), (0, [1, 3]), ([0, 1, 1], -2), (0, slice(1, 4)), (..., 1), (1, ...), (numpy.asarray(1),), (0, None), (None, 1), (0, None, slice(None)),
                                 (slice(None), 3, None), (None, slice(None), 1), (slice(0, 1),), ([0],), (slice(None), [1, 3]), (0, numpy.asarray([[1, 3], [0, 1]]))], ids=repr)
def test_rows_and_columns_of_arrays(key, format):
    """A number removes its axis from arrays, as in NumPy and SciPy, but not from matrices."""
    expected = M[key]
    equal(of(M, format)[key], expected, 'coo' if expected.ndim == 1 else format)
    x = getattr(sparse, format + '_matrix')(cupy.asarray(M))
    if key in (0, -1):
        assert x[key].shape == (1, 5)


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo'])
def test_more_of_rows(format):
    x = of(M, format)
    same(x[1, 4], M[1, 4])
    assert x[None, 1, 4].shape == (1,)
    for row, expected in zip(x, M, strict=True):
        equal(row, expected, 'coo' if format == 'coo' else 'csr')
    for axis in (0, 1):
        for name in ('max', 'min'):
            equal(getattr(x, name)(axis=axis), getattr(M, name)(axis), 'coo')
        equal(x.max(axis, explicit=True), M.max(axis), 'coo')
    found = x[[0, 1], [3, 1]]
    if format == 'coo':
        equal(found, M[[0, 1], [3, 1]], 'coo')
    else:
        same(found, M[[0, 1], [3, 1]])
    for wrong in (None, (None, None, 0, slice(None)), [[[0, 1]]], (0, 1, 2), (0, None, [1, 3]), ([0, 1], None, [1, 3]), ..., (..., ...)):
        if wrong is ...:
            equal(x[wrong], M, format)
            continue
        with pytest.raises(IndexError):
            x[wrong]


@pytest.mark.parametrize('key, value', [(2, 9), (slice(0, 2), [7, 8]), ([0, 1], [5, 6]), ([0, 0], [5, 6]), (..., 1), (V > 0, 4), (slice(None), W), (-1, 0), ((), 2), ((2, ...), 4), (numpy.asarray([[0, 1], [2, 3]]), [[1, 2], [3, 4]])],
                         ids=repr)
def test_assignment_to_1d_arrays(key, value):
    x, expected = of(V, 'csr'), V.copy()
    expected[key] = value
    x[cupy.asarray(key) if isinstance(key, numpy.ndarray) else key] = cupy.asarray(value, 'd') if isinstance(value, (list, numpy.ndarray)) else value
    equal(x, expected, 'csr')
    assert x.has_canonical_format


def test_arrays_of_one_axis_that_are_set():
    x, expected = of(V, 'csr'), V.copy()
    x[1:3], expected[1:3] = of([7., 8], 'coo'), [7, 8]
    x[of(V < 0, 'csr')], expected[V < 0] = 5, 5
    equal(x, expected)
    data = x.data
    x[1] = 2
    assert x.data is data and x[1] == 2  # existing elements keep their position
    for format in ('csr', 'csc'):
        y, expected = of(M, format), M.copy()
        y[0], expected[0] = of(V, 'coo'), V
        y[:, 1], expected[:, 1] = of([5., 6], 'csr'), [5, 6]
        equal(y, expected, format)
        y[:] = of(W, 'csr')
        equal(y, numpy.stack([W, W]), format)
    for key, value, error in (((1, 2), 3, IndexError), (2, [1, 2], ValueError), (7, 1, IndexError), (slice(0, 2), [1, 2, 3], ValueError)):
        with pytest.raises(error):
            x[key] = cupy.asarray(value)
    y, expected = of(V, 'coo'), V.copy()
    y[0] = expected[0] = 1
    equal(y, expected)


@BOTH
def test_stacking_1d_arrays(format):
    x, y = of(V, format), of(W, format)
    as_scipys(sparse.hstack([x, y]), scipy.sparse.hstack([getattr(scipy.sparse, format + '_array')(a) for a in (V, W)]))
    equal(sparse.vstack([x, y]), numpy.stack([V, W]), 'csr' if format == 'csr' else 'coo')
    equal(sparse.vstack([x, of(M, 'csr')]), numpy.vstack([V, M]))
    equal(sparse.block_diag([x, y]), numpy.kron(numpy.eye(2), V) + numpy.kron(numpy.diag([0, 1]), W - V))
    equal(sparse.kron(x, y), numpy.kron(V, W), 'coo')
    equal(sparse.kron(x, of(M, 'csr')), numpy.kron(V, M))
    equal(sparse.kron(of(M, 'csc'), x), numpy.kron(M, V))
    for found, expected in zip(sparse.find(x), ([0, 0, 0], [1, 3, 4], [3, -2, 1])):
        assert found.tolist() == expected
    for made in (sparse.swapaxes(x, 0, -1), sparse.permute_dims(x), sparse.permute_dims(x, (0,), copy=True)):
        equal(made, V, format)
    chance = sparse.random_array((50,), density=0.2, format=format, rng=1)
    assert (chance.shape, chance.format, chance.nnz) == ((50,), format, 10)
    equal(sparse.csr_array(cupy.asarray(V[None])) + x, V[None] * 2)  # as in CuPy, while SciPy rejects operands with different numbers of axes
    assert cupy.get_array_module(x) is cupy and get_array_module(1, x).__name__.endswith('cupyx.scipy') and get_array_module(V).__name__ == 'scipy'


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo', 'dia'])
def test_stacks_with_an_extent_of_0(format):
    """As in SciPy, an empty block takes its size from a later block of its row or column, except if all are csr or all csc with a result of that
    format."""
    shapes = [(3, 0), (0, 3), (2, 2), (3, 1), (0, 2), (2, 0)] + ([(0,), (2,), (3,)] if format in ('csr', 'coo') else [])
    ours, theirs = getattr(sparse, format + '_array'), getattr(scipy.sparse, format + '_array')
    for name in ('vstack', 'hstack'):
        for a in shapes:
            for b, to in itertools.product(shapes, (None, 'csr', 'csc', 'coo')):
                try:
                    expected = getattr(scipy.sparse, name)([theirs(a), theirs(b)], to)
                except ValueError:
                    with pytest.raises(ValueError):
                        getattr(sparse, name)([ours(a), ours(b)], to)
                else:
                    as_scipys(getattr(sparse, name)([ours(a), ours(b)], to), expected)


def test_bools_that_are_there_twice():
    """Duplicate bools count once when they become numbers."""
    twice, at = numpy.asarray([True, True]), numpy.asarray([1, 1])
    for x, y in ((sparse.coo_array((cupy.asarray(twice), (cupy.asarray(at),)), shape=(3,)), scipy.sparse.coo_array((twice, (at,)), shape=(3,))),
                 (sparse.coo_array((cupy.asarray(twice), (cupy.asarray(at - 1), cupy.asarray(at))), shape=(2, 3)), scipy.sparse.coo_array((twice, (at - 1, at)), shape=(2, 3)))):
        for dtype in '?id':
            none, one = sparse.coo_array(y.shape, dtype=dtype), scipy.sparse.coo_array(y.shape, dtype=dtype)
            as_scipys(x + none, y + one)
            as_scipys(none + x, one + y)
            if dtype != '?':
                as_scipys(x - none, y - one)
                as_scipys(none - x, one - y)
        number = cupy.asarray([[3]])
        same(sparse.kron(x, number).toarray(), scipy.sparse.kron(y.tocsr(), [[3]]).toarray())  # of coo SciPy counts them
        same(sparse.kron(number, x).toarray(), scipy.sparse.kron([[3]], y.tocsr()).toarray())


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo', 'dia'])
def test_one_element_times_an_array(format):
    """As in SciPy, the product is an array if only the matrix has a single element."""
    for own in ((1, 1), (1,)) if format in ('csr', 'coo') else ((1, 1),):
        for number in (0., 2., numpy.int8(3), numpy.float32(2), True):
            x, y = of(numpy.full(own, number), format), getattr(scipy.sparse, format + '_array')(numpy.full(own, number))
            for shape in ((4,), (1, 4), (3, 4), (3, 1), (0,), (0, 2), (2, 0)):
                dense = numpy.arange(numpy.prod(shape)).reshape(shape)
                with numpy.errstate(all='ignore'):
                    for name in ('*', 'multiply', '/'):
                        as_scipys(OPERATIONS[name](x, cupy.asarray(dense)), OPERATIONS[name](y, dense))
                    as_scipys(cupy.asarray(dense) * x, dense * y)


@pytest.mark.parametrize('kept', [[3, 0], [0, 3], [0, 0], [3, 4]])
def test_a_place_that_is_set_twice(kept):
    """As in SciPy, the last stored duplicate counts for 2-d matrices, and the last one for 1-d arrays."""
    for own in (V, V * 0):
        for at in ([1, 1], [2, 2]):
            x, y = of(own, 'csr'), scipy.sparse.csr_array(own)
            x[at], y[at] = of(numpy.asarray(kept, 'd'), 'csr'), scipy.sparse.csr_array(numpy.asarray(kept, 'd'))
            same(x.toarray(), y.toarray())
            x, y = of(own[None], 'csr'), scipy.sparse.csr_array(own[None])
            x[[0, 0], at], y[[0, 0], at] = of(numpy.asarray([kept], 'd'), 'csr'), scipy.sparse.csr_array(numpy.asarray([kept], 'd'))
            same(x.toarray(), y.toarray())
        x, y = of(numpy.stack([own, own]), 'csr'), scipy.sparse.csr_array(numpy.stack([own, own]))
        value = numpy.outer(kept, [0, 1, 1, 0, 1.])
        value[0, 0] = 7
        x[[1, 1]], y[[1, 1]] = of(value, 'csr'), scipy.sparse.csr_array(value)
        same(x.toarray(), y.toarray())


@BOTH
def test_frobenius_norm_of_one_axis(format):
    for order in ('fro', 'f'):
        assert linalg.norm(of(V, format), order) == numpy.linalg.norm(V)


@BOTH
@pytest.mark.parametrize('statement, error, says', [
    ('x.tocsc()', ValueError, 'to csc format'), ('x.todia()', ValueError, 'to dia format'), ('sparse.csc_array(x)', ValueError, "CSC arrays don't support 1D"), ('sparse.dia_array(x)', ValueError, 'to dia format'),
    ('sparse.csc_array(cupy.ones(3))', ValueError, "CSC arrays don't support 1D"), ('sparse.dia_array(cupy.ones(3))', ValueError, 'to dia format'), ('sparse.csc_array((3,))', ValueError, 'to csc format'),
    ('sparse.coo_matrix(x)', ValueError, 'may have one axis'), ('sparse.csr_matrix(x)', ValueError, 'may have one axis'), ('sparse.coo_matrix((5,))', TypeError, 'invalid input'), ('sparse.coo_array((2, 3, 4))', ValueError, '1-D and 2-D'), ('sparse.coo_array(scipy.sparse.coo_array(numpy.ones((2, 2, 2))))', ValueError, '1-D and 2-D'),
   
    ('x.diagonal()', ValueError, 'diagonal'), ('x.trace()', ValueError, 'diagonal'), ('x.setdiag(1)', ValueError, 'setdiag'), ('sparse.tril(x)', ValueError, 'tril'), ('sparse.triu(x)', ValueError, 'triu'), ('x.mT', ValueError, 'mT'),
    ('sparse.matrix_transpose(x)', ValueError, 'matrix_transpose'), ('sparse.swapaxes(x, 0, 1)', ValueError, 'axis 1'), ('sparse.permute_dims(x, (1,))', ValueError, 'a permutation of the 1 axes'),
    ('x.transpose((0,))', ValueError, 'axes'), ('x.reshape(2, 3)', ValueError, 'cannot reshape'), ('x.reshape(1, 5, 1)', ValueError, '1-D and 2-D'), ('sparse.csr_matrix(cupy.ones((2, 2))).reshape(4)', ValueError, 'shape must have length'),
    ('bool(x)', ValueError, 'ambiguous'), ('len(x)', TypeError, 'ambiguous'), ('x + 1', NotImplementedError, 'nonzero scalar'), ('x @ 2', ValueError, 'Scalar'), ('x @ cupy.ones(4)', ValueError, 'dimension mismatch'),
    ('x + type(x)((4,))', ValueError, 'inconsistent shapes'), ('x + sparse.csr_array((2, 5))', ValueError, 'inconsistent shapes'), ('type(x)(x, shape=(3,))', ValueError, 'inconsistent shapes'),
    ('sparse.coo_array(x, shape=(1, 5))', ValueError, 'inconsistent shapes'), ('type(x)(cupy.ones((2, 3)), shape=(6,))', ValueError, 'inconsistent shapes'), ('type(x)(cupy.asarray(5.))', TypeError, ''),
    ('type(x)((cupy.ones(2), (cupy.arange(2), cupy.arange(2))), shape=(4,))', ValueError, 'index arrays'), ('type(x)((cupy.ones(1), (cupy.asarray([4]),)), shape=(3,))', ValueError, 'exceeds'),
    ('sparse.csr_array((cupy.ones(2), cupy.arange(2), cupy.asarray([0, 1, 2])), shape=(5,))', ValueError, 'index pointer size'), ('type(x)((-1,))', ValueError, 'negative'),
    ('linalg.aslinearoperator(x)', ValueError, '2-d'), ('linalg.norm(x, "fro", 0)', ValueError, 'Invalid norm order'), ('linalg.norm(x, "nuc")', ValueError, 'Invalid norm order'),
    ('sparse.kronsum(x, x)', ValueError, 'two axes'), ('sparse.kronsum(cupy.ones((2, 2)), type(x)((1,)))', ValueError, 'two axes'), ('linalg.norm(x, axis=1)', ValueError, 'axis out of range'), ('x ** 1j', NotImplementedError, 'power')])
def test_invalid_arguments_of_1d_arrays_raise(statement, error, says, format):
    refused(statement, error, says, scipy=scipy, sparse=sparse, linalg=linalg, x=of(V, format))
