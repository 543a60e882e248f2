"""cupyx.scipy.sparse.linalg: norms, operators, solutions by products with the matrix and by all of its elements, eigenvalues."""

import math

import numpy

from catenary import _core, _wheel
from catenary.cupy._functions import _given
from catenary.cupyx.scipy.sparse.linalg._interface import LinearOperator, aslinearoperator  # noqa: F401
from catenary.cupyx.scipy.sparse.linalg._krylov import bicgstab, cg, cgs, gmres, lsqr  # noqa: F401
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


__getattr__ = _wheel.getter('cupyx.scipy.sparse.linalg')
