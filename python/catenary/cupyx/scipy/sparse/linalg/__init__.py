"""cupyx.scipy.sparse.linalg: norms, operators, iterative and direct solvers, eigenvalues and singular values."""

import math

import numpy

from catenary import _core, _wheel
from catenary.cupy._arguments import given as _given
from catenary.cupyx.scipy.sparse.linalg._interface import LinearOperator, aslinearoperator  # noqa: F401
from catenary.cupyx.scipy.sparse.linalg._krylov import bicgstab, cg, cgs, gmres, lsqr  # noqa: F401
from catenary.cupyx.scipy.sparse._sparse_utils import checked_axis
from catenary.cupyx.scipy.sparse._spbase import _spbase
from catenary.cupyx.scipy.sparse.linalg._lanczos import eigsh, svds  # noqa: F401


def norm(x, ord=None, axis=None):
    """Returns a norm of a sparse matrix: Frobenius', or with ord 1, -1, inf or -inf the largest or smallest absolute sum of columns or rows.

    With an axis it returns the norms of the vectors along it, for any order. Raises NotImplementedError for norms by singular values and
    ValueError for other orders or axes.
    """
    if not isinstance(x, _spbase):
        raise TypeError('input is not sparse. use cupy.linalg.norm')
    if x.ndim == 1:  # NumPy's norm of a vector
        checked_axis(axis, 1)
        return _norms_of_vectors(x.two_axes(), None if axis is None and ord in ('f', 'fro') else ord, 1).reshape(())
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else None if axis is None else (axis,)
    if axes is not None and (len(axes) > 2 or any(not isinstance(k, (int, numpy.integer)) for k in axes)):
        raise TypeError(f"'axis' must be None, an integer or a tuple of integers, not {axis!r}")
    if axes is not None and any(not -2 <= k < 2 for k in axes):
        raise ValueError(f'Invalid axis {axis} for an array with shape {x.shape}')
    if axes is not None and len(axes) == 1:
        return _norms_of_vectors(x, ord, axes[0] % 2)
    first, second = (0, 1) if axes is None else (k % 2 for k in axes)
    if first == second:
        raise ValueError('Duplicate axes given.')
    if ord in (2, -2):
        raise NotImplementedError(f'norm: ord={ord} needs singular values: cupy.linalg.norm(x.toarray(), {ord})')
    if ord in (1, -1, math.inf, -math.inf):
        sums = abs(x).sum(axis=first if abs(ord) == 1 else second)
        return _core.max(sums) if ord > 0 else _core.min(sums)
    if ord not in (None, 'f', 'fro'):
        raise ValueError('Invalid norm order.')
    return _core.ufuncs['sqrt'](_core.sum(_squares(x.tocsr().data)))


def _squares(data):
    return data * data if data.dtype.kind != 'c' else data.real * data.real + data.imag * data.imag


def _norms_of_vectors(x, ord, axis):
    if ord in (math.inf, -math.inf):
        magnitudes = abs(x)
        return (magnitudes.max(axis) if ord > 0 else magnitudes.min(axis)).toarray().ravel()
    if ord == 0:
        return (x != 0).sum(axis).ravel()
    if ord in (None, 2):
        own = x.tocsr()
        return _core.ufuncs['sqrt'](own._with(_squares(own.data)).sum(axis)).ravel()
    if ord == 1:
        return abs(x).sum(axis).ravel()
    if isinstance(ord, str):
        raise ValueError('Invalid norm order for vectors.')
    magnitudes = abs(x.tocsr())  # negative orders use the explicit elements only, as SciPy's
    return (magnitudes._with(magnitudes.data ** ord).sum(axis) ** (1 / ord)).ravel()


def spsolve(A, b, permc_spec=None, use_umfpack=None):
    """Solves A x = b for a square matrix by dense factors, which need the memory and time of a dense matrix.

    As in SciPy, a matrix b gives a result in Fortran order. Raises LinAlgError for a singular matrix.
    """
    b = b.toarray() if hasattr(b, 'toarray') else _given(b)
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f'matrix must be square (has shape {A.shape})')
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError(f'matrix - rhs dimension mismatch ({A.shape} - {b.shape[0] if b.ndim else b.shape})')
    kind = numpy.result_type(A.dtype, b.dtype)
    kind = kind if kind.char in 'fdFD' else numpy.dtype('d')
    x = _core.linalg.solve(A.toarray().astype(kind, copy=False), b.astype(kind, copy=False))
    return _core._contiguous(x, True) if x.ndim == 2 else x


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
    """The dense factors of a matrix from splu."""

    def __init__(self, A):
        from catenary.cupyx.scipy.linalg import lu_factor
        self.shape, self.nnz = A.shape, A.shape[0] * A.shape[1]
        self._packed = lu_factor(A.toarray(), check_finite=False)

    def solve(self, rhs, trans='N'):
        """Solves A x = rhs, or with 'T' A.T x = rhs, or with 'H' A.H x = rhs."""
        from catenary.cupyx.scipy.linalg import lu_solve
        _fits(rhs, self.shape[0], 'SuperLU.solve')
        if trans not in ('N', 'T', 'H'):
            raise ValueError(f"trans must be 'N', 'T' or 'H' (actual: {trans!r})")
        return lu_solve(self._packed, rhs.astype(numpy.result_type(self._packed[0].dtype, rhs.dtype), copy=False), 'NTH'.index(trans), check_finite=False)


def splu(A, permc_spec=None, diag_pivot_thresh=None, relax=None, panel_size=None, options=None):
    """Factorizes a square sparse matrix. The result's solve(b) returns x of A x = b.

    The factors are dense and need the memory and time of a dense matrix. The options of SuperLU are ignored. Raises ValueError if the matrix is
    not square.
    """
    _square(A, 'splu')
    return SuperLU(A)


def factorized(A):
    """Returns a function that solves A x = b for a given b, based on splu."""
    return splu(A).solve


def spsolve_triangular(A, b, lower=True, overwrite_A=False, overwrite_b=False, unit_diagonal=False):
    """Solves A x = b for a lower or upper triangular A, of which the other triangle is not read. The result is dense. Raises ValueError if the shapes
    do not fit."""
    _square(A, 'spsolve_triangular')
    _fits(b, A.shape[0], 'spsolve_triangular')
    kind = numpy.result_type(A.dtype, b.dtype)
    return _core.linalg.solve_triangular(A.toarray().astype(kind, copy=False), b.astype(kind, copy=False), 0, lower, unit_diagonal)


__getattr__ = _wheel.getter('cupyx.scipy.sparse.linalg')
