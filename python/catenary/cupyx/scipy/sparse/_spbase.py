"""Base classes of sparse matrices and arrays, with their operators and conversions."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupyx.scipy.sparse._elementwise import Elementwise
from catenary.cupyx.scipy.sparse._sparse_utils import checked_axis, checked_shape, is_scalar, merged
from catenary.cupyx.scipy.sparse._one_dimensional import extents
from catenary.cupyx.scipy.sparse._diagonal_reshape import Places
from catenary.cupyx.scipy.sparse._products import Products
from catenary.cupyx.scipy.sparse._reductions import Reductions

_NAMES = {'csr': 'Compressed Sparse Row', 'csc': 'Compressed Sparse Column', 'coo': 'COOrdinate', 'dia': 'DIAgonal'}


class _spbase(Elementwise, Products, Reductions, Places):
    """The base of sparse matrices and sparse arrays."""

    __array_priority__ = 101
    __array_ufunc__ = None
    __hash__ = object.__hash__
    _is_of_device = True  # marks device arrays for get_array_module
    format = None
    maxprint = 50
    _is_array = False
    _classes = {}  # (_is_array, format) -> class
    _allow_nd = (2,)

    def __init__(self, shape):
        self._shape = checked_shape(shape, self._allow_nd)

    def _kind(self, format):
        """Returns the class for a format: an array class if self is an array."""
        return self._classes[self._is_array, format]

    def _seen_as(self, shape, kind=None):
        """Returns a matrix of another shape, whose class stores elements alike, that shares the elements."""
        kind = kind or type(self)
        made = kind.__new__(kind)
        _spbase.__init__(made, shape)
        for name in self._arrays:
            setattr(made, name, getattr(self, name))
        return made

    def two_axes(self):
        """Returns the matrix itself, or for a 1-d array the one-row matrix that shares its elements."""
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
        """Counts the stored elements: all, per column (axis 0) or per row (axis 1)."""
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
        """Makes a matrix of this format from elements in any order."""
        return self._kind('coo')._of_places(rows, columns, data, shape or self._extents).asformat(self.format)

    def _computed(self, *elements):
        """Makes the result of an operation as _made, but csr unless the matrix is csr or csc."""
        rows, columns, data, shape = elements
        return self._kind('coo')._of_places(rows, columns, data, shape).asformat('csc' if self.format == 'csc' else 'csr')

    def _elements_to_count(self):
        """Returns the elements, with duplicate bools merged, as true + true would count as 2."""
        rows, columns, data = self._elements()
        return merged(rows, columns, data, self._extents) if data.dtype == bool else (rows, columns, data)

    def asformat(self, format):
        """Converts the matrix to a format, or returns it for None. Raises ValueError for an unknown format."""
        if format is not None and format not in _NAMES:
            raise ValueError(f'Format {format} is unknown; expected one of {", ".join(_NAMES)}.')
        return self if format in (None, self.format) else getattr(self, 'to' + format)()

    def toarray(self, order=None, out=None):
        """Returns a dense ndarray, in C order unless order is 'F'."""
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
        """Returns SciPy's matrix or array of this format."""
        import scipy.sparse
        return getattr(scipy.sparse, f"{self.format}_{'array' if self._is_array else 'matrix'}")(self._parts(lambda x: x.get()), shape=self.shape)

    def _parts(self, of):
        """Returns the arrays of the format, each passed through a function."""
        return tuple(of(getattr(self, name)) for name in self._arrays)

    def __reduce__(self):
        kind = self._is_array, self.format  # pickled by kind, as the classes' CuPy module may not be importable
        state = {name: dict(x) if isinstance(x, dict) else x for name, x in self.__dict__.items()}
        return _unpickled, (kind if type(self) is self._classes[kind] else type(self),), state

    def todia(self, copy=False):
        """Returns the matrix in dia format."""
        return self.tocoo().todia()

    def tocsr(self, copy=False):
        """Returns the matrix in csr format."""
        return self.tocoo().tocsr()

    def tocsc(self, copy=False):
        """Returns the matrix in csc format."""
        return self.tocoo().tocsc()

    def astype(self, dtype, casting='unsafe', copy=True):
        """Casts the values. With copy=False it returns the matrix itself if the dtype is already right."""
        if not numpy.can_cast(self.dtype, dtype, casting):
            raise TypeError(f'Cannot cast array data from {self.dtype!r} to {numpy.dtype(dtype)!r} according to the rule {casting!r}')
        if numpy.dtype(dtype) == self.dtype:
            return self.copy() if copy else self
        return self._with(self._deduped().astype(dtype))

    def _deduped(self):
        """Returns the values after adding up duplicates in the matrix itself."""
        if hasattr(self, 'sum_duplicates'):
            self.sum_duplicates()
        return self.data

    def copy(self):
        """Returns a copy with its own arrays."""
        made = self._with(self.data)
        for name in self._arrays:
            setattr(made, name, _core._copy(getattr(self, name), 'C'))
        return made

    def conj(self, copy=True):
        """Returns the complex conjugates. With copy=False real matrices return themselves."""
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
            raise ValueError('mT: expected two axes, the array has one')
        return self.transpose()

    def _pattern(self):
        """Returns the positions of stored elements as bools."""
        return self._with(_core.ones(self.data.shape, bool))

    def _pattern_of_true(self):
        """Returns the rows and columns of true elements."""
        rows, columns, data = merged(*self._elements(), self._extents)
        if data.dtype != bool:
            raise IndexError(f'a mask must be of bool, got {data.dtype}')
        return rows[data].astype('l'), columns[data].astype('l')

    def nonzero(self):
        """Returns (rows, columns) of the non-zero elements, or (indices,) of a 1-d array."""
        rows, columns, data = self.tocsr()._elements()
        kept = data != 0
        return (rows[kept], columns[kept])[2 - self.ndim:]


