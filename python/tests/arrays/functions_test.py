"""Array functions compared with NumPy: values, dtypes, shapes, argument order."""

import threading

import numpy
import pytest

from catenary import _core, cupy
from compare import same, values

pytestmark = pytest.mark.usefixtures('device')

A = values((3, 4), 'd')
B = values((3, 4), 'd', 1)
I = values((3, 4), 'l')  # noqa: E741
V = values((6,), 'f', 2)
T = values((2, 3, 4), 'f', 3)
M = numpy.array([[4., 1, 0], [1, 3, 1], [0, 1, 2]])
MASK = A > 5
N = numpy.array([1., numpy.nan, 3, -2, numpy.nan, numpy.inf])

# Each expression is evaluated with numpy and with cupy, on arrays of that module.
CASES = '''
xp.concatenate([A, B]); xp.concatenate((A, I), axis=1); xp.concatenate([A, B], axis=None); xp.stack([A, B]); xp.stack([A, B], axis=-1)
xp.vstack([A, B]); xp.hstack([V, V]); xp.dstack([A, B]); xp.column_stack([V, V]); xp.append(A, B, axis=0); xp.append(V, V)
xp.concatenate([A, I], dtype='f', casting='same_kind')
xp.split(A, 2, axis=1); xp.split(V, [1, 4]); xp.array_split(V, 4); xp.hsplit(A, 2); xp.vsplit(A, 3); xp.dsplit(T, 2)
xp.reshape(A, (4, 3)); xp.reshape(A, -1); xp.reshape(A, (2, 6), order='F'); xp.ravel(A); xp.ravel(A, 'F'); xp.ravel(A.T, 'A')
xp.transpose(T); xp.transpose(T, (1, 0, 2)); xp.swapaxes(T, 0, 1); xp.moveaxis(T, 0, -1); xp.moveaxis(T, (0, 1), (2, 0)); xp.rollaxis(T, 2)
xp.expand_dims(A, 0); xp.expand_dims(A, (0, 3)); xp.squeeze(T[:1]); xp.squeeze(T[:1], axis=0); xp.broadcast_to(V, (2, 6))
xp.broadcast_arrays(V, V[:1]); xp.atleast_1d(V[0]); xp.atleast_2d(V); xp.atleast_3d(A); xp.flip(T); xp.flip(T, 1); xp.flip(T, (0, 2))
xp.fliplr(A); xp.flipud(A); xp.rot90(A); xp.rot90(T, 3, (1, 2)); xp.tile(A, 2); xp.tile(A, (2, 1, 3)); xp.repeat(A, 2); xp.repeat(A, [1, 0, 2], axis=0)
xp.roll(A, 2); xp.roll(A, 1, axis=0); xp.roll(A, (1, 2), axis=(0, 1)); xp.resize(V, (2, 5)); xp.trim_zeros(xp.asarray([0, 1, 2, 0]))
xp.insert(V, 2, 5); xp.delete(V, 1); xp.delete(A, [0, 2], axis=1)
xp.pad(A, 1); xp.pad(A, ((1, 2), (0, 3)), 'constant', constant_values=7); xp.pad(A, 2, mode='edge'); xp.pad(A, (1, 2), 'reflect'); xp.pad(A, 1, 'wrap')
xp.pad(A, 2, 'mean'); xp.pad(A, ((1, 1), (2, 2)), 'constant', constant_values=((1, 2), (3, 4))); xp.pad(A, 2, 'symmetric', reflect_type='odd')
xp.take(A, 1, axis=1); xp.take(A, [[0, 5], [2, 3]]); xp.take(A, xp.asarray([0, 2]), axis=0); xp.take(V, [9, -9], mode='clip'); xp.take(V, [9, -9], mode='wrap')
xp.take_along_axis(A, xp.argsort(A, axis=1), 1); xp.nonzero(MASK); xp.argwhere(MASK); xp.flatnonzero(MASK); xp.where(MASK, A, B); xp.where(MASK)
xp.where(MASK, A, 0); xp.where(MASK, 1.5, I); xp.unravel_index(xp.asarray([3, 7]), (3, 4)); xp.ravel_multi_index((xp.asarray([0, 2]), xp.asarray([1, 3])), (3, 4))
xp.ix_([0, 2], [1, 3]); xp.choose(xp.asarray([0, 1, 0]), [A[0, :3], B[0, :3]]); xp.select([A > 6, A > 3], [A, B], 0.0); xp.compress(xp.asarray([True, False, True]), A, axis=0)
xp.extract(MASK, A); xp.diag(V); xp.diag(A); xp.diag(A, 1); xp.diagflat(A); xp.diagonal(T); xp.diagonal(T, 1, 1, 2); xp.tril(A); xp.triu(A, 1)
xp.tril_indices(3); xp.triu_indices(3, 1, 4); xp.eye(3); xp.eye(3, 4, 1, dtype='f'); xp.identity(2); xp.tri(3, 4, 1)
xp.arange(5); xp.arange(1, 7, 2); xp.arange(0.0, 1.0, 0.3); xp.arange(3, dtype='f'); xp.arange(5, 0, -1); xp.arange(numpy.float32(3))
xp.linspace(0, 1, 5); xp.linspace(0, 1, num=4, endpoint=False, dtype='f'); xp.logspace(0, 2, 3); xp.geomspace(1, 8, 4)
xp.meshgrid(V, V[:2]); xp.meshgrid(V, V[:2], indexing='ij'); xp.indices((2, 3)); xp.vander(V, 3); xp.full((2, 2), 3); xp.full((2,), 1.5, dtype='f'); xp.full(2, True)
xp.zeros((2, 3), 'i'); xp.ones(3); xp.zeros_like(A); xp.ones_like(I, dtype='f'); xp.full_like(I, 2.5); xp.zeros_like(A, shape=(2,)); xp.full((), numpy.float32(2))
xp.sum(A); xp.sum(A, 1); xp.sum(A, axis=(0, 1), keepdims=True); xp.sum(I, dtype='f'); xp.prod(V); xp.mean(A, 0); xp.mean(I); xp.var(A, axis=1, ddof=1); xp.std(V)
xp.max(A, axis=0); xp.amin(A, axis=1, keepdims=True); xp.ptp(A, axis=0); xp.argmax(A); xp.argmin(A, axis=1); xp.argmax(A, axis=1, keepdims=True)
xp.any(MASK, axis=0); xp.all(MASK); xp.count_nonzero(MASK, axis=1); xp.cumsum(A); xp.cumsum(A, axis=1); xp.cumprod(V, dtype='d'); xp.median(A, axis=1); xp.average(A, axis=1)
xp.average(A, axis=0, weights=xp.asarray([1., 2, 3])); xp.average(T, (0, 2), returned=True)
xp.average(A, axis=0, weights=xp.asarray([1., 2, 3]), returned=True); xp.average(A, 1, B, True); xp.nansum(N[:5]); xp.nanmean(N[:5]); xp.nanmax(N); xp.nanmin(N); xp.nanprod(N[:5]); xp.nanstd(N[:5]); xp.nanvar(N[:5])
xp.nanargmax(N); xp.nancumsum(N); xp.nanmedian(N[:5]); xp.quantile(A, 0.3, axis=1); xp.quantile(A, [0.1, 0.9]); xp.percentile(A, 30, axis=0, method='lower'); xp.diff(A); xp.diff(A, 2, axis=0)
xp.ediff1d(V); xp.cross(A[:, :3], B[:, :3]); xp.interp(xp.asarray([1.5, 2.5]), xp.asarray([1., 2, 3]), xp.asarray([10., 20, 40]))
xp.sort(A); xp.sort(A, axis=0); xp.sort(A, axis=None); xp.argsort(A, axis=0); xp.lexsort(xp.asarray([[1, 2, 1], [3, 3, 1]])); xp.searchsorted(xp.sort(V), V); xp.searchsorted(xp.sort(V), 3.0, side='right')
xp.digitize(V, xp.asarray([2., 4, 6])); xp.unique(I); xp.unique(I, return_counts=True); xp.isin(I, xp.asarray([1, 2])); xp.union1d(I, I + 3); xp.intersect1d(I, I + 3); xp.setdiff1d(I, I + 3)
xp.bincount(I.ravel()); xp.bincount(xp.asarray([0, 1, 1]), weights=xp.asarray([0.5, 1, 2]), minlength=5); xp.histogram(A, 4); xp.histogram(A, bins=xp.asarray([1., 3, 9]))
xp.partition(V, 2)[2]; xp.clip(A, 2, 5); xp.clip(A, None, 5); xp.clip(A, a_min=3, a_max=None); xp.clip(I, 2.5, 4); xp.around(A, 1); xp.round(A); xp.fix(-A); xp.rint(A)
xp.nan_to_num(N); xp.isclose(A, A + 1e-9); xp.modf(A); xp.frexp(A); xp.ldexp(A, I); xp.divmod(I, 3); xp.fabs(I); xp.positive(A); xp.absolute(-A); xp.abs(-I)
xp.packbits(MASK); xp.packbits(I % 2, axis=1, bitorder='little'); xp.unpackbits(xp.asarray([3, 200], 'B')); xp.isposinf(N); xp.isneginf(N)
xp.histogramdd(A, bins=(2, 3, 1, 2)); xp.histogramdd(A, 2, range=[(0, 5)] * 4, density=True); xp.histogram(V, [0., 2, 9]); xp.histogram(I, weights=I)
xp.quantile(A, 0.3, axis=1, method='hazen'); xp.quantile(I, [0.2, 0.9], method='inverted_cdf'); xp.percentile(T, xp.asarray([25, 60], 'f'), axis=0)
xp.nanquantile(N[:5], [0.1, 0.5], method='weibull'); xp.percentile(V, 41, method='median_unbiased'); xp.quantile(V, xp.asarray(0.7), method='closest_observation')
xp.sort(V).searchsorted(V); xp.argsort(xp.asarray(3.)); xp.array_equiv(V, xp.stack([V, V])); xp.mean(A, dtype='l'); xp.isreal(A); xp.iscomplex([1, 2])
xp.pad(A, {0: 1, -1: (2, 0)}, 'edge'); xp.pad(A, 1, lambda row, width, axis, options: row.__setitem__(slice(None, width[0]), axis + 7))
xp.einsum('ij->ji', I, dtype='d'); xp.einsum('ij->i', I, dtype='d'); xp.einsum('i,->i', V, 2.0); xp.einsum('', 2, dtype='d'); xp.linalg.tensorinv(M.reshape(3, 3, 1), 1)
xp.linalg.tensorsolve(M[None], M[:1]); xp.linalg.cond([[1., 2], [3, 4]], 'fro')
xp.dot(A, B.T); xp.dot(V, V); xp.dot(A, 2.0); xp.matmul(T, T.swapaxes(1, 2)); xp.vdot(A, B); xp.inner(A, B); xp.outer(V, V); xp.kron(M, M); xp.tensordot(T, T, axes=([1, 2], [1, 2])); xp.tensordot(A, B.T, 1)
xp.tensordot(T, A, axes=[(1, 2), (0, 1)]); xp.einsum('ij,kj->ik', A, B); xp.einsum('ii', M); xp.einsum('...j->...', T); xp.einsum(A, [0, 1], B, [0, 1]); xp.einsum(A, [0, 1], B, [2, 1], [0, 2]); xp.trace(M); xp.trace(T, 1, 1, 2)
xp.convolve(V, V[:3]); xp.correlate(V, V[:3], 'full'); xp.polyval(V, 2.0); xp.cov(A); xp.corrcoef(A); xp.trapezoid(V)
xp.linalg.norm(A); xp.linalg.norm(A, axis=1); xp.linalg.norm(A, 1, axis=0); xp.linalg.norm(A, 'fro'); xp.linalg.inv(M); xp.linalg.det(M); xp.linalg.slogdet(M); xp.linalg.solve(M, M[0]); xp.linalg.cholesky(M)
xp.linalg.matrix_power(M, 3); xp.linalg.pinv(A); xp.linalg.matrix_rank(A); xp.linalg.eigvalsh(M); xp.linalg.svd(A, compute_uv=False); xp.linalg.cond(M); xp.linalg.lstsq(A, xp.asarray([1., 2, 3]), rcond=None)[0]
xp.lib.stride_tricks.as_strided(V, (3, 2), (8, 4)); xp.array_equal(A, A); xp.result_type(A, 'f'); xp.can_cast('f', 'd'); xp.size(A); xp.ndim(A); xp.shape(A); xp.allclose(A, A + 1e-12); xp.isscalar(3)
xp.maximum.reduce(A, axis=1); xp.add.reduce(A, axis=(0, 1)); xp.float32(2) * V; xp.linspace(numpy.float32(0), 1, 3); xp.linspace(numpy.float16(0), numpy.float32(1), 3); xp.linspace(numpy.int8(0), 1, 5); xp.linspace(0, 5, 3, dtype='i')
xp.logspace(numpy.float32(0), 1, 3); xp.logspace(xp.asarray([0, 1], 'f'), 2, 3); xp.linspace(xp.asarray([0, 1], 'f'), 2, 3); xp.linspace(1, xp.asarray([0, 1], 'e'), 3); xp.linspace(xp.asarray([0, 1], 'f'), numpy.float64(2), 3); xp.linspace(xp.asarray([0, 1]), 2, 3); xp.logspace(0, 1, 3, base=numpy.float32(2)); xp.logspace(0, [1, 2], 3, dtype='f'); xp.geomspace(xp.asarray([1., 2]), 3, 4); xp.geomspace([1, 2], [3, 4], 3, axis=1)
xp.geomspace(1, xp.asarray([[8, 27]], 'f'), 4, False); xp.geomspace([-1, 2], [-8, 4], 4); xp.geomspace([1, 10], 1000, 4, dtype='f'); xp.geomspace([1, 2], 3, 0); xp.asfortranarray(A); xp.ascontiguousarray(A.T); xp.asarray(A, 'f'); xp.copy(A)
'''
CASES = [case.strip() for line in CASES.strip().split('\n') for case in line.split('; ')]
ARRAYS = dict(A=A, B=B, I=I, V=V, T=T, M=M, MASK=MASK, N=N)


