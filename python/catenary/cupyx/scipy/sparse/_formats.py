"""The coo, csr and csc formats: matrices and arrays."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy.sparse import _indexing as setting
from catenary.cupyx.scipy.sparse._dia_format import _dia
from catenary.cupyx.scipy.sparse._one_dimensional import extents, one_axis
from catenary.cupyx.scipy.sparse._sparse_utils import (
    agreed, check_axes, checked_axis, checked_shape, device_array, given_dtype, index_dtype, merged, spread)
from catenary.cupyx.scipy.sparse._spbase import _spbase, sparray, spmatrix


def _of_scipy(x):
    return hasattr(x, 'tocoo') and type(x).__module__.startswith('scipy.sparse')


class _coo(_spbase):

    format = 'coo'
    _arrays = 'data', 'row', 'col'

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        if maxprint is not None:
            self.maxprint = maxprint
        is_sorted = False
        if isinstance(arg1, _spbase):
            own, coords = arg1.shape, arg1._elements()
            coords, data = coords[2 - len(own):2], coords[2]
            shape = agreed(shape, own, coords[-1])
        elif _of_scipy(arg1):
            own = arg1.tocoo()
            coords = own.coords if hasattr(own, 'coords') else (own.row, own.col)  # for SciPy before 1.13
            coords, data = tuple(device_array(x) for x in coords), device_array(own.data)
            shape = agreed(shape, checked_shape(own.shape, self._allow_nd), coords[-1])
        elif isinstance(arg1, tuple) and len(arg1) == 2 and _is_coords(arg1[1]):
            data, *coords = (device_array(x) for x in (arg1[0], *arg1[1]))
            if not all(x.ndim == 1 for x in (data, *coords)):
                raise ValueError(f'row, column, and data array must have one axis, given {", ".join(str(x.ndim) for x in (*coords, data))}')
            if not all(x.size == data.size for x in coords):
                raise ValueError(f'row, column, and data array must all be the same length, given {", ".join(str(x.size) for x in coords)} and {data.size}')
            if shape is None:
                if data.size == 0:
                    raise ValueError('cannot infer dimensions from zero sized index arrays')
                shape = tuple(int(x.max()) + 1 for x in coords)
            shape = checked_shape(shape, self._allow_nd)
            if len(shape) != len(coords):
                raise ValueError(f'mismatching number of index arrays for the shape {shape}: given {len(coords)}')
            if data.size and not all(0 <= int(x.min()) and int(x.max()) < n for x, n in zip(coords, shape)):
                raise ValueError(f'row or column index exceeds matrix dimensions {tuple(shape)}')
            coords = [x.astype(given_dtype(self._is_array, shape, *coords), copy=False) for x in coords]
        elif isinstance(arg1, tuple) and all(isinstance(n, (int, numpy.integer)) for n in arg1) and (self._is_array or len(arg1) == 2):
            shape, data = agreed(shape, checked_shape(arg1, self._allow_nd)), _core.zeros((0,), 'd' if dtype is None else dtype)
            coords = (_core.zeros((0,), index_dtype(shape)),) * len(shape)
        elif isinstance(arg1, numpy.ndarray):
            raise TypeError("Unsupported initializer format: <class 'numpy.ndarray'>; use cupy.asarray")
        elif isinstance(arg1, tuple):
            raise TypeError(f'invalid input format: {len(arg1)} parts are neither a shape, nor (data, (row, col)), nor (data, indices, indptr) of a csr or csc matrix')
        else:
            dense = given(arg1)
            if self._is_array and dense.ndim == 0:
                raise TypeError('a sparse array needs an array with one or two axes, got a number')
            if not self._is_array:
                dense = dense.reshape((1,) * (2 - dense.ndim) + dense.shape)
            if dense.ndim > 2:
                raise ValueError(f'expected dimension <= 2 array or matrix, given shape {dense.shape}')
            coords = _core.nonzero(dense)
            shape = agreed(shape, dense.shape, coords[-1])
            data, is_sorted = dense[coords], True
            coords = tuple(x.astype(index_dtype(shape)) for x in coords)
        super().__init__(shape)
        self.data = data if dtype is None else data.astype(dtype, copy=False)
        index = index_dtype(shape, *coords)
        self.col = coords[-1].astype(index, copy=False)
        self.row = coords[0].astype(index, copy=False) if len(coords) == 2 else _core.zeros(self.col.shape, index)
        if copy:
            self.data, self.row, self.col = (_core._copy(x, 'C') for x in (self.data, self.row, self.col))
        self.has_canonical_format = is_sorted

    @classmethod
    def _of_places(cls, rows, columns, data, shape):
        """Constructs the array from elements in any order. Indices are int64 if rows or columns are."""
        made, index = cls.__new__(cls), index_dtype(shape, rows, columns)
        _spbase.__init__(made, shape)
        made.row, made.col, made.data = rows.astype(index, copy=False), columns.astype(index, copy=False), data
        made.has_canonical_format = False
        return made

    def _seen_as(self, shape, kind=None):
        made = super()._seen_as(shape, kind)
        made.has_canonical_format = self.has_canonical_format
        return made

    def _with(self, data):
        made = self._seen_as(self.shape)
        made.data = data
        return made

    def _elements(self):
        return self.row, self.col, self.data

    def transpose(self, axes=None, copy=False):
        """Returns the transposed matrix. A 1-d array returns itself."""
        check_axes(axes)
        if self.ndim == 1:
            return self.copy() if copy else self
        made = self._of_places(self.col, self.row, self.data, self.shape[::-1])
        return made.copy() if copy else made

    def tocoo(self, copy=False):
        """Returns the matrix itself, or a copy."""
        return self.copy() if copy else self

    coords = property(lambda self: (self.row, self.col)[2 - self.ndim:], None, None, 'The rows and the columns; of one axis the places alone.')

    def _parts(self, of):
        return of(self.data), tuple(of(x) for x in self.coords)

    def todia(self, copy=False):
        """Returns the matrix in dia format."""
        _check_two_axes(self, 'dia')
        rows, columns, data = merged(*self._elements(), self.shape)
        return self._kind('dia')._of_elements(rows, columns, data, self.shape)

    def _take(self, other):
        self.row, self.col, self.data, self.has_canonical_format = other.row, other.col, other.data, other.has_canonical_format

    def sum_duplicates(self):
        """Adds up duplicate elements."""
        if self.has_canonical_format:
            return
        self.row, self.col, self.data = merged(self.row, self.col, self.data, self._extents)
        self.has_canonical_format = True

    def eliminate_zeros(self):
        """Removes explicit zeros."""
        kept = self.data != 0
        self.row, self.col, self.data = self.row[kept], self.col[kept], self.data[kept]

    def tocsr(self, copy=False):
        """Returns the matrix in csr format."""
        return self._kind('csr')._of_sorted(*merged(self.row, self.col, self.data, self._extents), self.shape)

    def tocsc(self, copy=False):
        """Returns the matrix in csc format."""
        _check_two_axes(self, 'csc')
        return self._kind('csc')._of_sorted(*merged(self.col, self.row, self.data, self.shape[::-1]), self.shape)

    def __getitem__(self, key):
        found = self.tocsr()[key]
        return self._kind('coo')(found) if self._is_array and found.ndim else found

    def __setitem__(self, key, value):
        if not self._is_array:  # as in SciPy
            raise TypeError(f"'{type(self).__name__}' object does not support item assignment")
        own = self.tocsr()
        own._set(key, value, False)
        self._take(own.tocoo())
        self.has_canonical_format = True


def _is_coords(x):
    """Is x the coordinates of elements: one index array per axis?"""
    return len(x) in (1, 2) if isinstance(x, (tuple, list)) else getattr(x, 'ndim', 0) == 2 and x.shape[0] in (1, 2)


def _check_two_axes(x, format):
    if x.ndim != 2:
        raise ValueError(f'Cannot convert a 1d sparse array to {format} format: reshape(1, -1) gives two axes')


class _compressed(_spbase):
    """A matrix compressed along its rows or columns: entry k has the elements from indptr[k] to indptr[k + 1]."""

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
            shape = checked_shape(shape, self._allow_nd)
            rows_and_columns = extents(shape)
            if indptr.size != rows_and_columns[self._major] + 1:
                raise ValueError(f'index pointer size {indptr.size} should be {rows_and_columns[self._major] + 1}')
            if int(indptr[-1]) > indices.size or int(indptr[0]) != 0:
                raise ValueError('index pointer should start with 0 and end with the number of indices at most, given '
                                 f'{int(indptr[0])} and {int(indptr[-1])} for {indices.size}')
            if not bool(_core.all(indptr[1:] >= indptr[:-1])):
                raise ValueError('index pointer values must form a non-decreasing sequence')
            count = int(indptr[-1])
            if count < indices.size:
                data, indices = data[:count], indices[:count]
            if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < rows_and_columns[1 - self._major]:
                raise ValueError(f'an index exceeds matrix dimensions {tuple(shape)}')
            index = given_dtype(self._is_array, shape, indices, indptr, count=count)
            indices, indptr = indices.astype(index, copy=False), indptr.astype(index, copy=False)
        else:
            made = self._of_other(arg1, shape, dtype)
            data, indices, indptr = made.data, made.indices, made.indptr
            shape = made.shape if len(made.shape) == 2 else agreed(shape, made.shape, indices)
        super().__init__(shape)
        if dtype is not None:
            data = data.astype(dtype, copy=False)
        self.data, self.indices, self.indptr = (_core._copy(x, 'C') for x in (data, indices, indptr)) if copy else (data, indices, indptr)

    def _of_other(self, x, shape, dtype):
        if isinstance(x, _spbase) and x.format == self.format and x.ndim in self._allow_nd:
            made = x
        elif not hasattr(x, 'shape') or isinstance(x, numpy.ndarray):
            return self._kind('coo')(x, shape, dtype).asformat(self.format)
        elif self._is_array and x.ndim < min(self._allow_nd):
            raise (ValueError if x.ndim or self.format == 'csc' else TypeError)(f'{self.format.upper()} arrays don\'t support {x.ndim}D input')
        else:
            made = self._kind('coo')(x, None, dtype).asformat(self.format)
        if made.ndim == 1 and shape is not None and tuple(shape) == made._extents:
            return made.two_axes()
        agreed(shape, made.shape, made.indices)
        return made

    @classmethod
    def _of_sorted(cls, major, minor, data, shape):
        made = cls.__new__(cls)
        _spbase.__init__(made, shape)
        extent, index = extents(shape)[cls._major], index_dtype(shape, minor, count=data.size)
        counts = _core.bincount(major, None, extent)[:extent]
        made.indptr = _core._concatenate([_core.zeros((1,), index), _core.cumsum(counts).astype(index)], 0)
        made.data, made.indices = data, minor.astype(index, copy=False)
        return made

    @classmethod
    def _of_parts(cls, indptr, indices, data, shape):
        made = cls.__new__(cls)
        _spbase.__init__(made, shape)
        made.indptr, made.indices, made.data = indptr, indices, data
        return made

    def _with(self, data):
        made = self._seen_as(self.shape)
        made.data = data
        return made

    def _majors(self):
        made = _core._csr_rows(self.indptr, self.indices.size)
        if made is not None:
            return made.astype(self.indices.dtype, copy=False)
        counts = (self.indptr[1:] - self.indptr[:-1]).astype('l')
        return _core.repeat(_core.arange(counts.size), counts).astype(self.indices.dtype, copy=False) if counts.size else _core.zeros((0,), self.indices.dtype)

    def _counts(self, counts, axis):
        # rows of csr are counted by differences of indptr
        return counts.astype(self.indptr.dtype) if self.ndim == 2 and checked_axis(axis) == 1 - self._major else counts

    def _elements(self):
        major = self._majors()
        return (major, self.indices, self.data) if self._major == 0 else (self.indices, major, self.data)

    def tocoo(self, copy=True):
        """Returns the matrix in coo format."""
        rows, columns, data = self._elements()
        made = self._kind('coo')._of_places(rows, columns, data, self._extents)
        made = made if self.ndim == 2 else one_axis(made)
        return made.copy() if copy else made

    # a value that a program sets holds until the indices are sorted
    has_canonical_format = property(lambda self: self._is_sorted(False), lambda self, said: self._said.update({False: bool(said)}), None,
                                    'Are the indices sorted, each there once?')
    has_sorted_indices = property(lambda self: self._is_sorted(True), lambda self, said: self._said.update({True: bool(said)}), None, 'Are the indices sorted?')
    _said = property(lambda self: self.__dict__.setdefault('_of_indices', {}))

    def _is_sorted(self, twice):
        if twice in self._said:
            return self._said[twice]
        return self._in_order(twice)

    def _in_order(self, twice):
        """Are the indices sorted, regardless of the flag that a program has set?"""
        if self.indices.size < 2:
            return True
        found = _core._csr_ascend(self.indptr, self.indices, not twice)
        if found is not None:
            return found
        major = self._majors()
        step = self.indices[1:] - self.indices[:-1]
        return bool(_core.all((major[1:] != major[:-1]) | (step >= 0 if twice else step > 0)))

    def _take(self, other):
        self._said.clear()
        self.data, self.indices, self.indptr = other.data, other.indices, other.indptr

    def sum_duplicates(self):
        """Sorts the indices and adds up duplicate elements."""
        if not self.has_canonical_format:
            self._merge()

    def _merge(self):
        own = self._extents
        self._take(self._of_sorted(*merged(self._majors(), self.indices, self.data, (own[self._major], own[1 - self._major])), self.shape))

    def sort_indices(self):
        """Sorts the indices as sum_duplicates, unless they are sorted."""
        if not self.has_sorted_indices:
            self.sum_duplicates()

    def sorted_indices(self):
        """Returns a copy with sorted indices."""
        made = self.copy()
        made.sort_indices()
        return made

    def eliminate_zeros(self):
        """Removes explicit zeros."""
        kept = self.data != 0
        self._take(self._of_sorted(self._majors()[kept], self.indices[kept], self.data[kept], self.shape))

    def transpose(self, axes=None, copy=False):
        """Returns the transposed matrix, which shares the arrays. A 1-d array returns itself."""
        check_axes(axes)
        if self.ndim == 1:
            return self.copy() if copy else self
        kind = self._kind('csc' if self._major == 0 else 'csr')
        made = kind.__new__(kind)
        _spbase.__init__(made, self.shape[::-1])
        made.data, made.indices, made.indptr = self.data, self.indices, self.indptr
        return made.copy() if copy else made

    # ------------------------------------------------------------------ places
    def _chosen(self, which):
        """Returns the given rows, or columns, in this order."""
        which = which.astype('l')
        extents = list(self.shape)
        extents[self._major] = which.size
        made = _core._csr_chosen(self.indptr, self.indices, self.data, which)
        if made is not None:
            return self._of_parts(*made, tuple(extents))
        counts = (self.indptr[1:] - self.indptr[:-1]).astype('l')[which]
        places, owner = spread(self.indptr[which].astype('l'), counts)
        if owner.size == 0:
            return self._of_sorted(owner, self.indices[:0], self.data[:0], tuple(extents))
        return self._of_sorted(owner, self.indices[places], self.data[places], tuple(extents))

    def _at(self, rows, columns):
        """Returns the elements at indices, as an array of the indices' shape."""
        major, minor = (rows, columns) if self._major == 0 else (columns, rows)
        found = _core._csr_elements(self.indptr, self.indices, self.data, *(_core._contiguous(x.astype('l', copy=False), False) for x in (major, minor)))
        if found is not None:
            return found
        width = self.shape[1 - self._major]
        a, b, data = merged(self._majors(), self.indices, self.data, (self.shape[self._major], width))
        key = a.astype('l') * max(width, 1) + b
        wanted = major.astype('l') * max(width, 1) + minor
        if key.size == 0:
            return _core.zeros(wanted.shape, self.dtype)
        place = _core.ufuncs['minimum'](_core.searchsorted(key, wanted.ravel()), key.size - 1).reshape(wanted.shape)
        return _core.where(key[place] == wanted, data[place], _core.zeros((), data.dtype))

    def _between(self, start, stop):
        """Returns the columns of csr, or the rows of csc, from start to before stop."""
        kept = (self.indices >= start) & (self.indices < stop)
        count = _core._concatenate([_core.zeros((1,), 'l'), _core.cumsum(kept)], 0)
        shape = list(self.shape)
        shape[1 - self._major] = max(stop - start, 0)
        return self._of_parts(count[self.indptr].astype(self.indptr.dtype), self.indices[kept] - start, self.data[kept], tuple(shape))

    def __getitem__(self, key):
        return setting.of_array(self, key) if self._is_array else self._picked(key)

    def __iter__(self):
        rows = self.tocsr()
        for k in range(self.shape[0]):
            row = rows[k]
            yield row.tocsr() if isinstance(row, _spbase) else row

    def _one(self, row, column):
        """Returns the element at two numbers as a 0-d array. Duplicates are added up."""
        major, minor = (row, column) if self._major == 0 else (column, row)
        start, stop = self.indptr[major:major + 2].tolist()
        chosen = self.data[start:stop][self.indices[start:stop] == minor]
        return _core.sum(chosen, dtype=self.dtype) if self.dtype != bool else _core.any(chosen)

    def _picked(self, key):
        """Returns the elements at a pair of keys. A number keeps its axis with size 1, unless both are numbers."""
        if type(key) is tuple and len(key) == 2 and all(type(k) is int and -n <= k < n for k, n in zip(key, self.shape)):
            return self._one(*(k % n for k, n in zip(key, self.shape)))
        masked = setting.of_mask(self, key)
        row, column = setting.indices(self, key) if masked is None else masked
        # a number next to a slice or an array keeps its axis with size 1
        outer = setting.is_number(row) != setting.is_number(column)
        if outer:
            row, column = (k.reshape((1,)) if isinstance(k, ndarray) and k.ndim == 0 else k for k in (row, column))
        if not outer and not isinstance(row, slice) and not isinstance(column, slice):
            if row.ndim <= 1 and column.ndim <= 1:
                row, column = (_core.broadcast_to(x, _core._broadcast_shapes([row.shape, column.shape])) for x in (row, column))
                found = self._at(row, column)
                return found if self._is_array or found.ndim != 1 else found.reshape((1, -1))  # as in SciPy, matrices stay 2-d
            if row.ndim == 2 and row.shape[1] == 1 and (column.ndim == 1 or column.shape[0] == 1):  # the keys come from ix_
                row, column = row.ravel(), column.ravel()
            else:
                raise IndexError('index arrays of a sparse matrix: one axis, or the two that ix_ gives')
        if any(not isinstance(k, slice) and k.ndim > (1 if isinstance(other, slice) else 2) for k, other in ((row, column), (column, row))):
            raise IndexError('index arrays of a sparse matrix: one axis, or the two that ix_ gives')
        made = self
        for axis, own in ((self._major, (row, column)[self._major]), (1 - self._major, (row, column)[1 - self._major])):
            if isinstance(own, slice) and own == slice(None):
                continue
            if axis != made._major and isinstance(own, slice) and made.format == self.format and own.indices(self.shape[axis])[2] == 1 and made._in_order(False):
                made = made._between(*own.indices(self.shape[axis])[:2])
                continue
            made = made.asformat('csr' if axis == 0 else 'csc')._chosen(setting.along(own, self.shape[axis]).reshape(-1))
        return made.copy() if made is self else made.asformat(self.format)

    def __setitem__(self, key, value):
        self._set(key, value, True)

    def _set(self, key, value, warns):
        if not self._is_array:
            setting.set_elements(self, key, value, warns)
            return
        two = self.two_axes()
        setting.set_elements(two, setting.of_rows(self, key), value, warns)
        if two is not self:
            self._take(two)

    def prune(self):
        """Frees the memory behind the last element."""
        count = int(self.indptr[-1])
        self.data, self.indices = self.data[:count], self.indices[:count]


