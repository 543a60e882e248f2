"""cupy.r_, c_, mgrid and ogrid, and indices of diagonals and triangles."""

import numpy

from catenary import _core
from catenary.cupy._array import array, asarray, ndarray


def _range(key):
    """Returns start:stop:step as an array. An imaginary step is the number of values from start to stop inclusive."""
    start, step = key.start or 0, 1 if key.step is None else key.step
    if isinstance(step, complex):
        dtype = numpy.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in (start, key.stop)), 1.0)
        return _core.linspace(start, key.stop, int(abs(step)), dtype=dtype)
    return _core.arange(start, key.stop, step)


class AxisConcatenator:
    """The class of r_ and c_, which join arrays, numbers and ranges by [ ].

    A leading string '0,2,1' gives the axis, the minimum number of axes, and the position of the axes of lower-dimensional arrays among these.
    """

    def __init__(self, axis=0, ndmin=1, place=-1):
        self._axis, self._ndmin, self._place = axis, ndmin, place

    def __len__(self):
        return 0

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        if parts and isinstance(parts[0], str):
            return self._directed(parts[0])[parts[1:]]
        if any(isinstance(x, str) for x in parts):
            raise ValueError('special directives must be the first entry.')
        known = [_range(x) if isinstance(x, slice) else x if numpy.isscalar(x) else array(x, copy=None) for x in parts]
        dtype = numpy.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in known))
        return _core._concatenate([self._raised(asarray(x, dtype)) for x in known], self._axis)

    def _directed(self, text):
        """Parses the leading string. Raises ValueError, or NotImplementedError for a matrix."""
        if text in ('r', 'c'):
            raise NotImplementedError('r_ and c_: matrices are not supported: instead of %r use cupy.r_[...][None] or [:, None]' % text)
        numbers = text.split(',')
        try:
            numbers = [int(number) for number in numbers]
        except ValueError:
            raise ValueError(f'unknown special directive {text!r}') from None
        if len(numbers) > 3:
            raise ValueError(f'unknown special directive {text!r}')
        return AxisConcatenator(*numbers, *(self._axis, self._ndmin, self._place)[len(numbers):])

    def _raised(self, a):
        missing = self._ndmin - a.ndim
        if missing <= 0:
            return a
        place = missing if self._place == -1 or a.ndim == 0 else self._place + (missing + 1 if self._place < 0 else 0)
        return a.reshape((1,) * place + a.shape + (1,) * (missing - place))


r_ = AxisConcatenator()
c_ = AxisConcatenator(-1, 2, 0)


class _Grid:
    def __init__(self, grid, sparse):
        self._grid, self._sparse = grid, sparse

    def _of_arrays(self, keys, alone):
        """Handles ranges with array limits, which broadcast: an imaginary step is the number of values between each pair."""
        if any(not isinstance(k.step, complex) for k in keys):
            raise TypeError('mgrid and ogrid: array limits need a number of steps, such as 10j')
        counts, lines = [int(abs(k.step)) for k in keys], []
        limits = [x for k in keys for x in (k.start, k.stop) if x is not None]
        dtype = numpy.result_type(*(x.dtype if isinstance(x, ndarray) else x for x in limits), 1.0)
        for axis, (k, count) in enumerate(zip(keys, counts)):
            start = 0 if k.start is None else k.start
            line = _core.arange(count, dtype=float)
            if not (alone or self._sparse):
                line = _core.broadcast_to(line.reshape((-1,) + (1,) * (len(keys) - 1 - axis)), tuple(counts))
            line = line.astype(dtype) * ((k.stop - start) / max(count - 1, 1)) + start
            if self._sparse and not alone:
                line = line[(None,) * axis + (slice(None),) + (None,) * (len(keys) - 1 - axis)]
            lines.append(line)
        return lines[0] if alone else tuple(lines) if self._sparse else _core._stack(lines, 0)

    def __getitem__(self, key):
        key = tuple(key) if isinstance(key, list) else key
        keys = key if isinstance(key, tuple) else (key,)
        for k in keys:
            if not isinstance(k, slice):
                raise TypeError(f'mgrid and ogrid: expected slices, as [0:5, 0:3:4j], given {type(k).__name__} {k!r}')
        if any(isinstance(x, ndarray) and x.ndim for k in keys for x in (k.start, k.stop)):
            return self._of_arrays(keys, not isinstance(key, tuple))
        # NumPy takes an array without axes by its dtype
        grids = tuple(slice(*(x.get() if isinstance(x, ndarray) else x for x in (k.start, k.stop, k.step))) for k in keys)
        grid = self._grid[grids if isinstance(key, tuple) else grids[0]]
        return tuple(map(asarray, grid)) if isinstance(grid, (list, tuple)) else asarray(grid)


mgrid, ogrid = _Grid(numpy.mgrid, False), _Grid(numpy.ogrid, True)


def diag_indices(n, ndim=2):
    """Returns the indices of the main diagonal of an array with `ndim` axes of size n."""
    return (_core.arange(n),) * ndim


def diag_indices_from(arr):
    """Returns the indices of the main diagonal of `arr`, whose axes have equal size."""
    if not isinstance(arr, ndarray):
        raise TypeError(f'diag_indices_from: expected cupy.ndarray, not {type(arr).__name__}')
    if arr.ndim < 2:
        raise ValueError('input array must be at least 2-d')
    if len(set(arr.shape)) != 1:
        raise ValueError(f'All dimensions of input must be of equal length, not {arr.shape}')
    return diag_indices(arr.shape[0], arr.ndim)


def tril_indices_from(arr, k=0):
    """Returns tril_indices for the shape of a matrix."""
    return _core.tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k=0):
    """Returns triu_indices for the shape of a matrix."""
    return _core.triu_indices(arr.shape[-2], k, arr.shape[-1])