def compared(ours, theirs):
    if isinstance(theirs, (tuple, list)) and not (theirs and type(theirs[0]) in (int, float)):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs):
            compared(mine, other)
    elif isinstance(ours, cupy.ndarray):
        same(ours, numpy.asarray(theirs), 2e-5 if numpy.asarray(theirs).dtype == 'f' else 1e-9)
    else:
        assert ours == theirs


@pytest.mark.parametrize('case', CASES)
def test_functions(case):
    code = compile(case, case, 'eval')
    theirs = eval(code, {'xp': numpy, 'numpy': numpy, **ARRAYS})
    ours = eval(code, {'xp': cupy, 'numpy': numpy, **{name: cupy.array(value) for name, value in ARRAYS.items()}})
    compared(ours, theirs)


def test_eigh_qr_svd():
    m = cupy.array(M)
    values, vectors = cupy.linalg.eigh(m)
    same(m @ vectors, (vectors * values).get(), 1e-9)
    q, r = cupy.linalg.qr(m)
    same(q @ r, M, 1e-9)
    u, s, vh = cupy.linalg.svd(cupy.array(A), full_matrices=False)
    same((u * s) @ vh, A, 1e-9)


@pytest.mark.parametrize('call', ['dot(A, B.T, out)', 'concatenate([A, B], out=out)', 'take(A, 1, axis=1, out=out)',
                                  'cumsum(A, axis=0, out=out)', 'clip(A, 2, 5, out)', 'mean(A, axis=0, out=out)',
                                  'sum(A, axis=1, out=out)', 'argmax(A, axis=1, out=out)', 'stack([A, B], out=out)'])
