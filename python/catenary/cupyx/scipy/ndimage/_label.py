"""Connected components, and sums, means and extrema of labeled regions."""

import numpy

from catenary import _core
from catenary.cupy._arguments import operand
from catenary.cupy._array import ndarray
from catenary.cupyx.scipy._sliding_windows import combined, on_host, views
from catenary.cupyx.scipy.ndimage._erosion_dilation import _ball

_minimum = _core.ufuncs['minimum']


def label(input, structure=None, output=None):
    """Returns (labels, number of components): the connected non-zero components, numbered from 1 in C order. Raises ValueError if the structure is
    not symmetric or has not 3 elements per axis."""
    x = operand(input, 'label') != 0
    window = _ball(x.ndim, 1) if structure is None else on_host(structure) != 0
    if window.shape != (3,) * x.ndim or (window != window[(slice(None, None, -1),) * x.ndim]).any():
        raise ValueError('label: the structure must have 3 elements along each of %d axes, and be symmetric' % x.ndim)
    size = x.size
    places = [tuple(p) for p in numpy.argwhere(window) if tuple(p) != (1,) * x.ndim]
    steps = [[int(k) - 1 for k in p] for p in places if p < (1,) * x.ndim]  # to the neighbours before an element in C order
    found = _core._labeled(_core._contiguous(x, False), steps)
    if found is not None:
        return _labels_in(output, *found)
    # each element points to an earlier element of its component: first to a neighbour, then to that one's target, until all point to the first
    # element
    own = _core.where(x, _core.arange(size).reshape(x.shape), size)
    while size and places:
        near = combined(views(own, window.shape, [0] * x.ndim, 'constant', size, places), _minimum)
        found = _core.where(x, _minimum(own, near), size)
        for _ in range(2):
            known = _core._concatenate([found.ravel(), _core.full((1,), size, found.dtype)], 0)
            found = known[found]
        if bool(_core.array_equal(found, own)):
            break
        own = found
    first = x & (own == _core.arange(size).reshape(x.shape))
    number = _core._concatenate([_core.cumsum(first.ravel()), _core.zeros((1,), 'l')], 0)
    return _labels_in(output, number[own].astype('i'), int(first.sum()))


def _labels_in(output, labels, count):
    """Returns the result of label(), whose labels go to the array `output` or have the dtype `output`."""
    if isinstance(output, ndarray):
        if output.shape != labels.shape:
            raise ValueError(f'label: output has shape {output.shape}, the array {labels.shape}')
        output[...] = labels
        return count
    return (labels if output is None else labels.astype(output)), count


def _parts(input, labels, index, function):
    """Returns (values, region of each value, number of regions, shape of the result). Values outside the requested labels form one extra region."""
    x = operand(input, function)
    if labels is None:
        if index is not None:
            raise ValueError(f'{function}: index without given labels')
        return x.ravel(), _core.zeros((x.size,), 'l'), 1, ()
    labels = _core.broadcast_to(operand(labels, function), x.shape)
    if index is None:
        return x.ravel(), _core.where(labels.ravel() != 0, 0, 1).astype('l'), 1, ()
    asked = numpy.asarray(index.get() if isinstance(index, ndarray) else index)
    flat, where = numpy.unique(asked.ravel(), return_inverse=True)
    sorted_labels = operand(flat.tolist(), function)
    part = _core._regions(_core._contiguous(labels, False).ravel(), sorted_labels)
    if part is not None:
        return x.ravel(), part, (flat.size, where), asked.shape
    place = _core.searchsorted(sorted_labels, labels.ravel())
    place = _minimum(place, flat.size - 1)
    part = _core.where(sorted_labels[place] == labels.ravel(), place, flat.size)
    return x.ravel(), part, (flat.size, where), asked.shape


def _ordered_parts(input, labels, index, function):
    """Returns the result of _parts for order statistics, which ignore `index` if labels is None, as SciPy's do."""
    return _parts(input, labels, None if labels is None else index, function)


