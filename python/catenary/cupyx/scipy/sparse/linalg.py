"""cupyx.scipy.sparse.linalg: norms, the method of conjugate gradients, and solutions by the whole matrix."""

import math

import numpy

from catenary import _core, _wheel
from catenary.cupy._functions import _given


def norm(x, ord=None, axis=None):
    """A sparse matrix' norm: Frobenius', or with ord 1 or infinity the largest sum of a column or a row. Raises NotImplementedError for others."""
    if axis is not None or ord not in (None, 'fro', 1, math.inf):
        raise NotImplementedError(f'norm: ord={ord!r} and axis={axis!r} are not supported; expected Frobenius\', 1 or infinity of the whole matrix')
    if ord in (1, math.inf):
        return _core.max(abs(x).sum(axis=0 if ord == 1 else 1))
    data = x.tocsr().data
    squares = data * data if data.dtype.kind != 'c' else data.real * data.real + data.imag * data.imag
    return _core.ufuncs['sqrt'](_core.sum(squares))


def _product(a, b):
    """The sum of products with the conjugates of the first."""
    return _core.vdot(a, b) if a.dtype.kind == 'c' else _core.dot(a, b)


def cg(A, b, x0=None, *, tol=1e-5, rtol=None, atol=0.0, maxiter=None, M=None, callback=None):
    """x of A x = b by conjugate gradients, for a symmetric (or Hermitian) positive definite A, a matrix or what has `@` with a vector: (x, 0), or (x, the number
    of steps) where these were not enough. M is near to the inverse of A."""
    b = _given(b)
    if b.ndim > 1 and b.shape[1:] != (1,):
        raise ValueError(f'b has incompatible dimensions: {b.shape}')
    if A.shape != (b.shape[0],) * 2:
        raise ValueError(f'A and b have incompatible dimensions: {A.shape} and {b.shape}')
    b = b.ravel()
    kind = numpy.result_type(A.dtype, b.dtype)
    b = b.astype(kind if kind.kind in 'fc' else 'd')
    x = _core.zeros_like(b) if x0 is None else _core._copy(_given(x0).ravel().astype(b.dtype), 'C')
    limit = max(float(atol), float(tol if rtol is None else rtol) * math.sqrt(float(_product(b, b).real)))
    r = b - A @ x
    z = r if M is None else M @ r
    p, rz = z, _product(r, z)
    for step in range(10 * b.size if maxiter is None else maxiter):
        if math.sqrt(float(_product(r, r).real)) <= limit:
            return x, 0
        q = A @ p
        alpha = rz / _product(p, q)
        x, r = _core._copy(x + alpha * p, 'C'), _core._copy(r - alpha * q, 'C')
        z = r if M is None else M @ r
        after = _product(r, z)
        p, rz = _core._copy(z + after / rz * p, 'C'), after
        if callback is not None:
            callback(x)
    done = math.sqrt(float(_product(r, r).real)) <= limit
    return x, 0 if done else 10 * b.size if maxiter is None else maxiter


def spsolve(A, b, permc_spec=None, use_umfpack=None):
    """x of A x = b for a square matrix, by the factors of all its elements: it takes the memory and the time of an array of that shape. Raises
    LinAlgError for a singular one."""
    b = b.toarray() if hasattr(b, 'toarray') else _given(b)
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f'matrix must be square (has shape {A.shape})')
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError(f'matrix - rhs dimension mismatch ({A.shape} - {b.shape[0] if b.ndim else b.shape})')
    kind = numpy.result_type(A.dtype, b.dtype)
    kind = kind if kind.char in 'fdFD' else numpy.dtype('d')
    return _core.linalg.solve(A.toarray().astype(kind, copy=False), b.astype(kind, copy=False))


__getattr__ = _wheel.getter('cupyx.scipy.sparse.linalg')
