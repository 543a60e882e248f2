"""Medians, positions of extrema, histograms, bounding slices and user functions of labeled regions."""

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy.ndimage._label import _is_ordered, _number, _ordered_parts, _shaped, maximum, minimum


def _sorted(x, part, count):
    """Returns (flat indices ordered by region, value and index, the start of each region, the size of each region)."""
    order = x.argsort()
    order = order[part[order].argsort()]
    members = _core.bincount(part, None, _number(count) + 1)[:_number(count)]
    return order, _core.cumsum(members) - members, members


def median(input, labels=None, index=None):
    """Returns the median of each labeled region, with the arguments of sum_labels. Empty regions give NaN."""
    x, part, count, shape = _ordered_parts(input, labels, index, 'median')
    values = x.astype('d') if x.dtype.kind in 'biu' else x
    if x.size == 0:
        return _shaped(_core.full((_number(count),), numpy.nan, values.dtype), count, shape)
    order, first, members = _sorted(x, part, count)
    low, high = (values[order[_core.clip(first + at, 0, x.size - 1)]] for at in ((members - 1) // 2, members // 2))
    return _shaped(_core.where(members > 0, low + (high - low) / 2, numpy.nan).astype(values.dtype), count, shape)


def _position(name, largest):
    def function(input, labels=None, index=None):
        x = operand(input, name)
        if labels is None and _is_ordered(x):
            at = int((_core.argmax if largest else _core.argmin)(x))
            return tuple(int(k) for k in numpy.unravel_index(at, x.shape))
        values, part, count, shape = _ordered_parts(x, labels, index, name)
        order, first, members = _sorted(values, part, count)
        if isinstance(count, tuple) and shape:
            at = first + members - 1 if largest else first
            found = order[_core.clip(at, 0, max(x.size - 1, 0))].get()[count[1].reshape(-1)]
            return [tuple(int(k) for k in numpy.unravel_index(p, x.shape)) for p in found.tolist()]
        # the first of equal extrema in a region counts
        own = _core.where(part == 0, _core.arange(x.size), x.size)
        extreme = values[order[first[0] + members[0] - 1 if largest else first[0]]]
        at = int(_core.where(values == extreme, own, x.size).min())
        return tuple(int(k) for k in numpy.unravel_index(at, x.shape))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f'Where the {"largest" if largest else "least"} element of each part is: a tuple of indices, or with several parts in `index` a list of '
                        f'such, of which each is the {"last" if largest else "first"} of equal ones.')
    return function


minimum_position, maximum_position = _position('minimum_position', False), _position('maximum_position', True)


def extrema(input, labels=None, index=None):
    """Returns (minima, maxima, positions of the minima, positions of the maxima) of each region."""
    return (minimum(input, labels, index), maximum(input, labels, index), minimum_position(input, labels, index),
            maximum_position(input, labels, index))


def labeled_comprehension(input, labels, index, func, out_dtype, default, pass_positions=False):
    """Calls func with the elements of each labeled region, and with pass_positions also with their flat indices.

    Empty regions give `default`. Without labels all elements form one region; without index all labeled elements do.
    """
    x = operand(input, 'labeled_comprehension')
    values, places = x.ravel(), _core.arange(x.size)

    def call(mask):
        chosen = (values, places) if mask is None else (values[mask], places[mask])
        return func(*chosen) if pass_positions else func(chosen[0])
    if labels is None:
        if index is not None:
            raise ValueError('index without defined labels')
        return call(None)
    labels = _core.broadcast_to(operand(labels, 'labeled_comprehension'), x.shape).ravel()
    if index is None:
        return call(labels > 0)
    asked = numpy.asarray(index.get() if isinstance(index, ndarray) else index)
    found = []
    for wanted in asked.reshape(-1).tolist():
        mask = labels == wanted
        found.append(call(mask) if bool(mask.any()) else default)
    if asked.ndim == 0:
        return found[0]
    if numpy.dtype(out_dtype) == object:
        return found
    return operand(found, 'labeled_comprehension').astype(out_dtype).reshape(asked.shape)


def histogram(input, min, max, bins, labels=None, index=None):
    """Returns the histogram of each region with equal bins from min to max: an array, or a list of arrays for the regions in `index`."""
    from catenary import cupy
    edges = cupy.linspace(min, max, bins + 1)
    return labeled_comprehension(input, labels, index, lambda values: cupy.histogram(values, edges)[0], object, None)


def value_indices(arr, *, ignore_value=None, adaptive_index_dtype=False):
    """Returns a dictionary from each value of an integer array, except ignore_value, to the indices of its elements in the form of nonzero(). With
    adaptive_index_dtype the indices have the smallest sufficient signed dtype."""
    x = operand(arr, 'value_indices')
    if x.dtype.kind not in 'iu':
        raise ValueError("Parameter 'arr' must be an integer array")
    if adaptive_index_dtype:
        kind = numpy.min_scalar_type(-max((*x.shape, 1)))
        return {value: tuple(k.astype(kind) for k in own) for value, own in value_indices(x, ignore_value=ignore_value).items()}
    return {value: _core.nonzero(x == value) for value in _core.unique(x).tolist() if value != ignore_value}


def find_objects(input, max_label=0):
    """Returns for each label from 1 to max_label, by default the largest, the slices of its bounding box, or None for an absent label."""
    x = operand(input, 'find_objects')
    if x.dtype.kind not in 'biu':
        raise TypeError(f'find_objects: expected labels of an integer dtype, got {x.dtype}')
    count = max_label if max_label > 0 else int(x.max()) if x.size else 0
    if count < 1:
        return []
    places = _core.nonzero((x > 0) & (x <= count))
    if x.ndim == 0 or places[0].size == 0:
        return [None] * count
    part = x[places].astype('l') - 1
    boxes = []
    for place, length in zip(places, x.shape):
        first, last = _core.full((count,), length, 'l'), _core.full((count,), -1, 'l')
        _core.scatter_min(first, part, place.astype('l'))
        _core.scatter_max(last, part, place.astype('l'))
        boxes.append(list(zip(first.get().tolist(), last.get().tolist())))
    return [tuple(slice(a, b + 1) for a, b in box) if box[0][1] >= 0 else None for box in zip(*boxes)]
