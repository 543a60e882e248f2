"""coo, csr and csc matrices and arrays."""

import numpy

from catenary import _core
from catenary.cupy._array import ndarray
from catenary.cupy._functions import _given
from catenary.cupyx.scipy.sparse import _setting as setting
from catenary.cupyx.scipy.sparse._diagonals import _dia
from catenary.cupyx.scipy.sparse._matrix import MOST, _spbase, agreed, checked_shape, device_array, merged, sparray, spmatrix, spread


def _check_axes_of_arrays(x, is_array):
    if is_array and x.ndim < 2:
        raise (TypeError if x.ndim == 0 else ValueError)(f'cupyx.scipy.sparse: an array of {x.ndim} axes is given, and sparse arrays here have two')


def _of_scipy(x):
    return hasattr(x, 'tocoo') and type(x).__module__.startswith('scipy.sparse')


def _check_axes(axes):
    if axes is not None and (not isinstance(axes, tuple) or tuple(k % 2 for k in axes) != (1, 0)):
        raise ValueError(f'transpose: the axes of a sparse matrix are (1, 0), given {axes}')


class _coo(_spbase):

    format = 'coo'
    _arrays = 'data', 'row', 'col'

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        if maxprint is not None:
            self.maxprint = maxprint
        is_sorted = False
        if isinstance(arg1, _spbase):
            row, col, data = arg1._elements()
            shape = agreed(shape, arg1.shape)
        elif _of_scipy(arg1):
            own = arg1.tocoo()
            _check_axes_of_arrays(own, self._is_array)
            row, col, data, shape = device_array(own.row), device_array(own.col), device_array(own.data), agreed(shape, own.shape)
        elif isinstance(arg1, tuple) and len(arg1) == 2 and (isinstance(arg1[1], (tuple, list)) or getattr(arg1[1], 'ndim', 0) == 2) and len(arg1[1]) == 2:
            data, row, col = device_array(arg1[0]), *(device_array(x) for x in arg1[1])
            if not data.ndim == row.ndim == col.ndim == 1:
                raise ValueError(f'row, column, and data array must have one axis, given {row.ndim}, {col.ndim} and {data.ndim}')
            if not data.size == row.size == col.size:
                raise ValueError(f'row, column, and data array must all be the same length, given {row.size}, {col.size} and {data.size}')
            if shape is None:
                if row.size == 0:
                    raise ValueError('cannot infer dimensions from zero sized index arrays')
                shape = int(row.max()) + 1, int(col.max()) + 1
            shape = checked_shape(shape)
            if row.size and not (0 <= int(row.min()) and int(row.max()) < shape[0] and 0 <= int(col.min()) and int(col.max()) < shape[1]):
                raise ValueError(f'row or column index exceeds matrix dimensions {tuple(shape)}')
        elif isinstance(arg1, tuple) and len(arg1) == 2 and all(isinstance(n, (int, numpy.integer)) for n in arg1):
            shape, data = agreed(shape, arg1), _core.zeros((0,), 'd' if dtype is None else dtype)
            row = col = _core.zeros((0,), 'i')
        elif isinstance(arg1, numpy.ndarray):
            raise TypeError("Unsupported initializer format: <class 'numpy.ndarray'>; use cupy.asarray")
        elif isinstance(arg1, tuple):
            raise TypeError(f'invalid input format: {len(arg1)} parts are neither a shape, nor (data, (row, col)), nor (data, indices, indptr) of a csr or csc matrix')
        else:
            dense = _given(arg1)
            _check_axes_of_arrays(dense, self._is_array)
            dense = dense.reshape((1,) * (2 - dense.ndim) + dense.shape)
            if dense.ndim > 2:
                raise ValueError(f'expected dimension <= 2 array or matrix, given shape {dense.shape}')
            shape = agreed(shape, dense.shape)
            row, col = _core.nonzero(dense)
            data, is_sorted = dense[row, col], True
        super().__init__(shape)
        self.data = data if dtype is None else data.astype(dtype, copy=False)
        self.row, self.col = row.astype('i', copy=False), col.astype('i', copy=False)
        if copy:
            self.data, self.row, self.col = (_core._copy(x, 'C') for x in (self.data, self.row, self.col))
        self.has_canonical_format = is_sorted

    def _with(self, data):
        made = type(self)(self.shape)
        made.data, made.row, made.col, made.has_canonical_format = data, self.row, self.col, self.has_canonical_format
        return made

    def _elements(self):
        return self.row, self.col, self.data

    def transpose(self, axes=None, copy=False):
        """The transposed matrix."""
        _check_axes(axes)
        return type(self)((self.data, (self.col, self.row)), shape=self.shape[::-1], copy=copy)

    def tocoo(self, copy=False):
        """The matrix itself, or a copy."""
        return self.copy() if copy else self

    coords = property(lambda self: (self.row, self.col), None, None, 'The rows and the columns.')

    def get(self, stream=None):
        """SciPy's matrix of this format, or its array."""
        import scipy.sparse
        of = scipy.sparse.coo_array if self._is_array else scipy.sparse.coo_matrix
        return of((self.data.get(), (self.row.get(), self.col.get())), shape=self.shape)

    def _parts(self, of):
        return of(self.data), (of(self.row), of(self.col))

    def todia(self, copy=False):
        """The matrix by its diagonals."""
        rows, columns, data = merged(*self._elements(), self.shape)
        return self._kind('dia')._of_elements(rows, columns, data, self.shape)

    def _take(self, other):
        self.row, self.col, self.data, self.has_canonical_format = other.row, other.col, other.data, other.has_canonical_format

    def sum_duplicates(self):
        """Adds up what is of one place."""
        if self.has_canonical_format:
            return
        self.row, self.col, self.data = merged(self.row, self.col, self.data, self.shape)
        self.has_canonical_format = True

    def eliminate_zeros(self):
        """Keeps what is not 0."""
        kept = self.data != 0
        self.row, self.col, self.data = self.row[kept], self.col[kept], self.data[kept]

    def tocsr(self, copy=False):
        """The matrix by rows."""
        return self._kind('csr')._of_sorted(*merged(self.row, self.col, self.data, self.shape), self.shape)

    def tocsc(self, copy=False):
        """The matrix by columns."""
        return self._kind('csc')._of_sorted(*merged(self.col, self.row, self.data, self.shape[::-1]), self.shape)

    def __getitem__(self, key):
        return self.tocsr()[key]


