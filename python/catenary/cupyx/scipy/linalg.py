"""cupyx.scipy.linalg"""

import math

import numpy

from catenary import _core, _wheel
from catenary.cupy._arguments import given as _given
from catenary.cupy._array import asarray_chkfinite


def lu_factor(a, overwrite_a=False, check_finite=True):
    """Returns (lu, piv): the LU factors in one matrix, without the unit diagonal, and the row with which each row was swapped. Raises ValueError for
    infinities or NaN, unless check_finite is False."""
    a = asarray_chkfinite(a) if check_finite else _given(a)
    if a.ndim != 2 or a.shape[0] == a.shape[1]:
        return _core.linalg.lu_factor(a)
    (m, n), side = a.shape, max(a.shape)
    square = _core.zeros((side, side), a.dtype)  # padding with zeros, which are never pivots, does not change the factors
    square[:m, :n] = a
    packed, piv = _core.linalg.lu_factor(square)
    return _core._copy(packed[:m, :n], 'C'), _core._copy(piv[:min(m, n)], 'C')


def _order(piv, n):
    """Returns the row permutation of a sequence of swaps."""
    order = list(range(n))
    for k, other in enumerate(piv.get().tolist()):
        order[k], order[other] = order[other], order[k]
    return order


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """Solves a x = b by the result of lu_factor(a), or a.T x = b with trans=1, or a.conj().T x = b with trans=2. Raises ValueError if the shapes do
    not fit."""
    lu, piv = lu_and_piv
    b = asarray_chkfinite(b) if check_finite else _given(b)
    if lu.ndim != 2 or lu.shape[0] != lu.shape[1] or b.shape[:1] != lu.shape[:1]:
        raise ValueError(f'incompatible dimensions: lu has shape {lu.shape}, b {b.shape}')
    if trans not in (0, 1, 2):
        raise ValueError('unknown trans: expected 0, 1 or 2, not %r' % (trans,))
    order = _order(piv, lu.shape[0])
    if trans == 0:
        half = _core.linalg.solve_triangular(lu, b[order], 0, True, True)
        return _core.linalg.solve_triangular(lu, half, 0, False, False)
    half = _core.linalg.solve_triangular(lu, b, trans, False, False)
    found = _core.linalg.solve_triangular(lu, half, trans, True, True)
    back = [0] * len(order)
    for k, row in enumerate(order):
        back[row] = k
    return found[back]


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """Returns (p, l, u) with a = p @ l @ u, or with permute_l (p @ l, u)."""
    packed, piv = lu_factor(a, check_finite=check_finite)
    (m, n), real = packed.shape, packed.real.dtype
    lower, upper = _core.tril(packed, -1)[:, :min(m, n)] + _core.eye(m, min(m, n), dtype=real), _core.triu(packed)[:min(m, n)]
    p = _core.eye(m, dtype=real)[_order(piv, m)].T
    return (p @ lower, upper) if permute_l else (p, lower, upper)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=False):
    """Solves a x = b for a triangular matrix, of which only one triangle is read; a.T x = b with trans 1 or 'T', a.conj().T x = b with 2 or 'C'.

    Stacked matrices take stacked `b`: one vector per matrix, or one for all. `b` is not overwritten. Raises ValueError for infinities or NaN if
    check_finite is true.
    """
    if check_finite:
        a, b = asarray_chkfinite(a), asarray_chkfinite(b)
    if a.ndim > 2 and (b.ndim == 1 or b.shape == a.shape[:-1]):
        return _core.linalg.solve_triangular(a, b[..., None], trans, lower, unit_diagonal)[..., 0]
    return _core.linalg.solve_triangular(a, b, trans, lower, unit_diagonal)


def block_diag(*arrs):
    """Returns a block-diagonal matrix."""
    parts = [x.reshape((1,) * (2 - x.ndim) + x.shape) for x in map(_given, arrs or ([],))]
    if any(x.ndim > 2 for x in parts):
        raise ValueError('arguments in the following positions have dimension greater than 2: %s' % [
            k for k, x in enumerate(parts) if x.ndim > 2])
    out = _core.zeros((sum(x.shape[0] for x in parts), sum(x.shape[1] for x in parts)), numpy.result_type(*(x.dtype for x in parts)))
    row = column = 0
    for x in parts:
        out[row:row + x.shape[0], column:column + x.shape[1]] = x
        row, column = row + x.shape[0], column + x.shape[1]
    return out


