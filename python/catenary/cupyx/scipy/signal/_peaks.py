"""find_peaks, peak_prominences and peak_widths, computed on the host because each search starts from the previous peak."""

import math

import numpy

from catenary.cupy._array import ndarray
from catenary.cupyx.scipy.signal._filter_conversions import all_sent, sent


def _signal(x):
    x = x.get() if isinstance(x, ndarray) else numpy.asarray(x)
    if x.ndim != 1:
        raise ValueError('`x` must be a 1-D array')
    return x.astype('d')


def _places(peaks):
    peaks = peaks.get() if isinstance(peaks, ndarray) else numpy.asarray(peaks)
    if peaks.size == 0:
        peaks = numpy.zeros(0, 'l') if peaks.ndim == 1 else peaks
    if peaks.dtype.kind not in 'biu' or not numpy.can_cast(peaks.dtype, 'l', 'safe'):
        raise TypeError("cannot safely cast `peaks` to dtype('intp')")
    if peaks.ndim != 1:
        raise ValueError('`peaks` must be a 1-D array')
    return peaks.astype('l')


def _reach(wlen):
    """Returns the number of elements on each side of the window, or None for no limit."""
    if wlen is None:
        return None
    if not 1 < wlen:
        raise ValueError(f'`wlen` must be larger than 1, was {wlen}')
    return math.ceil(wlen) // 2


def _maxima(x):
    """Returns (middles, first and last indices) of runs of equal elements that are higher than both neighbours."""
    if x.size < 3:
        return (numpy.zeros(0, 'l'),) * 3
    starts = numpy.flatnonzero(numpy.concatenate([[True], x[1:] != x[:-1]]))
    ends = numpy.concatenate([starts[1:], [x.size]]) - 1
    inner = (starts > 0) & (ends < x.size - 1)
    first, last = starts[inner], ends[inner]
    high = (x[first - 1] < x[first]) & (x[last + 1] < x[last])
    first, last = first[high], last[high]
    return (first + last) // 2, first, last


def _side(values):
    """Returns, for one side of a peak, (the lowest value before the signal exceeds the peak, its distance)."""
    beyond = ~(values <= values[0])
    seen = values[:int(numpy.argmax(beyond))] if beyond.any() else values
    if not seen.size:  # NaN
        return values[0], 0
    at = int(numpy.argmin(seen))
    return seen[at], at


def _prominences(x, peaks, wlen):
    reach = _reach(wlen)
    heights, left, right = numpy.empty(peaks.size), peaks.copy(), peaks.copy()
    for k, peak in enumerate(peaks.tolist()):
        if not 0 <= peak < x.size:
            raise ValueError(f'peak {peak} is not a valid index for `x`')
        low, high = (0, x.size) if reach is None else (max(peak - reach, 0), min(peak + reach + 1, x.size))
        least_left, back = _side(x[low:peak + 1][::-1])
        least_right, forth = _side(x[peak:high])
        heights[k], left[k], right[k] = x[peak] - max(least_left, least_right), peak - back, peak + forth
    return heights, left, right


def _crossing(values, height):
    """Returns the distance from a peak to where the values fall to a height, interpolated linearly."""
    below = ~(height < values)
    below[-1] = True
    at = int(numpy.argmax(below))
    return at - (height - values[at]) / (values[at - 1] - values[at]) if values[at] < height else at


def _widths(x, peaks, rel_height, prominences, left, right):
    if rel_height < 0:
        raise ValueError('`rel_height` must be greater or equal to 0.0')
    if not peaks.size == prominences.size == left.size == right.size:
        raise ValueError('arrays in `prominence_data` must have the same shape as `x`')
    heights, starts, stops = numpy.empty(peaks.size), numpy.empty(peaks.size), numpy.empty(peaks.size)
    for k, (peak, low, high) in enumerate(zip(peaks.tolist(), left.tolist(), right.tolist())):
        if not 0 <= low <= peak <= high < x.size:
            raise ValueError(f'prominence data is invalid for peak {peak}')
        heights[k] = x[peak] - prominences[k] * rel_height
        starts[k] = peak - _crossing(x[low:peak + 1][::-1], heights[k])
        stops[k] = peak + _crossing(x[peak:high + 1], heights[k])
    return stops - starts, heights, starts, stops