def _check_count(count):
    if count > MOST:
        raise ValueError(f'indices are int32: a matrix keeps {MOST} elements at most, given {count}')


class _compressed(_spbase):
    """A matrix by its major axis, rows or columns: the elements of the k-th are those from indptr[k] to indptr[k + 1]."""

    _major = 0
    _arrays = 'data', 'indices', 'indptr'

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        if maxprint is not None:
            self.maxprint = maxprint
        if isinstance(arg1, tuple) and len(arg1) == 3:
            data, indices, indptr = device_array(arg1[0]), device_array(arg1[1]), device_array(arg1[2])
            if data.ndim != 1 or indices.ndim != 1 or indptr.ndim != 1:
                raise ValueError('data, indices, and indptr should be 1-D')
            if data.size != indices.size:
                raise ValueError(f'indices and data should have the same size, given {indices.size} and {data.size}')
            if shape is None:
                minor = int(indices.max()) + 1 if indices.size else 0
                shape = (indptr.size - 1, minor) if self._major == 0 else (minor, indptr.size - 1)
            shape = checked_shape(shape)
            if indptr.size != shape[self._major] + 1:
                raise ValueError(f'index pointer size {indptr.size} should be {shape[self._major] + 1}')
            if int(indptr[-1]) > indices.size or int(indptr[0]) != 0:
                raise ValueError('index pointer should start with 0 and end with the number of indices at most, given '
                                 f'{int(indptr[0])} and {int(indptr[-1])} for {indices.size}')
            if not bool(_core.all(indptr[1:] >= indptr[:-1])):
                raise ValueError('index pointer values must form a non-decreasing sequence')
            count = int(indptr[-1])
            if count < indices.size:
                data, indices = data[:count], indices[:count]
            _check_count(count)
            if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < shape[1 - self._major]:
                raise ValueError(f'an index exceeds matrix dimensions {tuple(shape)}')
            indices, indptr = indices.astype('i', copy=False), indptr.astype('i', copy=False)
        else:
            made = arg1 if isinstance(arg1, _spbase) and arg1.format == self.format else self._kind('coo')(arg1, shape, dtype).asformat(self.format)
            data, indices, indptr, shape = made.data, made.indices, made.indptr, agreed(shape, made.shape)
        super().__init__(shape)
        if dtype is not None:
            data = data.astype(dtype, copy=False)
        self.data, self.indices, self.indptr = (_core._copy(x, 'C') for x in (data, indices, indptr)) if copy else (data, indices, indptr)

    @classmethod
    def _of_sorted(cls, major, minor, data, shape):
        made = cls.__new__(cls)
        _spbase.__init__(made, shape)
        _check_count(data.size)
        extent = shape[cls._major]
        counts = _core.bincount(major, None, extent)[:extent]
        made.indptr = _core._concatenate([_core.zeros((1,), 'i'), _core.cumsum(counts).astype('i')], 0)
        made.data, made.indices = data, minor
        return made

    def _with(self, data):
        made = type(self).__new__(type(self))
        _spbase.__init__(made, self.shape)
        made.data, made.indices, made.indptr = data, self.indices, self.indptr
        return made

    def _majors(self):
        counts = (self.indptr[1:] - self.indptr[:-1]).astype('l')
        return _core.repeat(_core.arange(counts.size), counts).astype('i') if counts.size else _core.zeros((0,), 'i')

    def _elements(self):
        major = self._majors()
        return (major, self.indices, self.data) if self._major == 0 else (self.indices, major, self.data)

    def tocoo(self, copy=True):
        """The matrix by its elements."""
        rows, columns, data = self._elements()
        return self._kind('coo')((data, (rows, columns)), shape=self.shape, copy=copy)

    # what a program says of its own indices holds until they are sorted
    has_canonical_format = property(lambda self: self._is_sorted(False), lambda self, said: self._said.update({False: bool(said)}), None,
                                    'Are the indices sorted, each there once?')
    has_sorted_indices = property(lambda self: self._is_sorted(True), lambda self, said: self._said.update({True: bool(said)}), None, 'Are the indices sorted?')
    _said = property(lambda self: self.__dict__.setdefault('_of_indices', {}))

    def _is_sorted(self, twice):
        if twice in self._said:
            return self._said[twice]
        return self._in_order(twice)

    def _in_order(self, twice):
        """Is it so, whatever a program says?"""
        if self.indices.size < 2:
            return True
        major = self._majors()
        step = self.indices[1:] - self.indices[:-1]
        return bool(_core.all((major[1:] != major[:-1]) | (step >= 0 if twice else step > 0)))

    def _take(self, other):
        self._said.clear()
        self.data, self.indices, self.indptr = other.data, other.indices, other.indptr

    def sum_duplicates(self):
        """Sorts the indices, and adds up what is of one place."""
        if not self.has_canonical_format:
            self._merge()

    def _merge(self):
        minor = self.shape[1 - self._major]
        self._take(self._of_sorted(*merged(self._majors(), self.indices, self.data, (self.shape[self._major], minor)), self.shape))

    def sort_indices(self):
        """As sum_duplicates, where the indices are not sorted."""
        if not self.has_sorted_indices:
            self.sum_duplicates()

    def sorted_indices(self):
        """A copy with sorted indices."""
        made = self.copy()
        made.sort_indices()
        return made

    def eliminate_zeros(self):
        """Keeps what is not 0."""
        kept = self.data != 0
        self._take(self._of_sorted(self._majors()[kept], self.indices[kept], self.data[kept], self.shape))

    def transpose(self, axes=None, copy=False):
        """The transposed matrix: the same arrays read the other way."""
        _check_axes(axes)
        kind = self._kind('csc' if self._major == 0 else 'csr')
        made = kind.__new__(kind)
        _spbase.__init__(made, self.shape[::-1])
        made.data, made.indices, made.indptr = self.data, self.indices, self.indptr
        return made.copy() if copy else made

    # ------------------------------------------------------------------ places
    def _chosen(self, which):
        """The rows, or columns, of these numbers, in their order."""
        which = which.astype('l')
        counts = (self.indptr[1:] - self.indptr[:-1]).astype('l')[which]
        places, owner = spread(self.indptr[which].astype('l'), counts)
        shape = list(self.shape)
        shape[self._major] = which.size
        if owner.size == 0:
            return type(self)(tuple(shape), dtype=self.dtype)
        return self._of_sorted(owner.astype('i'), self.indices[places], self.data[places], tuple(shape))

    def _at(self, rows, columns):
        """The elements at these places, as an array of their shape."""
        major, minor = (rows, columns) if self._major == 0 else (columns, rows)
        width = self.shape[1 - self._major]
        a, b, data = merged(self._majors(), self.indices, self.data, (self.shape[self._major], width))
        key = a.astype('l') * max(width, 1) + b
        wanted = major.astype('l') * max(width, 1) + minor
        if key.size == 0:
            return _core.zeros(wanted.shape, self.dtype)
        place = _core.ufuncs['minimum'](_core.searchsorted(key, wanted.ravel()), key.size - 1).reshape(wanted.shape)
        return _core.where(key[place] == wanted, data[place], _core.zeros((), data.dtype))

    def __getitem__(self, key):
        masked = setting.of_mask(self, key)
        row, column = setting.indices(self, key) if masked is None else masked
        # a number beside what is none keeps its axis, with the extent 1
        outer = setting.is_number(row) != setting.is_number(column)
        if outer:
            row, column = (k.reshape((1,)) if isinstance(k, ndarray) and k.ndim == 0 else k for k in (row, column))
        if not outer and not isinstance(row, slice) and not isinstance(column, slice):
            if row.ndim <= 1 and column.ndim <= 1:
                row, column = (_core.broadcast_to(x, _core._broadcast_shapes([row.shape, column.shape])) for x in (row, column))
                found = self._at(row, column)
                return found if self._is_array or found.ndim != 1 else found.reshape((1, -1))  # as SciPy's matrices
            if row.ndim == 2 and row.shape[1] == 1 and (column.ndim == 1 or column.shape[0] == 1):  # of ix_
                row, column = row.ravel(), column.ravel()
            else:
                raise IndexError('index arrays of a sparse matrix: one axis, or the two that ix_ gives')
        if any(not isinstance(k, slice) and k.ndim > (1 if isinstance(other, slice) else 2) for k, other in ((row, column), (column, row))):
            raise IndexError('index arrays of a sparse matrix: one axis, or the two that ix_ gives')
        made = self
        for axis, own in ((self._major, (row, column)[self._major]), (1 - self._major, (row, column)[1 - self._major])):
            if isinstance(own, slice) and own == slice(None):
                continue
            made = made.asformat('csr' if axis == 0 else 'csc')._chosen(setting.along(own, self.shape[axis]).reshape(-1))
        return made.copy() if made is self else made.asformat(self.format)

    def __setitem__(self, key, value):
        setting.set_elements(self, key, value)

    def prune(self):
        """Lets go of what lies behind the last element."""
        count = int(self.indptr[-1])
        self.data, self.indices = self.data[:count], self.indices[:count]


