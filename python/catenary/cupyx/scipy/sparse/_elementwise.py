"""Elementwise operations of sparse matrices, unary and binary."""

import math
import warnings

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy.sparse._sparse_utils import ABSENT, Sparse, SparseEfficiencyWarning, checked_shape, index_dtype, is_scalar, merged
from catenary.cupyx.scipy.sparse._one_dimensional import by_rows


class Elementwise(Sparse):
    """Sums, quotients, comparisons, powers and functions, and products by elements."""

    def __neg__(self):
        if self.dtype == bool:
            raise NotImplementedError('negating a boolean sparse array is not supported.')
        return self._with(-self.data)

    def __round__(self, ndigits=0):
        return self._with(self._deduped().round(ndigits))

    def __abs__(self):
        return self._with(_core.ufuncs['absolute'](self._deduped()))

    def power(self, n, dtype=None):
        """Raises the stored elements to the power n, which must be positive."""
        if not is_scalar(n) or isinstance(n, (complex, numpy.complexfloating)) or n <= 0:
            raise NotImplementedError(ABSENT % f'power({n!r}), whose result is not 0 where the matrix is 0,')
        data = self._deduped()
        return self._with((data if dtype is None else data.astype(dtype)) ** n)

    @by_rows
    def _sum_with(self, other, sign):
        if is_scalar(other):
            if other == 0:
                return self.copy()
            raise NotImplementedError('adding a nonzero scalar to a sparse matrix is not supported: toarray() first')
        if not isinstance(other, Sparse):
            dense = self.toarray()
            return dense + other if sign > 0 else dense - other
        _same_shape(self, other)
        made = self._rows_with(other, sign)
        if made is not None:
            return made
        (r, c, d), (s, e, f) = self._elements_to_count(), other._elements_to_count()
        dtype = numpy.result_type(d.dtype, f.dtype)
        f = f.astype(dtype)
        return self._computed(*(_core._concatenate(list(pair), 0) for pair in ((r, s), (c, e), (d.astype(dtype), f if sign > 0 else -f))), self.shape)

    def _rows_with(self, other, sign):
        """Adds a matrix of the same compressed format row by row, or returns None."""
        if self.format != other.format or self.format not in ('csr', 'csc'):
            return None
        dtype = numpy.result_type(self.dtype, other.dtype)
        parts = [(x.indptr, x.indices, x.data.astype(dtype, copy=False)) for x in (self, other)]
        made = _core._csr_added(*parts[0], *parts[1], self._extents[1 - self._major], sign < 0)
        return None if made is None else self._kind(self.format)._of_parts(*made, self.shape)

    def __add__(self, other):
        return self._sum_with(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._sum_with(other, -1)

    def __rsub__(self, other):
        if is_scalar(other):
            return (-self)._sum_with(other, 1)
        return other._sum_with(self, -1) if isinstance(other, Sparse) else other - self.toarray()

    @by_rows
    def multiply(self, other):
        """Multiplies elementwise by a number, an array or a matrix, with broadcasting.

        As in SciPy, the product with an array is coo, or dia for a dia matrix. The product with a 1x1 array has the matrix's format, csr for coo.
        It is an array if only the matrix is 1x1.
        """
        if is_scalar(other):
            return self._with(self.data * other)
        if isinstance(other, Sparse):
            shape = _core._broadcast_shapes([self.shape, other.shape])
            own = self._spread_to(shape)
            rows, columns, data = own._elements()
            at = (rows if other.shape[0] == shape[0] else rows * 0, columns if other.shape[1] == shape[1] else columns * 0)
            index = index_dtype(shape, rows, *other._elements()[:2])
            return self._computed(rows.astype(index, copy=False), columns.astype(index, copy=False), data * other.tocsr()._at(*at), shape)
        dense = given(other)
        shape = checked_shape(_core._broadcast_shapes([self.shape, dense.shape]))
        if dense.size == 1:
            made = self._with(self.data * dense.reshape(()))
            return made.tocsr() if self.format == 'coo' else made
        if math.prod(self.shape) == 1:
            return (self.sum() * dense).reshape(shape)  # in the sum's dtype, as in SciPy
        rows, columns, data = self._spread_to(shape).tocsr()._elements()
        made = self._kind('coo')._of_places(rows, columns, data * _core.broadcast_to(dense, shape)[rows, columns], shape)
        return made.asformat('dia' if self.format == 'dia' else 'coo')

    @by_rows
    def __truediv__(self, other):
        if is_scalar(other):
            return self._with((self.data.astype('d') if self.dtype == 'f' else self.data) / other)
        if isinstance(other, Sparse):  # float32 becomes float64 in both, as in SciPy
            return (self.astype('d') if self.dtype == 'f' else self).toarray() / other.toarray()
        return self.multiply(1 / given(other))

    def maximum(self, other):
        """Returns the elementwise maximum with a number, an array or a matrix. Two matrices broadcast."""
        return self._by_elements(other, 'maximum')

    def minimum(self, other):
        """Returns the elementwise minimum, as maximum."""
        return self._by_elements(other, 'minimum')

    @by_rows
    def _by_elements(self, other, name):
        """Applies a function to pairs of elements. The result is csr, or an array if the other operand is an array. A function that is not zero at
        (0, 0) gives a SparseEfficiencyWarning."""
        function = _core.ufuncs[name]
        if not isinstance(other, Sparse) and not is_scalar(other):
            return function(self.toarray(), given(other))
        csr = self._kind('csr')
        zero = numpy.zeros((), self.dtype)
        if bool(getattr(numpy, name)(zero, zero if isinstance(other, Sparse) else other.get() if isinstance(other, ndarray) else other)):
            warnings.warn(f'{name} of sparse matrices: the function is not 0 where both are 0, so the result is a dense array', SparseEfficiencyWarning, 4)
            return csr(function(self.toarray(), other.toarray() if isinstance(other, Sparse) else other))
        if isinstance(other, Sparse):
            shape = _core._broadcast_shapes([self.shape, other.shape])
            a, b = (x._spread_to(shape).tocsr() for x in (self, other))
            (r, c, d), (s, e, _) = a._elements(), b._elements()
            rows, columns, _ = merged(_core._concatenate([r, s], 0), _core._concatenate([c, e], 0), _core.zeros((r.size + s.size,), bool), shape)
            values = function(a._at(rows, columns), b._at(rows, columns))
        else:
            shape = self.shape
            rows, columns, data = self.tocsr()._elements()
            rows, columns, data = merged(rows, columns, data, shape)
            values = function(data, other)
        kept = values != 0
        return csr._of_sorted(rows[kept], columns[kept], values[kept], shape)

    def _spread_to(self, shape):
        """Repeats the only row or column of the matrix to this shape."""
        made = self
        for axis, name in enumerate(('csr', 'csc')):
            if made.shape[axis] != shape[axis]:
                made = made.asformat(name)._chosen(_core.zeros((shape[axis],), 'l'))
        return made


def _same_shape(a, b):
    if a.shape != b.shape:
        raise ValueError(f'inconsistent shapes: {a.shape} and {b.shape}')


def _of_elements(name):
    def function(self):
        return self._with(_core.ufuncs[name](self._deduped()))
    function.__name__ = name
    function.__qualname__ = f'_spbase.{name}'
    function.__doc__ = f'{name} of each kept element.'
    return function


def _comparison(name, of):
    def function(self, other):
        return NotImplemented if other is None else self._by_elements(other, of)
    function.__name__ = name
    function.__qualname__ = f'_spbase.{name}'
    return function


for _name, _of in (('__eq__', 'equal'), ('__ne__', 'not_equal'), ('__lt__', 'less'), ('__gt__', 'greater'), ('__le__', 'less_equal'), ('__ge__', 'greater_equal')):
    setattr(Elementwise, _name, _comparison(_name, _of))

for _name in ('arcsin', 'arcsinh', 'arctan', 'arctanh', 'ceil', 'deg2rad', 'expm1', 'floor', 'log1p', 'rad2deg', 'rint', 'sign', 'sin', 'sinh',
              'sqrt', 'tan', 'tanh', 'trunc'):  # functions with f(0) = 0
    setattr(Elementwise, _name, _of_elements({'deg2rad': 'radians', 'rad2deg': 'degrees'}.get(_name, _name)))