def test_out(call):
    arrays = {name: cupy.array(value) for name, value in ARRAYS.items()}
    expected = eval('numpy.' + call, {**ARRAYS, 'numpy': numpy, 'out': None})
    out = cupy.zeros(expected.shape, expected.dtype)
    assert eval('cupy.' + call, {**arrays, 'cupy': cupy, 'out': out}) is out
    same(out, expected, 1e-9)
    wrong = cupy.zeros(expected.shape + (2,), expected.dtype)
    with pytest.raises(ValueError):
        eval('cupy.' + call, {**arrays, 'cupy': cupy, 'out': wrong})


def test_writing_functions():
    for f in (lambda xp, x: xp.copyto(x, 3), lambda xp, x: xp.copyto(x, xp.arange(4), where=x > 5),
              lambda xp, x: xp.put(x, [0, 5], [9, 8]) if xp is numpy else xp.put(x, [0, 5], xp.asarray([9, 8])),
              lambda xp, x: xp.fill_diagonal(x, 7), lambda xp, x: xp.place(x, x > 5, xp.asarray([1., 2])),
              lambda xp, x: xp.putmask(x, x > 5, 0) if xp is cupy else numpy.putmask(x, x > 5, 0)):
        x, y = A.copy(), cupy.array(A)
        f(numpy, x)
        f(cupy, y)
        same(y, x)
    with pytest.raises(TypeError, match='cannot cast'):
        cupy.copyto(cupy.zeros(3, 'i'), cupy.zeros(3))


