"""Means, quantiles and counts."""

from catenary import _core
from catenary.cupy._arguments import given
from catenary.cupy._array import is_complex, of_real_numbers, refuse_complex

globals().update({_name: of_real_numbers(getattr(_core, _name), _name, __name__) for _name in (
    'nanpercentile', 'nanquantile', 'percentile', 'quantile')})


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The weighted mean; with `returned` also the sum of the weights that each of its elements has."""
    a, weights = given(a), weights if weights is None else given(weights)
    result = _core._average(a, axis, weights, keepdims)
    if not returned:
        return result
    if weights is None:
        return result, _core.full(result.shape, a.size // max(result.size, 1), result.dtype)
    scale = weights.sum(axis, keepdims=keepdims) if weights.shape == a.shape else weights.sum()
    return result, _core.broadcast_to(scale, result.shape).astype(result.dtype)


def histogram(x, bins=10, range=None, weights=None, density=False):
    """Counts of elements in intervals, or the sums of their weights, and the edges."""
    refuse_complex('histogram', x, range)
    if not is_complex(weights):
        return _core.histogram(x, bins, range, weights, density)
    (real, edges), (imag, _) = (_core.histogram(x, bins, range, part) for part in (weights.real, weights.imag))
    sums = _core.zeros(real.shape, weights.dtype)
    sums.real, sums.imag = real, imag
    return sums / _core.diff(edges).astype(float) / sums.sum() if density else sums, edges


def histogram2d(x, y, bins=10, range=None, density=False, weights=None):
    """Counts of points in rectangles, and the edges along both axes."""
    x_bins, y_bins = bins if isinstance(bins, (tuple, list)) else (bins, bins)
    x_range, y_range = (None, None) if range is None else (None if r is None else tuple(r) for r in range)
    return _core._histogram2d(x, y, x_bins, y_bins, x_range, y_range, weights, bool(density))
