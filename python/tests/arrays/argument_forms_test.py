"""Call forms that NumPy accepts besides the plain ones: lists, out=, order=, initial values, arrays in place of numbers."""

import numpy
import pytest

import catenary.cupy.testing
from catenary import cupy
from compare import same, values

pytestmark = pytest.mark.usefixtures('device')

A = values((3, 4), 'd')
I = values((3, 4), 'i')  # noqa: E741
ROWS = numpy.array([[1, 2], [0, 5], [1, 2], [0, 4]], 'i')
N = numpy.array([1., numpy.nan, -numpy.inf, numpy.inf, numpy.nan])

CASES = '''
xp.float_power(I, 2); xp.float_power(I.astype('e'), 0.5); xp.reciprocal(I - 9); xp.reciprocal(I.astype('B'))
xp.append(1, [2, 3]); xp.vander([1, 2, 3], 2); xp.diag([1, 2]); xp.diagflat([[1, 2]]); xp.tril([[1, 2], [3, 4]]); xp.resize(3, (2, 2))
xp.hstack([I, I], dtype='d'); xp.vstack([A, A], dtype='f', casting='same_kind'); xp.meshgrid(A[0], I[0]); xp.broadcast_arrays(A, A[0])
xp.divmod(I, 3); xp.divmod(I, xp.asarray(4)); xp.divmod(I.astype('b'), numpy.uint8(3)); divmod(numpy.uint8(3), I.astype('b'))
xp.diff(A, prepend=0); xp.diff(A, axis=0, append=A[:1]); xp.ediff1d(A, to_begin=xp.asarray([9.]), to_end=xp.asarray([1., 2]))
xp.cumulative_sum(A, axis=1, include_initial=True); xp.cumulative_prod(I[0], include_initial=True); xp.cumulative_sum(I[1], dtype='f')
xp.ravel_multi_index((I[0] % 3, I[1] % 2), (3, 2), order='F'); xp.ravel_multi_index((I[0], I[1]), (3, 2), mode='wrap'); xp.unravel_index(I[0], (4, 5), order='F')
xp.unique(ROWS, axis=0); xp.unique(ROWS, axis=1); xp.unique(ROWS, True, True, True); xp.unique(ROWS, True, True, True, axis=0)[:2]
xp.unique(N, equal_nan=False); xp.unique(N, return_counts=True, equal_nan=False); xp.unique(N); xp.unique(ROWS[:0], axis=0)
xp.nan_to_num(N); xp.nan_to_num(N, nan=N * 0 + 3, posinf=7, neginf=-7); xp.nan_to_num(I); xp.nan_to_num(N.astype('f'))
xp.roll(A, xp.asarray([1, 2]), axis=(0, 1)); xp.matmul(A, A.T, dtype='f', casting='same_kind'); xp.angle(A - 5); xp.angle(I - 4, True); xp.angle(xp.asarray([-1, 2], 'b')); xp.conj(A)
xp.r_[A[0], 1, I[0]]; xp.c_[A[0], A[1]]; xp.c_[A, I]; xp.mgrid[0:2, 1:4]; xp.ogrid[0:2, 1:4]; xp.mgrid[0:1:5j]; xp.diag_indices(3); xp.tril_indices_from(A, -1); xp.triu_indices_from(A)
A.T.ravel('K'); A[:, ::2].ravel(); A.flat[5]; A.T.flat[2:7]; A.flat[::-1]; A.squeeze().reshape(4, 3, copy=True); xp.squeeze(xp.asarray(3.0), 0); xp.take(xp.asarray(3.0), 0, axis=0)
xp.hamming(5); xp.kaiser(4, 2.0); xp.fromiter(range(4), dtype='i'); xp.fromfunction(lambda i, j: i * 2 + j, (2, 3)); xp.add.outer(A[0], I[1]); xp.add.accumulate(A, axis=1)
xp.multiply.accumulate(I); xp.linspace(A[0], I[1], 5); xp.linspace(A[0].astype('f'), I[1].astype('e'), 5); xp.linspace(A[0], 3, 4, endpoint=False, axis=1); xp.linspace([0, 5], [9, 1], 4, dtype='i')
xp.isin(I, [1, 2], assume_unique=False); xp.isin(I, 3, invert=True); xp.intersect1d(I[0], I[1], return_indices=True); xp.setxor1d(I[0], I[1])
xp.setdiff1d(I[0], I[1][:1], assume_unique=True); xp.dot(2, A); xp.outer(2, A); xp.inner(2, A); xp.kron(2, I); xp.lexsort((A[0], I[0]))
xp.cov(A); xp.cov(A, A); xp.cov(A[0], I[1]); xp.cov(A, rowvar=False, bias=True); xp.cov(A, fweights=I[0], aweights=A[1]); xp.cov(A, aweights=A[1], ddof=0)
xp.cov(A, dtype='f'); xp.corrcoef(A); xp.corrcoef(A, I); xp.corrcoef(A[0], dtype='f'); xp.cov(A.astype('f'))
A[xp.asarray([], bool)]; A[:, numpy.zeros((0,), bool)]; xp.asfortranarray(xp.asarray(2.0)); xp.full((2, 3), [1, 2, 3]); xp.full_like(A, numpy.float32(2)); xp.full((2,), numpy.asarray([1, 2]), "f"); xp.asarray([A.T, A.T])
xp.gradient(A); xp.gradient(A, 2., axis=1); xp.gradient(I, edge_order=2, axis=0); xp.gradient(A, 0.5, [0., 1, 3, 4]); xp.gradient(A.astype('f'), xp.asarray([0, 2, 3]), axis=0)
xp.gradient(A[0], xp.asarray([0., 1, 3, 4]), edge_order=2); xp.gradient(A[0], xp.asarray([0, 2, 4, 6]), edge_order=2); xp.gradient(A, numpy.float64(3), 2); xp.gradient(A[0].tolist())
xp.unwrap(A * 3); xp.unwrap(A, 1.0, axis=0); xp.unwrap(I * 5, period=7); xp.unwrap(I * 5, period=6); xp.unwrap(I.astype('B'), period=4.5)
xp.logspace([0, 1], [2, 3], 4); xp.logspace(xp.asarray([0, 1]), 2, 3, endpoint=False, axis=1); xp.logspace(0, xp.asarray([1, 2]), 3, base=2.0, dtype='f'); xp.sinc(A - 4); xp.sinc(A[:1] * 0)
xp.matmul(A, A, axes=[(0, 1), (1, 0), (1, 0)]); xp.take_along_axis(A, I[0], axis=None); xp.real_if_close(A); xp.mask_indices(3, xp.triu, 1); xp.delete(I[0], (0, True)); xp.delete(I, (), 1)
xp.unique_all(I); xp.unique_counts(I); xp.unique_inverse(I); xp.sort(xp.unique_values(I)); xp.sum(I, dtype=bool, axis=0); xp.prod(I - 2, dtype='?', axis=1); xp.conj(I > 3); xp.angle(I > 3); xp.angle(True)
xp.add.reduceat(A, [0, 2, 1], axis=0); xp.multiply.reduceat(I, [0, 2]); xp.add.reduceat(I.astype('b'), xp.asarray([1, 3, 0]), axis=1, dtype='f'); xp.maximum.reduceat(A, [1, 1], 1)
xp.nextafter(I.astype('e'), A.astype('e')); xp.cov(A[:0, :1].astype('f'), dtype='f'); xp.arctan2(I.astype('b'), I.astype('B')); xp.copysign(I.astype('h'), I.astype('H')); xp.heaviside(I.astype('b'), I.astype('e')); xp.hypot(I.astype('B'), A[0].astype('f')); xp.trim_zeros(xp.asarray(3))
xp.interp(xp.asarray([1., 2, 2.5, 4]), xp.asarray([1., 2, 3, 4]), xp.asarray([1., 2, numpy.inf, 4])); xp.interp(A[0], A[1], A[2], period=3); xp.interp(I, I[0], A[0], period=-5.5)
xp.interp(xp.asarray([1.5, 3.5]), xp.asarray([1., 2, 3, 4]), xp.asarray([numpy.inf, numpy.inf, 1, -numpy.inf]))
A.byteswap(); I[:, ::2].byteswap(); A.T.astype('h').byteswap(); (I > 2).byteswap(); xp.ravel_multi_index((I[0] > 5, I[1] % 2), (2, 2)); xp.ones((3, 20), 'h')[:0, ::2].view('i')
A + 10 ** 20; -10 ** 30 - A.astype('f'); I < 10 ** 20; I == 10 ** 20; I > -10 ** 20; I.astype('L') <= 2 ** 64; xp.full(2, 10 ** 20, 'd'); xp.maximum(A, -10 ** 40)
'''


