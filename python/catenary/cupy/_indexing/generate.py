"""cupy.r_, c_, mgrid and ogrid, and indices of diagonals and triangles."""

import numpy

from catenary import _core
from catenary.cupy._array import array, asarray, ndarray


class AxisConcatenator:
    """r_ and c_: arrays and numbers, joined by [ ]."""

    def __init__(self, axis=0, ndmin=1, place=-1):
        self._axis, self._ndmin, self._place = axis, ndmin, place

    def __len__(self):
        return 0

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(x, (str, slice)) for x in parts):
            raise NotImplementedError('r_ and c_ take arrays and numbers; ranges are cupy.arange and linspace')
        known = [x if numpy.isscalar(x) else array(x, copy=False) for x in parts]
        dtype = numpy.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in known))
        return _core._concatenate([self._raised(asarray(x, dtype)) for x in known], self._axis)

    def _raised(self, a):
        missing = self._ndmin - a.ndim
        if missing <= 0:
            return a
        place = 0 if self._place == 0 and a.ndim else missing
        return a.reshape((1,) * place + a.shape + (1,) * (missing - place))


r_ = AxisConcatenator()
c_ = AxisConcatenator(-1, 2, 0)


class _Grid:
    def __init__(self, grid):
        self._grid = grid

    def __getitem__(self, key):
        grid = self._grid[tuple(slice(*(x.item() if isinstance(x, ndarray) else x for x in (k.start, k.stop, k.step)))
                                for k in key) if isinstance(key, tuple) else key]
        return tuple(map(asarray, grid)) if isinstance(grid, (list, tuple)) else asarray(grid)


mgrid, ogrid = _Grid(numpy.mgrid), _Grid(numpy.ogrid)


def diag_indices(n, ndim=2):
    """The indices of the main diagonal of an array with extents n."""
    return (_core.arange(n),) * ndim


def diag_indices_from(arr):
    """The indices of the main diagonal of `arr`, whose extents are equal."""
    if not isinstance(arr, ndarray):
        raise TypeError(f'diag_indices_from: expected cupy.ndarray, not {type(arr).__name__}')
    if arr.ndim < 2:
        raise ValueError('input array must be at least 2-d')
    if len(set(arr.shape)) != 1:
        raise ValueError(f'All dimensions of input must be of equal length, not {arr.shape}')
    return diag_indices(arr.shape[0], arr.ndim)


def tril_indices_from(arr, k=0):
    """tril_indices for the extents of a matrix."""
    return _core.tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k=0):
    """triu_indices for the extents of a matrix."""
    return _core.triu_indices(arr.shape[-2], k, arr.shape[-1])