class _csr(_compressed):
    format = 'csr'

    def tocsr(self, copy=False):
        """The matrix itself, or a copy."""
        return self.copy() if copy else self

    def tocsc(self, copy=False):
        """The matrix by columns."""
        rows, columns, data = self._elements()
        return self._kind('csc')._of_sorted(*merged(columns, rows, data, self.shape[::-1]), self.shape)


class _csc(_compressed):
    format = 'csc'
    _major = 1

    def tocsc(self, copy=False):
        """The matrix itself, or a copy."""
        return self.copy() if copy else self

    def tocsr(self, copy=False):
        """The matrix by rows."""
        return self._kind('csr')._of_sorted(*merged(*self._elements(), self.shape), self.shape)


class coo_matrix(spmatrix, _coo):
    """A matrix by rows, columns and values of its elements; those of one place are added up. Of an array of two axes, SciPy's matrices, a
    matrix, a shape, or (data, (row, col))."""


class csr_matrix(spmatrix, _csr):
    """A matrix by rows. Of an array of two axes, SciPy's matrices, a matrix, a shape, (data, (row, col)) or (data, indices, indptr)."""


class csc_matrix(spmatrix, _csc):
    """A matrix by columns. Of what csr_matrix takes; (data, indices, indptr) are by columns."""


class dia_matrix(spmatrix, _dia):
    """A matrix by its diagonals, with a shape of (data, offsets): data[k, j] is in column j of the diagonal offsets[k]. Or of an
    array of two axes, SciPy's matrices, a matrix, a shape."""


class coo_array(sparray, _coo):
    """As coo_matrix, an array."""


class csr_array(sparray, _csr):
    """As csr_matrix, an array."""


class csc_array(sparray, _csc):
    """As csc_matrix, an array."""


class dia_array(sparray, _dia):
    """As dia_matrix, an array."""


_spbase._classes.update({(kind._is_array, kind.format): kind for kind in (
    coo_matrix, csr_matrix, csc_matrix, dia_matrix, coo_array, csr_array, csc_array, dia_array)})