@pytest.mark.parametrize('order', 'CFAK')
def test_flatten_and_ravel(order):
    for x, layout in ((A, lambda x: x), (A, lambda x: x.T), (A, lambda x: x[::-1]), (T, lambda x: x.transpose(1, 2, 0)),
                      (T, lambda x: x.transpose(1, 2, 0)[:, ::2]), (A, lambda x: x[:0]), (V, lambda x: x[1:2].reshape(())),
                      (A, lambda x: x[:1].repeat(3, 0)), (V, lambda x: numpy.broadcast_to(x, (2, 6))),
                      (A, lambda x: numpy.broadcast_to(x[:, None], (3, 2, 4)).transpose(2, 1, 0))):
        x, y = layout(x), layout(cupy.asarray(x))
        flat = y.flatten(order)
        same(flat, x.flatten(order))
        assert not cupy.may_share_memory(flat, y)
        same(y.ravel(order), x.ravel(order))
        assert cupy.may_share_memory(y.ravel(order), y) == numpy.may_share_memory(x.ravel(order), x)


def test_limits_and_values_in_all_their_forms():
    a, i = cupy.asarray(A), cupy.asarray(I)
    for kwargs in ({'min': 2}, {'max': 2}, {'min': 1, 'max': 3}):
        same(a.clip(**kwargs), A.clip(**kwargs))
        same(cupy.clip(a, **kwargs), A.clip(**kwargs))
    same(cupy.clip(a, None, None), A)
    assert not cupy.may_share_memory(cupy.clip(a, None, None), a)
    for function, args in (('put', ([0, 5], [9, 8])), ('put', ([0, 5], 3)), ('place', (I > 3, [7, 6])), ('copyto', (7, 'same_kind', [True, False, True, True]))):
        x, y = I.copy(), i.copy()
        getattr(numpy, function)(x, *args)
        getattr(cupy, function)(y, *(cupy.asarray(v) if isinstance(v, numpy.ndarray) else v for v in args))
        same(y, x)
    x, y = I.copy(), i.copy()
    numpy.put(x, ind=[1], v=[4])
    cupy.put(y, ind=[1], v=[4])
    same(y, x)
    cupy.copyto(y, 1, where=numpy.array([False, True, False, False]))
    assert y.get()[:, 1].tolist() == [1, 1, 1] and y.get()[0, 0] == I[0, 0]


