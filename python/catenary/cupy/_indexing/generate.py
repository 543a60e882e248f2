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
        grid = self._grid[key]
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


def _of_matrix(name):
    def function(arr, k=0):
        if arr.ndim != 2:
            raise ValueError(f'input array must be 2-d, not {arr.ndim}-d')
        return getattr(_core, name)(arr.shape[0], k, arr.shape[1])
    function.__name__ = function.__qualname__ = name + '_from'
    function.__doc__ = f'{name} for the extents of a matrix.'
    return function


tril_indices_from, triu_indices_from = _of_matrix('tril_indices'), _of_matrix('triu_indices')