def peak_prominences(x, peaks, wlen=None):
    """Returns (prominences, left bases, right bases) of peaks: a prominence is the descent that is necessary before reaching a higher point, within
    wlen elements."""
    made = _prominences(_signal(x), _places(peaks), wlen)
    return all_sent(made)


def peak_widths(x, peaks, rel_height=0.5, prominence_data=None, wlen=None):
    """Returns (widths, heights, left ends, right ends) of peaks at rel_height of their prominence below the top."""
    x, peaks = _signal(x), _places(peaks)
    data = _prominences(x, peaks, wlen) if prominence_data is None else tuple(v.get() if isinstance(v, ndarray) else numpy.asarray(v) for v in prominence_data)
    return all_sent(_widths(x, peaks, rel_height, *data))


def _limits(interval, x, peaks):
    """Returns the limits (minimum, maximum): numbers, None, or arrays with one value per peak."""
    try:
        low, high = interval
    except (TypeError, ValueError):
        low, high = interval, None

    def own(limit):
        if not isinstance(limit, (ndarray, numpy.ndarray)) or limit.ndim == 0:
            return limit
        limit = limit.get() if isinstance(limit, ndarray) else limit
        if limit.size != x.size:
            raise ValueError(f'array size of {"lower" if limit is low else "upper"} interval border must match x')
        return limit[peaks]
    return own(low), own(high)


def _apart(peaks, heights, distance):
    """Selects peaks such that none is nearer than `distance` to a higher selected one."""
    distance, keep = math.ceil(distance), numpy.ones(peaks.size, bool)
    for k in numpy.argsort(heights, kind='stable')[::-1].tolist():
        if keep[k]:
            near = abs(peaks - peaks[k]) < distance
            keep &= ~near
            keep[k] = True
    return keep


def find_peaks(x, height=None, threshold=None, distance=None, prominence=None, width=None, wlen=None, rel_height=0.5, plateau_size=None):
    """Returns (indices of peaks, a dictionary of their properties).

    A peak is an element, or the middle of equal ones, that is higher than both neighbours. height, threshold (height above each neighbour),
    prominence, width and plateau_size are limits: a minimum or a pair (minimum, maximum). `distance` removes peaks that are nearer to a higher
    one. Raises ValueError if distance is less than 1.
    """
    x = _signal(x)
    if distance is not None and distance < 1:
        raise ValueError('`distance` must be greater or equal to 1')
    peaks, first, last = _maxima(x)
    found = {}

    def kept(mask):
        nonlocal peaks
        peaks = peaks[mask]
        for name in found:
            found[name] = found[name][mask]

    def within(interval, low_values, high_values=None):
        low, high = _limits(interval, x, peaks)
        mask = numpy.ones(peaks.size, bool)
        if low is not None:
            mask &= low <= low_values
        if high is not None:
            mask &= (low_values if high_values is None else high_values) <= high
        kept(mask)
    if plateau_size is not None:
        found.update(plateau_sizes=last - first + 1, left_edges=first, right_edges=last)
        within(plateau_size, found['plateau_sizes'])
    if height is not None:
        found['peak_heights'] = x[peaks]
        within(height, found['peak_heights'])
    if threshold is not None:
        found.update(left_thresholds=x[peaks] - x[peaks - 1], right_thresholds=x[peaks] - x[peaks + 1])
        both = found['left_thresholds'], found['right_thresholds']
        within(threshold, numpy.minimum(*both), numpy.maximum(*both))
    if distance is not None:
        kept(_apart(peaks, x[peaks], distance))
    if prominence is not None or width is not None:
        found.update(zip(('prominences', 'left_bases', 'right_bases'), _prominences(x, peaks, wlen)))
    if prominence is not None:
        within(prominence, found['prominences'])
    if width is not None:
        names = ('prominences', 'left_bases', 'right_bases')
        found.update(zip(('widths', 'width_heights', 'left_ips', 'right_ips'), _widths(x, peaks, rel_height, *(found[name] for name in names))))
        within(width, found['widths'])
    return sent(peaks), {name: sent(values) for name, values in found.items()}