def test_stored_integers_wrap():
    a = cupy.zeros(2, 'u1')
    a.fill(300)
    a[0] = -1
    assert a.tolist() == [255, 44] and cupy.full(2, 2 ** 32 + 1, 'i4').tolist() == [1, 1]


def test_may_share_memory():
    z = cupy.arange(8).reshape(2, 4)
    shares = cupy.may_share_memory
    assert shares(z, z) and shares(z, z.T) and shares(z[:, 1:], z[::-1, :2]) and shares(z, cupy.ndarray((2,), z.dtype, z.data))
    assert shares(z, cupy.from_dlpack(z)) and shares(z[0, ::2], z[0, 1::2])  # bounds, as NumPy's
    assert not shares(z[0], z[1]) and not shares(z, z + 1) and not shares(z, z.copy()) and not shares(z[:0], z)
    assert not shares(z, numpy.float32(1) * z)


@pytest.mark.usefixtures('device')
def test_shares_memory():
    x = numpy.arange(24, dtype='i2').reshape(4, 6)
    y = cupy.asarray(x)
    for one in (numpy.s_[:], numpy.s_[::2], numpy.s_[1::2], numpy.s_[:, ::2], numpy.s_[::-1, 1:3], numpy.s_[:0]):
        for other in (numpy.s_[:], numpy.s_[1::2], numpy.s_[:, 1::2], numpy.s_[3], numpy.s_[0, 0]):
            assert cupy.shares_memory(y[one], y[other]) == numpy.shares_memory(x[one], x[other, ...] if other == (0, 0) else x[other]) or other == (0, 0), (one, other)
    assert cupy.shares_memory(y.view('i1')[:, 1], y[:, 0]) and not cupy.shares_memory(y.view('i1')[:, 2], y[:, 0]) and not cupy.shares_memory(y, y + 0)
    assert cupy.shares_memory(y.real, y) and not cupy.shares_memory((y + 0j).real, (y + 0j).imag)


def test_rows_of_lists():
    a = cupy.zeros(2)
    assert cupy.hstack((a, [1, 2])).tolist() == [0, 0, 1, 2] and cupy.vstack(([1, 2], a)).tolist() == [[1, 2], [0, 0]]
    assert cupy.hstack([3, a]).tolist() == [3, 0, 0]
    with pytest.raises(TypeError, match='only cupy.ndarray can be joined'):
        cupy.hstack((a, numpy.ones(2)))


