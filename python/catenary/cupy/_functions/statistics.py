"""Averages and histograms."""

import numpy

from catenary import _core
from catenary.cupy._arguments import given, listed
from catenary.cupy._array import asarray, is_complex, ndarray, of_real_numbers, refuse_complex

globals().update({_name: of_real_numbers(getattr(_core, _name), _name, __name__) for _name in (
    'nanpercentile', 'nanquantile', 'percentile', 'quantile')})


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Returns the weighted mean, and with `returned` also the sums of the weights."""
    a, weights = given(a), weights if weights is None else given(weights)
    result = _core._average(a, axis, weights, keepdims)
    if not returned:
        return result
    if weights is None:
        return result, _core.full(result.shape, a.size // max(result.size, 1), result.dtype)
    scale = weights.sum(axis, keepdims=keepdims) if weights.shape == a.shape else weights.sum()
    return result, _core.broadcast_to(scale, result.shape).astype(result.dtype)


def _bins(x, bins, range, weights):
    """Returns bins for the extension: an integer, or edges as an array. NumPy computes on the host the number of bins for a rule's name. Raises
    TypeError for a name with weights and for other types."""
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(f'histogram: bins={bins!r} does not go with weights; give a number of bins, or edges')
        try:
            return len(numpy.histogram_bin_edges(x.get(), bins, range)) - 1
        except ValueError as error:
            raise ValueError(f'histogram: bins={bins!r}: {error}') from None
    if isinstance(bins, (list, tuple, numpy.ndarray)) and numpy.ndim(bins) == 1:
        return asarray(bins)
    if not isinstance(bins, ndarray) and not hasattr(type(bins), '__index__'):
        raise TypeError(f'histogram: bins must be an integer, a name such as \'auto\', or edges in a 1-d array, given {type(bins).__name__} {bins!r}')
    return bins


def histogram(x, bins=10, range=None, density=False, weights=None):
    """Counts of elements in intervals, or the sums of their weights, and the edges. Names of bins ('auto', 'fd', …) are NumPy's."""
    refuse_complex('histogram', x, range)
    x, weights = given(x) if isinstance(x, (list, tuple)) else x, listed(weights)
    bins = _bins(x, bins, range, weights)
    if not is_complex(weights):
        return _core.histogram(x, bins, range, weights, bool(density))
    (real, edges), (imag, _) = (_core.histogram(x, bins, range, part) for part in (weights.real, weights.imag))
    sums = _core.zeros(real.shape, weights.dtype)
    sums.real, sums.imag = real, imag
    return sums / _core.diff(edges).astype(float) / sums.sum() if density else sums, edges


def histogram2d(x, y, bins=10, range=None, density=False, weights=None):
    """Counts of points in rectangles, and the edges along both axes."""
    x_bins, y_bins = bins if isinstance(bins, (tuple, list)) else (bins, bins)
    x_range, y_range = (None, None) if range is None else (None if r is None else tuple(r) for r in range)
    return _core._histogram2d(x, y, x_bins, y_bins, x_range, y_range, weights, bool(density))