IN_ORDER = '''
xp.add(A, A[0], order='F'); xp.exp(A.T, order='C'); xp.sqrt(I, order='A'); xp.add(A.T, 1, order='A'); xp.add(A.T, I.T, order='A'); xp.multiply(A.T, I.T, order='K')
A.astype('f', order='F'); A.T.astype('f', order='A'); A.T.astype('d', order='C'); A.astype('d', order='F', copy=False); A.T.byteswap(); A.T[:, ::2].byteswap()
xp.copy(A, order='F'); xp.zeros((2, 3), order=None); A.T.astype('f', order=None); A.T.flatten(order=None); xp.ones_like(A.T, order=None); xp.copy(A.T, order='C'); xp.copy(A.T, order='A'); xp.copy(A.T[::2], order='K'); xp.add(A, A, order='F'); (A.T + 1).reshape(6, 2, order='A'); xp.array(A + A, order='F')
'''


@pytest.mark.parametrize('text', [c.strip() for line in IN_ORDER.strip().splitlines() for c in line.split('; ')])
def test_orders_in_memory(text):
    ours, theirs = (eval(text, {'xp': xp, 'A': xp.asarray(A), 'I': xp.asarray(I)}) for xp in (cupy, numpy))
    assert ours.strides == theirs.strides
    same(ours, theirs)