def test_random():
    cupy.random.seed(0)
    a = cupy.random.rand(3, 2)
    cupy.random.seed(0)
    same(cupy.random.rand(3, 2), a.get())
    assert cupy.random.uniform(-1, 1, (5,)).dtype == 'd' and cupy.random.normal(0, 1, 4, dtype='f').dtype == 'f'
    assert cupy.random.randint(3, size=(2, 2)).dtype == 'l' and int(cupy.random.randint(2, 3)) == 2
    assert sorted(cupy.random.permutation(5).tolist()) == [0, 1, 2, 3, 4]
    assert cupy.random.choice(5, (2,), replace=False).shape == (2,) and cupy.random.choice([3, 4], 9).max() <= 4
    for name, arguments in (('gamma', (2,)), ('beta', (1, 2)), ('gumbel', ()), ('laplace', ()), ('poisson', (3,)),
                            ('binomial', (5, 0.3)), ('dirichlet', ([1, 2, 3],)), ('geometric', (0.5,)), ('pareto', (2,)),
                            ('chisquare', (3,)), ('standard_exponential', ()), ('standard_cauchy', ()), ('exponential', (2,)),
                            ('standard_normal', ()), ('lognormal', ()), ('multivariate_normal', ([0, 0], [[1, 0], [0, 1]]))):
        assert getattr(cupy.random, name)(*arguments, size=(4, 2)).shape[:2] == (4, 2)
    for draw in (cupy.random.dirichlet, cupy.random.default_rng(1).dirichlet):  # a number for alpha is so many as size's last axis says
        same(draw(5, (3, 4)).sum(-1), numpy.ones(3), 1e-12)
        assert draw(cupy.asarray(2.), 6).shape == (6,)
        with pytest.raises(ValueError, match='alpha'):
            draw(5)
    assert abs(float(cupy.random.randn(10000).mean())) < 0.06
    cupy.random.seed(0)
    drawn = []

    def draw():
        with _core.device_of(a):
            drawn.append(cupy.random.rand(3, 2))
    thread = threading.Thread(target=draw)  # all threads share a device's random state
    thread.start()
    thread.join()
    same(drawn[0], a.get())
    state = cupy.random.RandomState(3)
    same(state.random_sample(3), cupy.random.RandomState(3).random_sample(3).get())
    same(cupy.random.RandomState([1, 2]).rand(2), cupy.random.RandomState(numpy.array([1, 2])).rand(2).get())
    with pytest.raises(TypeError, match='integer'):
        cupy.random.RandomState(1.5)
    with pytest.raises(TypeError, match='integer'):
        cupy.random.seed('a')
    assert cupy.random.get_random_state() is cupy.random.get_random_state()


@pytest.mark.parametrize('call, error', [
    ('concatenate([A, numpy.ones(3)])', TypeError), ('concatenate([])', ValueError), ('reshape(A, (5, 5))', ValueError),
    ('transpose(A, (0, 0))', ValueError), ('sum(A, axis=2)', numpy.exceptions.AxisError), ('sum(A, wrong=1)', TypeError),
    ('sum(A, axis=1.5)', TypeError), ('take(A, 99).get()', IndexError), ('linalg.inv(A)', ValueError),
    ('linalg.inv(xp.zeros((2, 2)))', numpy.linalg.LinAlgError), ('zeros(-1)', ValueError), ('zeros(2, order="X")', ValueError),
    ('arange(0, 1, 0)', (ValueError, ZeroDivisionError)), ('split(A, 5)', ValueError), ('matmul(A, B)', ValueError),
    ('broadcast_to(A, (2, 2))', ValueError), ('array("a")', ValueError), ('zeros(2, "U3")', TypeError),
    ('pad(A, 1, mode="other")', ValueError), ('geomspace([1, 0], 2)', ValueError),
    ('pad(xp.arange(3), 1, constant_values=xp.nan)', ValueError), ('pad(xp.arange(3), 1, constant_values=(0, -xp.inf))', OverflowError), ('einsum("ij,jk", A, B)', ValueError), ('no_such_name', AttributeError),
    ('busday_count', AttributeError)])
def test_wrong_arguments(call, error):
    arrays = {name: cupy.array(value) for name, value in ARRAYS.items()}
    with pytest.raises(error):
        eval('xp.' + call, {**arrays, 'xp': cupy, 'numpy': numpy})


