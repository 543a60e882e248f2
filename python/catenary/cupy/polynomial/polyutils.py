"""cupy.polynomial.polyutils: checks of the arguments of polynomial functions."""

import numpy

from catenary import _core
from catenary.cupy._array import asnumpy
from catenary.cupy._arguments import given as _given


def trimseq(seq):
    """Returns the coefficients without the zeros of the highest powers, one at least: a view. Raises ValueError for several axes."""
    if len(seq) == 0:
        return seq
    if numpy.ndim(seq) > 1:
        raise ValueError(f'trimseq: expected coefficients with one axis, got shape {numpy.shape(seq)}')
    found = numpy.flatnonzero(asnumpy(seq))
    return seq[:int(found[-1]) + 1 if found.size else 1]


def as_series(alist, trim=True):
    """Returns coefficients as 1-d arrays of one floating dtype. Raises ValueError for an empty array or more axes."""
    arrays = [_given(a).reshape(-1) if _given(a).ndim == 0 else _given(a) for a in alist]
    if any(a.ndim != 1 for a in arrays):
        raise ValueError('Coefficient array is not 1-d')
    if any(a.size == 0 for a in arrays):
        raise ValueError('Coefficient array is empty')
    arrays = [trimseq(a) for a in arrays] if trim else arrays
    kinds = [a.dtype for a in arrays]
    if any(kind == bool for kind in kinds):
        raise ValueError('Coefficient arrays have no common type')
    dtype = numpy.result_type(*kinds)
    dtype = dtype if dtype.kind in 'fc' else numpy.dtype('d')
    return [a.astype(dtype) for a in arrays]


def trimcoef(c, tol=0):
    """Removes the highest coefficients of at most tol, but keeps one. Raises ValueError for tol < 0."""
    if tol < 0:
        raise ValueError('tol must be non-negative')
    c, = as_series([c])
    found = numpy.flatnonzero(numpy.abs(c.get()) > tol)
    return _core._copy(c[:int(found[-1]) + 1] if found.size else c[:1] * 0, 'C')
