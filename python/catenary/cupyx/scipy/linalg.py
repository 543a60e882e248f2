"""cupyx.scipy.linalg"""

from catenary import _core

lu_factor = _core.linalg.lu_factor
solve_triangular = _core.linalg.solve_triangular
