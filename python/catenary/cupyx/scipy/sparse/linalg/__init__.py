"""cupyx.scipy.sparse.linalg: norms, operators, solutions by products with the matrix and by all of its elements, eigenvalues."""

import math

import numpy

from catenary import _core, _wheel
from catenary.cupy._functions import _given
from catenary.cupyx.scipy.sparse.linalg._interface import LinearOperator, aslinearoperator  # noqa: F401
from catenary.cupyx.scipy.sparse.linalg._krylov import bicgstab, cg, cgs, gmres, lsqr  # noqa: F401
from catenary.cupyx.scipy.sparse._matrix import _spbase
from catenary.cupyx.scipy.sparse.linalg._lanczos import eigsh, svds  # noqa: F401


def norm(x, ord=None, axis=None):
    """A sparse matrix' norm: Frobenius', or with ord 1 or infinity the largest sum of a column or a row. Raises NotImplementedError for others."""
    if axis is not None or ord not in (None, 'fro', 1, math.inf):
        raise NotImplementedError(f'norm: ord={ord!r} and axis={axis!r} are not supported; expected Frobenius\', 1 or infinity of the whole matrix')
    if ord in (1, math.inf):
        return _core.max(abs(x).sum(axis=0 if ord == 1 else 1))
    data = x.tocsr().data
    squares = data * data if data.dtype.kind != 'c' else data.real * data.real + data.imag * data.imag
    return _core.ufuncs['sqrt'](_core.sum(squares))


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


def _square(A, name):
    if not isinstance(A, _spbase):
        raise TypeError(f'{name}: A must be cupyx.scipy.sparse.spmatrix, not {type(A)}')
    if A.shape[0] != A.shape[1]:
        raise ValueError(f'{name}: A must be a square matrix (A.shape: {A.shape})')
    if A.dtype.char not in 'fdFD':
        raise TypeError(f'{name}: unsupported dtype (actual: {A.dtype})')


def _fits(b, n, name):
    if not isinstance(b, _core.ndarray):
        raise TypeError(f'{name}: expected a cupy.ndarray, not {type(b)}')
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise ValueError(f'{name}: expected a vector or a matrix of {n} rows, given shape {b.shape}')


class SuperLU:
    """The factors of a matrix, as splu makes them: an array of all elements of both."""

    def __init__(self, A):
        from catenary.cupyx.scipy.linalg import lu_factor
        self.shape, self.nnz = A.shape, A.shape[0] * A.shape[1]
        self._packed = lu_factor(A.toarray(), check_finite=False)

    def solve(self, rhs, trans='N'):
        """x of A x = rhs, of A.T x = rhs with 'T', of A.H x = rhs with 'H'."""
        from catenary.cupyx.scipy.linalg import lu_solve
        _fits(rhs, self.shape[0], 'SuperLU.solve')
        if trans not in ('N', 'T', 'H'):
            raise ValueError(f"trans must be 'N', 'T' or 'H' (actual: {trans!r})")
        return lu_solve(self._packed, rhs.astype(numpy.result_type(self._packed[0].dtype, rhs.dtype), copy=False), 'NTH'.index(trans), check_finite=False)


def splu(A, permc_spec=None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None):
    """The factors of a square sparse matrix, whose solve(b) gives x of A x = b. They take the memory and the time of an array of that shape; what the options say of SuperLU is
    nothing here. Raises ValueError for a matrix that is not square."""
    _square(A, 'splu')
    return SuperLU(A)


def factorized(A):
    """The function that gives x of A x = b for b, by splu."""
    return splu(A).solve


def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    """x of A x = b where one triangle of A alone is read, the lower or the upper one; as an array of all elements. Raises ValueError where extents do not fit."""
    _square(A, 'spsolve_triangular')
    _fits(b, A.shape[0], 'spsolve_triangular')
    kind = numpy.result_type(A.dtype, b.dtype)
    return _core.linalg.solve_triangular(A.toarray().astype(kind, copy=False), b.astype(kind, copy=False), 0, lower, unit_diagonal)


__getattr__ = _wheel.getter('cupyx.scipy.sparse.linalg')