@pytest.mark.parametrize('text', [c.strip() for line in CASES.strip().splitlines() for c in line.split('; ')])
def test_against_numpy(text):
    names = {'A': A, 'I': I, 'N': N, 'ROWS': ROWS}

    def evaluated(xp):
        result = eval(text, {'xp': xp, 'numpy': numpy, **{k: xp.asarray(v) for k, v in names.items()}})
        return result if isinstance(result, (tuple, list)) else [result]
    for ours, theirs in zip(evaluated(cupy), evaluated(numpy), strict=True):
        same(ours, theirs, 1e-6 if numpy.asarray(theirs).dtype == 'f' else None)


def test_where_of_ufuncs():
    for where in (cupy.asarray(A > 5), cupy.asarray(A[0] > 5), True, False, numpy.True_):
        mask = where.get() if isinstance(where, cupy.ndarray) else where
        for casting in ('same_kind', 'unsafe'):
            ours, theirs = cupy.full((3, 4), 7, 'f'), numpy.full((3, 4), 7, 'f')
            assert cupy.add(cupy.array(A), 1, out=ours, where=where, casting=casting) is ours
            same(ours, numpy.add(A, 1, out=theirs, where=mask, casting=casting))
        result = cupy.sqrt(cupy.array(A[:1]), where=where)
        assert result.shape == numpy.broadcast_shapes((1, 4), numpy.shape(mask))
        same(cupy.where(where, result, 0), numpy.where(mask, numpy.sqrt(A[:1]), 0))
    same(cupy.sqrt(cupy.array(A), where=cupy.array(A > 5)), numpy.where(A > 5, numpy.sqrt(A), 0))  # no rubbish


def test_at_of_every_function():
    at = numpy.array([0, 2, 0, -1, 2, 0])
    for name, b in (('bitwise_or', [1, 2, 4, 8, 16, 32]), ('bitwise_xor', [7, 1, 2, 3, 1, 9]), ('bitwise_and', 3), ('multiply', [2, 3, 4, 5, 6, 7]),
                    ('left_shift', 1), ('floor_divide', [2, 3, 1, 1, 1, 2]), ('negative', None)):
        for shape in ((4,), (4, 3)):
            theirs = numpy.arange(1, numpy.prod(shape) + 1).reshape(shape) * 11
            ours = cupy.array(theirs, order='F')
            value = [] if b is None else [numpy.reshape(b, (-1,) + (1,) * (len(shape) - 1))]
            getattr(numpy, name).at(theirs, at, *value)
            getattr(cupy, name).at(ours, cupy.array(at), *(cupy.array(v) for v in value))
            same(ours, theirs)
    ours = cupy.arange(4.)
    cupy.power.at(ours, cupy.array([True, False, True, True]), 2)
    same(ours, numpy.array([0., 1, 4, 9]))
    whole = cupy.arange(3)
    cupy.divide.at(whole, cupy.array([0, 2]), 0.4)  # in float64, and cast, as NumPy has it
    same(whole, numpy.array([0, 1, 5]))
    with pytest.raises(TypeError, match='wrong number of operands'):
        cupy.negative.at(ours, cupy.array([0]), 2)


