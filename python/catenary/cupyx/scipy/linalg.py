"""cupyx.scipy.linalg"""

from catenary import _core, _names
from catenary.cupy._array import asarray_chkfinite

lu_factor = _core.linalg.lu_factor


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=False):
    """x of a x = b, where only one triangle of `a` is read; of a.T x = b with trans 1 or 'T'. `b` is left as it is. Raises
    ValueError with check_finite where one of them has infinite values or NaN."""
    if check_finite:
        a, b = asarray_chkfinite(a), asarray_chkfinite(b)
    return _core.linalg.solve_triangular(a, b, trans, lower, unit_diagonal)


__getattr__ = _names.getter('cupyx.scipy.linalg')
