"""Comparison of arrays."""

import numpy

from .. import backend


def assert_allclose(x, y, atol=1e-5, rtol=1e-4, verbose=True):
    """Raises AssertionError if |x - y| > atol + rtol * |y| for an element of two arrays, variables or numbers on any device."""
    x, y = [_on_host(value) for value in (x, y)]
    with numpy.errstate(all='ignore'):
        try:
            numpy.testing.assert_allclose(x, y, atol=atol, rtol=rtol, verbose=verbose)
            return
        except AssertionError as error:
            message = str(error)
        raise AssertionError(message + _worst(x, y, atol, rtol))


def _on_host(value):
    """Returns an array on the host. Variables give their array."""
    value = getattr(value, 'array', value) if not isinstance(value, numpy.ndarray) else value
    return numpy.asarray(value if isinstance(value, (int, float, complex)) else backend.CpuDevice().send(value))


def _worst(x, y, atol, rtol):
    """Describes the element that exceeds the tolerance most."""
    if x.shape != y.shape or x.dtype.kind not in 'fciub' or not x.size:
        return ''
    excess = numpy.abs(x.astype(complex) - y) - (atol + rtol * numpy.abs(y))
    if numpy.isnan(excess).all():
        return ''
    index = numpy.unravel_index(numpy.nanargmax(excess), excess.shape)
    return f'\n{atol = }, {rtol = }. The largest deviation is at {tuple(map(int, index))}: {x[index]} and {y[index]}'


def _as_noncontiguous_array(array):
    """Returns a copy that is not contiguous (a single element or none is always contiguous). Lists and tuples are copied item by item."""
    if array is None:
        return None
    if isinstance(array, (list, tuple)):
        return type(array)([_as_noncontiguous_array(item) for item in array])
    if array.ndim == 0 or array.size <= 1:
        return array
    device = backend.get_device_from_array(array)
    with backend.using_device(device):
        wide = device.xp.empty((*array.shape, 2), array.dtype)
        view = wide[..., 0]
        view[...] = array
    return view