def test_names_that_numpy_has():
    with pytest.raises(AttributeError, match='names cupy'):
        cupy.busday_count
    assert cupy.get_array_module(A) is numpy and cupy.get_array_module(A, cupy.zeros(1)) is cupy


def test_counts_of_arrays_of_parameters(device):
    state = cupy.random.RandomState(3)
    p = cupy.asarray([0, 0.5, 1], 'f4')
    drawn = state.binomial(1, p, size=(1000, 3))
    assert drawn.dtype == numpy.int64 and drawn.shape == (1000, 3)
    assert drawn.sum(0).get()[[0, 2]].tolist() == [0, 1000] and 400 < int(drawn[:, 1].sum()) < 600
    assert 1800 < int(state.poisson(cupy.asarray([0, 2.]), size=(1000, 2))[:, 1].sum()) < 2200
    with pytest.raises(ValueError, match='lam must lie in'):
        state.poisson(cupy.asarray([-1.]))
    with pytest.raises(ValueError, match='scale must not be negative, elements from -1 to 1 were given'):
        state.normal(0, cupy.asarray([1., -1.]))
    assert state.choice(3, 5, p=cupy.full(3, 1 / 3, 'f4')).shape == (5,)


@pytest.mark.parametrize('call, mean, deviation', [  # of the distributions
    ('vonmises(mu=1, kappa=4, size=N, dtype="f4")', 1, 0.55), ('logseries(p=0.6, size=N)', 1.637, 1.189),
    ('negative_binomial(n=2.5, p=0.4, size=N)', 3.75, 3.062), ('zipf(a=5, size=N)', 1.0438, 0.264),
    ('noncentral_chisquare(df=3, nonc=2, size=N)', 5, 14 ** 0.5), ('noncentral_chisquare(0.5, 2, N, "f4")', 2.5, 3),
    ('noncentral_f(dfnum=3, dfden=12, nonc=3, size=N)', 2.4, 2.245), ('standard_gamma([4.0], size=N)', 4, 2)])
def test_moments_of_distributions(call, mean, deviation):
    state = cupy.random.RandomState(5)
    drawn = eval('state.' + call, {'state': state, 'N': 4000})
    assert drawn.dtype == (numpy.float32 if 'f4' in call else numpy.int64 if call[:4] in ('logs', 'nega', 'zipf') else numpy.float64)
    x = drawn.get().astype('d')
    assert abs(x.mean() - mean) < 5 * deviation / 4000 ** 0.5 and abs(x.std() / deviation - 1) < 0.25
    same(eval('state.' + call, {'state': cupy.random.RandomState(5), 'N': 4000}), drawn.get())


def test_parameters_and_dtypes_of_distributions():
    random = cupy.random
    assert random.vonmises([0, 1], numpy.ones((3, 1)), dtype='f').shape == (3, 2)
    assert random.zipf(cupy.asarray([2.0, 3.0]), (4, 2), 'i4').dtype == numpy.int32
    assert random.noncentral_chisquare(2, 1, 3, int).dtype == numpy.int64 and random.noncentral_f(1, 2, 3, (0, 2), 'i1').shape == (0, 2)
    assert random.logseries(0.5).shape == () and random.negative_binomial([1, 2.5], 0.5).shape == (2,)
    for call in ('vonmises(0, -1)', 'logseries(1)', 'logseries([0.5, 0])', 'zipf(1)', 'negative_binomial(0, 0.5)',
                 'negative_binomial(1, 1.5)', 'noncentral_chisquare(-1, 1)', 'noncentral_f(1, 1, numpy.array([1, -1]))'):
        with pytest.raises(ValueError):
            eval('random.' + call, {'random': random, 'numpy': numpy})
    with pytest.raises(TypeError):
        random.vonmises(0, 1, dtype='i')
    with pytest.raises(TypeError):
        random.zipf('a')
    drawn = random.randint([[0], [10]], [11, 12, 20], (50, 2, 3), 'i2')
    assert drawn.dtype == numpy.int16 and (drawn.min((0, 2)) >= cupy.asarray([0, 10])).all() and drawn[:, 1, 0].max() == 10
    assert random.randint([2, 3]).shape == (2,) and (random.randint(3, [4, 5], (9, 2)).max(0) < cupy.asarray([4, 5])).all()
    for call in ('randint([0, 3], 3)', 'choice(3.1)', 'choice(None)'):
        with pytest.raises(ValueError):
            eval('random.' + call, {'random': random})
    with pytest.raises(TypeError, match='0-d'):
        random.shuffle(cupy.asarray(1))
    assert len(random.bytes(10)) == 10 and isinstance(random.bytes(0), bytes) and random.bytes(9) != random.bytes(9)
    assert [len(random.bytes(n)) for n in range(9)] == [*range(9)] and len({*random.bytes(9999)}) == 256


