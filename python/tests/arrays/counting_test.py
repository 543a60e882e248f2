"""Counts, histograms, bits, membership and places of true elements in odd shapes, compared with NumPy."""

import numpy
import pytest

from catenary import cupy
from compare import same

pytestmark = [pytest.mark.usefixtures('device'), pytest.mark.kernels]
G = numpy.random.default_rng(3)
SIZES = (1, 7, 1001, 40003)


@pytest.mark.parametrize('dtype', '?bhilqBHIL')
def test_integers_are_counted(dtype):
    for n in SIZES:
        x, weights = G.integers(0, 2 if dtype == '?' else 100, n).astype(dtype), G.random(n).astype('f')
        if dtype != '?':
            same(cupy.bincount(cupy.asarray(x)), numpy.bincount(x))
            same(cupy.bincount(cupy.asarray(x), cupy.asarray(weights), 130), numpy.bincount(x, weights, 130), 1e-12)
        same(cupy.isin(cupy.asarray(x), cupy.asarray(x[::3])), numpy.isin(x, x[::3]))
        same(cupy.isin(cupy.asarray(x), cupy.asarray([5, 7, -1, 200]), invert=True), numpy.isin(x, [5, 7, -1, 200], invert=True))
        same(cupy.count_nonzero(cupy.asarray(x)), numpy.asarray(numpy.count_nonzero(x)))
        same(cupy.count_nonzero(cupy.asarray(x > 0)), numpy.asarray(numpy.count_nonzero(x > 0)))


def test_integers_far_apart_are_found():
    x = numpy.array([2 ** 62, -2 ** 62, 0, 5])
    same(cupy.isin(cupy.asarray(x), cupy.asarray(x[:2])), numpy.isin(x, x[:2]))


def test_count_nonzero_of_views():
    x = G.random((31, 65)) > 0.5
    for view in (lambda a: a.T, lambda a: a[::2, 3:], lambda a: a[:0]):
        same(cupy.count_nonzero(view(cupy.asarray(x))), numpy.asarray(numpy.count_nonzero(view(x))))
    same(cupy.count_nonzero(cupy.asarray(x), keepdims=True), numpy.count_nonzero(x, keepdims=True))


@pytest.mark.parametrize('n', [0, 1, 7, 8, 9, 1000, 100003])
def test_places_of_true_elements(n):
    for share in (0, 0.01, 0.5, 1):
        x = G.random(n) < share
        same(cupy.flatnonzero(cupy.asarray(x)), numpy.flatnonzero(x))
        same(cupy.arange(n)[cupy.asarray(x)], numpy.arange(n)[x])
        same(cupy.flatnonzero(cupy.asarray(x)[::-3]), numpy.flatnonzero(x[::-3]))


EDGES = [[-1, 0, 0, 0.5, 0.7], numpy.linspace(-3, 3, 31).tolist(), [-numpy.inf, 0, numpy.inf], [0, 1e-9, 5], [1, 1]]


@pytest.mark.parametrize('dtype', 'efdhil')
def test_histograms_equal_numpys(dtype):
    for n in SIZES:
        x = (G.normal(size=n) * (1 if dtype in 'efd' else 5)).astype(dtype)
        same(cupy.histogram(cupy.asarray(x), 13)[0], numpy.histogram(x, 13)[0])
        if dtype in 'efd':
            x[::17] = numpy.nan
        for edges in EDGES:
            same(cupy.histogram(cupy.asarray(x), cupy.asarray(edges))[0], numpy.histogram(x, edges)[0])
            weights = G.random(n)
            same(cupy.histogram(cupy.asarray(x), cupy.asarray(edges), weights=cupy.asarray(weights))[0],
                 numpy.histogram(x, edges, weights=weights)[0], 1e-12)


@pytest.mark.parametrize('shape', [(1,), (7,), (8,), (9,), (3, 17), (17, 3), (5, 8, 9), (20001,)], ids=str)
def test_bits(shape):
    x, bytes_ = G.random(shape) > 0.5, G.integers(0, 256, shape).astype('B')
    for order in ('big', 'little'):
        for axis in (None, *range(len(shape))):
            for values in (x, x * 3, x.astype('B')):
                same(cupy.packbits(cupy.asarray(values), axis, order), numpy.packbits(values, axis, order))
            same(cupy.unpackbits(cupy.asarray(bytes_), axis, order), numpy.unpackbits(bytes_, axis, bitorder=order))
