"""Products of sparse matrices."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy.sparse._sparse_utils import Sparse, is_scalar, spread
from catenary.cupyx.scipy.sparse._one_dimensional import one_axis


class Products(Sparse):
    """Products with vectors, arrays and matrices."""

    def __matmul__(self, other):
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._product(other)

    def __rmatmul__(self, other):
        return self.T._product(given(other).T).T

    def dot(self, other):
        """Returns the product with a number, a vector, or a dense or sparse matrix."""
        if isinstance(other, ndarray) and other.ndim == 0 and self.format != 'coo':  # as in SciPy
            raise ValueError('dot: a 0-d array was given; use multiply')
        return self * other if is_scalar(other) else self._product(other)

    def __imul__(self, other):
        return self._scaled(other, lambda data: data * other)

    def __itruediv__(self, other):
        return self._scaled(other, lambda data: data / other)

    def _scaled(self, other, function):
        """Returns the matrix with its data scaled by a number."""
        if not is_scalar(other):
            return NotImplemented
        made = function(self.data)
        if numpy.can_cast(made.dtype, self.dtype, 'same_kind'):
            self.data[...] = made.astype(self.dtype, copy=False)
        else:
            self.data = made
        return self

    def _product(self, other):
        """Returns self times a vector, a 2-d array or a matrix. Raises ValueError if the shapes do not fit."""
        inner = other.shape[0] if getattr(other, 'shape', ()) else None
        if isinstance(other, numpy.ndarray) or not hasattr(other, 'shape'):
            raise TypeError(f'sparse matrix product: expected a cupy.ndarray of one or two axes, or a matrix, not {type(other)}')
        if other.ndim > 2:
            raise ValueError(f'sparse matrix product: expected an array of one or two axes, its shape is {other.shape}')
        if inner != self.shape[-1]:
            raise ValueError(f'dimension mismatch: {self.shape} and {other.shape}')
        if self.ndim == 1 or isinstance(other, Sparse) and other.ndim == 1:
            return self._product_of_one_axis(other)
        if isinstance(other, Sparse):
            return self._by_matrix(other)
        dtype = numpy.result_type(self.data.dtype, other.dtype)
        made = _core.zeros((self.shape[0], *other.shape[1:]), 'i' if dtype == bool else dtype)
        if self.format in ('csr', 'csc') and made.size and self.data.size:
            values = (_core._contiguous(x.astype(dtype, copy=False), False) for x in (self.data, other))
            if _core._csr_multiplied(self.indptr, self.indices, *values, made, self.format == 'csc'):
                return made
        rows, columns, data = self._elements()
        if data.size and made.size:
            data = data.astype(made.dtype, copy=False)
            values = other.astype(made.dtype, copy=False)[columns]
            _core.scatter_add(made, rows, data * values if other.ndim == 1 else data[:, None] * values)
        return made.astype(dtype, copy=False)

    def _product_of_one_axis(self, other):
        """Returns a product with a 1-d operand: a 1-d coo array, a 0-d ndarray for two 1-d operands, or an ndarray if the other operand is one."""
        is_sparse = isinstance(other, Sparse)
        made = self.two_axes()._product(other.two_axes().T if is_sparse and other.ndim == 1 else other)
        shape = self.shape[:-1] + other.shape[1:]
        if not is_sparse or not shape:
            return (made.toarray() if is_sparse else made).reshape(shape)
        return one_axis((made if self.ndim == 1 else made.T).tocoo())

    def _by_matrix_on_host(self, left, right):
        """Multiplies csr matrices row by row. Returns None for a device other than the processor, and for bools."""
        dtype, index = (numpy.result_type(getattr(left, name).dtype, getattr(right, name).dtype) for name in ('data', 'indices'))
        parts = [getattr(x, name).astype(dtype if name == 'data' else index, copy=False) for x in (left, right) for name in ('indptr', 'indices', 'data')]
        made = None if dtype == bool else _core._csr_product(*parts, right.shape[1])
        return None if made is None else left._of_parts(*made, (left.shape[0], right.shape[1]))

    def _by_matrix(self, other):
        left, right = self.tocsr(), other.tocsr()
        made = self._by_matrix_on_host(left, right)
        if made is not None:
            return made.asformat('csc' if self.format == 'csc' else 'csr')
        rows, columns, data = left._elements()
        counts = (right.indptr[1:] - right.indptr[:-1]).astype('l')[columns]
        places, owner = spread(right.indptr[columns].astype('l'), counts)
        shape = (self.shape[0], other.shape[1])
        if owner.size == 0:
            return self._computed(rows[:0], columns[:0], data[:0].astype(numpy.result_type(data.dtype, right.dtype)), shape)
        return self._computed(rows[owner], right.indices[places], data[owner] * right.data[places], shape)
