"""Sums and extrema of labeled regions with equal extrema, empty regions and NaN, compared with NumPy."""

import numpy
import pytest

from catenary import cupy
from catenary.cupyx.scipy import ndimage
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(11)


@pytest.mark.parametrize('dtype', 'fdiBh')
def test_extrema_of_regions(dtype):
    x = G.integers(0, 9, (13, 7)).astype(dtype)  # with equal extrema
    labels, index = G.integers(-1, 6, x.shape).astype('h'), [3, 1, 5, 1]
    own = [numpy.flatnonzero(labels == k) for k in index]
    low, high, first, last = ndimage.extrema(cupy.asarray(x), cupy.asarray(labels), cupy.asarray(index))
    same(low, numpy.array([x.flat[k].min() for k in own], dtype))
    same(high, numpy.array([x.flat[k].max() for k in own], dtype))
    assert first == [numpy.unravel_index(k[x.flat[k].argmin()], x.shape) for k in own]
    assert last == [numpy.unravel_index(k[::-1][x.flat[k][::-1].argmax()], x.shape) for k in own]
    low, high, first, last = ndimage.extrema(cupy.asarray(x))
    assert (int(low), int(high)) == (x.min(), x.max())
    assert (first, last) == (numpy.unravel_index(x.argmin(), x.shape), numpy.unravel_index(x.argmax(), x.shape))
    sums = ndimage.sum_labels(cupy.asarray(x), cupy.asarray(labels), [5, 0, 77])
    assert sums.get().tolist() == [x[labels == 5].sum(), x[labels == 0].sum(), 0]
    assert ndimage.maximum(cupy.asarray(x), cupy.asarray(labels), [77, 3]).get().tolist() == [0, x[labels == 3].max()]
    assert float(ndimage.sum_labels(cupy.asarray(x))) == x.astype('d').sum()


def test_extrema_beside_nan():
    x, labels = numpy.array([3, numpy.nan, -numpy.inf, 5, 7.]), numpy.array([1, 1, 2, 2, 1])
    assert ndimage.minimum(cupy.asarray(x), cupy.asarray(labels), [1, 2]).get().tolist() == [3, -numpy.inf]
    assert float(ndimage.minimum(cupy.asarray(x))) == -numpy.inf and ndimage.minimum_position(cupy.asarray(x)) == (2,)
    assert float(ndimage.maximum(cupy.asarray(x[2:]))) == 7 and ndimage.maximum_position(cupy.asarray(x[2:])) == (2,)
