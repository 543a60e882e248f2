"""Some eigenvalues and singular values by Lanczos' method: eigsh and svds."""

import math

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupyx.scipy.sparse.linalg._interface import aslinearoperator


def _checked(a, k, extent):
    if getattr(a, 'ndim', 0) != 2:
        raise ValueError(f'expected a matrix (shape: {getattr(a, "shape", None)})')
    if a.dtype.char not in 'fdFD':
        raise TypeError(f'unsupported dtype (actual: {a.dtype}): the matrix must be of floats')
    if k <= 0:
        raise ValueError(f'k must be greater than 0 (actual: {k})')
    if k >= extent:
        raise ValueError(f'k must be smaller than {extent} (actual: {k})')


def _orthogonal(w, basis):
    """Returns (w made orthogonal to the rows of the basis, its components along them on the host)."""
    total = 0
    for _ in range(2):  # the second pass removes rounding errors of the first
        own = _core.matmul(basis.conj(), w)
        w = _core._copy(w - _core.matmul(own, basis), 'C')
        total = total + own.get()
    return w, total


def _length(v):
    return math.sqrt(float(_core.vdot(v, v).real))


def _wanted(values, k, which):
    """Returns the indices of the k requested values, the most extreme first."""
    return {'LM': numpy.argsort(-abs(values), kind='stable'), 'LA': numpy.argsort(-values, kind='stable'), 'SA': numpy.argsort(values, kind='stable')}[which][:k]


def eigsh(a, k=6, *, which='LM', v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True):
    """Returns (k eigenvalues in ascending order, the matrix of eigenvectors) of a symmetric or Hermitian matrix or operator, or the eigenvalues
    alone.

    which is 'LM' (largest magnitude), 'LA' (largest) or 'SA' (smallest). Lanczos' method with ncv vectors restarts from the best ones until each
    residual is below tol times the largest eigenvalue (0: rounding), or for maxiter steps, by default 10 per row.
    """
    if getattr(a, 'ndim', 0) == 2 and a.shape[0] != a.shape[1]:
        raise ValueError(f'expected square matrix (shape: {a.shape})')
    _checked(a, k, a.shape[0] if getattr(a, 'ndim', 0) == 2 else 0)
    if which not in ('LM', 'LA', 'SA'):
        raise ValueError(f"which must be 'LM', 'LA' or 'SA' (actual: {which})")
    a = aslinearoperator(a)
    n, kind = a.shape[0], a.dtype
    size = min(max(2 * k + 1, k + 32) if ncv is None else max(int(ncv), k + 2), n)
    most = 10 * n if maxiter is None else maxiter
    random = numpy.random.default_rng(0)

    def unit(basis):
        """Returns a random vector orthogonal to the basis."""
        v = _core.from_numpy(random.normal(size=n), None).astype(kind)
        if basis is not None:
            v = _orthogonal(v, basis)[0]
        return _core._copy(v / _length(v), 'C')
    basis = _core.zeros((size + 1, n), kind)
    if v0 is None:
        basis[0] = unit(None)
    else:
        first = given(v0).ravel().astype(kind)
        basis[0] = first / _length(first)
    projected = numpy.zeros((size, size), numpy.result_type(kind, 'd'))
    done, begin, eps = 0, 0, float(numpy.finfo(kind).eps)
    while True:
        for j in range(begin, size):
            w, column = _orthogonal(a.matvec(basis[j]), basis[:j + 1])
            projected[:j + 1, j] = column
            projected[j, :j + 1] = column.conj()
            projected[j, j] = column[j].real
            beyond = _length(w)
            done += 1
            if beyond > 10 * eps * max(abs(projected[:j + 1, :j + 1]).max(), 1e-300):
                basis[j + 1] = w / beyond
            else:  # the vectors span an invariant subspace: continue with a random vector
                beyond = 0.0
                if j + 1 < n and j + 1 <= size:
                    basis[j + 1] = unit(basis[:j + 1]) if j + 1 < size else 0
            if j + 1 < size:
                projected[j + 1, j] = projected[j, j + 1] = beyond
        values, vectors = numpy.linalg.eigh(projected)
        best = _wanted(values, k, which)
        left = beyond * abs(vectors[-1])
        if (left[best] <= max(float(tol), eps) * abs(values).max()).all() or size == n or done >= most:
            break
        keep = _wanted(values, min(k + (size - k) // 2, size - 1), which)
        chosen = _core.from_numpy(numpy.ascontiguousarray(vectors[:, keep].T), None).astype(kind)
        last = _core._copy(basis[size], 'C') if beyond else None
        begin = len(keep)
        basis[:begin] = _core.matmul(chosen, basis[:size])
        basis[begin] = last if last is not None else unit(basis[:begin])
        projected[:] = 0
        projected[range(begin), range(begin)] = values[keep]
    best = best[numpy.argsort(values[best], kind='stable')]
    found = _core.from_numpy(values[best], None).astype(kind.char.lower())
    if not return_eigenvectors:
        return found
    chosen = _core.from_numpy(numpy.ascontiguousarray(vectors[:, best].T), None).astype(kind)
    return found, _core._copy(_core.matmul(chosen, basis[:size]).T, 'C')


def svds(a, k=6, *, ncv=None, tol=0, which='LM', maxiter=None, return_singular_vectors=True):
    """Returns (u, s, vt): the k largest singular values of a matrix or an operator in ascending order with their vectors, or the values alone. It
    calls eigsh with A^H A."""
    shape = getattr(a, 'shape', ())
    _checked(a, k, min(shape) if len(shape) == 2 else 0)
    if which != 'LM':
        raise ValueError(f"which must be 'LM' (actual: {which})")
    a = aslinearoperator(a)
    is_wide = a.shape[0] < a.shape[1]
    tall = a.H if is_wide else a
    _, right = eigsh(tall.H @ tall, k, which='LA', ncv=ncv, maxiter=maxiter, tol=tol)
    # singular values from the products with the vectors, as squares would lose half of the digits
    u, s, turned = _core.linalg.svd(tall.matmat(right), False)
    s = _core._copy(s[::-1], 'C')
    if not return_singular_vectors:
        return s
    u, vt = u[:, ::-1], (turned[::-1] @ right.conj().T)
    if is_wide:
        u, vt = vt.conj().T, u.conj().T
    return _core._copy(u, 'C'), s, _core._copy(vt, 'C')
