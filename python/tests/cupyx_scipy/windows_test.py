"""Filters along one axis by windows of many sizes and origins, compared with NumPy's windows."""

import itertools

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import ndimage
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(11)
MODES = {'reflect': 'symmetric', 'mirror': 'reflect', 'nearest': 'edge', 'wrap': 'wrap', 'constant': 'constant'}


def windows(x, size, axis, mode, origin):
    widths = [(size // 2 + origin, size - 1 - size // 2 - origin) if k == axis else (0, 0) for k in range(x.ndim)]
    more = {'constant_values': 2} if mode == 'constant' else {}
    return numpy.lib.stride_tricks.sliding_window_view(numpy.pad(x, widths, MODES[mode], **more), size, axis)


@pytest.mark.parametrize('mode', MODES)
def test_filters_along_an_axis(mode):
    cases = [(s, size) for s in ((1,), (5,), (4, 9), (3, 2, 7)) for size in (1, 2, 3, 5, 8, 13)]
    for (shape, size), dtype in zip(cases, itertools.cycle('fdBi')):
        x = G.integers(0, 200, shape).astype(dtype)
        for axis in range(len(shape)):
            for origin in {0, -(size // 2), (size - 1) // 2}:
                own = windows(x, size, axis, mode, origin)
                more = {'mode': mode, 'cval': 2, 'origin': origin}
                g = cupy.asarray(x)
                weights = G.normal(size=size)
                sums = (own.astype('d') * weights).sum(-1)
                same(ndimage.correlate1d(g, weights, axis, output='d', **more), sums, 1e-11)
                same(ndimage.uniform_filter1d(g, size, axis, output='d', **more), own.astype('d').mean(-1), 1e-11)
                same(ndimage.maximum_filter1d(g, size, axis, **more), own.max(-1))
                same(ndimage.minimum_filter1d(g, size, axis, **more), own.min(-1))


def test_filters_along_long_axes():
    x = G.normal(size=(700, 300)).astype('f')
    for size in (3, 15, 32, 101):
        for axis in (0, 1):
            own = windows(x, size, axis, 'reflect', 0)
            same(ndimage.uniform_filter1d(cupy.asarray(x), size, axis), own.astype('d').mean(-1).astype('f'), 1e-5)
            same(ndimage.maximum_filter1d(cupy.asarray(x), size, axis), own.max(-1))
