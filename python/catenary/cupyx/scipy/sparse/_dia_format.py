"""The dia format: matrices and arrays by diagonals."""

import numpy

from catenary import _core
from catenary.cupyx.scipy.sparse._sparse_utils import MOST, agreed, check_axes, checked_axis, device_array, merged
from catenary.cupyx.scipy.sparse._spbase import _spbase


class _dia(_spbase):
    format = 'dia'
    _arrays = 'data', 'offsets'

    def __init__(self, arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        if maxprint is not None:
            self.maxprint = maxprint
        if isinstance(arg1, tuple) and len(arg1) == 2 and not all(isinstance(n, (int, numpy.integer)) for n in arg1):
            if shape is None:
                raise ValueError('expected a shape argument: (data, offsets) do not determine it')
            data, offsets = device_array(arg1[0]), device_array(arg1[1])
            data, offsets = data.reshape((1,) * (2 - data.ndim) + data.shape), offsets.reshape((1,) * (1 - offsets.ndim) + offsets.shape)
            if offsets.ndim != 1 or data.ndim != 2:
                raise ValueError(f'data has two axes and offsets one, given {data.ndim} and {offsets.ndim}')
            if data.shape[0] != offsets.size:
                raise ValueError(f'number of diagonals ({data.shape[0]}) does not match the number of offsets ({offsets.size})')
            if len(set(offsets.tolist())) != offsets.size:
                raise ValueError('offset array contains duplicate values')
            if offsets.size and not -MOST <= int(offsets.min()) <= int(offsets.max()) <= MOST:
                raise ValueError(f'offsets are int32, given {offsets}')
            offsets = offsets.astype('i', copy=False)
        else:
            own = arg1 if isinstance(arg1, _spbase) and arg1.format == 'dia' else self._of_scipy(arg1)
            own = self._kind('coo')(arg1, shape, dtype).todia() if own is None else own
            data, offsets, shape = own.data, own.offsets, agreed(shape, own.shape)
        super().__init__(shape)
        self.data = data if dtype is None else data.astype(dtype, copy=False)
        self.offsets = offsets
        if copy:
            self.data, self.offsets = (_core._copy(x, 'C') for x in (self.data, self.offsets))

    def _of_scipy(self, x):
        if type(x).__module__.startswith('scipy.sparse') and x.format == 'dia':
            return type(self)((x.data, x.offsets), shape=x.shape)

    @classmethod
    def _of_elements(cls, rows, columns, data, shape):
        """Constructs the matrix from elements without duplicates."""
        over = columns.astype('l') - rows
        offsets = numpy.unique(over.get())
        width = int(columns.max()) + 1 if columns.size else 0
        made = _core.zeros((len(offsets), width), data.dtype)
        offsets = _core.from_numpy(offsets, None).astype('i')
        if data.size:
            made[_core.searchsorted(offsets.astype('l'), over), columns] = data
        return cls((made, offsets), shape=shape)

    def _with(self, data):
        return type(self)((data, self.offsets), shape=self.shape)

    def _places(self):
        """Returns (row of each number in data, whether it lies inside the matrix)."""
        at = _core.arange(self.data.shape[1])
        rows = at[None, :] - self.offsets.astype('l')[:, None]
        return rows, (rows >= 0) & (rows < self.shape[0]) & (at < self.shape[1])[None, :]

    def _elements(self):
        rows, within = self._places()
        kept = within & (self.data != 0)
        columns = _core.broadcast_to(_core.arange(self.data.shape[1]), rows.shape)
        return merged(*(place[kept].astype(self.offsets.dtype) for place in (rows, columns)), self.data[kept], self.shape)  # in row order, as in SciPy

    def getnnz(self, axis=None):
        """Counts the elements of the stored diagonals within the matrix: all, per column (axis 0) or per row (axis 1)."""
        rows, within = self._places()
        return self._counted(rows, within, axis)

    def count_nonzero(self, axis=None):
        """Counts the non-zero elements: all, per column (axis 0) or per row (axis 1)."""
        rows, within = self._places()
        return self._counted(rows, within & (self.data != 0), axis)

    def _counted(self, rows, kept, axis):
        """Counts the kept numbers of data along an axis."""
        axis = checked_axis(axis, self.ndim)
        if axis is None:
            return int(_core.count_nonzero(kept))
        columns = _core.broadcast_to(_core.arange(self.data.shape[1]), rows.shape)
        extent = self.shape[1 - axis]
        return self._counts(_core.bincount((columns if axis == 0 else rows)[kept], None, extent)[:extent], axis)

    def _extra(self):
        return f' ({self.offsets.size} diagonals)'

    def _pattern(self):
        return self.tocoo()._pattern()

    def tocoo(self, copy=True):
        """Returns the matrix in coo format."""
        rows, columns, data = self._elements()
        return self._kind('coo')._of_places(rows, columns, data, self.shape)

    def todia(self, copy=False):
        """Returns the matrix itself, or a copy."""
        return self.copy() if copy else self

    def transpose(self, axes=None, copy=False):
        """Returns the transposed matrix."""
        check_axes(axes)
        at = _core.arange(self.shape[0])
        columns = at[None, :] + self.offsets.astype('l')[:, None]
        kept = (columns >= 0) & (columns < min(self.data.shape[1], self.shape[1]))
        columns = _core.where(kept, columns, 0)
        if not self.data.size or not columns.size:
            return type(self)((_core.zeros((self.offsets.size, 0), self.dtype), -self.offsets), shape=self.shape[::-1])
        data = self.data[_core.arange(self.offsets.size)[:, None], columns]
        return type(self)((_core.where(kept, data, _core.zeros((), data.dtype)), -self.offsets), shape=self.shape[::-1])

    def _take(self, other):
        own = other.todia()
        self.data, self.offsets = own.data, own.offsets

    def __getitem__(self, key):
        raise TypeError(f"'{type(self).__name__}' object is not subscriptable: tocsr() is")
