"""Linear algebra of complex matrices and eigenvalues of general matrices, compared with NumPy."""

import numpy
import pytest

from catenary import cupy, cupyx
from catenary.cupyx.scipy import linalg  # noqa: F401

DTYPES = ['F', 'D']
REAL = {'F': 'f', 'D': 'd', 'f': 'f', 'd': 'd'}


def numbers(shape, dtype, seed=0):
    random = numpy.random.RandomState(seed)
    values = random.uniform(-2, 2, shape) + 1j * random.uniform(-2, 2, shape)
    return (values if dtype in DTYPES else values.real).astype(dtype)


def close(x, y, dtype, factor=1):
    x, y = cupy.asnumpy(x), numpy.asarray(y)
    assert x.shape == y.shape and x.dtype == y.dtype, (x.shape, y.shape, x.dtype, y.dtype)
    tolerance = factor * (2e-4 if REAL[dtype] == 'f' else 1e-11)
    numpy.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


LINES = '''
xp.linalg.det(m); xp.linalg.det(s); xp.linalg.det(m.T[::-1]); xp.linalg.slogdet(m)[0]; xp.linalg.slogdet(s)[1]; xp.linalg.det(m[:0, :0]); xp.linalg.det(m[:1, :1])
xp.linalg.inv(s); xp.linalg.pinv(x); xp.linalg.pinv(x.T, 1e-3); xp.linalg.pinv(s, xp.full(s.shape[:-2], .3)); xp.linalg.pinv(s); xp.linalg.pinv(h, hermitian=True); xp.linalg.matrix_rank(x); xp.linalg.matrix_rank(low)
xp.linalg.svd(x, compute_uv=False); xp.linalg.svd(s, compute_uv=False); xp.linalg.svd(x[:0], compute_uv=False); xp.linalg.svd(h, compute_uv=False, hermitian=True)
xp.linalg.qr(x)[0]; xp.linalg.qr(x)[1]; xp.linalg.qr(x.T)[1]; xp.linalg.qr(x.T, 'complete')[0]; xp.linalg.qr(x, 'r'); xp.linalg.qr(s)[0]; xp.linalg.qr(x.T, 'raw')[0]; xp.linalg.qr(x, 'raw')[1]; xp.linalg.qr(x.conj()[:, ::-1])[1]
xp.linalg.eigvalsh(h); xp.linalg.eigvalsh(s, 'U'); xp.linalg.eigvalsh(s); xp.linalg.eigh(h)[0]; xp.linalg.eigvalsh(h[:1, :1])
xp.linalg.lstsq(x.T, y, rcond=None)[0]; xp.linalg.lstsq(x.T, y, rcond=None)[1]; xp.linalg.lstsq(x.T, y[:, 0], rcond=None)[3]; xp.linalg.lstsq(x, z, rcond=None)[0]; xp.linalg.lstsq(x.real, z, rcond=None)[0]; xp.linalg.lstsq(x, z.real, rcond=None)[1]; xp.linalg.lstsq(x, z, rcond=None)[2]
xp.linalg.cond(m); xp.linalg.cond(s, 1); xp.linalg.cond(m, 'fro'); xp.linalg.cond(x, -2); xp.linalg.norm(x, 2); xp.linalg.norm(x, 'nuc'); xp.linalg.norm(x, 1); xp.linalg.norm(x[0], 3)
xp.linalg.matrix_power(m, -2); xp.linalg.matrix_power(m, 0); xp.linalg.tensorsolve(t, w); xp.linalg.tensorinv(t); xp.linalg.solve(m, x.T); xp.linalg.solve(m.real, x.T); xp.linalg.cholesky(h @ h + xp.eye(4, dtype=h.dtype))
'''


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('line', [line.strip() for line in LINES.replace('\n', ';').split(';') if line.strip()])
def test_beside_numpy(line, dtype):
    a = numbers((4, 4), dtype, 9)
    host = {'x': numbers((3, 4), dtype), 'y': numbers((4, 2), dtype, 1), 'z': numbers((3,), dtype, 2), 'm': numbers((4, 4), dtype, 3),
            's': numbers((2, 3, 3), dtype, 4), 'h': a + a.conj().T, 'low': numbers((5, 2), dtype, 5) @ numbers((2, 4), dtype, 6),
            't': numbers((2, 3, 6), dtype, 7), 'w': numbers((2, 3), dtype, 8)}
    here = eval(line, {'xp': cupy, **{k: cupy.asarray(v) for k, v in host.items()}})
    there = eval(line, {'xp': numpy, **host})
    if isinstance(here, cupy.ndarray):
        close(here, there, dtype, 10)
    else:
        assert here == there


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('shape', [(5, 3), (3, 5), (2, 4, 4), (0, 3), (1, 1)])
@pytest.mark.parametrize('full', [True, False])
def test_svd(shape, full, dtype):
    a = numbers(shape, dtype)
    u, s, vh = cupy.linalg.svd(cupy.asarray(a), full_matrices=full)
    there = numpy.linalg.svd(a, full_matrices=full)
    assert [x.shape for x in (u, s, vh)] == [x.shape for x in there] and [x.dtype for x in (u, s, vh)] == [x.dtype for x in there]
    close(s, there[1], dtype)
    k = min(shape[-2:])
    close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, dtype)


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('uplo', ['L', 'U'])
def test_eigh(uplo, dtype):
    a = numbers((2, 5, 5), dtype)  # only one triangle and the real part of the diagonal are read
    w, v = cupy.linalg.eigh(cupy.asarray(a), uplo)
    close(w, numpy.linalg.eigh(a, uplo)[0], dtype)
    half = numpy.tril(a, -1) if uplo == 'L' else numpy.triu(a, 1)
    whole = half + half.conj().swapaxes(-1, -2) + numpy.einsum('...i,ij->...ij', numpy.einsum('...ii->...i', a).real, numpy.eye(5, dtype=REAL[dtype]))
    close(cupy.asarray(whole) @ v, (v * w[:, None, :]).get(), dtype)


