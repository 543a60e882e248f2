"""Sums, means, extrema and counts of sparse matrices."""

import math

import numpy

from catenary import _core
from catenary.cupyx.scipy.sparse._sparse_utils import ABSENT, Sparse, checked_axis, merged


class Reductions(Sparse):
    """Reductions over all elements or along an axis."""

    def sum(self, axis=None, dtype=None, out=None):
        """Returns the sum of all elements or along an axis. Along an axis, matrices give a 2-d ndarray with one row or column, and arrays a 1-d
        ndarray."""
        axis = checked_axis(axis, self.ndim)
        if axis is None:
            made = _core.sum(self._elements_to_count()[2] if self.dtype == bool else self.data, dtype=dtype)
        else:
            own, keep = _core.sum(_core.zeros((1,), self.dtype)).dtype, 1 - axis
            dtype = own if dtype is None else numpy.dtype(dtype)
            made = _core.zeros((self.shape[keep],), numpy.result_type(own, dtype))
            if self.data.size:
                rows, columns, data = self._elements_to_count()
                _core.scatter_add(made, columns if keep else rows, data.astype(made.dtype, copy=False))
            made = made.astype(dtype, copy=False)
            made = made if self._is_array else made.reshape((1, -1) if keep else (-1, 1))
        if out is not None:
            if out.shape != made.shape:
                raise ValueError(f'out: an array of shape {made.shape} is expected, given {out.shape}')
            out[...] = made
            return out
        return made

    def mean(self, axis=None, dtype=None, out=None):
        """Returns the mean, in the form of sum."""
        axis, own = checked_axis(axis, self.ndim), numpy.dtype('d') if self.dtype.kind not in 'fc' else self.dtype
        count = math.prod(self.shape) if axis is None else self.shape[axis]
        made = ((self if self.dtype == own else self.copy().astype(own)) * (1 / count)).sum(axis, out=out)  # computed in the matrix's own dtype, as SciPy does
        return made if dtype is None or out is not None else made.astype(dtype, copy=False)

    def count_nonzero(self, axis=None):
        """Counts the non-zero elements: all, per column (axis 0) or per row (axis 1)."""
        own = self.tocoo(copy=True)
        own.sum_duplicates()
        own.eliminate_zeros()
        return own.getnnz(axis) if axis is None else self._counts(own.getnnz(axis), axis)

    def _extremum(self, function, axis, out, explicit):
        if out is not None:
            raise NotImplementedError(ABSENT % 'out= of max and min')
        axis = checked_axis(axis, self.ndim)
        if axis is not None and self.dtype.kind in 'iuf' and self.dtype.itemsize >= 4 and self.shape[axis]:
            return self._extremum_along(function is _core.max, axis, explicit)
        dense, keep = self.toarray(), axis is not None and not self._is_array
        if dense.size == 0 and (axis is None or dense.shape[axis] == 0):
            raise ValueError('zero-size array to reduction operation')
        if not explicit:
            found = function(dense, axis=axis, keepdims=keep)
        elif dense.dtype.kind == 'c':
            raise NotImplementedError(ABSENT % 'explicit= for complex numbers')
        else:
            kept = self._pattern().toarray()
            limit = _limit(dense.dtype, function is _core.max)
            found = function(_core.where(kept, dense, _core.full((), limit, dense.dtype)), axis=axis, keepdims=keep)
            found = _core.where(_core.any(kept, axis=axis, keepdims=keep), found, _core.zeros((), found.dtype))
        return found if axis is None else self._kind('coo')(found)

    def _extremum_along(self, largest, axis, explicit):
        """Returns max() or min() of real numbers along an axis, without a dense array."""
        keep, made = 1 - axis, None
        if self.format in ('csr', 'csc'):
            made = _core._csr_extrema(self.indptr, self.indices, self.data, self._extents[1 - self._major], keep != self._major, largest, explicit)
        made = self._merged_extremum(largest, axis, explicit) if made is None else made
        return self._kind('coo')(made if self._is_array else made.reshape((1, -1) if keep else (-1, 1)))

    def _merged_extremum(self, largest, axis, explicit):
        rows, columns, data = merged(*self._elements(), self._extents)
        keep = 1 - axis
        places, extent = columns if keep else rows, self.shape[keep]
        counts = _core.bincount(places, None, extent)[:extent]
        made = _core.full((extent,), _limit(self.dtype, largest), self.dtype)
        if data.size:
            (_core.scatter_max if largest else _core.scatter_min)(made, places, data)
        zero = _core.zeros((), self.dtype)
        if explicit:
            return _core.where(counts > 0, made, zero)
        return _core.where(counts < self.shape[axis], _core.ufuncs['maximum' if largest else 'minimum'](made, zero), made)

    def max(self, axis=None, out=None, *, explicit=False):
        """Returns the largest element, or along an axis a coo matrix with one row or column, or a 1-d coo array.

        Implicit zeros count unless `explicit` is true, in which case empty rows or columns give 0.
        """
        return self._extremum(_core.max, axis, out, explicit)

    def min(self, axis=None, out=None, *, explicit=False):
        """Returns the smallest element, in the form of max."""
        return self._extremum(_core.min, axis, out, explicit)

    def argmax(self, axis=None, out=None):
        """Returns the index of the first largest element, in the flattened matrix or along an axis."""
        return self._place_of(_core.argmax, axis, out)

    def argmin(self, axis=None, out=None):
        """Returns the index of the first smallest element, as argmax."""
        return self._place_of(_core.argmin, axis, out)

    def _place_of(self, function, axis, out):
        if out is not None:
            raise NotImplementedError(ABSENT % 'out= of argmax and argmin')
        axis = checked_axis(axis, self.ndim)
        keep, dense = axis is not None and not self._is_array, self.toarray()
        found = function(dense, axis=axis, keepdims=keep)
        if dense.dtype.kind in 'fc':  # as in SciPy, the first implicit zero precedes NaN
            kept, odd = self._pattern().toarray(), dense != dense
            passed = _core.any(odd, axis=axis, keepdims=keep) & ~_core.all(kept, axis=axis, keepdims=keep)
            found = _core.where(passed, _core.argmin(kept.astype('b'), axis=axis, keepdims=keep), found)
        return found


def _limit(dtype, least):
    if dtype.kind == 'f':
        return -numpy.inf if least else numpy.inf
    if dtype == bool:
        return not least
    info = numpy.iinfo(dtype)
    return info.min if least else info.max