def _shaped(values, count, shape):
    if isinstance(count, tuple):
        return values[operand(count[1].reshape(-1).tolist(), 'index')].reshape(shape)
    return values[0]


def _number(count):
    return count[0] if isinstance(count, tuple) else count


def _total(x, part, count):
    return _core.bincount(part, x.astype('d'), _number(count) + 1)[:_number(count)]


def sum_labels(input, labels=None, index=None):
    """Returns the sum of each region in `index`, of all labeled elements, or of all elements."""
    if labels is None and index is None:
        x = operand(input, 'sum_labels')
        return _core.sum(x, dtype=None if x.dtype.kind in 'biu' else 'd')  # int64 or uint64, as in SciPy
    x, part, count, shape = _parts(input, labels, index, 'sum_labels')
    return _shaped(_total(x, part, count), count, shape)


sum = sum_labels


def mean(input, labels=None, index=None):
    """Returns the mean of each region. The arguments are those of sum_labels."""
    x, part, count, shape = _parts(input, labels, index, 'mean')
    return _shaped(_total(x, part, count) / _total(_core.ones_like(x), part, count), count, shape)


def variance(input, labels=None, index=None):
    """Returns the variance of each region. The arguments are those of sum_labels."""
    x, part, count, shape = _parts(input, labels, index, 'variance')
    members = _total(_core.ones_like(x), part, count)
    means = _core._concatenate([_total(x, part, count) / members, _core.zeros((1,), 'd')], 0)
    return _shaped(_total((x.astype('d') - means[part]) ** 2, part, count) / members, count, shape)


def standard_deviation(input, labels=None, index=None):
    """Returns the standard deviation of each region. The arguments are those of sum_labels."""
    return _core.ufuncs['sqrt'](variance(input, labels, index))


def _is_ordered(x):
    """Has x real numbers, none of them NaN?"""
    return x.size > 0 and (x.dtype.kind in 'iu' or x.dtype.kind == 'f' and not bool(_core.any(x != x)))


def _extrema(x, part, count, largest):
    """Returns the extremum of each part, 0 of one without elements."""
    if x.dtype.kind == 'f':
        first = -numpy.inf if largest else numpy.inf
    else:
        first = numpy.iinfo(x.dtype).min if largest else numpy.iinfo(x.dtype).max
    made = _core.full((count + 1,), first, x.dtype)
    (_core.scatter_max if largest else _core.scatter_min)(made, part, x)
    members = _core.bincount(part, None, count + 1)
    return _core.where(members > 0, made, _core.zeros((), x.dtype))[:count]


def _extremum(name, largest):
    def function(input, labels=None, index=None):
        x, part, count, shape = _ordered_parts(input, labels, index, name)
        if labels is None and _is_ordered(x):
            return (_core.max if largest else _core.min)(x)
        if x.dtype.itemsize >= 4 and _is_ordered(x):
            return _shaped(_extrema(x, part, _number(count), largest), count, shape)
        # after a sort by value and a stable sort by region, a region's extrema are its first and last elements
        order = x.argsort()
        order = order[part[order].argsort()]
        members = _core.bincount(part, None, _number(count) + 1)[:_number(count)]
        last = _core.cumsum(members)
        at = (last - 1 if largest else last - members)
        found = _core.where(members > 0, x[order[_core.clip(at, 0, max(x.size - 1, 0))]], 0)
        return _shaped(found.astype(x.dtype), count, shape)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'The {"largest" if largest else "least"} element of each part, as sum_labels; 0 of one without elements.'
    return function


minimum, maximum = _extremum('minimum', False), _extremum('maximum', True)


def center_of_mass(input, labels=None, index=None):
    """Returns the centre of mass as a tuple, or a list of tuples for the regions in `index`."""
    x = operand(input, 'center_of_mass')
    weight = sum_labels(x, labels, index)
    sums = [sum_labels(x * places, labels, index) / weight for places in _core.indices(x.shape, 'd')] if x.ndim else []
    if sums and sums[0].ndim:
        return [tuple(s[k] for s in sums) for k in range(sums[0].size)]
    return tuple(sums)