def test_copies_that_are_not_wanted():
    x = cupy.arange(6.).reshape(2, 3)
    assert cupy.array(x, copy=False) is x and cupy.array(x, 'd', copy=None) is x
    assert cupy.asarray(x) is x and cupy.asarray(x, copy=True) is not x and cupy.asarray(x, copy=False) is x
    with pytest.raises(ValueError, match='avoid copy'):
        cupy.asarray(x, 'f', copy=False)
    assert cupy.array(x, 'f', copy=None).dtype == 'f' and cupy.array([1, 2], copy=None).size == 2
    for arguments in ((x, 'f'), ([1, 2],), (numpy.ones(2),)):
        with pytest.raises(ValueError, match='Unable to avoid copy'):
            cupy.array(*arguments, copy=False)
    with pytest.raises(ValueError, match='Unable to avoid copy'):
        cupy.array(x, copy=False, order='F')


def test_bytes_in_place():
    x = cupy.array(I)
    assert x.byteswap(inplace=True) is x
    same(x, I.byteswap())
    view = x[::-1, 1:]
    view.byteswap(True)
    same(view, I[::-1, 1:])


def test_require():
    x = cupy.zeros((2, 3))
    assert cupy.require(x, 'd', ['C']) is x and cupy.require(x, requirements=['FORTRAN']).flags.f_contiguous
    assert cupy.require(x.view(), requirements='O').flags.owndata and cupy.require([1], 'f').dtype == 'f'
    for arguments in ((x, None, ['C', 'F']), (x, None, ['W']), (x, 'unknown')):
        with pytest.raises(ValueError):
            cupy.require(*arguments)


def test_shapes_like_another_array():
    for order in 'CFAK':
        ours, theirs = cupy.empty_like(cupy.zeros((2, 3), order='F'), order=order, shape=(4, 5)), numpy.empty_like(
            numpy.zeros((2, 3), order='F'), order=order, shape=(4, 5))
        assert ours.strides == theirs.strides
    empty = cupy.zeros((2, 0, 3), order='F').T
    assert empty.flags.c_contiguous and empty.flags.f_contiguous


def test_strides_without_memory():
    assert cupy.ndarray((2, 3), 'd', strides=(8, 16)).strides == (8, 16)
    assert cupy.ndarray((2, 3), 'd', strides=(0, 8)).shape == (2, 3)
    for strides in ((8, 24), (-8, 8)):
        with pytest.raises(ValueError, match=r'ndarray\(\) with strides'):
            cupy.ndarray((2, 3), 'd', strides=strides)


def test_arrays_by_protocols_are_keys_and_items():
    from catenary.cupy.testing._protocol_helpers import DummyObjectWithCudaArrayInterface, DummyObjectWithCuPyGetNDArray
    with cupy.cuda.Device(0):
        x, at = cupy.arange(5), cupy.array([3, 1])
        for like in (DummyObjectWithCuPyGetNDArray, DummyObjectWithCudaArrayInterface):
            same(x[like(at)], numpy.array([3, 1]))
            same(cupy.asarray([like(at), like(at)]), numpy.array([[3, 1], [3, 1]]))


def test_overwritten_input():
    x = cupy.array(A)
    same(cupy.quantile(x, [0.2, 0.5], axis=1, overwrite_input=True), numpy.quantile(A, [0.2, 0.5], axis=1))
    same(x, numpy.sort(A))  # the order of the remaining elements is unspecified


