"""cupy.linalg"""

from types import SimpleNamespace

from numpy.linalg import LinAlgError  # noqa: F401

from catenary import _core, _names
from catenary.cupy._functions import _given, einsum, tensordot  # noqa: F401

globals().update({name: getattr(_core.linalg, name) for name in dir(_core.linalg)
                  if not name.startswith('_') and name not in ('lu_factor', 'solve_triangular')})

_util = SimpleNamespace(stacked_identity=lambda shape, n, dtype: _core.broadcast_to(_core.eye(n, dtype=dtype), (*shape, n, n)))


def cond(x, p=None):
    """The condition number of matrices, of lists too."""
    return _core.linalg.cond(_given(x), p)


__getattr__ = _names.getter('cupy.linalg')
