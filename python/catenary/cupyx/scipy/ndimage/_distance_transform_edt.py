"""Exact Euclidean distance transform."""

import math

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy._sliding_windows import each_axis, working

_minimum, _sqrt = _core.ufuncs['minimum'], _core.ufuncs['sqrt']
_TOGETHER = 8  # steps between tests for convergence


def _running(values, step):
    """Returns the running maximum (step 1) or minimum (step -1) along the first axis, counted from the respective end."""
    reach = 1
    while reach < values.shape[0]:
        if step > 0:
            values = _core._concatenate([values[:reach], _core.ufuncs['maximum'](values[:-reach], values[reach:])], 0)
        else:
            values = _core._concatenate([_minimum(values[:-reach], values[reach:]), values[-reach:]], 0)
        reach *= 2
    return values


def _along_the_first(zeros, spacing, kind):
    """Returns (squared distances to the nearest zero in the same line of the first axis, the indices of that zero)."""
    n, far = zeros.shape[0], 1 << 30
    at = _core.arange(n, dtype='i').reshape((n,) + (1,) * (zeros.ndim - 1))
    before = _running(_core.where(zeros, at, -far).astype('i'), 1)
    behind = _running(_core.where(zeros, at, far).astype('i'), -1)
    nearest = _core.where(at - before.astype('l') <= behind.astype('l') - at, before, behind)
    steps = (nearest - at).astype(kind) * spacing
    none = (nearest < 0) | (nearest >= n)
    return _core._copy(_core.where(none, math.inf, steps * steps).astype(kind), 'C'), _core._copy(_core.where(none, 0, nearest).astype('i'), 'C')


def _along_another(squares, places, axis, spacing):
    """Returns the minimum over a line of this axis of value plus squared distance, with the indices of the minimum."""
    n = squares.shape[axis]
    best, own = _core._copy(squares, 'C'), [_core._copy(p, 'C') for p in places]

    def part(a, b):
        return (slice(None),) * axis + (slice(a, b),)
    for step in range(1, n):
        more = (step * spacing) ** 2
        if step % _TOGETHER == 1 and not float(_core.max(best)) > more:
            break
        for to, of in ((part(step, None), part(None, n - step)), (part(None, n - step), part(step, None))):
            value = squares[of] + more
            if own:
                better = _core._copy(value < best[to], 'C')
                for mine, theirs in zip(own, places):
                    mine[to] = _core.where(better, theirs[of], mine[to])
            best[to] = _minimum(best[to], value)
    return best, own


def distance_transform_edt(image, sampling=None, return_distances=True, return_indices=False, distances=None, indices=None, *, block_params=None,
                           float64_distances=True):
    """Returns the Euclidean distance of each non-zero element to the nearest zero, with the spacing `sampling` per axis.

    With return_indices it also returns the index of that zero, or of one of several at equal distance. `distances` and `indices` are output
    arrays. If there is no zero, distances are infinite and indices 0. block_params has no effect. The time grows with the largest distance. Raises
    RuntimeError for output arrays that do not fit.
    """
    x = operand(image, 'distance_transform_edt')
    if not return_distances and not return_indices:
        raise RuntimeError('at least one of return_distances/return_indices must be True')
    if distances is not None and not return_distances:
        raise RuntimeError('return_distances must be True to supply distances')
    if indices is not None and not return_indices:
        raise RuntimeError('return_indices must be True to supply indices')
    kind = working(x) if float64_distances else numpy.dtype('f')
    if isinstance(distances, ndarray) and (distances.dtype != kind or distances.shape != x.shape):
        raise RuntimeError(f'distances array must have the dtype {kind} and the shape {x.shape}')
    if isinstance(indices, ndarray) and (indices.dtype.kind not in 'iu' or indices.dtype.itemsize < 2 or indices.shape != (x.ndim,) + x.shape):
        raise RuntimeError(f'indices array must be of integers of 16 bits at least, and have the shape {(x.ndim,) + x.shape}')
    spacing = [1.0] * x.ndim if sampling is None else [float(s) for s in each_axis(sampling, x.ndim, 'sampling')]
    if x.ndim == 0 or x.size == 0:
        squares, places = _core.where(x != 0, math.inf, 0.0).astype(kind), [_core.zeros(x.shape, 'i') for _ in range(x.ndim)]
    else:
        squares, first = _along_the_first(x == 0, spacing[0], kind)
        places = [first] if return_indices else []
        for axis in range(1, x.ndim):
            if return_indices:
                own = _core.arange(x.shape[axis], dtype='i').reshape((-1,) + (1,) * (x.ndim - 1 - axis))
                places.append(_core._copy(_core.broadcast_to(own, x.shape), 'C'))
            squares, places = _along_another(squares, places, axis, spacing[axis])
    made = []
    if return_distances:
        values = _sqrt(squares)
        if distances is not None:
            distances[...] = values
        else:
            made.append(values)
    if return_indices:
        stacked = _core._stack(places, 0) if places else _core.zeros((0,), 'i')
        if indices is not None:
            indices[...] = stacked
        else:
            made.append(stacked)
    return None if not made else made[0] if len(made) == 1 else tuple(made)