def test_generators():
    random = cupy.random
    state = random.RandomState(7)
    rng = random.default_rng(7)
    for name, arguments in (('beta', (1, 2)), ('binomial', (5, 0.3)), ('chisquare', (3,)), ('dirichlet', ([1, 2, 3],)), ('exponential', (2,)),
                            ('f', (3, 4)), ('gamma', (2, 3)), ('geometric', (0.5,)), ('hypergeometric', (5, 6, 7)), ('logseries', (0.5,)),
                            ('poisson', (3,)), ('power', (2,)), ('uniform', (-1, 1)), ('standard_gamma', (2,)),
                            ('standard_normal', ()), ('standard_exponential', ())):  # the numbers of a state with that seed
        same(getattr(rng, name)(*arguments, size=(3, 2)), getattr(state, name)(*arguments, size=(3, 2)).get())
    same(rng.random(4, 'f'), state.random_sample(4, 'f').get())
    same(rng.integers(3, 9, 5), state.randint(3, 9, 5).get())
    drawn = rng.integers(-1, 1, 200, 'i1', endpoint=True)
    assert drawn.dtype == numpy.int8 and set(drawn.tolist()) == {-1, 0, 1} and set(rng.integers(2, size=99).tolist()) == {0, 1}
    same(rng.integers(2, endpoint=True, size=5) <= 2, numpy.ones(5, bool))
    for name in ('XORWOW', 'MRG32k3a', 'Philox4x3210'):
        bits = getattr(random, name)
        assert isinstance(bits(1), random.BitGenerator) and bits(1).random_raw(2, output=False) is None
        raw = bits(3).random_raw((500, 2))
        assert raw.dtype == numpy.int32 and raw.min() < -2 ** 30 and raw.max() > 2 ** 30
        same(bits([3, 4]).random_raw(3), bits(numpy.random.SeedSequence([3, 4])).random_raw(3).get())
        same(random.Generator(bits(3)).random(4), random.default_rng(random.XORWOW(3)).random(4).get())
    assert random.default_rng(rng) is rng and (random.default_rng().random(3) != random.default_rng().random(3)).any()
    rng.bit_generator = random.Philox4x3210(7)
    assert not hasattr(rng, 'rand')
    with pytest.raises(TypeError, match='integer'):
        random.XORWOW(1.5)


def test_generators_write_into_arrays():
    rng, again = cupy.random.default_rng(8), cupy.random.default_rng(8)
    out = cupy.zeros((3, 2))
    for call in ('random(SIZE)', 'standard_normal(SIZE)', 'standard_exponential(SIZE)', 'standard_gamma(2, SIZE)'):
        assert eval('rng.' + call.replace('SIZE', 'out=out'), {'rng': rng, 'out': out}) is out
        same(out, eval('rng.' + call.replace('SIZE', '(3, 2)'), {'rng': again}).get())
    rng.random((2, 3), out=out.T)
    same(out.T, again.random((2, 3)).get())
    for wrong, error in (('dtype="f", out=out', TypeError), ('out=out[:, :1]', ValueError), ('(2, 3), out=out', ValueError),
                         ('3, out=out', ValueError), ('dtype="e"', TypeError), ('dtype=int', TypeError)):
        for name in ('random(', 'standard_normal(', 'standard_exponential(', 'standard_gamma(1, '):
            with pytest.raises(error):
                eval('rng.' + name + wrong + ')', {'rng': rng, 'out': out})
    with pytest.raises(ValueError, match='C order'):
        rng.standard_gamma(1, out=out.T)
    with pytest.raises(NotImplementedError):
        rng.standard_exponential(method='zig')
    with pytest.raises(ValueError, match='method'):
        rng.standard_exponential(method='other')


def test_repeats_by_a_tuple(device):
    x = cupy.arange(3, dtype='f4')
    same(cupy.repeat(x, (1, 0, 2)), numpy.array([0, 2, 2], 'f4'))
    same(cupy.repeat(x, (2,)), numpy.repeat(x.get(), 2))
    with pytest.raises(ValueError, match=r'item:.*\(3,\)'):
        x.item()