class spmatrix(_spbase):
    """A sparse matrix. As in SciPy, `*` and `@` are matrix products."""

    def __mul__(self, other):
        return self._with(self.data * other) if is_scalar(other) else self._product(other)

    def __rmul__(self, other):
        return self._with(other * self.data) if is_scalar(other) else self.T._product(given(other).T).T

    def __pow__(self, other):
        if self.shape[0] != self.shape[1]:
            raise TypeError('matrix is not square')
        if not is_scalar(other) or other != int(other) or other < 0:
            raise ValueError('exponent must be an integer >= 0')
        made, factor, left = None, self, int(other)
        while left:
            if left % 2:
                made = factor if made is None else made * factor
            factor, left = factor * factor if left > 1 else factor, left // 2
        if made is None:
            at = _core.arange(self.shape[0])
            return self._kind('coo')((_core.ones(at.shape, self.dtype), (at, at)), shape=self.shape).asformat(self.format)
        return made

    def getformat(self):
        """Returns 'csr', 'csc', 'coo' or 'dia'."""
        return self.format

    def get_shape(self):
        """Returns the shape."""
        return self._shape

    def set_shape(self, shape):
        """Changes the shape in place, as reshape does."""
        made = self.reshape(shape)
        self._shape = made.shape
        self._take(made)

    shape = property(get_shape, set_shape, None, 'The extents.')

    def getmaxprint(self):
        """Returns the maximum number of printed elements."""
        return self.maxprint

    def asfptype(self):
        """Returns the matrix with integers and bools converted to float64."""
        return self if self.dtype.kind in 'fc' else self.astype('d')

    def getH(self):
        """Returns the conjugate transpose."""
        return self.transpose().conj(copy=False)

    H = property(getH, None, None, 'The transposed matrix of the conjugates.')
    A = property(lambda self: self.toarray(), None, None, 'The matrix as an ndarray.')

    def getrow(self, i):
        """Returns a row as a csr matrix."""
        return self.tocsr()[int(i)]

    def getcol(self, i):
        """Returns a column as a matrix, csr unless the matrix is csc."""
        return (self if self.format == 'csc' else self.tocsr())[:, int(i)]


class sparray(_spbase):
    """A sparse array with two axes, or one for coo and csr. As in SciPy, `*` and `**` are elementwise and `@` is the matrix product."""

    _is_array = True

    def __mul__(self, other):
        return self.multiply(other)

    __rmul__ = __mul__

    def __pow__(self, other):
        return self.power(other)


def _unpickled(kind):
    kind = _spbase._classes[kind] if isinstance(kind, tuple) else kind
    return kind.__new__(kind)
