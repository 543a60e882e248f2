"""Operations, sums and extrema of sparse matrices and arrays, compared with NumPy's dense matrices and SciPy's sparse ones."""

import pickle

import numpy
import pytest
import scipy.sparse

from catenary import cupy
from catenary.cupyx.scipy import sparse
from catenary.cupyx.scipy.sparse import linalg
from compare import same
from sparse_matrices import A, B, EMPTY, FORMATS, S, V, W, equal, of, some

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]


@pytest.mark.filterwarnings('ignore::Warning')
@pytest.mark.parametrize('format', FORMATS)
@pytest.mark.parametrize('dtype', ['f', 'd', 'i'])
def test_functions_of_two_elements(format, dtype):
    """Operands are numbers, arrays, full matrices, and matrices with one row or column."""
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
    """Elementwise products with broadcasting, in SciPy's formats."""
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
def test_extrema_of_stored_elements(format, dtype):
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


@pytest.mark.parametrize('kind', ['matrix', 'array'])
@pytest.mark.parametrize('format', ['csr', 'csc'])
def test_sums_and_extrema_by_rows(format, kind):
    """Matrices with sorted rows are merged row by row. Rows that are empty, duplicates and unsorted ones give the same values."""
    for dtype in ('f', 'd', 'i', 'B', 'D'):
        a, b = (numpy.where(numpy.random.default_rng(k).random((30, 40)) < .1, k + 2, 0).astype(dtype) for k in range(2))
        a[3], b[5], a[:, 7], b[2, 2] = 0, 0, 0, a[2, 2]
        x, y = (getattr(sparse, f'{format}_{kind}')(cupy.asarray(m)) for m in (a, b))
        turned = getattr(sparse, f'{format}_{kind}')((x.data[::-1], x.indices[::-1], x.indices.size - x.indptr[::-1]), shape=x.shape)
        dense = turned.toarray().get()
        for left, right in ((x, y), (x, x), (x, y.astype('D' if dtype == 'D' else 'd')), (turned, y), (y, turned)):
            p, q = left.toarray().get(), right.toarray().get()
            for found, expected in ((left + right, p + q), (left - right, p - q)):
                same(found.toarray(), expected)
                assert found.format == format and isinstance(found, sparse.sparray) == (kind == 'array') and found.has_canonical_format
        if dtype == 'D':
            continue
        for matrix, of_matrix in ((x, a), (y, b), (turned, dense)):
            for axis in (0, 1):
                for name in ('max', 'min'):
                    same(getattr(matrix, name)(axis).toarray().ravel(), getattr(of_matrix, name)(axis))
    a = numpy.asarray([[0, numpy.nan, -1], [2, -3, -1], [0, 0, 0]])
    for axis in (0, 1):
        for name in ('max', 'min'):
            same(getattr(getattr(sparse, f'{format}_{kind}')(cupy.asarray(a)), name)(axis).toarray().ravel(), getattr(a, name)(axis))


def test_formats_and_dtypes_of_results():
    """As in SciPy: coo gives csr, products and quotients with an array give coo, and float32 divided by a number or a matrix gives float64."""
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


def dtype_of(number, dtype):
    return numpy.dtype(dtype).type(number)


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


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo', 'dia'])
def test_arrays_of_which_few_elements_are_kept(format):
    """In sparse arrays `*` and `**` are elementwise, sums along an axis are 1-d, and results are arrays."""
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


def test_counts_of_nonzero_elements():
    x = sparse.coo_matrix((numpy.asarray([1., -1, 2, 0]), ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 3))
    assert x.count_nonzero() == 1 and x.nnz == 4
    assert x.count_nonzero(0).tolist() == [1, 0, 0] and x.tocsr().count_nonzero(1).tolist() == [0, 1, 0]
    assert x.astype('d', copy=False) is x and x.astype('d') is not x
    same(round(sparse.csr_matrix(cupy.asarray([[1.4, 2.6]]))).toarray(), numpy.asarray([[1., 3]]))


@pytest.mark.parametrize('kind', ['matrix', 'array'])
@pytest.mark.parametrize('format', FORMATS)
def test_types_of_counts(format, kind):
    """As in SciPy, counts of a csr matrix's rows and a csc matrix's columns are int32, others int64."""
    ours, theirs = getattr(sparse, f'{format}_{kind}')(cupy.asarray(A)), getattr(scipy.sparse, f'{format}_{kind}')(A)
    for axis in (0, 1, -1, -2):
        same(ours.count_nonzero(axis), theirs.count_nonzero(axis))
        if kind == 'matrix':
            same(ours.getnnz(axis), theirs.getnnz(axis))
    assert ours.count_nonzero() == theirs.count_nonzero() == ours.getnnz()


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


@pytest.mark.parametrize('format', FORMATS)
def test_functions_of_duplicate_entries(format):
    parts = (numpy.asarray([1., 1, -3]), ([0, 0, 1], [1, 1, 0])) if format == 'coo' else (numpy.asarray([1., 1, -3]), [1, 1, 0], [0, 2, 3])
    whole = numpy.asarray([[0, 2.], [-3, 0]])
    whole = whole.T if format == 'csc' else whole
    for function, expected in ((lambda x: x.sin(), numpy.sin(whole)), (abs, abs(whole)), (lambda x: x.power(2), whole ** 2), (round, whole), (lambda x: x.astype(bool).astype('d'), whole != 0)):
        x = getattr(sparse, format + '_matrix')(parts, shape=(2, 2))
        same(function(x).toarray(), expected.astype('d'))
        assert x.nnz == 2


def test_many_bools_of_one_place():
    """The sum of 256 duplicates is still true."""
    many, places = cupy.ones(256, bool), cupy.zeros(256, 'i')
    x = sparse.coo_array((many, (places, places)), shape=(1, 1))
    for found in (x.toarray(), x.tocsr().toarray(), x.tocsc().toarray(), x @ cupy.ones((1, 1), bool), (x @ x).toarray()):
        same(found, numpy.ones((1, 1), bool))
    assert int(x.sum()) == 1
    wide = sparse.csr_array(cupy.ones((1, 256), bool))
    same(wide @ many, numpy.ones(1, bool))
    same((wide @ wide.T).toarray(), numpy.ones((1, 1), bool))


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
    odd = of(numpy.asarray([[1, numpy.nan, 0], [numpy.nan, 2, 3], [0, 0, -1]]), 'csr')  # as in SciPy, implicit zeros precede NaN
    assert odd.argmax(1).ravel().tolist() == [2, 0, 0] and odd.argmin(1).ravel().tolist() == [2, 0, 2] and int(odd.argmax()) == int(odd.argmin()) == 2


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo'])
def test_scaling_integers_in_place(format):
    """A dtype that does not hold the result replaces that of the data, whereas a narrower result keeps it."""
    a = numpy.array([[1, 0, 3], [0, 5, 0]])
    x = of(a, format)
    x /= 4
    equal(x, a / 4, format)
    y = of(a.astype('f'), format)
    y *= numpy.float64(1.5)
    equal(y, a.astype('f') * numpy.float32(1.5), format)


@pytest.mark.parametrize('format', ['csr', 'csc', 'coo'])
def test_products_of_bools(format):
    """Several true terms give true."""
    a = numpy.array([[1, 1, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]], bool)
    for b in (numpy.array([1, 1, 0, 1], bool), a.T.copy()):
        found = of(a, format) @ cupy.asarray(b)
        assert found.dtype == bool and found.tolist() == (a @ b).tolist()