class _csr(_compressed):
    format = 'csr'

    def tocsr(self, copy=False):
        """Returns the matrix itself, or a copy."""
        return self.copy() if copy else self

    def tocsc(self, copy=False):
        """Returns the matrix in csc format."""
        _check_two_axes(self, 'csc')
        rows, columns, data = self._elements()
        return self._kind('csc')._of_sorted(*merged(columns, rows, data, self.shape[::-1]), self.shape)


class _csc(_compressed):
    format = 'csc'
    _major = 1

    def tocsc(self, copy=False):
        """Returns the matrix itself, or a copy."""
        return self.copy() if copy else self

    def tocsr(self, copy=False):
        """Returns the matrix in csr format."""
        return self._kind('csr')._of_sorted(*merged(*self._elements(), self.shape), self.shape)


class coo_matrix(spmatrix, _coo):
    """A matrix in coordinate format, whose duplicate elements count as their sum. It is made of a 2-d array, a SciPy matrix, a sparse matrix, a
    shape, or (data, (row, col))."""


class csr_matrix(spmatrix, _csr):
    """A matrix in compressed row format. It is made of a 2-d array, a SciPy matrix, a sparse matrix, a shape, (data, (row, col)) or (data, indices,
    indptr)."""


class csc_matrix(spmatrix, _csc):
    """A matrix in compressed column format. The arguments are those of csr_matrix, with (data, indices, indptr) by columns."""


class dia_matrix(spmatrix, _dia):
    """A matrix by diagonals: (data, offsets) with a shape, where data[k, j] lies in column j of the diagonal offsets[k]. It is also made of a 2-d
    array, a SciPy matrix, a sparse matrix or a shape."""


class coo_array(sparray, _coo):
    """An array in coordinate format with one or two axes: as coo_matrix, or of a 1-d ndarray, a shape (n,), or (data, (indices,))."""

    _allow_nd = 1, 2


class csr_array(sparray, _csr):
    """An array in compressed row format with one or two axes: as csr_matrix and coo_array. (data, indices, indptr) with a shape (n,) gives a 1-d
    array."""

    _allow_nd = 1, 2


class csc_array(sparray, _csc):
    """An array in compressed column format. The arguments are those of csc_matrix."""


class dia_array(sparray, _dia):
    """An array by diagonals. The arguments are those of dia_matrix."""


_spbase._classes.update({(kind._is_array, kind.format): kind for kind in (
    coo_matrix, csr_matrix, csc_matrix, dia_matrix, coo_array, csr_array, csc_array, dia_array)})
