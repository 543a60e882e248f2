"""cupy.linalg"""

import functools as _functools
from types import SimpleNamespace as _SimpleNamespace

from numpy.linalg import LinAlgError  # noqa: F401

from catenary import _core, _names
from catenary.cupy._arguments import given as _given
from catenary.cupy._array import ndarray as _ndarray
from catenary.cupy._functions.products import matmul, tensordot  # noqa: F401
from catenary.cupy._array_api import matrix_transpose  # noqa: F401

globals().update({name: getattr(_core.linalg, name) for name in dir(_core.linalg)
                  if not name.startswith('_') and name not in ('lu_factor', 'solve_triangular')})



def _assert_arrays(*arrays):
    for a in arrays:
        if not isinstance(a, _ndarray):
            raise LinAlgError(f'cupy.linalg only supports cupy.ndarray, given {type(a)}')


def _assert_axes(count, least, *arrays):
    for a in arrays:
        if a.ndim < count if least else a.ndim != count:
            raise LinAlgError(f'{a.ndim}-dimensional array given. Array must be {"at least " if least else ""}{count}-dimensional')


def _assert_square(*arrays):
    _assert_axes(2, True, *arrays)
    for a in arrays:
        if a.shape[-1] != a.shape[-2]:
            raise LinAlgError('Last 2 dimensions of the array must be square')


# helpers that CuPy's own modules import
_util = _SimpleNamespace(stacked_identity=lambda shape, n, dtype: _core.broadcast_to(_core.eye(n, dtype=dtype), (*shape, n, n)),
                        _assert_cupy_array=_assert_arrays, _assert_2d=_functools.partial(_assert_axes, 2, False),
                        _assert_stacked_2d=_functools.partial(_assert_axes, 2, True), _assert_stacked_square=_assert_square)


def cross(x1, x2, /, *, axis=-1):
    """Returns the cross product of vectors with three elements along an axis."""
    x1, x2 = _given(x1), _given(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f'cross: both must have 3 elements along axis {axis}, given {x1.shape[axis]} and {x2.shape[axis]}')
    return _core.cross(x1, x2, axis=axis)


def cond(x, p=None):
    """Returns the condition number of matrices, of lists too."""
    return _core.linalg.cond(_given(x), p)


def pinv(a, rcond=None, hermitian=False):
    """Returns the pseudo-inverses of matrices. An array of `rcond` gives each matrix its own cutoff, as in numpy.linalg.pinv."""
    if not isinstance(rcond, _ndarray) or rcond.ndim == 0:
        return _core.linalg.pinv(a, rcond if rcond is None else float(rcond), hermitian)
    u, s, vh = _core.linalg.svd(a, full_matrices=False, compute_uv=True)
    large = s > rcond[..., None] * s[..., :1]  # singular values are in descending order
    inverse = _core.where(large, 1 / _core.where(large, s, 1), 0).astype(s.dtype)
    return _core.matmul(vh.conj().swapaxes(-1, -2), inverse[..., None] * u.conj().swapaxes(-1, -2))


def _as_complex(a):
    return a if a.dtype.kind == 'c' else a.astype('F' if a.dtype == 'f' else 'D')


def eig(a):
    """Returns the eigenvalues and eigenvectors of square matrices, always complex."""
    values, vectors = _core.linalg.eig(a)
    return _as_complex(values), _as_complex(vectors)


def eigvals(a):
    """Returns the eigenvalues of square matrices, always complex."""
    return _as_complex(_core.linalg.eigvals(a))


__getattr__ = _names.getter('cupy.linalg')