def in_order(values):
    values = cupy.asnumpy(values)
    return numpy.take_along_axis(values, numpy.argsort(values.real.round(3) + 1e-6 * values.imag, -1), -1)


@pytest.mark.parametrize('dtype', ['f', 'd', 'F', 'D'])
@pytest.mark.parametrize('shape', [(1, 1), (2, 2), (6, 6), (3, 4, 4), (0, 0), (0, 2, 2)])
def test_eig(shape, dtype):
    a = numbers(shape, dtype)
    for matrix in (a, a.swapaxes(-1, -2)[..., ::-1], a + a.swapaxes(-1, -2).conj(), numpy.triu(a)):
        w, v = cupy.linalg.eig(cupy.asarray(matrix))
        wide = numpy.result_type(dtype, 'F')
        there = [x.astype(wide) for x in numpy.linalg.eig(matrix)]  # which is real if all values are
        assert w.dtype == v.dtype == wide and v.shape == there[1].shape
        close(in_order(w), in_order(there[0]), dtype, 10)
        close(cupy.asarray(matrix) @ v, (v * w[..., None, :]).get().astype(numpy.result_type(matrix, v.dtype)), dtype, 10)
        close(cupy.linalg.norm(v, axis=-2), numpy.ones(w.shape, REAL[dtype]), dtype)
        alone = cupy.linalg.eigvals(cupy.asarray(matrix))
        close(in_order(alone), in_order(numpy.linalg.eigvals(matrix).astype(wide)), dtype, 10)


def test_eig_of_integers():
    for values in ([[2, 1], [1, 3]], [[0, -1], [1, 0]]):
        here, there = cupy.linalg.eigvals(cupy.array(values)), numpy.linalg.eigvals(values).astype('D')
        close(in_order(here), in_order(there), 'd')


@pytest.mark.parametrize('dtype, wide', [('f', 'F'), ('d', 'D'), ('i', 'D'), ('?', 'D'), ('F', 'F'), ('D', 'D')])
def test_eigenvalues_are_complex_whatever_their_values(dtype, wide):
    a = numpy.array([[[2, 0], [0, 1]], [[1, 1], [1, 0]]]).astype(dtype)
    w, v = cupy.linalg.eig(cupy.asarray(a))
    assert w.dtype == v.dtype == cupy.linalg.eigvals(cupy.asarray(a)).dtype == numpy.linalg.eigvals(cupy.asarray(a)).dtype == wide
    numpy.testing.assert_allclose((cupy.asarray(a.astype(wide)) @ v).get(), (v * w[:, None, :]).get(), atol=1e-5)


@pytest.mark.parametrize('name', ['eig', 'eigvals', 'eigh', 'svd'])
@pytest.mark.parametrize('value', [numpy.nan, numpy.inf, 1j * numpy.inf])
def test_elements_that_are_not_finite(name, value):
    a = cupy.full((3, 3), value)
    with pytest.raises(numpy.linalg.LinAlgError):
        getattr(cupy.linalg, name)(a)


@pytest.mark.parametrize('dtype', DTYPES)
def test_lu(dtype):
    a, b = numbers((5, 5), dtype), numbers((5, 2), dtype, 1)
    packed = linalg.lu_factor(cupy.asarray(a))
    for trans, given in ((0, a), (1, a.T), (2, a.conj().T)):
        close(linalg.lu_solve(packed, cupy.asarray(b), trans), numpy.linalg.solve(given, b), dtype, 10)
        close(linalg.lu_solve(packed, cupy.asarray(b[:, 0]), trans), numpy.linalg.solve(given, b[:, 0]), dtype, 10)
    p, low, up = linalg.lu(cupy.asarray(a))
    assert p.dtype == REAL[dtype] and (cupy.tril(low) == low).all() and (cupy.triu(up) == up).all()
    close(p @ low @ up, a, dtype)
    close(cupy.matmul(*linalg.lu(cupy.asarray(a), permute_l=True)), a, dtype)


@pytest.mark.parametrize('dtype', DTYPES)
@pytest.mark.parametrize('lower', [True, False])
@pytest.mark.parametrize('trans', [0, 1, 2, 'N', 'T', 'C'])
def test_solve_triangular(trans, lower, dtype):
    a, b = numbers((4, 4), dtype) + 3 * numpy.eye(4, dtype=dtype), numbers((4, 3), dtype, 1)
    triangle = numpy.tril(a) if lower else numpy.triu(a)
    turned = {0: triangle, 1: triangle.T, 2: triangle.conj().T}[{'N': 0, 'T': 1, 'C': 2}.get(trans, trans)]
    close(linalg.solve_triangular(cupy.asarray(a), cupy.asarray(b), trans, lower), numpy.linalg.solve(turned, b), dtype, 10)


def test_expm():
    a = numpy.array([[0, -1j], [-1j, 0]])  # the cosine of a turn, and -i times its sine
    close(cupyx.scipy.linalg.expm(cupy.asarray(a)), numpy.cos(1) * numpy.eye(2) - 1j * numpy.sin(1) * numpy.array([[0, 1], [1, 0]]), 'D')
