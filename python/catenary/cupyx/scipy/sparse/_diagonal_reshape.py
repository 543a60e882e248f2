"""diagonal, setdiag, trace and reshape of sparse matrices."""

import math

import numpy

from catenary import _core
from catenary.cupy._array import asarray
from catenary.cupyx.scipy.sparse._sparse_utils import Sparse, checked_shape, index_dtype
from catenary.cupyx.scipy.sparse._one_dimensional import extents, one_axis, two_alone


class Places(Sparse):
    """Methods that depend on the indices of the elements."""

    def diagonal(self, k=0):
        """Returns the k-th diagonal, which is empty if it lies outside of the matrix."""
        two_alone(self, 'diagonal')
        at = _core.arange(max(self._diagonal_length(k), 0))
        return self.tocsr()._at(at - min(k, 0), at + max(k, 0))

    def _diagonal_length(self, k):
        rows, columns = self.shape
        return min(rows + min(k, 0), columns - max(k, 0))

    def setdiag(self, values, k=0):
        """Sets the k-th diagonal to a number, or its first elements to those of an array. Raises ValueError for a diagonal outside of the matrix."""
        two_alone(self, 'setdiag')
        length, values = self._diagonal_length(k), asarray(values)
        if values.ndim > 1:
            raise ValueError(f'setdiag: values must be 0-d or 1-d, given {values.ndim} axes')
        if k >= max(self.shape[1], 1) or -k >= max(self.shape[0], 1):
            raise ValueError('k exceeds matrix dimensions')
        if values.ndim and not values.size:
            return
        length = max(length, 0)  # empty matrices have nothing to set
        if values.ndim:
            length = min(length, values.size)
            values = values[:length]
        at = _core.arange(length, dtype='i')
        own = at - min(k, 0), at + max(k, 0)
        if self.format in ('csr', 'csc') and bool(_core.all(self._pattern()._at(*own))):  # as in SciPy, existing elements keep their position and dtype
            self[own] = values
            return
        rows, columns, data = self._elements()
        kept = (columns - rows != k) | (rows + min(k, 0) >= length)
        if values.ndim and self.format != 'dia':  # as in SciPy, numbers and the dia format keep the dtype
            data = data.astype(numpy.result_type(data.dtype, values.dtype), copy=False)
        values = _core.broadcast_to(values.astype(data.dtype), (length,))
        self._take(self._made(*(_core._concatenate(list(pair), 0) for pair in (
            (rows[kept], own[0]), (columns[kept], own[1]), (data[kept], values)))))

    def reshape(self, *shape, order='C'):
        """Returns the elements in C or Fortran order with another shape. Another number of dimensions gives a coo array. Raises ValueError if the
        size differs or the class does not support the dimensions."""
        shape = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, numpy.integer)) else shape)
        count = math.prod(self.shape)
        checked_shape([max(n, 0) for n in shape], self._classes[True, 'coo']._allow_nd if self._is_array else (2,))
        rest = math.prod(n for n in shape if n != -1)
        if shape.count(-1) == 1 and rest > 0:
            shape[shape.index(-1)] = count // rest
        if min(shape) < 0 or math.prod(shape) != count or order not in ('C', 'F'):
            raise ValueError(f'cannot reshape a matrix of shape {self.shape} into {tuple(shape)} in order {order!r}')
        was, to = self._extents, checked_shape(extents(shape))
        rows, columns, data = self._elements()
        outer, inner, old, new = (rows, columns, was[1], to[1]) if order == 'C' else (columns, rows, was[0], to[0])
        at = outer.astype('l') * old + inner
        index = index_dtype(to, rows)
        parts = (at // max(new, 1)).astype(index, copy=False), (at % max(new, 1)).astype(index, copy=False)
        made = self._kind('coo')._of_places(*(parts if order == 'C' else parts[::-1]), data, to)
        if len(shape) == 1:
            made = one_axis(made)
        return made.asformat(self.format if len(shape) == self.ndim else 'coo')

    def trace(self, offset=0):
        """Returns the sum of a diagonal."""
        return self.diagonal(offset).sum()
