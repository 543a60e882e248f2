"""Solvers, norms, eigenvalues and operators of cupyx.scipy.sparse.linalg, compared with NumPy's for dense matrices."""

import math

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import sparse
from catenary.cupyx.scipy.sparse import linalg
from compare import same
from sparse_matrices import A, G, S, V, of, steep

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]


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


def test_solutions_by_the_whole_matrix():
    a = numpy.diag([4., 3, 2, 5]) + numpy.eye(4, k=1) - numpy.eye(4, k=-2)
    for b in (numpy.arange(4.), numpy.arange(8.).reshape(4, 2), numpy.arange(4) * 1j):
        for made in (sparse.csr_matrix, sparse.csc_matrix):
            x = sparse.linalg.spsolve(made(cupy.asarray(a)), cupy.asarray(b))
            numpy.testing.assert_allclose(x.get(), numpy.linalg.solve(a, b), rtol=1e-12, atol=1e-14)
            assert x.flags.f_contiguous
    assert sparse.linalg.spsolve(sparse.csr_matrix(cupy.asarray(a.astype('f'))), cupy.ones(4, 'f')).dtype == 'f'
    with pytest.raises(ValueError, match='matrix must be square'):
        sparse.linalg.spsolve(sparse.csr_matrix(cupy.ones((2, 3))), cupy.ones(2))
    with pytest.raises(ValueError, match='dimension mismatch'):
        sparse.linalg.spsolve(sparse.csr_matrix(cupy.eye(3)), cupy.ones(2))


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


def test_operators_that_set_their_shape_themselves():
    class Own(linalg.LinearOperator):
        def __init__(self):
            self.shape, self.dtype = (5, 7), numpy.dtype('d')

        def _matvec(self, v):
            return cupy.asarray(A) @ v
    same(Own() @ cupy.asarray(V), A @ V)


@pytest.mark.parametrize('statement, error, says', [
    ('linalg.gmres(cupy.ones((2, 3)), cupy.ones(3))', ValueError, 'square'), ('linalg.gmres(cupy.ones((2, 2)), cupy.ones(3))', ValueError, 'b has incompatible dimensions'),
    ('linalg.gmres(cupy.ones((2, 2), int), cupy.ones(2))', TypeError, 'unsupported dtype'), ("linalg.gmres(cupy.eye(2), cupy.ones(2), callback_type='q')", ValueError, 'q'),
    ('linalg.bicgstab(cupy.eye(2), cupy.ones(2), x0=cupy.ones(3))', ValueError, 'x0 has'), ('linalg.cgs(cupy.eye(2), cupy.ones(2), M=cupy.eye(3))', ValueError, 'preconditioner'),
    ('linalg.lsqr(cupy.ones((3, 2)), cupy.ones(2))', ValueError, 'b must be'), ('linalg.lsqr(cupy.eye(2), cupy.ones(2), show=True)', NotImplementedError, 'show'), ('linalg.eigsh(cupy.ones((2, 3)))', ValueError, 'square'),
    ('linalg.eigsh(cupy.eye(3), 3)', ValueError, 'smaller than 3'), ('linalg.eigsh(cupy.eye(3), 0)', ValueError, 'greater than 0'), ("linalg.eigsh(cupy.eye(3), 1, which='SM')", ValueError, 'SM'),
    ('linalg.eigsh(cupy.eye(3, dtype=int), 1)', TypeError, 'unsupported dtype'), ("linalg.svds(cupy.eye(3), 1, which='SM')", ValueError, 'SM'), ('linalg.svds(cupy.ones(3), 1)', ValueError, 'expected a matrix'),
    ('linalg.aslinearoperator(cupy.eye(2)) @ linalg.aslinearoperator(cupy.eye(3))', ValueError, 'shape mismatch'), ('linalg.aslinearoperator(cupy.eye(2)) @ 2', ValueError, 'Scalar'), ('linalg.LinearOperator((2, 2, 2), abs)', ValueError, '2-d')])
def test_invalid_arguments_of_solvers_raise(statement, error, says):
    with pytest.raises(error) as caught:
        eval(statement, {'linalg': linalg, 'cupy': cupy})
    assert says in str(caught.value), caught.value
