"""What sparse matrices have in common, told by their elements: rows, columns and values."""

import math
import warnings

import numpy

from catenary import _core
from catenary.cupy._array import asarray, ndarray
from catenary.cupy._functions import _given
from catenary.cupyx.scipy.sparse._lines import by_rows, extents, one_axis, two_alone

ABSENT = ('cupyx.scipy.sparse: %s is not supported; toarray() gives the matrix as an array, get() SciPy\'s')


_NAMES = {'csr': 'Compressed Sparse Row', 'csc': 'Compressed Sparse Column', 'coo': 'COOrdinate', 'dia': 'DIAgonal'}


def spread(starts, counts):
    """starts[k], starts[k] + 1, ... of counts[k] elements each, for one k after another: (these places, the k of each)."""
    owner = _core.repeat(_core.arange(counts.size), counts) if counts.size else _core.zeros((0,), 'l')
    if owner.size == 0:
        return owner, owner
    before = _core.cumsum(counts) - counts
    return _core.arange(owner.size) - before[owner] + starts[owner], owner


def merged(rows, columns, data, shape):
    """The elements by rows and, within them, columns, those of one place added up."""
    if data.size == 0:
        return rows.astype('i'), columns.astype('i'), _core._copy(data, 'C')
    key = rows.astype('l') * max(shape[1], 1) + columns
    order = _core._argsort(key, 0)
    key, data = key[order], data[order]
    first = _core._concatenate([_core.ones((1,), bool), key[1:] != key[:-1]], 0)
    place = _core.cumsum(first) - 1
    count = int(place[-1]) + 1
    if count < data.size:
        total = _core.zeros((count,), 'i' if data.dtype == bool else data.dtype)
        _core.scatter_add(total, place, data.astype(total.dtype, copy=False))
        key, data = key[first], total.astype(data.dtype, copy=False)
    width = max(shape[1], 1)
    return (key // width).astype('i'), (key % width).astype('i'), data


MOST = 2 ** 31 - 1  # what an index of int32 tells


def checked_shape(shape, axes=(2,)):
    """The extents as ints. Raises ValueError for another count of axes and for what indices of int32 do not reach."""
    if len(shape) not in axes:
        raise ValueError(f'shape must have length in {axes}, given {tuple(shape)}: ' + (
            'arrays are 1-D and 2-D here' if 1 in axes else 'coo_array and csr_array alone may have one axis, and none more than two'))
    if min(shape) < 0:
        raise ValueError(f"'shape' elements cannot be negative, given {shape}")
    if max(shape) > MOST:
        raise ValueError(f'indices are int32: an extent is {MOST} at most, given {tuple(shape)}')
    return tuple(int(n) for n in shape)


def agreed(shape, own, places=None):
    """The extents of what is given, or those of a shape beside it where both are of one axis and the places are within it. Raises ValueError
    for a shape that is another."""
    if shape is None or tuple(shape) == tuple(own):
        return own
    if len(shape) == len(own) == 1 and places is not None and (places.size == 0 or int(places.max()) < shape[0]):
        return shape
    raise ValueError(f'inconsistent shapes: {tuple(own)} and {tuple(shape)}')


def checked_axis(axis, ndim=2):
    """0 or 1, or None for all. Raises TypeError or ValueError for what is no axis of a matrix."""
    if axis is None:
        return None
    axes = axis if isinstance(axis, tuple) else (axis,)
    for k in axes:
        if isinstance(k, bool) or not isinstance(k, (int, numpy.integer)):
            raise TypeError(f'axis must be an integer or a tuple of them, given {axis!r}')
        if not -ndim <= k < ndim:
            raise ValueError(f'axis out of range: {axis!r} of {ndim} axes')
    if len({k % ndim for k in axes}) != len(axes) or not axes:
        raise ValueError(f'axis: {axis!r} names none, or one twice')
    return None if len(axes) == ndim else int(axes[0]) % 2


def is_scalar(x):
    """Is it one number?"""
    return numpy.isscalar(x) or isinstance(x, ndarray) and x.ndim == 0


class _spbase:
    """What matrices and arrays have in common of which only some elements are kept."""

    __array_priority__ = 101
    __array_ufunc__ = None
    __hash__ = object.__hash__
    _is_of_device = True  # for get_array_module
    format = None
    maxprint = 50
    _is_array = False
    _classes = {}  # by _is_array and format
    _allow_nd = (2,)

    def __init__(self, shape):
        self._shape = checked_shape(shape, self._allow_nd)

    def _kind(self, format):
        """The class of a format: of arrays where this is one."""
        return self._classes[self._is_array, format]

    def _seen_as(self, shape, kind=None):
        """The same elements, not copied, with other extents, of a class that keeps them alike."""
        kind = kind or type(self)
        made = kind.__new__(kind)
        _spbase.__init__(made, shape)
        for name in self._arrays:
            setattr(made, name, getattr(self, name))
        return made

    def two_axes(self):
        """The matrix itself; of an array of one axis a matrix of one row, which shares its elements."""
        return self if self.ndim == 2 else self._seen_as(self._extents)

    shape = property(lambda self: self._shape)
    ndim = property(lambda self: len(self._shape))
    _extents = property(lambda self: extents(self._shape))
    dtype = property(lambda self: self.data.dtype)
    nnz = property(lambda self: self.getnnz(), None, None, 'How many elements are kept.')
    size = property(lambda self: self.getnnz(), None, None, 'How many elements are kept.')
    T = property(lambda self: self.transpose(), None, None, 'The transposed matrix.')
    device = property(lambda self: self.data.device)

    def getnnz(self, axis=None):
        """How many elements are kept: in all, in each column (axis 0), or in each row (axis 1)."""
        axis = checked_axis(axis, self.ndim)
        if axis is None:
            return int(self.data.size)
        rows, columns, _ = self._elements()
        return self._counts(_core.bincount(columns if axis == 0 else rows, None, self.shape[1 - axis])[:self.shape[1 - axis]], axis)

    def _counts(self, counts, axis):
        """Counts along an axis in the dtype that SciPy gives them."""
        return counts

    def __len__(self):
        raise TypeError('sparse array length is ambiguous; use getnnz()')

    def _extra(self):
        return ''

    def __repr__(self):
        return (f"<{_NAMES[self.format]} sparse {'array' if self._is_array else 'matrix'} of dtype '{self.dtype}'\n"
                f'\twith {self.nnz} stored elements{self._extra()} and shape {self.shape}>')

    def __str__(self):
        rows, columns, data = (x.get() for x in self._elements())
        lines = [f'  {(int(i), int(j))[2 - self.ndim:]}\t{x}' for i, j, x in zip(rows, columns, data)]
        if len(lines) > self.maxprint:
            half = self.maxprint // 2
            lines = [*lines[:half], '  :\t:', *lines[len(lines) - half:]]
        return '\n'.join([repr(self), *(['  Coords\tValues'] if lines else []), *lines])

    def __bool__(self):
        if self.shape == (1, 1):
            return self.nnz != 0
        raise ValueError('The truth value of an array with more than one element is ambiguous.')

    # ------------------------------------------------------------------ other forms
    def _made(self, rows, columns, data, shape=None):
        """A matrix of this format of elements that are in no order."""
        return self._kind('coo')((data, (rows, columns)), shape=shape or self._extents).asformat(self.format)

    def _computed(self, *elements):
        """As _made, of what an operation gives: csr where the matrix is neither csr nor csc."""
        rows, columns, data, shape = elements
        return self._kind('coo')((data, (rows, columns)), shape=shape).asformat('csc' if self.format == 'csc' else 'csr')

    def _elements_to_count(self):
        """The elements, of bools none twice: as numbers, what is true twice would be 2."""
        rows, columns, data = self._elements()
        return merged(rows, columns, data, self._extents) if data.dtype == bool else (rows, columns, data)

    def asformat(self, format):
        """The matrix in a format, or as it is for None. Raises ValueError for an unknown one."""
        if format is not None and format not in _NAMES:
            raise ValueError(f'Format {format} is unknown: {", ".join(_NAMES)} are here.')
        return self if format in (None, self.format) else getattr(self, 'to' + format)()

    def toarray(self, order=None, out=None):
        """The matrix with all its elements as an ndarray, in C's order unless 'F' is asked for."""
        if order not in (None, 'C', 'F'):
            raise ValueError(f"order must be 'C' or 'F', given {order!r}")
        if out is not None and (order is not None or out.shape != self.shape or out.dtype != self.dtype):
            raise ValueError(f'out: an array of shape {self.shape} and of {self.dtype}, without order, is expected, given {out.shape}, {out.dtype} and {order}')
        rows, columns, data = self._elements()
        made = _core.zeros(self._extents, 'i' if data.dtype == bool else data.dtype)
        if data.size:
            _core.scatter_add(made, (rows, columns), data.astype(made.dtype, copy=False))
        made = made.astype(data.dtype, copy=False).reshape(self.shape)
        if out is not None:
            out[...] = made
            return out
        return _core._contiguous(made, True) if order == 'F' else made

    todense = toarray

    def get(self, stream=None):
        """SciPy's matrix of this format, or its array."""
        import scipy.sparse
        return getattr(scipy.sparse, f"{self.format}_{'array' if self._is_array else 'matrix'}")(self._parts(lambda x: x.get()), shape=self.shape)

    def _parts(self, of):
        """What the class is made of, each array as a function gives it."""
        return tuple(of(getattr(self, name)) for name in self._arrays)

    def __reduce__(self):
        kind = self._is_array, self.format  # classes here bear the module's name of CuPy, which need not be there
        state = {name: dict(x) if isinstance(x, dict) else x for name, x in self.__dict__.items()}
        return _unpickled, (kind if type(self) is self._classes[kind] else type(self),), state

    def todia(self, copy=False):
        """The matrix by its diagonals."""
        return self.tocoo().todia()

    def tocsr(self, copy=False):
        """The matrix by rows."""
        return self.tocoo().tocsr()

    def tocsc(self, copy=False):
        """The matrix by columns."""
        return self.tocoo().tocsc()

    def astype(self, dtype, casting='unsafe', copy=True):
        """The matrix with its values cast; the matrix itself with copy=False where they have that dtype."""
        if not numpy.can_cast(self.dtype, dtype, casting):
            raise TypeError(f'Cannot cast array data from {self.dtype!r} to {numpy.dtype(dtype)!r} according to the rule {casting!r}')
        if numpy.dtype(dtype) == self.dtype:
            return self.copy() if copy else self
        return self._with(self._deduped().astype(dtype))

    def _deduped(self):
        """The values, of each place one: what is there twice is added up in the matrix itself."""
        if hasattr(self, 'sum_duplicates'):
            self.sum_duplicates()
        return self.data

    def copy(self):
        """A matrix with its own arrays."""
        made = self._with(self.data)
        for name in self._arrays:
            setattr(made, name, _core._copy(getattr(self, name), 'C'))
        return made

    def conj(self, copy=True):
        """The matrix of the conjugates; of real numbers the matrix itself with copy=False."""
        if self.dtype.kind == 'c':
            return self._with(_core.ufuncs['conjugate'](self.data))
        return self.copy() if copy else self

    conjugate = conj
    real = property(lambda self: self._with(_core._copy(self.data.real, 'C')) if self.dtype.kind == 'c' else self, None, None, 'The real parts.')
    imag = property(lambda self: self._with(_core._copy(self.data.imag, 'C')), None, None, 'The imaginary parts.')

    @property
    def mT(self):
        """The transposed matrix. Raises ValueError for an array of one axis."""
        if self.ndim == 1:
            raise ValueError('mT: a matrix is transposed, and the array has one axis')
        return self.transpose()

    # ------------------------------------------------------------------ elementwise
    def __neg__(self):
        if self.dtype == bool:
            raise NotImplementedError('negating a boolean sparse array is not supported.')
        return self._with(-self.data)

    def __round__(self, ndigits=0):
        return self._with(self._deduped().round(ndigits))

    def __abs__(self):
        return self._with(_core.ufuncs['absolute'](self._deduped()))

    def power(self, n, dtype=None):
        """Each kept element to the n, a positive number."""
        if not is_scalar(n) or isinstance(n, (complex, numpy.complexfloating)) or n <= 0:
            raise NotImplementedError(ABSENT % f'power({n!r}), which makes something of what is 0,')
        data = self._deduped()
        return self._with((data if dtype is None else data.astype(dtype)) ** n)

    @by_rows
    def _sum_with(self, other, sign):
        if is_scalar(other):
            if other == 0:
                return self.copy()
            raise NotImplementedError('adding a nonzero scalar to a sparse matrix is not supported: toarray() first')
        if not isinstance(other, _spbase):
            dense = self.toarray()
            return dense + other if sign > 0 else dense - other
        _same_shape(self, other)
        (r, c, d), (s, e, f) = self._elements_to_count(), other._elements_to_count()
        dtype = numpy.result_type(d.dtype, f.dtype)
        f = f.astype(dtype)
        return self._computed(*(_core._concatenate(list(pair), 0) for pair in ((r, s), (c, e), (d.astype(dtype), f if sign > 0 else -f))), self.shape)

    def __add__(self, other):
        return self._sum_with(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._sum_with(other, -1)

    def __rsub__(self, other):
        if is_scalar(other):
            return (-self)._sum_with(other, 1)
        return other._sum_with(self, -1) if isinstance(other, _spbase) else other - self.toarray()

    @by_rows
    def multiply(self, other):
        """The product of elements: with a number, an array, or a matrix; either broadcasts. With an array it is, as SciPy's, coo, or dia of dia; with an array of one
        element of the matrix's format, csr of coo; an array where the matrix alone has but one."""
        if is_scalar(other):
            return self._with(self.data * other)
        if isinstance(other, _spbase):
            shape = _core._broadcast_shapes([self.shape, other.shape])
            own = self._spread_to(shape)
            rows, columns, data = own._elements()
            at = (rows if other.shape[0] == shape[0] else rows * 0, columns if other.shape[1] == shape[1] else columns * 0)
            return self._computed(rows, columns, data * other.tocsr()._at(*at), shape)
        dense = _given(other)
        shape = checked_shape(_core._broadcast_shapes([self.shape, dense.shape]))
        if dense.size == 1:
            made = self._with(self.data * dense.reshape(()))
            return made.tocsr() if self.format == 'coo' else made
        if math.prod(self.shape) == 1:
            return (self.sum() * dense).reshape(shape)  # of the sum's dtype, as SciPy's
        rows, columns, data = self._spread_to(shape).tocsr()._elements()
        made = self._kind('coo')((data * _core.broadcast_to(dense, shape)[rows, columns], (rows, columns)), shape=shape)
        return made.asformat('dia' if self.format == 'dia' else 'coo')

    @by_rows
    def __truediv__(self, other):
        if is_scalar(other):
            return self._with((self.data.astype('d') if self.dtype == 'f' else self.data) / other)
        if isinstance(other, _spbase):  # float32 becomes float64 in both, as in SciPy
            return (self.astype('d') if self.dtype == 'f' else self).toarray() / other.toarray()
        return self.multiply(1 / _given(other))

    # ------------------------------------------------------------------ products
    def __matmul__(self, other):
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._product(other)

    def __rmatmul__(self, other):
        return self.T._product(_given(other).T).T

    def dot(self, other):
        """The product with a number, a vector, a matrix of either kind."""
        if isinstance(other, ndarray) and other.ndim == 0 and self.format != 'coo':  # as SciPy's
            raise ValueError('dot: an array of no axis is given: multiply by it')
        return self * other if is_scalar(other) else self._product(other)

    def __imul__(self, other):
        return self._scaled(other, lambda data: data * other)

    def __itruediv__(self, other):
        return self._scaled(other, lambda data: data / other)

    def _scaled(self, other, function):
        """The matrix itself with its data changed: by a number alone."""
        if not is_scalar(other):
            return NotImplemented
        made = function(self.data)
        if numpy.can_cast(made.dtype, self.dtype, 'same_kind'):
            self.data[...] = made.astype(self.dtype, copy=False)
        else:
            self.data = made
        return self

    def _product(self, other):
        """self times a vector, an array of two axes, or a matrix. Raises ValueError where the extents do not fit."""
        inner = other.shape[0] if getattr(other, 'shape', ()) else None
        if isinstance(other, numpy.ndarray) or not hasattr(other, 'shape'):
            raise TypeError(f'sparse matrix product: expected a cupy.ndarray of one or two axes, or a matrix, not {type(other)}')
        if other.ndim > 2:
            raise ValueError(f'sparse matrix product: expected an array of one or two axes, its shape is {other.shape}')
        if inner != self.shape[-1]:
            raise ValueError(f'dimension mismatch: {self.shape} and {other.shape}')
        if self.ndim == 1 or isinstance(other, _spbase) and other.ndim == 1:
            return self._product_of_one_axis(other)
        if isinstance(other, _spbase):
            return self._by_matrix(other)
        rows, columns, data = self._elements()
        dtype = numpy.result_type(data.dtype, other.dtype)
        made = _core.zeros((self.shape[0], *other.shape[1:]), 'i' if dtype == bool else dtype)
        if data.size and made.size:
            data = data.astype(made.dtype, copy=False)
            values = other.astype(made.dtype, copy=False)[columns]
            _core.scatter_add(made, rows, data * values if other.ndim == 1 else data[:, None] * values)
        return made.astype(dtype, copy=False)

    def _product_of_one_axis(self, other):
        """A product in which an array of one axis takes part: a coo array of one axis, an ndarray of none for two of them, and an ndarray where the other is one."""
        is_sparse = isinstance(other, _spbase)
        made = self.two_axes()._product(other.two_axes().T if is_sparse and other.ndim == 1 else other)
        shape = self.shape[:-1] + other.shape[1:]
        if not is_sparse or not shape:
            return (made.toarray() if is_sparse else made).reshape(shape)
        return one_axis((made if self.ndim == 1 else made.T).tocoo())

    def _by_matrix(self, other):
        left, right = self.tocsr(), other.tocsr()
        rows, columns, data = left._elements()
        counts = (right.indptr[1:] - right.indptr[:-1]).astype('l')[columns]
        places, owner = spread(right.indptr[columns].astype('l'), counts)
        shape = (self.shape[0], other.shape[1])
        if owner.size == 0:
            return self._computed(rows[:0], columns[:0], data[:0].astype(numpy.result_type(data.dtype, right.dtype)), shape)
        return self._computed(rows[owner], right.indices[places], data[owner] * right.data[places], shape)

    # ------------------------------------------------------------------ sums
    def sum(self, axis=None, dtype=None, out=None):
        """The sum of all elements, or along an axis: of a matrix an ndarray of two axes, one of extent 1, of an array one of one axis."""
        axis = checked_axis(axis, self.ndim)
        rows, columns, data = self._elements_to_count()
        if axis is None:
            made = _core.sum(data, dtype=dtype)
        else:
            own, keep = _core.sum(_core.zeros((1,), data.dtype)).dtype, 1 - axis
            dtype = own if dtype is None else numpy.dtype(dtype)
            made = _core.zeros((self.shape[keep],), numpy.result_type(own, dtype))
            if data.size:
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
        """The mean, as sum."""
        axis, own = checked_axis(axis, self.ndim), numpy.dtype('d') if self.dtype.kind not in 'fc' else self.dtype
        count = math.prod(self.shape) if axis is None else self.shape[axis]
        made = ((self if self.dtype == own else self.copy().astype(own)) * (1 / count)).sum(axis, out=out)  # of numbers of the matrix's own type, whatever is asked for
        return made if dtype is None or out is not None else made.astype(dtype, copy=False)

    def diagonal(self, k=0):
        """The k-th diagonal, of no element where it is outside of the matrix."""
        two_alone(self, 'diagonal')
        at = _core.arange(max(self._diagonal_length(k), 0))
        return self.tocsr()._at(at - min(k, 0), at + max(k, 0))

    def _diagonal_length(self, k):
        rows, columns = self.shape
        return min(rows + min(k, 0), columns - max(k, 0))

    def setdiag(self, values, k=0):
        """Sets the k-th diagonal to a number, or its first elements to those of an array. Raises ValueError where it is outside of the matrix."""
        two_alone(self, 'setdiag')
        length, values = self._diagonal_length(k), asarray(values)
        if values.ndim > 1:
            raise ValueError(f'setdiag: values must be 0-d or 1-d, given {values.ndim} axes')
        if k >= max(self.shape[1], 1) or -k >= max(self.shape[0], 1):
            raise ValueError('k exceeds matrix dimensions')
        if values.ndim and not values.size:
            return
        length = max(length, 0)  # where an extent is 0 there is nothing to set
        if values.ndim:
            length = min(length, values.size)
            values = values[:length]
        at = _core.arange(length, dtype='i')
        own = at - min(k, 0), at + max(k, 0)
        if self.format in ('csr', 'csc') and bool(_core.all(self._pattern()._at(*own))):  # as SciPy's: what is there keeps its place and its type
            self[own] = values
            return
        rows, columns, data = self._elements()
        kept = (columns - rows != k) | (rows + min(k, 0) >= length)
        if values.ndim and self.format != 'dia':  # as SciPy's: a number, and what is by diagonals, keep the type
            data = data.astype(numpy.result_type(data.dtype, values.dtype), copy=False)
        values = _core.broadcast_to(values.astype(data.dtype), (length,))
        self._take(self._made(*(_core._concatenate(list(pair), 0) for pair in (
            (rows[kept], own[0]), (columns[kept], own[1]), (data[kept], values)))))

    def reshape(self, *shape, order='C'):
        """The same elements in the same order ('C' or 'F') with other extents; where the number of axes is another one a coo array. Raises ValueError where
        the count differs, or the class has no such axes."""
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
        parts = (at // max(new, 1)).astype('i'), (at % max(new, 1)).astype('i')
        made = self._kind('coo')((data, parts if order == 'C' else parts[::-1]), shape=to)
        if len(shape) == 1:
            made = one_axis(made)
        return made.asformat(self.format if len(shape) == self.ndim else 'coo')

    def trace(self, offset=0):
        """The sum of a diagonal."""
        return self.diagonal(offset).sum()

    def count_nonzero(self, axis=None):
        """How many elements are not 0: in all, or in each column (axis 0) or row (axis 1)."""
        own = self.tocoo(copy=True)
        own.sum_duplicates()
        own.eliminate_zeros()
        return own.getnnz(axis) if axis is None else self._counts(own.getnnz(axis), axis)

    def _extremum(self, function, axis, out, explicit):
        if out is not None:
            raise NotImplementedError(ABSENT % 'out= of extrema')
        axis = checked_axis(axis, self.ndim)
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

    def _pattern(self):
        """Where elements are kept, as bools."""
        return self._with(_core.ones(self.data.shape, bool))

    def _pattern_of_true(self):
        """The rows and columns of what is true."""
        rows, columns, data = merged(*self._elements(), self._extents)
        if data.dtype != bool:
            raise IndexError(f'a mask is of bools, not of {data.dtype}')
        return rows[data].astype('l'), columns[data].astype('l')

    def max(self, axis=None, out=None, *, explicit=False):
        """The largest element, or those along an axis: a coo matrix, one extent of which is 1, or a coo array of one axis. What is not kept counts as 0, or not at all where
        explicit is true; then a row or a column of nothing has 0."""
        return self._extremum(_core.max, axis, out, explicit)

    def min(self, axis=None, out=None, *, explicit=False):
        """The least element, as max."""
        return self._extremum(_core.min, axis, out, explicit)

    def argmax(self, axis=None, out=None):
        """Where the first of the largest elements is: in the flattened matrix, or along an axis as max."""
        return self._place_of(_core.argmax, axis, out)

    def argmin(self, axis=None, out=None):
        """Where the first of the least elements is, as argmax."""
        return self._place_of(_core.argmin, axis, out)

    def _place_of(self, function, axis, out):
        if out is not None:
            raise NotImplementedError(ABSENT % 'out= of places')
        axis = checked_axis(axis, self.ndim)
        keep, dense = axis is not None and not self._is_array, self.toarray()
        found = function(dense, axis=axis, keepdims=keep)
        if dense.dtype.kind in 'fc':  # as SciPy's: the first place that is not kept comes before NaN
            kept, odd = self._pattern().toarray(), dense != dense
            passed = _core.any(odd, axis=axis, keepdims=keep) & ~_core.all(kept, axis=axis, keepdims=keep)
            found = _core.where(passed, _core.argmin(kept.astype('b'), axis=axis, keepdims=keep), found)
        return found

    def nonzero(self):
        """Rows and columns of what is not 0; of one axis the places alone."""
        rows, columns, data = self.tocsr()._elements()
        kept = data != 0
        return (rows[kept], columns[kept])[2 - self.ndim:]

    def maximum(self, other):
        """The larger of each two elements, with a number, an array or a matrix; of two matrices either broadcasts."""
        return self._by_elements(other, 'maximum')

    def minimum(self, other):
        """The smaller of each two elements, as maximum."""
        return self._by_elements(other, 'minimum')

    @by_rows
    def _by_elements(self, other, name):
        """A function of each two elements: csr, or an array where the other is one. What makes something of two zeros is not sparse:
        a SparseEfficiencyWarning says so."""
        function = _core.ufuncs[name]
        if not isinstance(other, _spbase) and not is_scalar(other):
            return function(self.toarray(), _given(other))
        csr = self._kind('csr')
        zero = numpy.zeros((), self.dtype)
        if bool(getattr(numpy, name)(zero, zero if isinstance(other, _spbase) else other.get() if isinstance(other, ndarray) else other)):
            from catenary.cupyx.scipy import sparse
            warnings.warn(f'{name} of sparse matrices: what is 0 in both gives something, the result is computed as an array', sparse.SparseEfficiencyWarning, 4)
            return csr(function(self.toarray(), other.toarray() if isinstance(other, _spbase) else other))
        if isinstance(other, _spbase):
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
        """The matrix with its one row or its one column repeated to these extents."""
        made = self
        for axis, name in enumerate(('csr', 'csc')):
            if made.shape[axis] != shape[axis]:
                made = made.asformat(name)._chosen(_core.zeros((shape[axis],), 'l'))
        return made


class spmatrix(_spbase):
    """A matrix of which only some elements are kept. `*` and `@` are products of matrices, as those of SciPy's matrices."""

    def __mul__(self, other):
        return self._with(self.data * other) if is_scalar(other) else self._product(other)

    def __rmul__(self, other):
        return self._with(other * self.data) if is_scalar(other) else self.T._product(_given(other).T).T

    def __pow__(self, other):
        if self.shape[0] != self.shape[1]:
            raise TypeError('matrix is not square')
        if not is_scalar(other) or other != int(other) or other < 0:
            raise ValueError('exponent must be an integer >= 0')
        from catenary.cupyx.scipy.sparse._building import identity
        made, factor, left = None, self, int(other)
        while left:
            if left % 2:
                made = factor if made is None else made * factor
            factor, left = factor * factor if left > 1 else factor, left // 2
        return identity(self.shape[0], self.dtype, self.format) if made is None else made

    def getformat(self):
        """'csr', 'csc', 'coo' or 'dia'."""
        return self.format

    def get_shape(self):
        """The extents."""
        return self._shape

    def set_shape(self, shape):
        """Gives the matrix the extents that reshape gives."""
        made = self.reshape(shape)
        self._shape = made.shape
        self._take(made)

    shape = property(get_shape, set_shape, None, 'The extents.')

    def getmaxprint(self):
        """How many elements are printed at most."""
        return self.maxprint

    def asfptype(self):
        """The matrix, with float64 for integers and bools."""
        return self if self.dtype.kind in 'fc' else self.astype('d')

    def getH(self):
        """The transposed matrix of the conjugates."""
        return self.transpose().conj(copy=False)

    H = property(getH, None, None, 'The transposed matrix of the conjugates.')
    A = property(lambda self: self.toarray(), None, None, 'The matrix as an ndarray.')

    def getrow(self, i):
        """A row as a csr matrix of one."""
        return self.tocsr()[int(i)]

    def getcol(self, i):
        """A column as a matrix of one, csr unless the matrix is csc."""
        return (self if self.format == 'csc' else self.tocsr())[:, int(i)]


class sparray(_spbase):
    """An array of which only some elements are kept: of two axes, coo and csr also of one. `*` and `**` are by elements, `@` is the product of matrices, as those of SciPy's sparse arrays."""

    _is_array = True

    def __mul__(self, other):
        return self.multiply(other)

    __rmul__ = __mul__

    def __pow__(self, other):
        return self.power(other)


def _unpickled(kind):
    kind = _spbase._classes[kind] if isinstance(kind, tuple) else kind
    return kind.__new__(kind)


def _limit(dtype, least):
    if dtype.kind == 'f':
        return -numpy.inf if least else numpy.inf
    if dtype == bool:
        return not least
    info = numpy.iinfo(dtype)
    return info.min if least else info.max


def _same_shape(a, b):
    if a.shape != b.shape:
        raise ValueError(f'inconsistent shapes: {a.shape} and {b.shape}')


def device_array(x, dtype=None):
    """A part of a matrix as an array of the device; NumPy's are taken, too."""
    return asarray(x, dtype)


def _of_elements(name):
    def function(self):
        return self._with(_core.ufuncs[name](self._deduped()))
    function.__name__ = name
    function.__qualname__ = f'{_spbase.__name__}.{name}'
    function.__doc__ = f'{name} of each kept element.'
    return function


def _comparison(name, of):
    def function(self, other):
        return NotImplemented if other is None else self._by_elements(other, of)
    function.__name__ = name
    function.__qualname__ = f'{_spbase.__name__}.{name}'
    return function


for _name, _of in (('__eq__', 'equal'), ('__ne__', 'not_equal'), ('__lt__', 'less'), ('__gt__', 'greater'), ('__le__', 'less_equal'), ('__ge__', 'greater_equal')):
    setattr(_spbase, _name, _comparison(_name, _of))

for _name in ('arcsin', 'arcsinh', 'arctan', 'arctanh', 'ceil', 'deg2rad', 'expm1', 'floor', 'log1p', 'rad2deg', 'rint', 'sign', 'sin', 'sinh',
              'sqrt', 'tan', 'tanh', 'trunc'):  # what is 0 of 0
    setattr(_spbase, _name, _of_elements({'deg2rad': 'radians', 'rad2deg': 'degrees'}.get(_name, _name)))