def toeplitz(c, r=None):
    """Returns the matrix with constant diagonals whose first column is c and whose first row is r, by default the conjugate of c."""
    c = _given(c).ravel()
    r = c.conj() if r is None else _given(r).ravel()
    values = _core._concatenate([c[::-1], r[1:]], 0)
    return values[_core.arange(c.size - 1, -1, -1)[:, None] + _core.arange(r.size)]


def hankel(c, r=None):
    """Returns the matrix with constant antidiagonals whose first column is c and whose last row is r, by default zeros."""
    c = _given(c).ravel()
    r = _core.zeros_like(c) if r is None else _given(r).ravel()
    values = _core._concatenate([c, r[1:]], 0)
    return values[_core.arange(c.size)[:, None] + _core.arange(r.size)]


def circulant(c):
    """Returns the circulant matrix with first column c."""
    c = _given(c).ravel()
    return c[(_core.arange(c.size)[:, None] - _core.arange(c.size)) % max(c.size, 1)]


def hilbert(n):
    """Returns the matrix with elements 1 / (i + j + 1)."""
    values = _core.arange(1, 2 * n, dtype='d')
    return hankel(1 / values[:n], 1 / values[n - 1:])


def hadamard(n, dtype=int):
    """Returns a Hadamard matrix. Raises ValueError unless n is a power of 2."""
    if n < 1 or n & n - 1:
        raise ValueError('hadamard: n must be a power of 2, not %r' % (n,))
    made = _core.ones((1, 1), dtype)
    while made.shape[0] < n:
        made = _core._concatenate([_core._concatenate([made, made], 1), _core._concatenate([made, -made], 1)], 0)
    return made


def companion(a):
    """Returns the companion matrix of a polynomial, highest power first. Raises ValueError for fewer than two coefficients or a leading 0."""
    a = _given(a)
    if a.ndim != 1 or a.size < 2:
        raise ValueError('`a` must be one-dimensional, with at least two elements, given shape %s' % (a.shape,))
    if not bool(a[0]):
        raise ValueError('The first coefficient in `a` must not be zero.')
    row = -a[1:] / a[0]
    made = _core.zeros((row.size, row.size), row.dtype)
    made[0] = row
    made[1:, :-1] += _core.eye(row.size - 1, dtype=row.dtype)
    return made


def kron(a, b):
    """Returns the Kronecker product."""
    return _core.kron(_given(a), _given(b))


def khatri_rao(a, b):
    """Returns the column-wise Kronecker product of two matrices. Raises ValueError for different numbers of columns, and its subclass LinAlgError for
    arrays that are not matrices."""
    a, b = _given(a), _given(b)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise (ValueError if a.ndim == b.ndim == 2 else numpy.linalg.LinAlgError)('khatri_rao: expected matrices with as many columns, given shapes %s and %s' % (a.shape, b.shape))
    return (a[:, None, :] * b[None, :, :]).reshape(-1, a.shape[1])


_PADE = (17643225600., 8821612800., 2075673600., 302702400., 30270240., 2162160., 110880., 3960., 90., 1.)  # coefficients of order 9


def expm(a):
    """Returns the exponential of a square matrix by scaling and squaring with a Padé approximant of order 9."""
    a = _given(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError('expm: expected a square matrix, given shape %s' % (a.shape,))
    a = a.astype('d') if a.dtype.kind not in 'fc' or a.dtype == 'e' else a
    if a.size == 0:
        return a
    norm = float(_core.max(_core.sum(_core.ufuncs['absolute'](a), axis=0)))
    if not math.isfinite(norm):
        raise ValueError('expm: the matrix has infinite values or NaN')
    halvings = max(0, math.ceil(math.log2(norm))) if norm > 0 else 0
    a = a * 0.5 ** halvings
    square, one = a @ a, _core.eye(a.shape[0], dtype=a.dtype)
    even, odd, power = _PADE[0] * one, _PADE[1] * one, one
    for k in range(2, 10, 2):
        power = power @ square
        even, odd = even + _PADE[k] * power, odd + _PADE[k + 1] * power
    odd = a @ odd
    made = _core.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        made = made @ made
    return made


__getattr__ = _wheel.getter('cupyx.scipy.linalg')