def test_copyto():
    for where in (True, 0, 2.5):
        ours, theirs = cupy.zeros((2, 3)), numpy.zeros((2, 3))
        cupy.copyto(ours, cupy.ones((1, 1, 2, 3)), where=where)
        numpy.copyto(theirs, numpy.ones((1, 1, 2, 3)), where=where)
        same(ours, theirs)
    with pytest.raises(OverflowError):
        cupy.copyto(cupy.zeros(2, 'B'), -4)
    cupy.copyto(ours, numpy.array(7))
    same(ours, numpy.full((2, 3), 7.))
    with pytest.raises(TypeError, match='bool'):
        cupy.copyto(ours, 1, where=cupy.ones((2, 3), 'i'))


def test_running_sums_cast_into_out():
    out = cupy.zeros(3, '?')
    assert cupy.cumsum(cupy.array([0, 2, -2]), out=out) is out
    same(out, numpy.array([False, True, False]))


def test_flat_is_written():
    for order in 'CF':
        ours, theirs = cupy.zeros((2, 3), order=order), numpy.zeros((2, 3), order=order)
        for key, value in ((1, 5), (slice(3, None), [1, 2]), (..., [7, 8, 9])):
            ours.flat[key] = cupy.array(value)
            theirs.flat[key] = value
            same(ours, theirs)
    assert len(ours.flat) == 6 and ours.flat.base is ours and [int(x) for x in ours.flat] == theirs.ravel().tolist()
    for key in (None, True, [0]):
        with pytest.raises(IndexError, match='flat'):
            ours.flat[key]


def test_reshape_copies_when_asked_to():
    x = cupy.arange(6)
    assert x.reshape(2, 3, copy=False).base is x and x.reshape(2, 3, copy=True).base is None
    with pytest.raises(ValueError, match='Unable to avoid'):
        x.reshape(2, 3).T.reshape(6, copy=False)
    with pytest.raises(ValueError, match='not permitted'):
        x.reshape(2, 3, order='K')


def test_values_that_are_scattered_may_be_numpys():
    x = cupy.zeros(3)
    x.scatter_add([0, 0, 2], numpy.array([1., 2, 3]))
    same(x, numpy.array([3., 0, 3]))
    with pytest.raises(TypeError, match='subok'):
        cupy.zeros_like(x, subok=True)


def test_reductions_take_arrays_by_protocol():
    from catenary.cupy.testing._protocol_helpers import DummyObjectWithCudaArrayInterface
    with cupy.cuda.Device(0):
        x = cupy.arange(6, dtype='f')
        total = cupy.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'total_of_protocol')
        same(total(DummyObjectWithCudaArrayInterface(x)), numpy.float32(15))


def test_flags_are_read():
    flags = cupy.zeros((2, 3)).flags
    assert flags.c_contiguous and flags['OWNDATA'] and not flags.fnc
    with pytest.raises(AttributeError):
        flags.c_contiguous = False


def test_arrays_by_protocols():
    helpers = __import__('catenary.cupy.testing._protocol_helpers', fromlist=['*'])
    x = cupy.arange(12, dtype='f').reshape(3, 4)
    with cupy.cuda.Device(x.device):
        for view in (x, x.T, x[::-1, 1:3], x[:0]):
            given = helpers.DummyObjectWithCudaArrayInterface(view, 3, True)
            same(cupy.asarray(given), view.get())
            same(view + given, view.get() * 2)
            numpy.testing.assert_array_equal(cupy.asnumpy(given), view.get())
        cupy.asarray(given)[...] = 0
        shared = cupy.asarray(helpers.DummyObjectWithCudaArrayInterface(x))
        shared[0, 0] = 9
        assert float(x[0, 0]) == 9
        assert cupy.asarray(helpers.DummyObjectWithCuPyGetNDArray(x)) is x
        with pytest.raises(ValueError, match='mask'):
            cupy.asarray(helpers.DummyObjectWithCudaArrayInterface(x, 3, False, x))


def test_by_chance():
    from catenary.cupy.testing import _condition
    calls = []

    @_condition.retry(5)
    def third():
        calls.append(1)
        assert len(calls) == 3
    third()
    assert len(calls) == 3
    with pytest.raises(AssertionError):
        _condition.repeat(3)(third.__wrapped__)()  # the fourth call


def test_contiguous_axes():
    seen = []

    class Case:
        shape, order = (2, 3, 4), 'F'

        @catenary.cupy.testing.for_contiguous_axes()
        def test(self, axis):
            seen.append(axis)
    Case().test()
    assert seen == [(0,), (0, 1), (0, 1, 2)]
