"""cupy.linalg"""

from numpy.linalg import LinAlgError  # noqa: F401

from catenary import _core
from catenary.cupy._functions import einsum, tensordot  # noqa: F401

globals().update({name: getattr(_core.linalg, name) for name in dir(_core.linalg)
                  if not name.startswith('_') and name not in ('lu_factor', 'solve_triangular')})
